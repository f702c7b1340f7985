//! The codecs against libraries of others and against a plain scan of the same bytes, as ratios to ours.
//!
//! `cargo run --release -p verial-bench --bin codecs [-- PYTHON [PYTHON]]`, where the first has
//! `tools/python-requirements.txt` and the second `tools/clients/x12/requirements.txt` (`./test` makes
//! `.test/venv/bin/python` and `.test/x12-venv/bin/python`).

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::path::PathBuf;

use verial_bench::codecs::{Figure, hl7, x12};

fn main() -> anyhow::Result<()> {
    let python = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".test/venv/bin/python".into()));
    let of_x12 = PathBuf::from(std::env::args().nth(2).unwrap_or_else(|| ".test/x12-venv/bin/python".into()));
    print("HL7 v2", &hl7::figures(&python)?);
    print("X12", &x12::figures(&of_x12)?);
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
