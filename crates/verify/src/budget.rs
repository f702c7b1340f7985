//! How much work one assertion may cost, counted in steps and not in time: the same state always scores the same.

use std::cell::Cell;

/// About the bytes and elements that may be looked at: seconds at the worst.
const STEPS: u64 = 500_000_000;

pub(crate) struct Budget {
    /// None once it was exceeded: from then on nothing can be told any more.
    left: Cell<Option<u64>>,
}

impl Budget {
    pub(crate) fn new() -> Self {
        Self { left: Cell::new(Some(STEPS)) }
    }

    #[cfg(test)]
    pub(crate) fn of(steps: u64) -> Self {
        Self { left: Cell::new(Some(steps)) }
    }

    /// The fault says that the assertion fails for it.
    pub(crate) fn spend(&self, steps: usize) -> Result<(), String> {
        let steps = u64::try_from(steps).unwrap_or(u64::MAX);
        let left = self.left.get().and_then(|left| left.checked_sub(steps));
        self.left.set(left);
        left.map(|_| ()).ok_or_else(|| "the evaluation exceeds its budget: there is too much to look at".to_owned())
    }
}
