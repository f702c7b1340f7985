//! How the command line speaks: to people on a terminal, to programs through a pipe.

mod form;
pub(crate) mod style;
pub(crate) mod table;
pub(crate) mod text;

use std::io::{IsTerminal, Write};

use serde_json::Value;

pub(crate) use form::{Form, say_member};
pub(crate) use style::Style;
pub(crate) use table::Table;

/// Everything that is meant for standard output goes through here. A reader who has gone is no error of ours.
pub(crate) fn say(text: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{text}").is_err() {
        std::process::exit(0);
    }
}

/// JSON for programs: on one line through a pipe, indented on a terminal.
pub(crate) fn say_json(value: &Value) {
    if std::io::stdout().is_terminal() {
        say(format_args!("{value:#}"));
    } else {
        say(value);
    }
}

/// What is happening, and what went wrong: never in the way of what is piped on.
pub(crate) fn tell(text: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

const FALLBACK_COLUMNS: usize = 100;
const FEWEST_COLUMNS: usize = 40;

/// How wide a line may be: `COLUMNS`, the terminal's own width, or what most windows have.
#[expect(clippy::disallowed_methods, reason = "the width of the user's terminal is the user's setting")]
pub(crate) fn columns() -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|text| text.parse::<usize>().ok());
    let seen = || console::Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
    told.or_else(seen).unwrap_or(FALLBACK_COLUMNS).max(FEWEST_COLUMNS)
}
