//! Whether a playground costs the same over a hundred records and over a million, and how much memory a thousand take.
//!
//! `cargo run --release -p verial-bench --bin playgrounds [-- --quick]`

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::time::Instant;

use model::EnvironmentId;
use verial_bench::{Grid, Stage, Ward, grouped, median, percentile, resident_kib};

/// How much of everything.
struct Scale {
    sizes: Vec<usize>,
    rounds: usize,
    cold_rounds: usize,
    shared_base: usize,
    playgrounds: usize,
}

impl Scale {
    fn full() -> Self {
        Self {
            sizes: vec![100, 10_000, 1_000_000],
            rounds: 200,
            cold_rounds: 3,
            shared_base: 10_000,
            playgrounds: 1000,
        }
    }

    fn quick() -> Self {
        Self { sizes: vec![100, 1000, 10_000], rounds: 5, cold_rounds: 1, shared_base: 1000, playgrounds: 20 }
    }
}

fn main() -> anyhow::Result<()> {
    let is_quick = std::env::args().any(|argument| argument == "--quick");
    let scale = if is_quick { Scale::quick() } else { Scale::full() };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    // First, while the allocator has no freed memory of large layers to give out again.
    runtime.block_on(many(&scale))?;
    runtime.block_on(over_sizes(&scale))
}

async fn over_sizes(scale: &Scale) -> anyhow::Result<()> {
    let mut stage = Stage::open(None).await?;
    let mut head: Vec<String> = scale.sizes.iter().map(|&size| grouped(size as u64)).collect();
    head.push("last/first".to_owned());
    let mut grid = Grid::new(head);
    let environments = prepare(&mut stage, scale, &mut grid).await?;
    cold_reads(&mut stage, scale, &environments, &mut grid).await?;
    cycles(&stage, scale, &environments, &mut grid).await?;
    grid.print();
    Ok(())
}

/// Uploads, and reads for the first time, which builds the layer and keeps it.
async fn prepare(stage: &mut Stage, scale: &Scale, grid: &mut Grid) -> anyhow::Result<Vec<EnvironmentId>> {
    let mut environments = Vec::new();
    let (mut uploads, mut builds, mut memory, mut layers) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    memory.push((resident_kib()?, 0));
    for &size in &scale.sizes {
        let begun = Instant::now();
        let dataset = stage.upload(Ward::of(size)).await?;
        uploads.push(size as f64 / begun.elapsed().as_secs_f64());
        let environment = stage.environment(&dataset).await?;
        let uploaded = resident_kib()?;
        let (_, sandbox) = stage.provision(&environment).await?;
        let begun = Instant::now();
        stage.read(&sandbox, "Patient/p0").await?;
        builds.push(size as f64 / begun.elapsed().as_secs_f64());
        layers.push(stage.app.loaded_layers().1);
        memory.push((uploaded, resident_kib()?));
        environments.push(environment);
    }
    grid.add("upload, resources/s", cells(&uploads, 0));
    grid.add("first read ever: layer built and kept, resources/s", cells(&builds, 0));
    grid.add("layers in memory, MiB (this and smaller ones)", mebibytes(&layers, 1024 * 1024));
    let resident = |pick: fn(&(u64, u64)) -> u64| memory[1..].iter().map(pick).collect::<Vec<u64>>();
    grid.add("resident before anything, MiB", mebibytes(&[memory[0].0], 1024));
    grid.add("resident after the upload, MiB", mebibytes(&resident(|pair| pair.0), 1024));
    grid.add("resident after the build, MiB", mebibytes(&resident(|pair| pair.1), 1024));
    Ok(environments)
}

/// The first read of a new process: the layer is read from its blobs.
async fn cold_reads(
    stage: &mut Stage,
    scale: &Scale,
    environments: &[EnvironmentId],
    grid: &mut Grid,
) -> anyhow::Result<()> {
    let mut times = vec![Vec::new(); environments.len()];
    let mut resident = vec![0; environments.len()];
    for _ in 0..scale.cold_rounds {
        stage.restart();
        for (place, environment) in environments.iter().enumerate() {
            let (_, sandbox) = stage.provision(environment).await?;
            times[place].push(milliseconds(stage.read(&sandbox, "Patient/p0")).await?);
            resident[place] = resident_kib()?;
        }
    }
    grid.add("cold first read: layer loaded, ms", cells(&medians(times), 1));
    grid.add("resident after the load, MiB", mebibytes(&resident, 1024));
    Ok(())
}

