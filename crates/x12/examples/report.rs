//! Checks X12 files and prints the acknowledgments of faulty ones:
//! `cargo run -p verial-x12 --example report -- FILE…`. With `--samples DIRECTORY` it writes the samples of the tests and our 999 for each, to test another implementation.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a manual tool, where a panic shows where it stopped")]

#[path = "../tests/codec/samples.rs"]
#[allow(dead_code, reason = "shared with the tests")]
mod samples;

use std::path::Path;

use verial_x12::check::Report;
use verial_x12::draft::Lines;
use verial_x12::{Delimiters, Limits, check, parse, parse_bytes};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, directory] = arguments.as_slice()
        && flag == "--samples"
    {
        return write_samples(Path::new(directory));
    }
    let (mut parsed, mut clean) = (0, 0);
    for path in &arguments {
        let bytes = std::fs::read(path).unwrap();
        match parse_bytes(&bytes, &Limits::default()) {
            Err(error) => println!("{path}: {error}"),
            Ok(body) => {
                parsed += 1;
                assert_eq!(body.to_string().as_bytes(), bytes, "{path} does not print back");
                let reports = check(&body);
                clean += usize::from(reports.iter().all(Report::is_clean));
                for report in reports.iter().filter(|report| !report.is_clean()) {
                    println!("{path}: {}", acknowledgment(report));
                }
            }
        }
    }
    println!("{} files, {parsed} parsed and printed back, {clean} clean", arguments.len());
}

fn write_samples(directory: &Path) {
    for (sample, number) in samples::ALL.iter().zip(0..) {
        let name = format!("{number}-{}", sample.set);
        let text = sample.text();
        std::fs::write(directory.join(format!("{name}.txt")), &text).unwrap();
        let faulty = text.replacen("HL*1**20*1", "HL*1**20*9", 1).replacen("N4*", "ZZZ*", 1);
        for (text, suffix) in [(text.as_str(), "accepts"), (faulty.as_str(), "rejects")] {
            let body = parse(text, &Limits::default()).unwrap();
            let written = acknowledgment(&check(&body)[0]);
            std::fs::write(directory.join(format!("{name}-999-{suffix}.txt")), written).unwrap();
        }
    }
}

/// TA1 and 999, one segment per line.
fn acknowledgment(report: &Report) -> String {
    report.acknowledgment_interchange(&samples::envelope(), 1).write(Delimiters::USUAL, Lines::PerSegment).unwrap()
}
