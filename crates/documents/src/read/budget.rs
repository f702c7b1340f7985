//! How much one reading may cost, counted in what is done and not in time: the same file always gives the same answer.

use std::cell::Cell;

use crate::fault::Fault;

pub(crate) const LARGEST_FILE: usize = 64 << 20;
/// About the bytes and elements that may be looked at: a second or two at the worst.
pub(crate) const STEPS: u64 = 400_000_000;
/// All streams together, unpacked.
const MOST_UNPACKED: usize = 128 << 20;
/// One stream, unpacked: this much is in memory at a time.
pub(crate) const LARGEST_STREAM: usize = 32 << 20;
/// Of the text that is found.
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

    pub(crate) fn spend(&self, steps: usize) -> Result<(), Fault> {
        let left = self.steps.get().checked_sub(steps as u64);
        self.steps.set(left.unwrap_or(0));
        left.map(drop).ok_or(Fault::TooLarge("there is too much to look at"))
    }

    /// How much the next stream may be at most.
    pub(crate) fn room(&self) -> usize {
        self.unpacked.get().min(LARGEST_STREAM)
    }

    /// How much may still be unpacked in all.
    pub(crate) fn room_for_all(&self) -> usize {
        self.unpacked.get()
    }

    pub(crate) fn unpack(&self, bytes: usize) -> Result<(), Fault> {
        let left = self.unpacked.get().checked_sub(bytes);
        self.unpacked.set(left.unwrap_or(0));
        left.map(drop).ok_or(Fault::TooLarge("its streams unpack to too much"))
    }

    pub(crate) fn say(&self, bytes: usize) -> Result<(), Fault> {
        let left = self.text.get().checked_sub(bytes);
        self.text.set(left.unwrap_or(0));
        left.map(drop).ok_or(Fault::TooLarge("it has too much text"))
    }
}
