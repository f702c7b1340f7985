//! The official examples of R4, and what becomes of them when they are damaged.
#![expect(clippy::unwrap_used, reason = "a test may panic, also in the functions that its tests share")]

mod damage;

use serde_json::Value;
use verial_fhir::validate;

/// Some of the examples of the npm package `hl7.fhir.r4.examples` 4.0.1 (CC0), by name.
fn examples() -> Vec<(String, Value)> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/examples");
    let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut examples: Vec<_> = files
        .map(|file| {
            let text = std::fs::read_to_string(&file).unwrap();
            (file.file_stem().unwrap().display().to_string(), serde_json::from_str(&text).unwrap())
        })
        .collect();
    examples.sort_by(|left: &(String, Value), right| left.0.cmp(&right.0));
    examples
}

#[test]
fn official_examples_are_valid() {
    let examples = examples();
    assert!(examples.len() >= 60);
    for (name, resource) in examples {
        assert_eq!(validate(&resource), Ok(()), "{name}");
    }
}
