//! `verial benchmarks audit`: audits a benchmark folder or a published version.

use std::path::Path;
use std::time::Duration;

use agents::audit::Depth;
use authoring::source;
use clap::Args;
use model::slug::VersionRef;
use serde_json::Value;

use super::audit_report::AuditReport;
use super::bounds::{self, AuditOptions};
use crate::audit::CommandAgent;
use crate::auth::Connection;
use crate::output::OutputFormat;
use crate::{block_on, exit};

#[derive(Args)]
pub(crate) struct Audit {
    #[command(flatten)]
    connection: Connection,
    /// The benchmark folder, the slug of a bundled one, or slug@version of your own on the server
    #[arg(default_value = ".")]
    benchmark: String,
    /// With slug@version: store nothing on the server
    #[arg(long)]
    no_store: bool,
    /// The command of an agent that does the work, run by `sh -c` once per task; its requests are mutated into near misses
    /// on the way to the server
    #[arg(long, value_name = "COMMAND")]
    agent: Option<String>,
    /// Time limit for each agent in seconds; default: the task's deadline
    #[arg(long, value_name = "SECONDS", requires = "agent", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// Try all near misses, attacks and equivalent solutions instead of one in four
    #[arg(long)]
    full: bool,
}

impl Audit {
    /// Must be called inside of the async runtime, which listens for signals.
    fn options(&self) -> anyhow::Result<AuditOptions> {
        let timeout = self.timeout.map(Duration::from_secs);
        let agent = self.agent.as_deref().map(|command| CommandAgent::new(command, timeout)).transpose()?;
        Ok(AuditOptions { depth: if self.full { Depth::Full } else { AuditOptions::default().depth }, agent })
    }
}

/// Audits on a temporary local server. For a version on the user's server, floor and ceiling are stored there.
pub(super) fn audit(arguments: &Audit, format: &OutputFormat) -> anyhow::Result<()> {
    let path = Path::new(&arguments.benchmark);
    if let (false, Ok(reference)) = (path.is_dir(), arguments.benchmark.parse::<VersionRef>()) {
        return audit_version(arguments, &reference, format);
    }
    let files =
        if path.is_dir() { source::read_directory(path)? } else { agents::bundled::files(&arguments.benchmark) };
    if files.is_empty() {
        let slugs = agents::bundled::slugs().join(", ");
        let message = format!(
            "`{}` is not a folder, a slug@version or a bundled benchmark; bundled are {slugs}",
            arguments.benchmark
        );
        return Err(exit::usage(message));
    }
    let folder = authoring::read(&files)?;
    let audit = block_on(async { bounds::run_audit(&folder, None, &arguments.options()?).await })?;
    print_report(&AuditReport::new(&folder, audit), format)
}

fn audit_version(arguments: &Audit, reference: &VersionRef, format: &OutputFormat) -> anyhow::Result<()> {
    let client = arguments.connection.client()?;
    let report = block_on(async {
        let version: Value = client.get(&format!("/benchmarks/{reference}")).await?;
        let folder = authoring::pull(&client, &reference.slug).await?;
        let audit = bounds::run_audit(&folder, Some(&version), &arguments.options()?).await?;
        let report = AuditReport::new(&folder, audit);
        if arguments.no_store { Ok(report) } else { report.store(&client, &version).await }
    })?;
    print_report(&report, format)
}

fn print_report(report: &AuditReport, format: &OutputFormat) -> anyhow::Result<()> {
    format.print(&report.summary(), |_| report.print())?;
    report.result()
}
