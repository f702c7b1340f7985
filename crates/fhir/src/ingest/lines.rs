//! Cuts NDJSON into its lines.

use super::carry::Carry;
use super::fault::{IngestError, InputLocation};
use super::scan::find;
use super::{Limits, text};

#[derive(Debug)]
pub(super) struct LineReader {
    carry: Carry,
    lines: u64,
}

impl LineReader {
    pub(super) fn new(limits: &Limits) -> Self {
        Self { carry: Carry::new(limits.resource_bytes), lines: 0 }
    }

    pub(super) fn push<E>(
        &mut self,
        mut bytes: &[u8],
        accept: &mut impl FnMut(InputLocation, &str) -> Result<(), IngestError<E>>,
    ) -> Result<(), IngestError<E>> {
        while let Some(end) = find([b'\n'], bytes) {
            self.line(&bytes[..end], accept)?;
            bytes = &bytes[end + 1..];
        }
        let place = InputLocation::Line(self.lines + 1);
        self.carry.hold(bytes).map_err(|problem| problem.at(place).into())
    }

    /// Reads the last line, which no LF has ended.
    pub(super) fn finish<E>(
        &mut self,
        accept: &mut impl FnMut(InputLocation, &str) -> Result<(), IngestError<E>>,
    ) -> Result<(), IngestError<E>> {
        self.line(&[], accept)
    }

    fn line<E>(
        &mut self,
        end: &[u8],
        accept: &mut impl FnMut(InputLocation, &str) -> Result<(), IngestError<E>>,
    ) -> Result<(), IngestError<E>> {
        self.lines += 1;
        let place = InputLocation::Line(self.lines);
        let line = self.carry.complete(end).map_err(|problem| problem.at(place))?;
        let resource = text::utf8(line).map_err(|problem| problem.at(place))?.trim_matches(text::WHITE_SPACE);
        if !resource.is_empty() {
            accept(place, resource)?;
        }
        self.carry.clear();
        Ok(())
    }
}
