//! What the codec makes of files, by hand: `cargo run -p verial-x12 --example report -- FILE…`, and with
//! `--samples DIRECTORY` the samples of the tests and our 999 for them, for another implementation to read.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a tool for people, who see where it stopped")]

#[path = "../tests/codec/samples.rs"]
#[allow(dead_code, reason = "shared with the tests")]
mod samples;

use std::path::Path;

use verial_x12::check::Report;
use verial_x12::draft::Lines;
use verial_x12::{Delimiters, Limits, check, parse, parse_bytes};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, directory] = words.as_slice()
        && flag == "--samples"
    {
        return write_samples(Path::new(directory));
    }
    let (mut read, mut clean) = (0, 0);
    for word in &words {
        let bytes = std::fs::read(word).unwrap();
        match parse_bytes(&bytes, &Limits::default()) {
            Err(error) => println!("{word}: {error}"),
            Ok(body) => {
                read += 1;
                assert_eq!(body.to_string().as_bytes(), bytes, "{word} does not print back");
                let reports = check(&body);
                clean += usize::from(reports.iter().all(Report::is_clean));
                for report in reports.iter().filter(|report| !report.is_clean()) {
                    println!("{word}: {}", answer(report));
                }
            }
        }
    }
    println!("{} files, {read} read and printed back, {clean} clean", words.len());
}

fn write_samples(directory: &Path) {
    for (sample, number) in samples::ALL.iter().zip(0..) {
        let name = format!("{number}-{}", sample.set);
        let text = sample.text();
        std::fs::write(directory.join(format!("{name}.txt")), &text).unwrap();
        let faulty = text.replacen("HL*1**20*1", "HL*1**20*9", 1).replacen("N4*", "ZZZ*", 1);
        for (text, kind) in [(text.as_str(), "accepts"), (faulty.as_str(), "rejects")] {
            let body = parse(text, &Limits::default()).unwrap();
            let said = answer(&check(&body)[0]);
            std::fs::write(directory.join(format!("{name}-999-{kind}.txt")), said).unwrap();
        }
    }
}

/// TA1 and 999 as lines.
fn answer(report: &Report) -> String {
    report.answer(&samples::envelope(), 1).write(Delimiters::USUAL, Lines::PerSegment).unwrap()
}
