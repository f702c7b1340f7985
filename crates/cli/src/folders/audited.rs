//! `verial benchmarks audit`.

use std::path::Path;
use std::time::Duration;

use agents::audit::Depth;
use authoring::source;
use clap::Args;
use model::slug::VersionRef;
use serde_json::Value;

use super::bounds::{self, How};
use super::verdict::Verdict;
use crate::audit::CommandAgent;
use crate::auth::Connection;
use crate::output::Form;
use crate::{block_on, exit};

#[derive(Args)]
pub(crate) struct Audit {
    #[command(flatten)]
    connection: Connection,
    /// The benchmark's folder, the slug of a bundled one, or slug@version of your own on the server
    #[arg(default_value = ".")]
    benchmark: String,
    /// Of slug@version: keep nothing on the server
    #[arg(long)]
    no_store: bool,
    /// The command of an agent that does the work, run by `sh -c` once per task; near misses of it are made on the way to
    /// the server
    #[arg(long, value_name = "COMMAND")]
    agent: Option<String>,
    /// Seconds for each agent; else until the task's deadline
    #[arg(long, value_name = "SECONDS", requires = "agent", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// Every near miss, every attack and every other way, not one in four
    #[arg(long)]
    full: bool,
}

impl Audit {
    /// Within the runtime, which tells of interruptions.
    fn how(&self) -> anyhow::Result<How> {
        let timeout = self.timeout.map(Duration::from_secs);
        let agent = self.agent.as_deref().map(|command| CommandAgent::new(command, timeout)).transpose()?;
        Ok(How { depth: if self.full { Depth::Full } else { How::default().depth }, agent })
    }
}

/// On a server of its own, which is gone afterwards. Of a version on the user's server, floor and ceiling are kept there.
pub(super) fn audit(arguments: &Audit, form: &Form) -> anyhow::Result<()> {
    let path = Path::new(&arguments.benchmark);
    if let (false, Ok(reference)) = (path.is_dir(), arguments.benchmark.parse::<VersionRef>()) {
        return audit_version(arguments, &reference, form);
    }
    let files = if path.is_dir() { source::directory(path)? } else { agents::bundled::files(&arguments.benchmark) };
    if files.is_empty() {
        let slugs = agents::bundled::slugs().join(", ");
        let words = format!(
            "`{}` is no folder, no slug@version, and no bundled benchmark: those are {slugs}",
            arguments.benchmark
        );
        return Err(exit::usage(words));
    }
    let folder = authoring::read(&files)?;
    let audit = block_on(async { bounds::audited(&folder, None, &arguments.how()?).await })?;
    show(&Verdict::of(&folder, audit), form)
}

fn audit_version(arguments: &Audit, reference: &VersionRef, form: &Form) -> anyhow::Result<()> {
    let client = arguments.connection.client()?;
    let verdict = block_on(async {
        let version: Value = client.get(&format!("/benchmarks/{reference}")).await?;
        let folder = authoring::pull(&client, &reference.slug).await?;
        let audit = bounds::audited(&folder, Some(&version), &arguments.how()?).await?;
        let verdict = Verdict::of(&folder, audit);
        if arguments.no_store { Ok(verdict) } else { verdict.keep(&client, &version).await }
    })?;
    show(&verdict, form)
}

fn show(verdict: &Verdict, form: &Form) -> anyhow::Result<()> {
    form.print(&verdict.summary(), |_| verdict.say())?;
    verdict.judged()
}
