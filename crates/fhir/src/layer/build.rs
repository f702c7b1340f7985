//! Makes a layer of a dataset's lines: first their order, then segment by segment text and values, then whole indexes.

use std::ops::Range;

use serde_json::Value;

use super::compose::compose;
use super::documents::{Documents, Segment, UNKNOWN};
use super::keys::Keys;
use super::lines::{self, ResourceLine};
use super::parameter::{Collector, Index, Part, indexed};
use super::{DocId, Layer, LayerError, Parameter, parallel};
use crate::definitions::SearchParameter;
use crate::search::{IndexedValue, extract_all};

/// What a segment's text should not exceed; one document always fits.
const SEGMENT_BYTES: usize = 16 * 1024 * 1024;

/// What `meta` may add to a document.
const META_BYTES: usize = 32;

pub(super) fn build<C: AsRef<[u8]> + Sync>(chunks: Vec<C>, threads: usize) -> Result<Layer, LayerError> {
    let lines = lines::sorted(&chunks, threads)?;
    u32::try_from(lines.len()).map_err(|_| LayerError::TooLarge)?;
    let keys = Keys::build(lines.iter().map(|line| (line.resource_type, &*line.id)))?;
    let parameters: Vec<_> = keys.types().map(|(resource_type, range)| (range, indexed(resource_type))).collect();
    let source = Source { chunks: &chunks, lines: &lines, keys: &keys, parameters: &parameters };
    let ranges = segments(&lines);
    let segments = parallel::each(ranges.len(), threads, |number| source.segment(ranges[number].clone()))?;
    drop((lines, chunks));
    let mut documents = Documents::default();
    let mut parts: Vec<Vec<Vec<Part>>> =
        parameters.iter().map(|(_, of_type)| of_type.iter().map(|_| Vec::new()).collect()).collect();
    for Read { segment, parts: of_segment } in segments {
        documents.append(segment);
        for (type_number, number, part) in of_segment {
            parts[type_number][number].push(part);
        }
    }
    let parameters = merge(&keys, &parameters, parts, threads)?;
    Ok(Layer { keys, documents, parameters })
}

/// Each type's documents and parameters, in the order of the types.
type Parameters = Vec<(Range<u32>, Vec<&'static SearchParameter>)>;

/// Cuts the lines into runs for one segment each.
fn segments(lines: &[ResourceLine]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut bytes = 0;
    for (at, line) in lines.iter().enumerate() {
        bytes += line.length + META_BYTES;
        match ranges.last_mut() {
            Some(last) if bytes <= SEGMENT_BYTES => last.end = at + 1,
            _ => {
                bytes = line.length + META_BYTES;
                ranges.push(at..at + 1);
            }
        }
    }
    ranges
}

fn merge(
    keys: &Keys,
    parameters: &Parameters,
    parts: Vec<Vec<Vec<Part>>>,
    threads: usize,
) -> Result<Vec<Parameter>, LayerError> {
    let mut jobs = Vec::new();
    for (((resource_type, range), (_, of_type)), parts) in keys.types().zip(parameters).zip(parts) {
        for (parameter, parts) in of_type.iter().zip(parts).filter(|(_, parts)| !parts.is_empty()) {
            jobs.push((resource_type, *parameter, range.clone(), std::sync::Mutex::new(parts)));
        }
    }
    parallel::each(jobs.len(), threads, |number| {
        let (resource_type, parameter, range, parts) = &jobs[number];
        // Taken, so that the parts are freed as soon as they are merged.
        let parts = std::mem::take(&mut *parts.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        let index = Index::merge(parameter.search_type(), parts, range.clone())?;
        Ok(Parameter { resource_type: *resource_type, code: parameter.code(), index })
    })
}

/// What the documents of one segment give.
#[derive(Default)]
struct Read {
    segment: Segment,
    /// By the numbers of type and parameter.
    parts: Vec<(usize, usize, Part)>,
}

struct Source<'a, C> {
    chunks: &'a [C],
    lines: &'a [ResourceLine],
    keys: &'a Keys,
    parameters: &'a Parameters,
}

impl<C: AsRef<[u8]>> Source<'_, C> {
    fn segment(&self, lines: Range<usize>) -> Result<Read, LayerError> {
        let mut read = Read::default();
        let mut text = Vec::new();
        let mut start = lines.start;
        while start < lines.end {
            let type_number = self.parameters.partition_point(|(range, _)| range.end as usize <= start);
            let end = lines.end.min(self.parameters[type_number].0.end as usize);
            self.of_type(type_number, start..end, &mut text, &mut read)?;
            start = end;
        }
        read.segment.text = String::from_utf8(text).map_err(|_| LayerError::Damaged("text that is no UTF-8"))?;
        Ok(read)
    }

    /// Reads lines of one type.
    fn of_type(
        &self,
        type_number: usize,
        lines: Range<usize>,
        text: &mut Vec<u8>,
        read: &mut Read,
    ) -> Result<(), LayerError> {
        let parameters = &self.parameters[type_number].1;
        let mut collectors: Vec<Collector> = parameters.iter().map(|_| Collector::default()).collect();
        for number in lines {
            let resource = self.resource(number)?;
            let found = extract_all(&resource);
            for (parameter, found) in &found {
                if let Ok(at) = parameters.binary_search_by_key(&parameter.code(), |it| it.code()) {
                    collectors[at].add(parameter.search_type(), found, DocId::new(number as u32), self.keys);
                }
            }
            read.segment.updates.push(last_updated(&found).map_or(UNKNOWN, |moment| moment as u64));
            self.write(number, &resource, text, &mut read.segment)?;
        }
        for (collector, number) in collectors.into_iter().zip(0..) {
            let part = collector.finish()?;
            if !part.is_empty() {
                read.parts.push((type_number, number, part));
            }
        }
        Ok(())
    }

    fn resource(&self, number: usize) -> Result<Value, LayerError> {
        let line = &self.lines[number];
        let text = &self.chunks[line.chunk].as_ref()[line.start..line.start + line.length];
        serde_json::from_slice(text).map_err(|error| self.fault(line, &error))
    }

    fn write(
        &self,
        number: usize,
        resource: &Value,
        text: &mut Vec<u8>,
        segment: &mut Segment,
    ) -> Result<(), LayerError> {
        let line = &self.lines[number];
        let members = resource.as_object().ok_or(LayerError::TooLarge)?;
        segment.splices.push(compose(members, text).map_err(|error| self.fault(line, &error))?);
        segment.ends.push(u32::try_from(text.len()).map_err(|_| LayerError::TooLarge)?);
        Ok(())
    }

    fn fault(&self, line: &ResourceLine, error: &serde_json::Error) -> LayerError {
        let before = &self.chunks[line.chunk].as_ref()[..line.start];
        let number = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        LayerError::Line { chunk: line.chunk, line: number, reason: error.to_string() }
    }
}

fn last_updated(found: &[(&SearchParameter, Vec<IndexedValue>)]) -> Option<i64> {
    let (_, moments) = found.iter().find(|(parameter, _)| parameter.code() == "_lastUpdated")?;
    moments.iter().find_map(|found| match found {
        IndexedValue::Date(span) => Some(span.first),
        _ => None,
    })
}
