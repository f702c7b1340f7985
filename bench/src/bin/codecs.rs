//! The codecs against libraries of others and against a plain scan of the same bytes, as ratios to ours.
//!
//! `cargo run --release -p verial-bench --bin codecs [-- PYTHON]`, where PYTHON has `tools/python-requirements.txt`
//! (`./test` makes `.test/venv/bin/python`).

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::path::PathBuf;

use verial_bench::codecs::{Figure, hl7};

fn main() -> anyhow::Result<()> {
    let python = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".test/venv/bin/python".into()));
    print("HL7 v2", &hl7::figures(&python)?);
    Ok(())
}

fn print(codec: &str, figures: &[Figure]) {
    let Some(ours) = figures.first() else { return };
    println!("{codec:<42} {:>14} {:>10} {:>12}", "messages/s", "MB/s", "ours is ×");
    for Figure { name, messages_per_second, megabytes_per_second } in figures {
        let ratio = ours.messages_per_second / messages_per_second;
        println!("{name:<42} {messages_per_second:>14.0} {megabytes_per_second:>10.1} {ratio:>12.2}");
    }
}
