//! Validates every JSON file of a directory and says which fail, and how fast it went:
//! `cargo run --release -p verial-fhir --example validate -- DIRECTORY`.
#![allow(clippy::print_stdout, reason = "run by hand, to be read")]

use std::time::{Duration, Instant};

use clinical::PartialDateTime;
use serde_json::Value;
use verial_fhir::validate;
use verial_fhir::validate::{Profile, conformance, impossible_references};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args_os().nth(1).ok_or("usage: validate DIRECTORY")?;
    let mut files =
        std::fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    files.sort();
    let first = Instant::now();
    let _ = validate(&Value::Null).is_ok() || validate(&serde_json::json!({"resourceType": "Basic"})).is_ok();
    println!("tables read in {:?}", first.elapsed());
    let (mut valid, mut all, mut bytes, mut taken) = (0, 0, 0, Duration::ZERO);
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "json")) {
        let text = std::fs::read(file)?;
        let resource: Value = serde_json::from_slice(&text)?;
        if resource["resourceType"].is_null() {
            continue;
        }
        let start = Instant::now();
        let result = validate(&resource);
        taken += start.elapsed();
        (all, bytes) = (all + 1, bytes + text.len());
        match result {
            Ok(()) => {
                valid += 1;
                beyond(&file.file_name().unwrap_or_default().to_string_lossy(), &resource)?;
            }
            Err(faults) => {
                for fault in faults {
                    println!("{}: {}: {fault}", file.file_name().unwrap_or_default().display(), fault.kind);
                }
            }
        }
    }
    let rate = bytes as f64 / 1e6 / taken.as_secs_f64();
    println!("{valid} of {all} valid; {bytes} bytes in {taken:?}: {rate:.0} MB/s");
    Ok(())
}

/// Prints what is wrong with a resource beyond its structure: references, invariants, concepts, and known profiles.
fn beyond(file: &str, resource: &Value) -> Result<(), Box<dyn std::error::Error>> {
    let now = || PartialDateTime::parse_fhir("2026-01-01T00:00:00Z").ok_or("a time");
    for fault in impossible_references(resource) {
        println!("{file}: reference: {fault}");
    }
    let mut findings = conformance(resource, now()?);
    for canonical in resource["meta"]["profile"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if let Some(profile) = Profile::find(canonical) {
            findings.extend(profile.check(resource, now()?));
        }
    }
    for finding in findings.iter().filter(|finding| !finding.is_warning) {
        println!("{file}: {}: {}", finding.fault.kind, finding.fault);
    }
    Ok(())
}
