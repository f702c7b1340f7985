//! What the benchmark programs share: a raw HTTP load and a table of ratios. Timings are printed, never asserted.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod load;
mod table;

pub use load::{Load, Request};
pub use table::{Table, median};
