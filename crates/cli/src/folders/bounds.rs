//! Measures floor and ceiling of a benchmark on a local server, so that neither the load nor the runs of an audit are on the
//! user's server, and stores them there with the version of the same content.

use std::net::SocketAddr;

use agents::ReferenceAgent;
use agents::audit::{Audit, Depth};
use anyhow::Context;
use authoring::Folder;
use client::{Client, Method};
use serde_json::{Value, json};

use crate::audit::CommandAgent;
use crate::exit;
use crate::local_server::LocalServer;
use crate::output::eprint;

/// How much is tried, and by which agent: the author's, or the bundled reference agent if there is one.
pub(super) struct AuditOptions {
    pub(super) depth: Depth,
    pub(super) agent: Option<CommandAgent>,
}

impl Default for AuditOptions {
    fn default() -> Self {
        Self { depth: Depth::OneIn(4), agent: None }
    }
}

/// Runs all audit agents on the folder. If `version` is given, the folder must have the same content.
pub(super) async fn run_audit(
    folder: &Folder,
    version: Option<&Value>,
    options: &AuditOptions,
) -> anyhow::Result<Audit> {
    let local = LocalServer::start(None, SocketAddr::from(([127, 0, 0, 1], 0))).await?;
    let audit = audit_on(&local, folder, version, options).await;
    local.stop().await;
    audit
}

async fn audit_on(
    local: &LocalServer,
    folder: &Folder,
    version: Option<&Value>,
    options: &AuditOptions,
) -> anyhow::Result<Audit> {
    let client = local.client()?;
    let pushed = authoring::push(&client, folder, true).await?;
    let reference = format!("{}@{}", pushed.slug, pushed.version.unwrap_or(1));
    if let Some(version) = version {
        let local_version: Value = client.get(&format!("/benchmarks/{reference}")).await?;
        if local_version["content_hash"] != version["content_hash"] {
            let named = format!("{}@{}", pushed.slug, version["version"]);
            let message =
                format!("the benchmark has changed since {named} was published: push it and audit the new version");
            return Err(exit::usage(message));
        }
    }
    let on_progress = |what: &str| eprint(format_args!("  {what}"));
    match &options.agent {
        Some(agent) => agents::audit::audit(&client, &reference, Some(agent), options.depth, on_progress).await,
        None => {
            let reference_agent = agents::has_reference(&reference).then_some(&ReferenceAgent);
            agents::audit::audit(&client, &reference, reference_agent, options.depth, on_progress).await
        }
    }
}

/// Stores an audit record with a version that the organization owns.
pub(crate) async fn store(client: &Client, version: &Value, record: &Value) -> anyhow::Result<()> {
    let reference = format!("{}@{}", version["slug"].as_str().unwrap_or_default(), version["version"]);
    let mut bounds = agents::record::with_task_ids(record, version)
        .with_context(|| format!("the audited tasks differ from those of {reference}"))?;
    bounds["engine"] = json!(app::runs::ENGINE);
    client.call(Method::PUT, &format!("/benchmarks/{reference}/audit"), &[], Some(&bounds)).await?;
    Ok(())
}
