//! The order of results.

use super::{Found, Sort};

/// What a resource is ordered by; equal keys are told apart by type and id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SortKey {}

impl Sort {
    /// The least (or, descending, the greatest) of what was found; resources without a value come last either way.
    pub fn key(&self, _found: &[Found]) -> Option<SortKey> {
        None
    }
}
