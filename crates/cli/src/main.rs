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
mod local_server;
mod manual;
mod output;
mod reference;
mod report;
mod rescore;
mod resources;
mod run;
mod serve;
mod settings;
mod user_config;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use output::style::Color;

/// A request allocates on one thread, and its log entries are freed on another. With the system's allocator, these threads
/// contend for a lock.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The maximum width of help texts: longer lines are hard to read.
const MAX_HELP_WIDTH: usize = 100;

/// Measures whether an AI agent can do healthcare work
#[derive(Parser)]
#[command(name = "verial", version, about, arg_required_else_help = true, max_term_width = MAX_HELP_WIDTH)]
#[command(after_help = "Start with `verial demo`. See `verial COMMAND --help` for details.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start a server with the bundled benchmarks, run the reference agent on one, and keep serving
    Demo(demo::DemoArgs),
    /// Run an agent on a benchmark and score it
    Run(Box<run::RunArgs>),
    /// Compare runs side by side, with paired differences
    Compare(compare::CompareArgs),
    /// Score a finished run again from its stored evidence
    Rescore(rescore::RescoreArgs),
    /// Run the server
    Serve(serve::ServeArgs),
    /// Manage the API key that other commands use
    Auth(auth::AuthArgs),
    /// Manage the user's settings: server and keys
    Config(config::ConfigArgs),
    /// Call the API: with the run's token inside of an agent, otherwise with the organization key
    Call(call::CallArgs),
    /// Administer the database directly, whether or not the server is running
    Admin(admin::AdminArgs),
    /// Create a PDF or TIFF document, or extract the text of one
    Document(document::DocumentArgs),
    /// Perform a task of a bundled benchmark; for `verial run --agent`
    ReferenceAgent(reference::ReferenceArgs),
    /// Start a command without access to hidden files; `verial run --local` starts agents this way
    #[command(hide = true)]
    Confine(confine::Policy),
    /// Print shell completions
    Completions(completions::CompletionsArgs),
    /// Print a manual page that is generated from the code
    #[command(hide = true)]
    Manual {
        #[arg(value_enum, default_value_t = manual::Page::CommandLine)]
        page: manual::Page,
    },
}

/// The complete command line: the commands above, and a group for each resource.
fn command_line() -> clap::Command {
    Cli::command().subcommands(resources::groups())
}

fn main() -> std::process::ExitCode {
    let arguments = global_flags::move_behind_command(std::env::args_os());
    let matches = match command_line().try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) if error.kind() == ErrorKind::MissingSubcommand => return print_group_help(&error),
        Err(error) => error.exit(),
    };
    let resource_result = matches.subcommand().and_then(|(group, matches)| resources::run(group, matches));
    let result = match resource_result {
        Some(result) => result,
        None => match Cli::from_arg_matches(&matches) {
            Ok(cli) => dispatch(cli.command),
            Err(error) => error.exit(),
        },
    };
    match result {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            print_error(&error);
            exit::code(&error)
        }
    }
}

/// Prints the help of a group that was called without a command, also when an argument came from an environment variable.
fn print_group_help(error: &clap::Error) -> std::process::ExitCode {
    let mut group = command_line();
    group.build();
    for word in std::env::args().skip(1) {
        if let Some(inner) = group.find_subcommand(&word).cloned() {
            group = inner;
        }
    }
    let help = group.render_help();
    let colored = output::Style::of_stderr().is_colored();
    output::eprint(if colored { help.ansi().to_string() } else { help.to_string() }.trim_end());
    std::process::ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

fn print_error(error: &anyhow::Error) {
    let findings = error.chain().find_map(|cause| match cause.downcast_ref::<authoring::Error>() {
        Some(authoring::Error::Findings(findings)) => Some(findings),
        _ => None,
    });
    let message = match findings {
        Some(findings) => {
            findings.iter().for_each(folders::eprint_finding);
            exit::count_errors(findings.len())
        }
        None => output::text::sanitize(&format!("{error:#}")),
    };
    output::eprint_labeled("error:", Color::Bad, &message);
    if let Some(hint) = exit::next_step(error) {
        output::eprint_labeled("  next:", Color::Strong, &hint);
    }
}

fn dispatch(command: Command) -> anyhow::Result<()> {
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
            output::print(manual::render(page, command_line()));
            Ok(())
        }
    }
}

/// Runs a future on a new multi-threaded runtime.
fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(work)
}
