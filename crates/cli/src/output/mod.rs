//! How the command line speaks: to people on a terminal, to programs through a pipe.

mod form;
pub(crate) mod outline;
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

/// A sentence, on a terminal in lines that fit.
pub(crate) fn say_wrapped(text: &str) {
    let Some(most) = bounded(&console::Term::stdout()) else { return say(text) };
    for (place, line) in text::wrap(text, most.saturating_sub(2)).iter().enumerate() {
        say(format_args!("{}{line}", if place == 0 { "" } else { "  " }));
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

/// A sentence that begins with a word such as `error:`. On a terminal its lines fit and stand under each other; a log keeps
/// it as one line, which can be searched for.
pub(crate) fn tell_labelled(label: &str, colour: style::Colour, words: &str) {
    let painted = Style::of_stderr().paint(colour, label);
    if !std::io::stderr().is_terminal() {
        return tell(format_args!("{painted} {words}"));
    }
    let most = bounded(&console::Term::stderr()).unwrap_or(FALLBACK_COLUMNS);
    let indent = text::width(label) + 1;
    let lines = text::wrap(words, most.saturating_sub(indent));
    for (place, line) in lines.iter().enumerate() {
        if place == 0 {
            tell(format_args!("{painted} {line}"));
        } else {
            tell(format_args!("{:indent$}{line}", ""));
        }
    }
}

const FALLBACK_COLUMNS: usize = 100;
const FEWEST_COLUMNS: usize = 40;

/// How wide a line of prose may be: `COLUMNS`, the terminal's own width, or what most windows have.
pub(crate) fn columns() -> usize {
    bounded(&console::Term::stdout()).unwrap_or(FALLBACK_COLUMNS)
}

/// Tables are shown in full from now on.
pub(crate) fn show_whole_rows() {
    WHOLE_ROWS.store(true, std::sync::atomic::Ordering::Relaxed);
}

static WHOLE_ROWS: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// How wide a table may be. Nothing is cut on its way to a program, unless the user says so by `COLUMNS`.
pub(crate) fn table_columns() -> usize {
    if WHOLE_ROWS.load(std::sync::atomic::Ordering::Relaxed) {
        return usize::MAX;
    }
    let unknown = if std::io::stdout().is_terminal() { FALLBACK_COLUMNS } else { usize::MAX };
    bounded(&console::Term::stdout()).unwrap_or(unknown)
}

fn bounded(terminal: &console::Term) -> Option<usize> {
    let seen = || terminal.size_checked().map(|(_, columns)| usize::from(columns));
    told_columns().or_else(seen).map(|columns| columns.max(FEWEST_COLUMNS))
}

#[expect(clippy::disallowed_methods, reason = "the width of the user's terminal is the user's setting")]
fn told_columns() -> Option<usize> {
    std::env::var("COLUMNS").ok().and_then(|text| text.parse::<usize>().ok()).filter(|columns| *columns > 0)
}
