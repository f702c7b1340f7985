//! `quantifier`: how many of the selected values must satisfy the comparison.

use serde::Deserialize;

/// How many of the selected values must satisfy the comparison. The default depends on the path notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantifier {
    /// There is at least one value, and every value satisfies the comparison. The default of JSON paths and FHIRPath.
    All,
    /// At least one value satisfies the comparison.
    Any,
    /// The first selected value satisfies the comparison. The default of HL7 and X12 paths.
    First,
}

impl Quantifier {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Any => "any",
            Self::First => "first",
        }
    }
}
