//! `verial`: the one binary. Reads settings, calls the crates below, prints for people or as JSON.

mod admin;
mod auth;
mod datasets;
mod document;
mod rescore;
mod serve;
mod settings;

use clap::{Parser, Subcommand};

/// A request takes memory on one thread and what it leaves for the log is given back on another; the system's allocator
/// makes both wait for each other.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Tells whether an AI agent can do healthcare work.
#[derive(Parser)]
#[command(name = "verial", version, about, propagate_version = true, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the server
    Serve(serve::Arguments),
    /// Work on the database directly, while the server runs or not
    Admin(admin::Arguments),
    /// The key that other commands use
    Auth(auth::Arguments),
    /// Datasets on a server
    Datasets(datasets::Arguments),
    /// Paper documents: make a PDF or TIFF, read what one says
    Document(document::Arguments),
    /// Score a finished run again from its stored evidence
    Rescore(rescore::Arguments),
}

fn main() -> std::process::ExitCode {
    let arguments = Arguments::parse();
    let result = match arguments.command {
        Command::Serve(arguments) => serve::run(arguments),
        Command::Admin(arguments) => admin::run(arguments),
        Command::Auth(arguments) => auth::run(&arguments),
        Command::Datasets(arguments) => datasets::run(arguments),
        Command::Document(arguments) => document::run(&arguments),
        Command::Rescore(arguments) => rescore::run(&arguments),
    };
    match result {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            say_error(&error);
            std::process::ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stderr, reason = "the command line speaks to its user")]
fn say_error(error: &anyhow::Error) {
    eprintln!("error: {error:#}");
}

/// The command line's voice: everything that is meant for standard output goes through here.
#[expect(clippy::print_stdout, reason = "the command line speaks to its user")]
fn say(text: impl std::fmt::Display) {
    println!("{text}");
}

/// A runtime for a command that talks to the network or the database.
fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(work)
}
