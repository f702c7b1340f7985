//! The floor: what HTTP alone costs, and what authentication, a read and a durable create add to it.
//!
//! `cargo run --release -p verial-bench --bin floor [-- DATABASE_URL]`

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context;
use app::{App, Clock, Limits};
use store::blobs::BlobUrl;
use store::{Blobs, DatabaseUrl, Store};
use tokio::net::TcpListener;
use verial_bench::{Load, Request, Table, median};

const ROUNDS: usize = 5;
const DURATION: Duration = Duration::from_secs(1);

fn main() -> anyhow::Result<()> {
    let directory = tempfile::tempdir()?;
    let database = match std::env::args().nth(1) {
        Some(url) => url.parse().map_err(anyhow::Error::msg)?,
        None => DatabaseUrl::Sqlite(directory.path().join("verial.db")),
    };
    let clock = Clock::system();
    let unlimited = Limits { requests_per_second: u32::MAX, request_burst: u32::MAX, ..Limits::default() };
    let store = Store::open(&database, clock.now())?;
    let blobs = Blobs::open(&BlobUrl::Directory(directory.path().join("blobs")))?;
    let app = App::new(store, blobs, clock, unlimited);
    // The server and the load each have a runtime of their own, as two programs would.
    let serving = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let (address, bare, key, path) = serving.block_on(start(app))?;
    let load = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    load.block_on(measure(address, bare, &key, &path))
}

async fn start(app: App) -> anyhow::Result<(SocketAddr, SocketAddr, String, String)> {
    let made = app::admin::create_organization(&app, "Bench").await?;
    let key = made.api_key.key;
    let grant = match app::credentials::authenticate(&app, &key).await? {
        app::Principal::Organization(grant) => grant,
        app::Principal::Solver(_) => anyhow::bail!("an organization key opened something else"),
    };
    let new = model::environment::NewEnvironment { name: "Read me".into(), description: None };
    let environment = app::environments::create(&app, &grant, None, new).await?.value;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(server::serve(listener, app, None, std::future::pending()));
    let bare = TcpListener::bind("127.0.0.1:0").await?;
    let bare_address = bare.local_addr()?;
    let answer = serde_json::to_string(&environment)?;
    let handler = axum::routing::get(move || async move { ([("content-type", "application/json")], answer.clone()) });
    tokio::spawn(async move { axum::serve(bare, axum::Router::new().route("/bare", handler)).await });
    Ok((address, bare_address, key, format!("/environments/{}", environment.id)))
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
            table.add(&format!("{connections} connections"), case, median(rates));
        }
    }
    table.print();
    Ok(())
}
