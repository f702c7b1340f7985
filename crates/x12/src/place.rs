//! Where in a body something is, counted as X12 counts: from 1, a segment from its ST.

use std::fmt;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub interchange: usize,
    pub group: Option<usize>,
    pub transaction: Option<usize>,
    /// Within the transaction, ST being 1; outside of any, within the interchange, ISA being 1.
    pub segment: Option<usize>,
    pub element: Option<usize>,
}

impl Place {
    pub fn interchange(number: usize) -> Self {
        Self { interchange: number, ..Self::default() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "interchange {}", self.interchange)?;
        let rest = [
            ("group", self.group),
            ("transaction", self.transaction),
            ("segment", self.segment),
            ("element", self.element),
        ];
        for (what, number) in rest {
            if let Some(number) = number {
                write!(f, ", {what} {number}")?;
            }
        }
        Ok(())
    }
}
