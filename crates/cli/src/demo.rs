//! `verial demo`: starts a server with the bundled benchmarks, runs the reference agent on one, and keeps serving.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::Context;
use clap::Args;

use crate::local_server::{LocalServer, load_benchmarks};
use crate::output::{eprint, print};
use crate::{block_on, exit};

#[derive(Args)]
pub(crate) struct DemoArgs {
    /// The data directory
    #[arg(long, value_name = "DIR", default_value = "verial-data")]
    data: PathBuf,
    /// Address of the server; port 0 uses a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// The bundled benchmark to run the reference agent on
    #[arg(long, value_name = "SLUG", default_value = "fax-referral")]
    benchmark: String,
    /// Exit after the scorecard
    #[arg(long)]
    once: bool,
}

pub(crate) fn run(arguments: &DemoArgs) -> anyhow::Result<()> {
    let slugs = agents::bundled::slugs();
    if !slugs.contains(&arguments.benchmark.as_str()) {
        return Err(exit::usage(format!("the bundled benchmarks are {}", slugs.join(", "))));
    }
    block_on(async {
        let local = LocalServer::start(Some(&arguments.data), arguments.listen).await?;
        eprint(format_args!("Verial listens on {}", local.url));
        load_benchmarks(&local.client()?, None, |slug| eprint(format_args!("  loading {slug}"))).await?;
        let result = run_reference_agent(&local, arguments).await;
        if result.is_ok() && !arguments.once {
            print(format_args!("\nThe server stays up until you press Ctrl-C."));
            print(format_args!("  API       {}/docs", local.url));
            print(format_args!("  key       {}   (for this session)", local.api_key));
            print(format_args!("  data      {}", local.data.display()));
            let newest = newest(&local, &arguments.benchmark).await?;
            print(format_args!(
                "\nYour own agent:\n  export VERIAL_URL={}\n  export VERIAL_API_KEY={}\n  verial run {}@{newest} --agent './your-agent'",
                local.url, local.api_key, arguments.benchmark
            ));
            tokio::signal::ctrl_c().await?;
        }
        local.stop().await;
        result
    })
}

/// Starts `verial run` with the reference agent.
async fn run_reference_agent(local: &LocalServer, arguments: &DemoArgs) -> anyhow::Result<()> {
    let benchmark = &arguments.benchmark;
    let binary = std::env::current_exe().context("cannot find this program")?;
    let agent = format!("'{}' reference-agent", binary.display().to_string().replace('\'', "'\\''"));
    let newest = newest(local, benchmark).await?;
    eprint(format_args!("\nverial run {benchmark}@{newest} --agent 'verial reference-agent'\n"));
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

/// The newest version of a benchmark.
async fn newest(local: &LocalServer, slug: &str) -> anyhow::Result<u64> {
    let all = local.client()?.list_all("/benchmarks", &[]).await?;
    let version = all.iter().find(|one| one["slug"] == slug).and_then(|one| one["version"].as_u64());
    version.with_context(|| format!("{slug} is not published"))
}

/// An unused journal path: the demo may run more than once on the same data.
fn free_journal(data: &Path) -> PathBuf {
    let names = (1..).map(|number| data.join(format!("demo/{number}.json")));
    names.into_iter().find(|path| !path.exists()).unwrap_or_else(|| data.join("demo/run.json"))
}
