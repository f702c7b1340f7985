//! Tests parsing, checking, querying, acknowledging and writing interchanges.
#![expect(clippy::unwrap_used, reason = "tests and their helpers may panic")]

mod acknowledgments;
mod checks;
mod loops_and_queries;
mod parsing;
mod properties;
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
