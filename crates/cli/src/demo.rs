//! `verial demo`: a server with the bundled benchmarks, the reference agent through one of them, and then the server stays.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::Context;
use clap::Args;

use crate::local::{Local, load_benchmarks};
use crate::output::{say, tell};
use crate::{block_on, exit};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Where the data stays
    #[arg(long, value_name = "DIR", default_value = "verial-data")]
    data: PathBuf,
    /// Where the server listens; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// The bundled benchmark that the reference agent is taken through
    #[arg(long, value_name = "SLUG", default_value = "fax-referral")]
    benchmark: String,
    /// End after the scorecard
    #[arg(long)]
    once: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let slugs = agents::bundled::slugs();
    if !slugs.contains(&arguments.benchmark.as_str()) {
        return Err(exit::usage(format!("the bundled benchmarks are {}", slugs.join(", "))));
    }
    block_on(async {
        let local = Local::start(Some(&arguments.data), arguments.listen).await?;
        tell(format_args!("Verial listens on {}", local.url));
        load_benchmarks(&local.client()?, None, |slug| tell(format_args!("  loading {slug}"))).await?;
        let told = show(&local, arguments).await;
        if told.is_ok() && !arguments.once {
            say(format_args!("\nThe server stays up until you press Ctrl-C."));
            say(format_args!("  API       {}/docs", local.url));
            say(format_args!("  key       {}   (of this session)", local.api_key));
            say(format_args!("  data      {}", local.data.display()));
            let newest = newest(&local, &arguments.benchmark).await?;
            say(format_args!(
                "\nYour own agent:\n  export VERIAL_URL={}\n  export VERIAL_API_KEY={}\n  verial run {}@{newest} --agent './your-agent'",
                local.url, local.api_key, arguments.benchmark
            ));
            tokio::signal::ctrl_c().await?;
        }
        local.stop().await;
        told
    })
}

/// The same command that a user would give.
async fn show(local: &Local, arguments: &Arguments) -> anyhow::Result<()> {
    let benchmark = &arguments.benchmark;
    let binary = std::env::current_exe().context("where this program is")?;
    let agent = format!("'{}' reference-agent", binary.display().to_string().replace('\'', "'\\''"));
    let newest = newest(local, benchmark).await?;
    tell(format_args!("\nverial run {benchmark}@{newest} --agent 'verial reference-agent'\n"));
    let mut command = std::process::Command::new(&binary);
    command
        .args([
            "run",
            &format!("{benchmark}@{newest}"),
            "--agent",
            &agent,
            "--agent-name",
            "reference",
            "--parallel",
            "4",
        ])
        .arg("--journal")
        .arg(free_journal(&local.data))
        .args(arguments.once.then_some("--server-ends"))
        .env("VERIAL_URL", &local.url)
        .env("VERIAL_API_KEY", &local.api_key)
        .env_remove("VERIAL_SOLVER_KEY")
        .stdin(Stdio::null());
    let status = tokio::task::spawn_blocking(move || command.status()).await??;
    if status.success() { Ok(()) } else { Err(exit::infrastructure(format!("the run ended with {status}"))) }
}

async fn newest(local: &Local, slug: &str) -> anyhow::Result<u64> {
    let all = local.client()?.all("/benchmarks", &[]).await?;
    let version = all.iter().find(|one| one["slug"] == slug).and_then(|one| one["version"].as_u64());
    version.with_context(|| format!("{slug} is not published"))
}

/// The demo may be shown more than once on the same data.
fn free_journal(data: &Path) -> PathBuf {
    let names = (1..).map(|number| data.join(format!("demo/{number}.json")));
    names.into_iter().find(|path| !path.exists()).unwrap_or_else(|| data.join("demo/run.json"))
}
