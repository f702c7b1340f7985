//! Prints to standard output and standard error, for people on a terminal or for programs in a pipe.

mod format;
pub(crate) mod outline;
pub(crate) mod style;
pub(crate) mod table;
pub(crate) mod text;

use std::io::{IsTerminal, Write};

use serde_json::Value;

pub(crate) use format::{OutputFormat, print_member};
pub(crate) use style::Style;
pub(crate) use table::Table;

/// Prints a line to standard output. Exits silently when the reader has closed the pipe.
pub(crate) fn print(text: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{text}").is_err() {
        std::process::exit(0);
    }
}

/// Prints a sentence, wrapped on a terminal.
pub(crate) fn print_wrapped(text: &str) {
    let Some(max_width) = known_columns(&console::Term::stdout()) else { return print(text) };
    for (index, line) in text::wrap(text, max_width.saturating_sub(2)).iter().enumerate() {
        print(format_args!("{}{line}", if index == 0 { "" } else { "  " }));
    }
}

/// Prints JSON: on one line in a pipe, indented on a terminal.
pub(crate) fn print_json(value: &Value) {
    if std::io::stdout().is_terminal() {
        print(format_args!("{value:#}"));
    } else {
        print(value);
    }
}

/// Prints a line to standard error: progress, notes and errors.
pub(crate) fn eprint(text: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Prints a message with a label such as `error:` to standard error. On a terminal it is wrapped and indented; in a log it
/// stays on one line, to be searchable.
pub(crate) fn eprint_labeled(label: &str, color: style::Color, message: &str) {
    let painted = Style::of_stderr().paint(color, label);
    if !std::io::stderr().is_terminal() {
        return eprint(format_args!("{painted} {message}"));
    }
    let max_width = known_columns(&console::Term::stderr()).unwrap_or(FALLBACK_COLUMNS);
    let indent = text::width(label) + 1;
    let lines = text::wrap(message, max_width.saturating_sub(indent));
    for (index, line) in lines.iter().enumerate() {
        if index == 0 {
            eprint(format_args!("{painted} {line}"));
        } else {
            eprint(format_args!("{:indent$}{line}", ""));
        }
    }
}

const FALLBACK_COLUMNS: usize = 100;
const MIN_COLUMNS: usize = 40;

/// The maximum width of text: `COLUMNS`, the terminal's width, or a default.
pub(crate) fn columns() -> usize {
    known_columns(&console::Term::stdout()).unwrap_or(FALLBACK_COLUMNS)
}

/// Shows all tables in full from now on.
pub(crate) fn disable_truncation() {
    NO_TRUNCATION.store(true, std::sync::atomic::Ordering::Relaxed);
}

static NO_TRUNCATION: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// The maximum width of a table. Nothing is truncated in a pipe, unless `COLUMNS` is set.
pub(crate) fn table_columns() -> usize {
    if NO_TRUNCATION.load(std::sync::atomic::Ordering::Relaxed) {
        return usize::MAX;
    }
    let fallback = if std::io::stdout().is_terminal() { FALLBACK_COLUMNS } else { usize::MAX };
    known_columns(&console::Term::stdout()).unwrap_or(fallback)
}

/// `COLUMNS` or the terminal's width, if known.
fn known_columns(terminal: &console::Term) -> Option<usize> {
    let terminal_width = || terminal.size_checked().map(|(_, columns)| usize::from(columns));
    columns_variable().or_else(terminal_width).map(|columns| columns.max(MIN_COLUMNS))
}

#[expect(clippy::disallowed_methods, reason = "COLUMNS is a setting of the user")]
fn columns_variable() -> Option<usize> {
    std::env::var("COLUMNS").ok().and_then(|text| text.parse::<usize>().ok()).filter(|columns| *columns > 0)
}
