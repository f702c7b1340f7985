//! How much memory this process has, as the kernel counts it.

use anyhow::Context;

/// `VmRSS`.
pub fn resident_kib() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS in /proc/self/status")?;
    let number = line.trim().trim_end_matches("kB").trim();
    Ok(number.parse()?)
}
