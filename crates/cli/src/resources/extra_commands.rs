//! Commands of a group that need more than one API call.

use clap::{ArgMatches, Command, Subcommand};

use super::{generate, upload};
use crate::folders::FolderCommand;

/// Adds the extra commands of a group.
pub(crate) fn augment(group: &str, command: Command) -> Command {
    match group {
        "datasets" => {
            let command = upload::DatasetCommand::augment_subcommands(upload::augment(command));
            generate::GenerateCommand::augment_subcommands(command)
        }
        "benchmarks" => FolderCommand::augment_subcommands(command),
        _ => command,
    }
}

/// Runs an extra command; `None` when the command is not one.
pub(crate) fn run(group: &str, matches: &ArgMatches) -> Option<anyhow::Result<()>> {
    let (name, subcommand_matches) = matches.subcommand()?;
    match (group, name) {
        ("datasets", "generate") => Some(generate::run(matches, subcommand_matches)),
        ("datasets", "create") => upload::create_with_data(subcommand_matches),
        ("datasets", name) if upload::DatasetCommand::has_subcommand(name) => {
            Some(upload::run(matches, subcommand_matches))
        }
        ("benchmarks", name) if FolderCommand::has_subcommand(name) => Some(crate::folders::run(matches)),
        _ => None,
    }
}
