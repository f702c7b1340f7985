//! What users of a population rely on: same bytes, valid resources, coherent charts, plausible frequencies.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must stop")]

mod charts;
mod coherence;
mod figures;
mod same_bytes;
