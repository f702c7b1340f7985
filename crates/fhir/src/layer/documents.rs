//! The text of the documents, in segments, and what is needed to show it as of a playground's beginning.

use std::borrow::Cow;
use std::ops::Range;

use super::codec::{Reader, Writer, checksum};
use super::{DocId, LayerError};

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Documents {
    pub(super) segments: Vec<String>,
    /// The number of the first document of each segment.
    pub(super) firsts: Vec<u32>,
    /// Where each document ends in its segment.
    pub(super) ends: Vec<u32>,
    /// Where in the document's own text `,"lastUpdated":…` is missing; 0 if it is not.
    pub(super) splices: Vec<u32>,
    /// Milliseconds since 1970, as bits of an `i64`; [`UNKNOWN`] if the document does not say.
    pub(super) updates: Vec<u64>,
}

pub(super) const UNKNOWN: u64 = i64::MIN as u64;

impl Documents {
    /// The document as it was written, with `baseline` for the `meta.lastUpdated` that it lacks.
    pub(super) fn text(&self, doc: DocId, baseline: &str) -> Cow<'_, str> {
        let written = self.written(doc);
        let splice = self.splices.get(doc.index()).copied().unwrap_or_default() as usize;
        match written.split_at_checked(splice) {
            Some((before, after)) if splice > 0 => {
                Cow::Owned([before, ",\"lastUpdated\":\"", baseline, "\"", after].concat())
            }
            _ => Cow::Borrowed(written),
        }
    }

    pub(super) fn written(&self, doc: DocId) -> &str {
        let segment = self.firsts.partition_point(|first| *first <= doc.number()).saturating_sub(1);
        let text = self.segments.get(segment).map_or("", String::as_str);
        text.get(self.place(segment, doc.index())).unwrap_or_default()
    }

    pub(super) fn last_updated(&self, doc: DocId) -> Option<i64> {
        self.updates.get(doc.index()).filter(|bits| **bits != UNKNOWN).map(|bits| *bits as i64)
    }

    /// Empty for a document that there is not.
    fn place(&self, segment: usize, doc: usize) -> Range<usize> {
        let is_first = self.firsts.get(segment).is_none_or(|first| *first as usize == doc);
        let before = if is_first { None } else { doc.checked_sub(1) };
        let end = |doc: usize| self.ends.get(doc).copied().unwrap_or_default() as usize;
        before.map_or(0, end)..end(doc)
    }

    /// Adds the documents of the next segment.
    pub(super) fn append(&mut self, segment: Segment) {
        self.firsts.push(self.ends.len() as u32);
        self.ends.extend(segment.ends);
        self.splices.extend(segment.splices);
        self.updates.extend(segment.updates);
        self.segments.push(segment.text);
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.segments.iter().map(String::len).sum::<usize>() + self.ends.len() * 16
    }

    pub(super) fn encode(&self, writer: &mut Writer) {
        writer.u64s(&self.segments.iter().map(|text| checksum(text.as_bytes())).collect::<Vec<_>>());
        writer.u32s(&self.firsts);
        writer.u32s(&self.ends);
        writer.u32s(&self.splices);
        writer.u64s(&self.updates);
    }

    pub(super) fn decode(reader: &mut Reader<'_>, segments: Vec<Vec<u8>>) -> Result<Self, LayerError> {
        if !reader.u64s()?.into_iter().eq(segments.iter().map(|text| checksum(text))) {
            return Err(LayerError::Damaged("its segments are not those of the index"));
        }
        let texts = segments.into_iter().map(String::from_utf8).collect::<Result<_, _>>();
        let documents = Self {
            segments: texts.map_err(|_| LayerError::Damaged("a segment that is no UTF-8"))?,
            firsts: reader.u32s()?,
            ends: reader.u32s()?,
            splices: reader.u32s()?,
            updates: reader.u64s()?,
        };
        documents.is_sound().then_some(documents).ok_or(LayerError::Damaged("the table of its documents"))
    }

    fn is_sound(&self) -> bool {
        let count = self.ends.len();
        let is_ordered = self.firsts.is_sorted_by(|left, right| left < right);
        let covers = self.firsts.first().is_none_or(|first| *first == 0) && self.firsts.is_empty() == (count == 0);
        let lengths = [self.splices.len(), self.updates.len()];
        is_ordered
            && covers
            && self.firsts.last().is_none_or(|last| (*last as usize) < count)
            && self.firsts.len() == self.segments.len()
            && lengths == [count; 2]
            && (0..self.segments.len()).all(|segment| self.is_segment_sound(segment))
    }

    fn is_segment_sound(&self, segment: usize) -> bool {
        let first = self.firsts[segment] as usize;
        let after = self.firsts.get(segment + 1).map_or(self.ends.len(), |next| *next as usize);
        let text = &self.segments[segment];
        let ends = &self.ends[first..after];
        ends.is_sorted()
            && ends.iter().all(|end| text.is_char_boundary(*end as usize))
            && ends.last().is_some_and(|end| *end as usize == text.len())
    }
}

/// Some consecutive documents.
#[derive(Debug, Default)]
pub(super) struct Segment {
    pub(super) text: String,
    pub(super) ends: Vec<u32>,
    pub(super) splices: Vec<u32>,
    pub(super) updates: Vec<u64>,
}
