//! The bundled benchmarks, as files inside the binary.

use std::collections::BTreeMap;

include!(concat!(env!("OUT_DIR"), "/bundled.rs"));

/// The slugs, in order.
pub fn slugs() -> Vec<&'static str> {
    let mut slugs: Vec<&str> = FILES.iter().filter_map(|(path, _)| path.strip_suffix("/benchmark.yaml")).collect();
    slugs.sort_unstable();
    slugs
}

/// The files of one, by their paths in its folder; none when there is no such benchmark.
pub fn files(slug: &str) -> BTreeMap<String, Vec<u8>> {
    let inside = FILES.iter().filter_map(|(path, bytes)| {
        let rest = path.strip_prefix(slug)?.strip_prefix('/')?;
        Some((rest.to_owned(), bytes.to_vec()))
    });
    inside.collect()
}
