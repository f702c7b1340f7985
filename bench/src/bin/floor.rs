//! The floor: what HTTP alone costs, and what authentication, a read and a durable create add to it.
//!
//! `cargo run --release -p verial-bench --bin floor [-- DATABASE_URL]`

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context;
use verial_bench::{Load, Rate, Request, Stage, Table, bare};

const ROUNDS: usize = 5;
const DURATION: Duration = Duration::from_secs(1);

fn main() -> anyhow::Result<()> {
    let database = std::env::args().nth(1).map(|url| url.parse().map_err(anyhow::Error::msg)).transpose()?;
    // The server and the load each have a runtime of their own, as two programs would.
    let serving = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let stage = serving.block_on(Stage::open(database))?;
    let (address, bare, path) = serving.block_on(start(&stage))?;
    let load = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    load.block_on(measure(address, bare, &stage.key, &path))
}

async fn start(stage: &Stage) -> anyhow::Result<(SocketAddr, SocketAddr, String)> {
    let new = model::environment::NewEnvironment { name: "Read me".into(), description: None };
    let environment = app::environments::create(&stage.app, &stage.grant, None, new).await?.value;
    let bare = bare(serde_json::to_string(&environment)?).await?;
    Ok((stage.serve().await?, bare, format!("/environments/{}", environment.id)))
}

async fn measure(address: SocketAddr, bare: SocketAddr, key: &str, path: &str) -> anyhow::Result<()> {
    let cases = [
        ("bare handler, same bytes", bare, Request::get("/bare", None)),
        ("no database: /healthz", address, Request::get("/healthz", None)),
        ("authenticated read", address, Request::get(path, Some(key))),
        ("durable create", address, Request::post("/environments", key, r#"{"name":"Made by the bench"}"#)),
    ];
    let mut table = Table::default();
    for connections in [1, 64] {
        let mut rates = vec![Vec::new(); cases.len()];
        // Rounds take turns, so that a slow moment of the machine hits all cases alike.
        for _ in 0..ROUNDS {
            for (rates, (case, address, request)) in rates.iter_mut().zip(&cases) {
                let load = Load { address: *address, connections, duration: DURATION };
                rates.push(load.run(request).await.with_context(|| format!("{case} at {connections}"))?);
            }
        }
        for (rates, (case, _, _)) in rates.into_iter().zip(&cases) {
            table.add(&format!("{connections} connections"), case, Rate::median(&rates));
        }
    }
    table.print();
    Ok(())
}
