//! Interchanges are read, checked, looked into, acknowledged and written.
#![expect(clippy::unwrap_used, reason = "a test may panic, also in the functions that its tests share")]

mod acknowledging;
mod checking;
mod looking;
mod properties;
mod reading;
mod samples;
mod writing;

use verial_x12::check::Report;
use verial_x12::{Body, Limits, check, parse};

fn read(text: &str) -> Body<'_> {
    parse(text, &Limits::default()).unwrap()
}

fn report(text: &str) -> Report {
    check(&read(text)).remove(0)
}
