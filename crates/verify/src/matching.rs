//! `match`: which of several candidates the fields are compared with.

use serde::Deserialize;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Match {
    /// The first in the check's order.
    First,
    /// The best-scoring one.
    #[default]
    Any,
    /// All of them. The score is the mean.
    All,
}

impl Match {
    /// The default of checks whose order identifies the right candidate.
    pub(crate) fn first() -> Self {
        Self::First
    }
}
