//! Floor and ceiling of a benchmark: found on a server of this process's own, so that neither the load nor the runs of an
//! audit are on the user's server, and kept there beside the version with the same content.

use std::net::SocketAddr;

use agents::audit::Audit;
use anyhow::Context;
use authoring::Folder;
use client::{Client, Method};
use serde_json::{Value, json};

use crate::exit;
use crate::local::Local;
use crate::output::tell;

/// Drives all agents of ours through the folder. When `version` is given, the folder must be its content.
pub(super) async fn audited(folder: &Folder, version: Option<&Value>) -> anyhow::Result<Audit> {
    let local = Local::start(None, SocketAddr::from(([127, 0, 0, 1], 0))).await?;
    let audit = on(&local, folder, version).await;
    local.stop().await;
    audit
}

async fn on(local: &Local, folder: &Folder, version: Option<&Value>) -> anyhow::Result<Audit> {
    let client = local.client()?;
    let pushed = authoring::push(&client, folder, true).await?;
    let reference = format!("{}@{}", pushed.slug, pushed.version.unwrap_or(1));
    if let Some(version) = version {
        let ours: Value = client.get(&format!("/benchmarks/{reference}")).await?;
        if ours["content_hash"] != version["content_hash"] {
            let named = format!("{}@{}", pushed.slug, version["version"]);
            let words =
                format!("the benchmark has changed since {named} was published: push it, and audit the new version");
            return Err(exit::usage(words));
        }
    }
    agents::audit::audit(&client, &reference, |what| tell(format_args!("  {what}"))).await
}

/// Keeps what was found beside a version of the organization's own.
pub(crate) async fn keep(client: &Client, version: &Value, record: &Value) -> anyhow::Result<()> {
    let reference = format!("{}@{}", version["slug"].as_str().unwrap_or_default(), version["version"]);
    let mut bound = agents::record::of_version(record, version)
        .with_context(|| format!("what was audited has other tasks than {reference}"))?;
    bound["engine"] = json!(app::runs::ENGINE);
    client.call(Method::PUT, &format!("/benchmarks/{reference}/audit"), &[], Some(&bound)).await?;
    Ok(())
}
