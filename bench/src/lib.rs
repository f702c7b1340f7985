//! What the benchmark programs share: a stage to play on, synthetic data, a raw HTTP load and tables. Timings are printed,
//! never asserted.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

pub mod codecs;
mod connection;
mod grid;
mod load;
mod resident;
mod rollouts;
mod stage;
mod table;
mod ward;

/// The allocator of the binary, so that its work is measured as it ships; the bare handler has it too.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

pub use grid::{Grid, grouped};
pub use load::{Load, Request};
pub use resident::resident_kib;
pub use rollouts::Rollouts;
pub use stage::{Stage, bare};
pub use table::{Rate, Table, median, percentile};
pub use ward::Ward;
