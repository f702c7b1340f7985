//! What the benchmark programs share: a stage to play on, synthetic data, a raw HTTP load and tables. Timings are printed,
//! never asserted.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod connection;
mod grid;
mod load;
mod resident;
mod rollouts;
mod stage;
mod table;
mod ward;

pub use grid::{Grid, grouped};
pub use load::{Load, Request};
pub use resident::resident_kib;
pub use rollouts::Rollouts;
pub use stage::{Stage, bare};
pub use table::{Rate, Table, median, percentile};
pub use ward::Ward;
