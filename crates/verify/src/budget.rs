//! Limits the work of evaluating one assertion. It counts steps instead of time, so that the score is deterministic.

use std::cell::Cell;

/// Approximately the number of bytes and elements that may be examined. Takes seconds in the worst case.
const STEPS: u64 = 500_000_000;

pub(crate) struct Budget {
    /// None once the budget was exceeded. Then all further calls fail.
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

    /// Fails if the budget is exceeded.
    pub(crate) fn spend(&self, steps: usize) -> Result<(), String> {
        let steps = u64::try_from(steps).unwrap_or(u64::MAX);
        let left = self.left.get().and_then(|left| left.checked_sub(steps));
        self.left.set(left);
        left.map(|_| ())
            .ok_or_else(|| "the evaluation exceeds its budget: there is too much data to examine".to_owned())
    }
}
