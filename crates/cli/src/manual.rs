//! The pages of the manual that are made: the command line's from the command line, that of criteria by the checks.

use std::fmt::Write;

use clap::{Arg, Command};

const OPENING: &str = "# Command line

Made by `verial manual > docs/command-line.md`; a test holds it true. `verial COMMAND --help` says the same.
What the words mean is in [Concepts](concepts.md).

Commands that talk to a server find it by `--url`, `VERIAL_URL`, `verial config set url …`, else `http://127.0.0.1:8080`,
and the key by `--api-key`, `VERIAL_API_KEY`, `~/.verial/config.json`, in that order. `--json` prints the API's own answer:
on one line through a pipe, indented on a terminal; `--get MEMBER` prints one member of it for a script, as `--get id` or
`--get credentials.password`. Tables fit the terminal, where a narrow one leaves the last columns out; through a pipe they are
whole, unless `COLUMNS` is set. Colour is for terminals only, and `NO_COLOR` turns it off. Answers go to standard output,
everything else to standard error. Wherever a benchmark's id is wanted, its slug will do.

## Exit codes

| code | means |
|---|---|
";

#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum Page {
    CommandLine,
    Criteria,
}

pub(crate) fn made(page: Page, command: Command) -> String {
    match page {
        Page::CommandLine => command_line(command),
        Page::Criteria => verify::manual::page(),
    }
}

fn command_line(command: Command) -> String {
    let mut page = OPENING.to_owned();
    for (code, meaning) in crate::exit::CODES {
        let _ = writeln!(page, "| {code} | {meaning} |");
    }
    let mut command = command.disable_help_subcommand(true);
    command.build();
    for group in command.get_subcommands().filter(|group| !group.is_hide_set()) {
        section(&mut page, group, "verial", 2);
    }
    page.trim_end().to_owned()
}

fn section(page: &mut String, command: &Command, above: &str, level: usize) {
    let name = format!("{above} {}", command.get_name());
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let inner: Vec<&Command> =
        command.get_subcommands().filter(|inner| !inner.is_hide_set() && inner.get_name() != "help").collect();
    let _ = write!(page, "\n{} `{name}`\n\n{}.\n", "#".repeat(level.min(4)), escaped(&about));
    let arguments: Vec<&Arg> = command.get_arguments().filter(|argument| is_shown(argument, level)).collect();
    if inner.is_empty() {
        let _ = write!(page, "\n```\n{name}{}\n```\n", usage(&arguments));
    }
    let told: Vec<&&Arg> = arguments.iter().filter(|argument| argument.get_help().is_some()).collect();
    if !told.is_empty() {
        page.push('\n');
        for argument in told {
            let _ = writeln!(page, "- `{}`: {}", shape(argument), help(argument));
        }
    }
    for command in inner {
        section(page, command, &name, level + 1);
    }
}

/// What is the same for all commands stands in the opening, and what a group hands down stands at the group.
fn is_shown(argument: &Arg, level: usize) -> bool {
    let everywhere = ["help", "version", "url", "api_key", "json", "get"].contains(&argument.get_id().as_str());
    !argument.is_hide_set() && !everywhere && (level == 2 || !argument.is_global_set())
}

fn usage(arguments: &[&Arg]) -> String {
    let mut words = String::new();
    for argument in arguments.iter().filter(|argument| argument.is_positional()) {
        let shape = shape(argument);
        let _ = write!(words, " {}", if argument.is_required_set() { shape } else { format!("[{shape}]") });
    }
    for argument in arguments.iter().filter(|argument| !argument.is_positional() && argument.is_required_set()) {
        let _ = write!(words, " {}", shape(argument));
    }
    if arguments.iter().any(|argument| !argument.is_positional() && !argument.is_required_set()) {
        words.push_str(" [OPTIONS]");
    }
    words
}

fn shape(argument: &Arg) -> String {
    let values: Vec<&str> = argument.get_value_names().unwrap_or_default().iter().map(|name| name.as_str()).collect();
    let takes = argument.get_action().takes_values();
    let value = if takes { values.join(" ") } else { String::new() };
    match argument.get_long() {
        Some(long) if takes => format!("--{long} {value}"),
        Some(long) => format!("--{long}"),
        None if value.is_empty() => argument.get_id().as_str().to_uppercase(),
        None => value,
    }
}

fn help(argument: &Arg) -> String {
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let variable = argument.get_env().and_then(|name| name.to_str());
    match variable {
        Some(name) => format!("{} (`{name}`)", escaped(&help)),
        None => escaped(&help),
    }
}

/// A placeholder is no markup.
fn escaped(text: &str) -> String {
    text.replace('<', "&lt;").replace('|', "\\|").trim_end_matches('.').to_owned()
}
