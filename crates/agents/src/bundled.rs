//! The bundled benchmarks, as files inside the binary.

use std::collections::BTreeMap;

include!(concat!(env!("OUT_DIR"), "/bundled.rs"));

/// The slugs, in order.
pub fn slugs() -> Vec<&'static str> {
    let mut slugs: Vec<&str> = FILES.iter().filter_map(|(path, _)| path.strip_suffix("/benchmark.yaml")).collect();
    slugs.sort_unstable();
    slugs
}

/// What the audit of one has found, as a version keeps it; a test holds it true.
pub fn audit(slug: &str) -> Option<serde_json::Value> {
    let (_, text) = FILES.iter().find(|(path, _)| *path == "audits.json")?;
    let mut all: serde_json::Value = serde_json::from_slice(text).ok()?;
    all.get_mut(slug).map(serde_json::Value::take)
}

/// The files of one, by their paths in its folder; none when there is no such benchmark.
pub fn files(slug: &str) -> BTreeMap<String, Vec<u8>> {
    let inside = FILES.iter().filter_map(|(path, bytes)| {
        let rest = path.strip_prefix(slug)?.strip_prefix('/')?;
        Some((rest.to_owned(), bytes.to_vec()))
    });
    inside.collect()
}
