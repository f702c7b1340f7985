//! Reads a dataset of FHIR resources, NDJSON or one Bundle, from bytes that arrive in any pieces, in bounded memory.

mod bundle;
mod carry;
mod fault;
mod ledger;
mod lines;
mod mark;
mod members;
mod scan;
mod seen;
mod skeleton;
mod text;

use std::collections::BTreeMap;

use crate::resource_type::ResourceType;
use bundle::BundleReader;
use fault::Problem;
pub use fault::{IngestError, IngestFault, InputLocation};
use ledger::Ledger;
use lines::LineReader;
use mark::ByteOrderMark;

/// How the resources of a dataset are written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One resource a line, ended by LF or CRLF; blank lines are skipped.
    Ndjson,
    /// One JSON object, a Bundle of any type, whose entries each hold a resource.
    Bundle,
}

/// What one dataset may cost; the most that is held in memory is a few times `resource_bytes`, and 36 bytes a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes of one line, one Bundle entry or one other member of a Bundle.
    pub resource_bytes: usize,
    /// The nesting of arrays and objects at which a resource is refused, counted as serde_json does: with the default
    /// of 128 a resource may hold 127 levels, the most that serde_json reads back.
    pub depth: usize,
    /// The most resources of one dataset.
    pub resources: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { resource_bytes: 10 * 1024 * 1024, depth: 128, resources: 1_000_000 }
    }
}

/// One resource of a dataset that has passed every check of the ingest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resource<'a> {
    pub resource_type: ResourceType,
    pub id: &'a str,
    /// The JSON of the resource on one line, as it was written: it loses the white space around it and, if it spans
    /// lines, the white space between its tokens, but no digit, escape, order or unknown member.
    pub line: &'a [u8],
}

/// What a whole dataset holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    pub counts: BTreeMap<&'static str, u64>,
    pub resources: u64,
    /// The length of the dataset as it was pushed.
    pub bytes: u64,
}

/// A push parser of one dataset.
///
/// Resources reach the sink as they are completed, before the rest of the dataset is known to be good: what the sink
/// has been given counts only once [`Ingest::finish`] has returned the summary.
#[derive(Debug)]
pub struct Ingest {
    mark: ByteOrderMark,
    reader: Reader,
    ledger: Ledger,
    bytes: u64,
    stopped: Option<IngestFault>,
}

#[derive(Debug)]
enum Reader {
    Lines(LineReader),
    Bundle(BundleReader),
}

impl Ingest {
    pub fn new(format: Format, limits: Limits) -> Self {
        let reader = match format {
            Format::Ndjson => Reader::Lines(LineReader::new(&limits)),
            Format::Bundle => Reader::Bundle(BundleReader::new(&limits)),
        };
        let mark = ByteOrderMark::default();
        Self { mark, reader, ledger: Ledger::new(limits), bytes: 0, stopped: None }
    }

    /// Feeds bytes, however they are split, and calls `sink` for each resource that they complete, in order.
    ///
    /// The first error ends the ingest: every later call returns a fault.
    pub fn push<E>(
        &mut self,
        bytes: &[u8],
        sink: &mut impl FnMut(Resource<'_>) -> Result<(), E>,
    ) -> Result<(), IngestError<E>> {
        if let Some(fault) = &self.stopped {
            return Err(IngestError::Fault(fault.clone()));
        }
        self.bytes += bytes.len() as u64;
        let (replayed, rest) = self.mark.strip(bytes);
        let result = self.read(replayed, sink).and_then(|()| self.read(rest, sink));
        self.stopped = result.as_ref().err().map(|error| match error {
            IngestError::Fault(fault) => fault.clone(),
            IngestError::Sink(_) => Problem::Stopped.at(InputLocation::Document),
        });
        result
    }

    /// Ends the input: a last line without LF is read, a Bundle that is not complete is a fault.
    pub fn finish<E>(
        mut self,
        sink: &mut impl FnMut(Resource<'_>) -> Result<(), E>,
    ) -> Result<Summary, IngestError<E>> {
        if let Some(fault) = self.stopped {
            return Err(IngestError::Fault(fault));
        }
        let unfinished_mark = self.mark.unfinished();
        self.read(unfinished_mark, sink)?;
        match &mut self.reader {
            Reader::Lines(lines) => lines.finish(&mut |place, text| self.ledger.accept(place, text, sink))?,
            Reader::Bundle(bundle) => bundle.finish()?,
        }
        Ok(self.ledger.into_summary(self.bytes))
    }

    fn read<E>(
        &mut self,
        bytes: &[u8],
        sink: &mut impl FnMut(Resource<'_>) -> Result<(), E>,
    ) -> Result<(), IngestError<E>> {
        let ledger = &mut self.ledger;
        let mut accept = |place, text: &str| ledger.accept(place, text, sink);
        match &mut self.reader {
            Reader::Lines(lines) => lines.push(bytes, &mut accept),
            Reader::Bundle(bundle) => bundle.push(bytes, &mut accept),
        }
    }
}
