//! Resources a second that the population generator makes, on one thread and on two.
//!
//! `cargo run --release -p verial-bench --bin population [-- PATIENTS]`

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::time::Instant;

use population::{Population, Spec};

fn main() -> anyhow::Result<()> {
    let patients: u64 = std::env::args().nth(1).map_or(Ok(1000), |text| text.parse())?;
    let population = &Population::new(1, Spec::default())?;
    println!("{:<10} {:>12} {:>12} {:>14} {:>10}", "threads", "patients", "resources", "resources/s", "MB/s");
    for threads in [1, 2] {
        let begun = Instant::now();
        let counts = std::thread::scope(|scope| {
            let part = |first: u64| {
                scope.spawn(move || (first..patients).step_by(threads as usize).map(|i| size(population, i)).collect())
            };
            let running: Vec<std::thread::ScopedJoinHandle<'_, Vec<(u64, u64)>>> = (0..threads).map(part).collect();
            running.into_iter().flat_map(|part| part.join().unwrap_or_default()).collect::<Vec<_>>()
        });
        let seconds = begun.elapsed().as_secs_f64();
        let (resources, bytes) = counts.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let (rate, megabytes) = (resources as f64 / seconds, bytes as f64 / 1e6 / seconds);
        println!("{threads:<10} {patients:>12} {resources:>12} {rate:>14.0} {megabytes:>10.1}");
    }
    Ok(())
}

/// Resources and bytes of a chart.
fn size(population: &Population, index: u64) -> (u64, u64) {
    let text = population.lines(index);
    (text.lines().count() as u64, text.len() as u64)
}
