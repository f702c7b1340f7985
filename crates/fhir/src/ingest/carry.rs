//! Keeps the beginning of a piece of text that the end of the pushed bytes has cut in two.

use super::fault::Problem;

#[derive(Debug)]
pub(super) struct Carry {
    held: Vec<u8>,
    limit: usize,
}

impl Carry {
    pub(super) fn new(limit: usize) -> Self {
        Self { held: Vec::new(), limit }
    }

    pub(super) fn hold(&mut self, bytes: &[u8]) -> Result<(), Problem> {
        if self.held.len() + bytes.len() > self.limit {
            return Err(Problem::TooLarge(self.limit));
        }
        self.held.extend_from_slice(bytes);
        Ok(())
    }

    /// The whole piece, now that its end is there; nothing is copied if nothing was held.
    /// [`Carry::clear`] it after use.
    pub(super) fn complete<'a>(&'a mut self, end: &'a [u8]) -> Result<&'a [u8], Problem> {
        if self.held.is_empty() && end.len() <= self.limit {
            return Ok(end);
        }
        self.hold(end)?;
        Ok(&self.held)
    }

    pub(super) fn clear(&mut self) {
        self.held.clear();
    }
}
