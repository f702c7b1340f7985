//! Whole rollouts over HTTP: a run, its task started, ten FHIR calls, completed with ten criteria. How many a second,
//! how long start and complete take, what a thousand at once hold in memory, and that the size of the data does not count.
//!
//! `cargo run --release -p verial-bench --bin rollouts [-- --quick]`

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use verial_bench::{Grid, Rollouts, Stage, Ward, grouped, median, percentile, resident_kib};

const AGENTS: [usize; 2] = [1, 32];
const CALLS: usize = 10;
const CRITERIA: usize = 10;
const MANY_CRITERIA: usize = 20;

struct Scale {
    duration: Duration,
    active: usize,
    sizes: Vec<usize>,
    completes: usize,
}

fn main() -> anyhow::Result<()> {
    let scale = if std::env::args().any(|argument| argument == "--quick") {
        Scale { duration: Duration::from_millis(500), active: 20, sizes: vec![100, 1000], completes: 5 }
    } else {
        Scale { duration: Duration::from_secs(10), active: 1000, sizes: vec![100, 1_000_000], completes: 51 }
    };
    let serving = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let load = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let stage = serving.block_on(Stage::open(None))?;
    let address = serving.block_on(stage.serve())?;
    let small = serving.block_on(Rollouts::prepare(&stage, address, Ward::of(10_000), CRITERIA))?;
    load.block_on(active_at_once(&small, &scale))?;
    load.block_on(rates(small, &scale))?;
    let mut of_sizes = Vec::new();
    for &size in &scale.sizes {
        of_sizes.push(serving.block_on(Rollouts::prepare(&stage, address, Ward::of(size), MANY_CRITERIA))?);
    }
    load.block_on(over_sizes(&of_sizes, &scale))
}

/// Agents that begin the next rollout as soon as one is done.
async fn rates(rollouts: Rollouts, scale: &Scale) -> anyhow::Result<()> {
    let rollouts = Arc::new(rollouts);
    let mut grid = Grid::new(AGENTS.iter().map(|agents| format!("{agents} agents")).collect());
    let (mut rates, mut starts, mut completes) = (Vec::new(), Vec::new(), Vec::new());
    for agents in AGENTS {
        let (begun, end) = (Instant::now(), Instant::now() + scale.duration);
        let working: Vec<_> = (0..agents).map(|_| tokio::spawn(work_until(Arc::clone(&rollouts), end))).collect();
        let mut times = Vec::new();
        for agent in working {
            times.extend(agent.await??);
        }
        rates.push(times.len() as f64 / begun.elapsed().as_secs_f64());
        starts.push(times.iter().map(|time| time.start).collect::<Vec<f64>>());
        completes.push(times.iter().map(|time| time.complete).collect::<Vec<f64>>());
    }
    println!(
        "\nRollouts: create, start, {CALLS} FHIR calls, complete with {CRITERIA} criteria; 10 000 resources below\n"
    );
    grid.add("rollouts a second", rates.iter().map(|rate| format!("{rate:.0}")).collect());
    grid.add("rollouts an hour", rates.iter().map(|rate| grouped((rate * 3600.0) as u64)).collect());
    for (name, times) in [("start", &starts), ("complete", &completes)] {
        let of = |percent: usize| times.iter().map(|all| format!("{:.1}", percentile(all.clone(), percent))).collect();
        grid.add(&format!("{name}, median, ms"), of(50));
        grid.add(&format!("{name}, 95 of 100 below, ms"), of(95));
    }
    grid.print();
    Ok(())
}

struct Times {
    start: f64,
    complete: f64,
}

async fn work_until(rollouts: Arc<Rollouts>, end: Instant) -> anyhow::Result<Vec<Times>> {
    let mut agent = rollouts.agent().await?;
    let mut times = Vec::new();
    while Instant::now() < end {
        let run = agent.create(&rollouts).await?;
        let begun = Instant::now();
        agent.start(&run).await?;
        let start = milliseconds(begun);
        agent.work(&run, CALLS).await?;
        let begun = Instant::now();
        agent.complete(&run).await?;
        times.push(Times { start, complete: milliseconds(begun) });
    }
    Ok(times)
}

/// Started, worked in, and not completed yet.
async fn active_at_once(rollouts: &Rollouts, scale: &Scale) -> anyhow::Result<()> {
    let mut agent = rollouts.agent().await?;
    // What is allocated once is not a rollout's.
    for _ in 0..scale.active / 20 {
        let run = agent.create(rollouts).await?;
        agent.start(&run).await?;
        agent.work(&run, CALLS).await?;
        agent.complete(&run).await?;
    }
    let before = resident_kib()?;
    let mut runs = Vec::new();
    for _ in 0..scale.active {
        let run = agent.create(rollouts).await?;
        agent.start(&run).await?;
        agent.work(&run, CALLS).await?;
        runs.push(run);
    }
    let active = resident_kib()?;
    for run in &runs {
        agent.complete(run).await?;
    }
    let (count, after) = (grouped(scale.active as u64), resident_kib()?);
    let each = active.saturating_sub(before) as f64 / scale.active as f64;
    println!(
        "{count} rollouts active at once: resident {} MiB before, {} MiB with them ({each:.1} KiB each), {} MiB after",
        before / 1024,
        active / 1024,
        after / 1024
    );
    Ok(())
}

/// Sizes take turns, so that a slow moment of the machine hits all alike.
async fn over_sizes(of_sizes: &[Rollouts], scale: &Scale) -> anyhow::Result<()> {
    let mut times = vec![(Vec::new(), Vec::new()); of_sizes.len()];
    for round in 0..=scale.completes {
        for (rollouts, (starts, completes)) in of_sizes.iter().zip(&mut times) {
            let mut agent = rollouts.agent().await?;
            let run = agent.create(rollouts).await?;
            let begun = Instant::now();
            agent.start(&run).await?;
            let start = milliseconds(begun);
            agent.work(&run, CALLS).await?;
            let begun = Instant::now();
            agent.complete(&run).await?;
            // The first one builds the layer.
            if round > 0 {
                starts.push(start);
                completes.push(milliseconds(begun));
            }
        }
    }
    println!("\nOne task at a time, {MANY_CRITERIA} criteria\n");
    let mut head: Vec<String> = scale.sizes.iter().map(|&size| grouped(size as u64)).collect();
    head.push("last/first".to_owned());
    let mut grid = Grid::new(head);
    let (starts, completes): (Vec<Vec<f64>>, Vec<Vec<f64>>) = times.into_iter().unzip();
    for (name, times) in [("start", starts), ("complete", completes)] {
        let medians: Vec<f64> = times.into_iter().map(median).collect();
        let mut cells: Vec<String> = medians.iter().map(|time| format!("{time:.2}")).collect();
        let (first, last) = (medians.first().copied().unwrap_or(1.0), medians.last().copied().unwrap_or(1.0));
        cells.push(format!("{:.2}", last / first));
        grid.add(&format!("{name}, median of {}, ms", scale.completes), cells);
    }
    grid.print();
    Ok(())
}

fn milliseconds(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1e3
}
