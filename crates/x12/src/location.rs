//! Locations in a body, numbered as in X12: from 1, and segments from their ST.

use std::fmt;

/// Where in a body a segment or element is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct X12Location {
    pub interchange: usize,
    pub group: Option<usize>,
    pub transaction: Option<usize>,
    /// Position in the transaction, where the ST is 1; outside of transactions, position in the interchange, where the
    /// ISA is 1.
    pub segment: Option<usize>,
    pub element: Option<usize>,
}

impl X12Location {
    pub fn interchange(number: usize) -> Self {
        Self { interchange: number, ..Self::default() }
    }
}

impl fmt::Display for X12Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "interchange {}", self.interchange)?;
        let rest = [
            ("group", self.group),
            ("transaction", self.transaction),
            ("segment", self.segment),
            ("element", self.element),
        ];
        for (unit, number) in rest {
            if let Some(number) = number {
                write!(f, ", {unit} {number}")?;
            }
        }
        Ok(())
    }
}
