//! `verial`: the one binary. Reads settings, calls the crates below, prints for people or as JSON.

mod admin;
mod audit;
mod auth;
mod call;
mod compare;
mod completions;
mod config;
mod confine;
mod demo;
mod document;
mod exit;
mod folders;
mod global_flags;
mod local;
mod manual;
mod output;
mod reference;
mod report;
mod rescore;
mod resources;
mod run;
mod serve;
mod settings;
mod stored;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use output::style::Colour;

/// A request takes memory on one thread and what it leaves for the log is given back on another; the system's allocator
/// makes both wait for each other.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Longer lines are hard to read.
const WIDEST_HELP: usize = 100;

/// Tells whether an AI agent can do healthcare work.
#[derive(Parser)]
#[command(name = "verial", version, about, arg_required_else_help = true, max_term_width = WIDEST_HELP)]
#[command(after_help = "Begin with `verial demo`. `verial COMMAND --help` tells more of each.")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start a server with the bundled benchmarks, take the reference agent through one, and stay up
    Demo(demo::Arguments),
    /// Let an agent work through a benchmark, and score it
    Run(Box<run::Arguments>),
    /// Runs side by side, with paired differences
    Compare(compare::Arguments),
    /// Score a finished run again from its stored evidence
    Rescore(rescore::Arguments),
    /// Run the server
    Serve(serve::Arguments),
    /// The key that other commands use
    Auth(auth::Arguments),
    /// The user's own settings: server and keys
    Config(config::Arguments),
    /// Call the API: with the run's token where an agent is run, else with the organization key
    Call(call::Arguments),
    /// Work on the database directly, while the server runs or not
    Admin(admin::Arguments),
    /// Paper documents: make a PDF or TIFF, read what one says
    Document(document::Arguments),
    /// Do a task of a bundled benchmark, as the command of `verial run --agent`
    ReferenceAgent(reference::Arguments),
    /// Start a command without access to hidden files; `verial run --local` starts agents this way
    #[command(hide = true)]
    Confine(confine::Policy),
    /// Print completions for a shell
    Completions(completions::Arguments),
    /// Print a page of the manual that is made from the code
    #[command(hide = true)]
    Manual {
        #[arg(value_enum, default_value_t = manual::Page::CommandLine)]
        page: manual::Page,
    },
}

/// The whole command line: what is written above, and a group for each resource.
fn command_line() -> clap::Command {
    Arguments::command().subcommands(resources::groups())
}

fn main() -> std::process::ExitCode {
    let words = global_flags::moved(std::env::args_os());
    let matches = match command_line().try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(error) if error.kind() == ErrorKind::MissingSubcommand => return tell_commands(&error),
        Err(error) => error.exit(),
    };
    let of_resource = matches.subcommand().and_then(|(group, words)| resources::run(group, words));
    let result = match of_resource {
        Some(result) => result,
        None => match Arguments::from_arg_matches(&matches) {
            Ok(arguments) => obey(arguments.command),
            Err(error) => error.exit(),
        },
    };
    match result {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            tell_error(&error);
            exit::code(&error)
        }
    }
}

/// A group without a command gets its help, also when a variable of the environment was taken for an argument.
fn tell_commands(error: &clap::Error) -> std::process::ExitCode {
    let mut group = command_line();
    group.build();
    for word in std::env::args().skip(1) {
        if let Some(inner) = group.find_subcommand(&word).cloned() {
            group = inner;
        }
    }
    let help = group.render_help();
    let coloured = output::Style::of_stderr().is_coloured();
    output::tell(if coloured { help.ansi().to_string() } else { help.to_string() }.trim_end());
    std::process::ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

fn tell_error(error: &anyhow::Error) {
    let faults = error.chain().find_map(|cause| match cause.downcast_ref::<authoring::Error>() {
        Some(authoring::Error::Faults(findings)) => Some(findings),
        _ => None,
    });
    let words = match faults {
        Some(findings) => {
            findings.iter().for_each(folders::tell_finding);
            exit::faults(findings.len())
        }
        None => output::text::harmless(&format!("{error:#}")),
    };
    output::tell_labelled("error:", Colour::Bad, &words);
    if let Some(step) = exit::next_step(error) {
        output::tell_labelled("  next:", Colour::Strong, &step);
    }
}

fn obey(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Serve(arguments) => serve::run(arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::ReferenceAgent(arguments) => reference::run(&arguments),
        Command::Admin(arguments) => admin::run(arguments),
        Command::Auth(arguments) => auth::run(&arguments),
        Command::Config(arguments) => config::run(&arguments),
        Command::Document(arguments) => document::run(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Call(arguments) => call::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Rescore(arguments) => rescore::run(&arguments),
        Command::Confine(policy) => confine::run(&policy),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Manual { page } => {
            output::say(manual::made(page, command_line()));
            Ok(())
        }
    }
}

/// A runtime for a command that talks to the network or the database.
fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(work)
}
