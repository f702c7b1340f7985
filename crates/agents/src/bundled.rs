//! The bundled benchmarks, embedded in the binary as files.

use std::collections::BTreeMap;

include!(concat!(env!("OUT_DIR"), "/bundled.rs"));

/// The slugs of the bundled benchmarks, sorted.
pub fn slugs() -> Vec<&'static str> {
    let mut slugs: Vec<&str> = FILES.iter().filter_map(|(path, _)| path.strip_suffix("/benchmark.yaml")).collect();
    slugs.sort_unstable();
    slugs
}

/// The audit record of a bundled benchmark, from `audits.json`. A test keeps it up to date.
pub fn audit(slug: &str) -> Option<serde_json::Value> {
    let (_, text) = FILES.iter().find(|(path, _)| *path == "audits.json")?;
    let mut all: serde_json::Value = serde_json::from_slice(text).ok()?;
    all.get_mut(slug).map(serde_json::Value::take)
}

/// The files of a bundled benchmark by their paths in its folder. Empty if there is no such benchmark.
pub fn files(slug: &str) -> BTreeMap<String, Vec<u8>> {
    let inside = FILES.iter().filter_map(|(path, bytes)| {
        let rest = path.strip_prefix(slug)?.strip_prefix('/')?;
        Some((rest.to_owned(), bytes.to_vec()))
    });
    inside.collect()
}
