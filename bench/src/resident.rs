//! How much memory this process has and how much processor time it has used, as the kernel counts them.

use anyhow::Context;

/// `VmRSS`.
pub fn resident_kib() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS in /proc/self/status")?;
    let number = line.trim().trim_end_matches("kB").trim();
    Ok(number.parse()?)
}

/// The kernel counts hundredths of a second.
const MICROSECONDS_A_TICK: f64 = 10_000.0;

/// Processor time of all threads since the start.
pub(crate) fn cpu_microseconds() -> anyhow::Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let after_name = stat.rsplit_once(')').context("no name in /proc/self/stat")?.1;
    let ticks = after_name.split_whitespace().skip(11).take(2).map(str::parse::<f64>).sum::<Result<f64, _>>()?;
    Ok(ticks * MICROSECONDS_A_TICK)
}
