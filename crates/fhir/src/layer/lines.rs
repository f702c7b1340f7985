//! The location of each resource in the chunks of a dataset.

use std::borrow::Cow;

use serde::Deserialize;

use super::{LayerError, parallel};
use crate::ResourceType;

/// The location of a resource that has not been parsed yet.
#[derive(Debug)]
pub(super) struct ResourceLine {
    pub(super) resource_type: ResourceType,
    pub(super) id: Box<str>,
    pub(super) chunk: usize,
    pub(super) start: usize,
    pub(super) length: usize,
}

#[derive(Deserialize)]
struct Identity<'a> {
    #[serde(borrow, rename = "resourceType")]
    resource_type: Cow<'a, str>,
    #[serde(borrow)]
    id: Cow<'a, str>,
}

/// All lines that are not blank, ordered by type and id.
pub(super) fn sorted<C: AsRef<[u8]> + Sync>(chunks: &[C], threads: usize) -> Result<Vec<ResourceLine>, LayerError> {
    let read = |chunk: usize| lines(chunk, chunks[chunk].as_ref());
    let mut lines: Vec<ResourceLine> = parallel::each(chunks.len(), threads, read)?.into_iter().flatten().collect();
    lines.sort_unstable_by(|left, right| key(left).cmp(&key(right)));
    match lines.windows(2).find(|pair| key(&pair[0]) == key(&pair[1])) {
        Some(pair) => Err(LayerError::Duplicate(format!("{}/{}", pair[0].resource_type, pair[0].id))),
        None => Ok(lines),
    }
}

fn key(line: &ResourceLine) -> (ResourceType, &str) {
    (line.resource_type, &line.id)
}

fn lines(chunk: usize, bytes: &[u8]) -> Result<Vec<ResourceLine>, LayerError> {
    let mut lines = Vec::new();
    let mut start = 0;
    for (text, number) in bytes.split(|byte| *byte == b'\n').zip(1..) {
        if !text.trim_ascii().is_empty() {
            let fault = |reason: String| LayerError::Line { chunk, line: number, reason };
            let identity: Identity<'_> = serde_json::from_slice(text).map_err(|error| fault(error.to_string()))?;
            let resource_type = identity.resource_type.parse().map_err(|error| fault(format!("{error}")))?;
            lines.push(ResourceLine { resource_type, id: identity.id.into(), chunk, start, length: text.len() });
        }
        start += text.len() + 1;
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_and_sorted() {
        let chunks =
            ["{\"id\":\"2\",\"resourceType\":\"Patient\"}\r\n\n", "{\"resourceType\":\"Group\",\"id\":\"\\u0031\"}"];
        let lines = sorted(&chunks, 2).unwrap();
        assert_eq!([key(&lines[0]).1, key(&lines[1]).1], ["1", "2"]);
        assert!(chunks[1][lines[0].start..].starts_with('{') && lines[0].length == chunks[1].len());
    }

    #[test]
    fn bad_lines_are_named() {
        for line in ["{", "[]", "{\"id\":\"1\"}", "{\"id\":\"1\",\"resourceType\":\"Pateint\"}"] {
            let error = sorted(&["", &format!("\n{line}\n")], 1).unwrap_err();
            assert!(matches!(error, LayerError::Line { chunk: 1, line: 2, .. }), "{error}");
        }
        let line = "{\"id\":\"1\",\"resourceType\":\"Patient\"}";
        assert_eq!(sorted(&[line, line], 1).unwrap_err(), LayerError::Duplicate("Patient/1".to_owned()));
    }
}
