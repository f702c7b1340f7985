//! Floor and ceiling of a benchmark: found on a server of this process's own, so that neither the load nor the runs of an
//! audit are on the user's server, and kept there beside the version with the same content.

use std::net::SocketAddr;

use agents::Ours;
use agents::audit::{Audit, Depth};
use anyhow::Context;
use authoring::Folder;
use client::{Client, Method};
use serde_json::{Value, json};

use crate::audit::CommandAgent;
use crate::exit;
use crate::local::Local;
use crate::output::tell;

/// How much is tried, and who does the work: an agent of the author's, or else ours if there is one for the benchmark.
pub(super) struct How {
    pub(super) depth: Depth,
    pub(super) agent: Option<CommandAgent>,
}

impl Default for How {
    fn default() -> Self {
        Self { depth: Depth::OneIn(4), agent: None }
    }
}

/// Drives all agents through the folder. When `version` is given, the folder must be its content.
pub(super) async fn audited(folder: &Folder, version: Option<&Value>, how: &How) -> anyhow::Result<Audit> {
    let local = Local::start(None, SocketAddr::from(([127, 0, 0, 1], 0))).await?;
    let audit = on(&local, folder, version, how).await;
    local.stop().await;
    audit
}

async fn on(local: &Local, folder: &Folder, version: Option<&Value>, how: &How) -> anyhow::Result<Audit> {
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
    let told = |what: &str| tell(format_args!("  {what}"));
    match &how.agent {
        Some(agent) => agents::audit::audit(&client, &reference, Some(agent), how.depth, told).await,
        None => {
            let ours = agents::has_reference(&reference).then_some(&Ours);
            agents::audit::audit(&client, &reference, ours, how.depth, told).await
        }
    }
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
