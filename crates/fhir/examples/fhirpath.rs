//! Evaluates FHIRPath from lines of `{"file": …, "expression": …}` on standard input and writes what is found as lines of
//! JSON: for comparison with other engines by hand (docs/fhirpath.md). `--time` writes µs per evaluation instead.

use std::collections::HashMap;
use std::hint::black_box;
use std::io::{self, BufRead, Write};
use std::time::Instant;

use clinical::PartialDateTime;
use serde_json::{Value, json};
use verial_fhir::fhirpath::{Context, FhirPath};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let is_timed = std::env::args().any(|argument| argument == "--time");
    let now = PartialDateTime::parse_fhir("2026-11-16T02:00:00.000Z").ok_or("no time")?;
    let mut files: HashMap<String, Value> = HashMap::new();
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let case: Value = serde_json::from_str(&line?)?;
        let (Some(file), Some(expression)) = (case["file"].as_str(), case["expression"].as_str()) else {
            return Err("a line needs file and expression".into());
        };
        if !files.contains_key(file) {
            files.insert(file.to_owned(), serde_json::from_slice(&std::fs::read(file)?)?);
        }
        let resource = &files[file];
        let context = Context::at(now);
        let answer = match FhirPath::parse(expression) {
            Err(fault) => json!({ "refused": fault.to_string() }),
            Ok(path) if is_timed => {
                let start = Instant::now();
                for _ in 0..2_000 {
                    let _ = black_box(path.evaluate(black_box(resource), &context));
                }
                json!({ "expression": expression, "microseconds": start.elapsed().as_secs_f64() * 500.0 })
            }
            Ok(path) => match path.evaluate(resource, &context) {
                Err(fault) => json!({ "fault": fault.to_string() }),
                Ok(found) => {
                    let items = found.iter().map(|item| {
                        let info = item.type_info();
                        json!([format!("{}.{}", info.namespace, info.name), item.to_json()])
                    });
                    json!({ "items": items.collect::<Vec<_>>() })
                }
            },
        };
        writeln!(out, "{answer}")?;
    }
    Ok(())
}
