//! What the FHIR server costs over HTTP alone: read, search, create and transaction as ratios to a bare handler.
//!
//! `cargo run --release -p verial-bench --bin fhir [-- --quick] [-- --only read,search]`

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::Context;
use bytes::Bytes;
use fhir::layer::Layer;
use futures_util::TryStreamExt;
use model::EnvironmentId;
use serde_json::json;
use verial_bench::{Load, Rate, Request, Stage, Table, Ward, bare, grouped};

const ENTRIES: usize = 20;

struct Scale {
    ward: Ward,
    rounds: usize,
    duration: Duration,
}

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let ward = Ward { patients: 1000, encounters: 9, observations: 100 };
    let scale = if arguments.iter().any(|argument| argument == "--quick") {
        Scale { ward: Ward { patients: 10, ..ward }, rounds: 1, duration: Duration::from_millis(200) }
    } else {
        Scale { ward, rounds: 11, duration: Duration::from_millis(500) }
    };
    // One case alone, again and again, for a profiler.
    let only = arguments.iter().position(|argument| argument == "--only").and_then(|at| arguments.get(at + 1));
    // The server and the load each have a runtime of their own, as two programs would.
    let serving = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let load = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    if only.is_none() {
        load.block_on(index(&scale))?;
    }
    let stage = serving.block_on(Stage::open(None))?;
    let environment = serving.block_on(prepare(&stage, scale.ward))?;
    let address = serving.block_on(stage.serve())?;
    let read = format!("Observation/{}", Ward::observation_id(scale.ward.patients / 2, 7));
    let answer = serving.block_on(stage.text(&environment, &read))?;
    let bare = serving.block_on(bare(answer))?;
    let run = Run { stage: &stage, environment, address, bare, read, only: only.map(String::as_str) };
    for connections in [1, 32] {
        load.block_on(run.measure(&scale, connections))?.print();
    }
    Ok(())
}

async fn prepare(stage: &Stage, ward: Ward) -> anyhow::Result<EnvironmentId> {
    let dataset = stage.upload(ward).await?;
    stage.environment(&dataset).await
}

/// Index build alone, from NDJSON in memory, and the way back from its kept form.
async fn index(scale: &Scale) -> anyhow::Result<()> {
    let lines: Vec<Bytes> = scale.ward.lines::<anyhow::Error>().try_collect().await?;
    let resources = scale.ward.resources() as f64;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    for threads in [1, threads] {
        let begun = Instant::now();
        let layer = Layer::build(lines.clone(), threads)?;
        let built = begun.elapsed();
        let index = layer.encode_index();
        let segments: Vec<Vec<u8>> = layer.segments().map(<[u8]>::to_vec).collect();
        let bytes: usize = lines.iter().map(Bytes::len).sum();
        let begun = Instant::now();
        let decoded = Layer::decode(&index, segments)?;
        println!(
            "index of {} resources ({:.0} bytes each), {threads} threads: built {} resources/s; kept form {:.1} MiB; \
             loaded {} resources/s",
            grouped(decoded.len() as u64),
            bytes as f64 / resources,
            grouped((resources / built.as_secs_f64()) as u64),
            index.len() as f64 / 1024.0 / 1024.0,
            grouped((resources / begun.elapsed().as_secs_f64()) as u64),
        );
    }
    Ok(())
}

struct Run<'a> {
    stage: &'a Stage,
    environment: EnvironmentId,
    address: SocketAddr,
    bare: SocketAddr,
    read: String,
    only: Option<&'a str>,
}

impl Run<'_> {
    async fn measure(&self, scale: &Scale, connections: usize) -> anyhow::Result<Table> {
        let mut rates: Vec<(&str, Vec<Rate>)> = Vec::new();
        // Rounds take turns, so that a slow moment of the machine hits all cases alike. Each has a playground of its own:
        // what an earlier one wrote does not slow it down.
        for _ in 0..scale.rounds {
            for (place, (case, address, request)) in self.cases().await?.into_iter().enumerate() {
                let load = Load { address, connections, duration: scale.duration };
                let rate = load.run(&request).await.with_context(|| format!("{case} at {connections}"))?;
                match rates.get_mut(place) {
                    Some((_, rates)) => rates.push(rate),
                    None => rates.push((case, vec![rate])),
                }
            }
        }
        let mut table = Table::default();
        for (case, rates) in rates {
            table.add(&format!("{connections} connections"), case, Rate::median(&rates));
        }
        Ok(table)
    }

    async fn cases(&self) -> anyhow::Result<Vec<(&'static str, SocketAddr, Request)>> {
        let mut bases = Vec::new();
        for _ in 0..4 {
            let (_, sandbox) = self.stage.provision(&self.environment).await?;
            self.stage.read(&sandbox, &self.read).await?;
            bases.push(format!("/sandboxes/{sandbox}/fhir"));
        }
        let key = &self.stage.key;
        let get = |base: &str, path: &str| Request::get(&format!("{base}/{path}"), Some(key));
        let search = format!("Observation?{}", Ward::three_hits(9).replace('|', "%7C"));
        let cases = vec![
            ("bare handler, same bytes", self.bare, Request::get("/bare", None)),
            ("read", self.address, get(&bases[0], &self.read)),
            ("search, 3 hits", self.address, get(&bases[1], &search)),
            ("create", self.address, Request::post(&format!("{}/Observation", bases[2]), key, Ward::new_observation())),
            ("transaction of 20", self.address, Request::post_ok(&bases[3], key, &transaction())),
        ];
        let wanted = |case: &&str| self.only.is_none_or(|only| only.split(',').any(|only| case.starts_with(only)));
        Ok(cases.into_iter().filter(|(case, _, _)| wanted(case)).collect())
    }
}

fn transaction() -> String {
    let resource: serde_json::Value = serde_json::from_str(Ward::new_observation()).unwrap_or_default();
    let entry = json!({"resource": resource, "request": {"method": "POST", "url": "Observation"}});
    json!({"resourceType": "Bundle", "type": "transaction", "entry": vec![entry; ENTRIES]}).to_string()
}
