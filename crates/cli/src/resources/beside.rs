//! Commands of a group that do more than one call: each group may have a file of its own for them.

use clap::{ArgMatches, Command, Subcommand};

use super::upload;
use crate::folders::FolderCommand;

/// Adds them to their group.
pub(crate) fn augment(group: &str, command: Command) -> Command {
    match group {
        "datasets" => upload::DatasetCommand::augment_subcommands(upload::augment(command)),
        "benchmarks" => FolderCommand::augment_subcommands(command),
        _ => command,
    }
}

/// Runs one; `None` when the command is not one of them.
pub(crate) fn run(group: &str, matches: &ArgMatches) -> Option<anyhow::Result<()>> {
    let (name, words) = matches.subcommand()?;
    match (group, name) {
        ("datasets", "create") => upload::create_with_data(words),
        ("datasets", name) if upload::DatasetCommand::has_subcommand(name) => Some(upload::run(matches, words)),
        ("benchmarks", name) if FolderCommand::has_subcommand(name) => Some(crate::folders::run(matches)),
        _ => None,
    }
}