/// Provision, read, write, reset, read, tear down. Sizes take turns, so that a slow moment of the machine hits all alike.
async fn cycles(stage: &Stage, scale: &Scale, environments: &[EnvironmentId], grid: &mut Grid) -> anyhow::Result<()> {
    const STEPS: [&str; 5] =
        ["provision", "first read, layer in memory", "reset after 3 writes", "read after reset", "teardown"];
    let mut times = vec![vec![Vec::new(); environments.len()]; STEPS.len()];
    for _ in 0..scale.rounds {
        for (place, environment) in environments.iter().enumerate() {
            let begun = Instant::now();
            let (playground, sandbox) = stage.provision(environment).await?;
            times[0][place].push(begun.elapsed().as_secs_f64() * 1e3);
            times[1][place].push(milliseconds(stage.read(&sandbox, "Patient/p0")).await?);
            for _ in 0..3 {
                stage.write(&sandbox).await?;
            }
            times[2][place].push(milliseconds(stage.reset(&playground)).await?);
            times[3][place].push(milliseconds(stage.read(&sandbox, "Patient/p0")).await?);
            times[4][place].push(milliseconds(stage.tear_down(&playground)).await?);
        }
    }
    for (step, times) in STEPS.iter().zip(times) {
        let high: Vec<f64> = times.iter().map(|times| percentile(times.clone(), 95)).collect();
        grid.add(&format!("{step}, median of {}, ms", scale.rounds), with_ratio(&medians(times)));
        grid.add(&format!("{step}, 95 of 100 below, ms"), with_ratio(&high));
    }
    let made = grouped((scale.rounds * environments.len()) as u64);
    grid.add(&format!("resident after {made} playgrounds, MiB"), mebibytes(&[resident_kib()?], 1024));
    Ok(())
}

/// A thousand playgrounds over one base.
async fn many(scale: &Scale) -> anyhow::Result<()> {
    let stage = Stage::open(None).await?;
    let environment = stage.environment(&stage.upload(Ward::of(scale.shared_base)).await?).await?;
    // What is allocated once is not a playground's.
    for _ in 0..scale.playgrounds / 20 {
        let (playground, sandbox) = stage.provision(&environment).await?;
        touch(&stage, &sandbox).await?;
        stage.tear_down(&playground).await?;
    }
    let base = resident_kib()?;
    let mut sandboxes = Vec::new();
    for _ in 0..scale.playgrounds {
        sandboxes.push(stage.provision(&environment).await?.1);
    }
    let provisioned = resident_kib()?;
    for sandbox in &sandboxes {
        touch(&stage, sandbox).await?;
    }
    let touched = resident_kib()?;
    stage.app.sweep_memory();
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    let idle = resident_kib()?;
    let of =
        format!("{} playgrounds, base of {}", grouped(scale.playgrounds as u64), grouped(scale.shared_base as u64));
    let mut grid = Grid::new(vec!["MiB".into(), "KiB each".into()]);
    for (step, now) in
        [("base alone", base), ("provisioned", provisioned), ("one read, one write", touched), ("idle", idle)]
    {
        let each = now.saturating_sub(base) as f64 / scale.playgrounds as f64;
        grid.add(&format!("{of}: {step}"), vec![format!("{:.1}", now as f64 / 1024.0), format!("{each:.1}")]);
    }
    grid.print();
    println!();
    Ok(())
}

async fn touch(stage: &Stage, sandbox: &model::SandboxId) -> anyhow::Result<()> {
    stage.read(sandbox, "Patient/p0").await?;
    stage.write(sandbox).await
}

async fn milliseconds(work: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<f64> {
    let begun = Instant::now();
    work.await?;
    Ok(begun.elapsed().as_secs_f64() * 1e3)
}

fn medians(times: Vec<Vec<f64>>) -> Vec<f64> {
    times.into_iter().map(median).collect()
}

fn cells(values: &[f64], digits: usize) -> Vec<String> {
    values.iter().map(|value| format!("{value:.digits$}")).collect()
}

fn with_ratio(values: &[f64]) -> Vec<String> {
    let (first, last) = (values.first().copied().unwrap_or(1.0), values.last().copied().unwrap_or(1.0));
    let mut cells = cells(values, 3);
    cells.push(format!("{:.2}", last / first));
    cells
}

fn mebibytes(values: &[u64], unit: u64) -> Vec<String> {
    values.iter().map(|&value| format!("{:.1}", value as f64 / unit as f64)).collect()
}
