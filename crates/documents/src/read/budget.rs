//! Limits the work of reading one file. It counts steps instead of time, so that results are deterministic.

use std::cell::Cell;

use crate::error::DocumentError;

pub(crate) const MAX_FILE_SIZE: usize = 64 << 20;
/// Approximately the number of bytes and elements that may be examined. Takes up to two seconds.
pub(crate) const STEPS: u64 = 400_000_000;
/// The decoded size of all streams.
const MOST_UNPACKED: usize = 128 << 20;
/// The decoded size of one stream, which is in memory at a time.
pub(crate) const LARGEST_STREAM: usize = 32 << 20;
/// The size of the extracted text.
const LONGEST_TEXT: usize = 8 << 20;

pub(crate) struct Budget {
    steps: Cell<u64>,
    unpacked: Cell<usize>,
    text: Cell<usize>,
}

impl Budget {
    pub(crate) fn new() -> Self {
        Self { steps: Cell::new(STEPS), unpacked: Cell::new(MOST_UNPACKED), text: Cell::new(LONGEST_TEXT) }
    }

    pub(crate) fn left(&self) -> u64 {
        self.steps.get()
    }

    pub(crate) fn spend(&self, steps: usize) -> Result<(), DocumentError> {
        let left = self.steps.get().checked_sub(steps as u64);
        self.steps.set(left.unwrap_or(0));
        left.map(drop).ok_or(DocumentError::TooLarge("there is too much to look at"))
    }

    /// The maximum decoded size of the next stream.
    pub(crate) fn room(&self) -> usize {
        self.unpacked.get().min(LARGEST_STREAM)
    }

    /// The remaining total of decoded bytes.
    pub(crate) fn room_for_all(&self) -> usize {
        self.unpacked.get()
    }

    pub(crate) fn unpack(&self, bytes: usize) -> Result<(), DocumentError> {
        let left = self.unpacked.get().checked_sub(bytes);
        self.unpacked.set(left.unwrap_or(0));
        left.map(drop).ok_or(DocumentError::TooLarge("its streams unpack to too much"))
    }

    pub(crate) fn say(&self, bytes: usize) -> Result<(), DocumentError> {
        let left = self.text.get().checked_sub(bytes);
        self.text.set(left.unwrap_or(0));
        left.map(drop).ok_or(DocumentError::TooLarge("it has too much text"))
    }
}
