//! Commands of a group that do more than one call: each group may have a file of its own for them.

use clap::{ArgMatches, Command, FromArgMatches, Subcommand};

use super::upload;
use crate::folders;

/// Benchmarks as folders of files.
#[derive(Subcommand)]
enum FolderCommand {
    /// Begin a folder with a small benchmark that works
    Init(folders::Init),
    /// Say what is wrong with a folder, without a server
    Lint(folders::Lint),
    /// Bring a folder to the server, and publish it
    Push(folders::Push),
    /// Fetch a benchmark of your own as a folder
    Pull(folders::Pull),
}

/// Adds them to their group.
pub(crate) fn augment(group: &str, command: Command) -> Command {
    match group {
        "benchmarks" => FolderCommand::augment_subcommands(command),
        "datasets" => upload::DatasetCommand::augment_subcommands(upload::augment(command)),
        _ => command,
    }
}

/// Runs one; `None` when the command is not one of them.
pub(crate) fn run(group: &str, matches: &ArgMatches) -> Option<anyhow::Result<()>> {
    let (name, words) = matches.subcommand()?;
    match (group, name) {
        ("benchmarks", name) if FolderCommand::has_subcommand(name) => Some(of_folder(matches)),
        ("datasets", "create") => upload::create_with_data(words),
        ("datasets", name) if upload::DatasetCommand::has_subcommand(name) => Some(upload::run(matches, words)),
        _ => None,
    }
}

fn of_folder(matches: &ArgMatches) -> anyhow::Result<()> {
    match FolderCommand::from_arg_matches(matches)? {
        FolderCommand::Init(arguments) => folders::init(&arguments),
        FolderCommand::Lint(arguments) => folders::lint_folder(&arguments),
        FolderCommand::Push(arguments) => folders::push(&arguments),
        FolderCommand::Pull(arguments) => folders::pull(&arguments),
    }
}
