//! Isolation of the agent in a local run: its processes cannot read the criteria, the server's data or the user's keys.
//!
//! In `verial run --local` the server lives in the process that starts the agent, so the agent runs on the machine and as
//! the user that hold everything it is scored by. The agent's command is therefore started as
//! `verial confine … -- sh -c COMMAND`: that process gives up access with Landlock ([`landlock`]) and then executes the
//! command. What it inherits cannot be undone, neither by the command nor by anything the command starts.

mod grants;
mod hidden;
#[cfg(target_os = "linux")]
mod landlock;

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use clap::Args;
use serde::{Deserialize, Serialize};

pub(crate) use hidden::Secrets;

/// The program that runs, even if an earlier agent has put another file in its place.
const RUNNING_PROGRAM: &str = "/proc/self/exe";
/// The exit code of a shell that found a command and could not execute it.
const CANNOT_EXECUTE: i32 = 126;

/// How the agent of a local run is isolated from the criteria.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Isolation {
    Landlock,
    /// Nothing: the agent could have read them.
    None,
}

impl Isolation {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Isolation::Landlock => "landlock",
            Isolation::None => "none",
        }
    }

    /// The isolation of a run of which one part had this isolation and another part `other`.
    pub(crate) fn weaker(self, other: Self) -> Self {
        if self == Isolation::None { self } else { other }
    }
}

/// Whether this system can isolate agents.
pub(crate) fn is_available() -> bool {
    #[cfg(target_os = "linux")]
    return landlock::is_available();
    #[cfg(not(target_os = "linux"))]
    return false;
}

/// The arguments of `verial confine`: what the command after them may access.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Policy {
    /// A file or folder that is inaccessible
    #[arg(long, value_name = "PATH")]
    hide: Vec<PathBuf>,
    /// A file that can be read although the folder around it is hidden
    #[arg(long, value_name = "FILE")]
    read: Vec<PathBuf>,
    /// A folder that can be changed wherever it is
    #[arg(long, value_name = "DIR")]
    write: Vec<PathBuf>,
    /// The command and its arguments
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

/// Restricts this process and executes the command. Returns only if that fails.
pub(crate) fn run(policy: &Policy) -> anyhow::Result<()> {
    let error = match execute(policy) {
        Ok(never) => match never {},
        Err(error) => error,
    };
    crate::output::eprint(format_args!("the agent was not started: {error:#}"));
    std::process::exit(CANNOT_EXECUTE)
}

fn execute(policy: &Policy) -> anyhow::Result<std::convert::Infallible> {
    let (program, arguments) = policy.command.split_first().context("no command")?;
    // A new session has no controlling terminal, so the agent cannot type into the user's.
    rustix::process::setsid().context("cannot leave the terminal")?;
    restrict(policy)?;
    let error = Command::new(program).args(arguments).exec();
    Err(error).with_context(|| format!("cannot execute {program}"))
}

#[cfg(target_os = "linux")]
fn restrict(policy: &Policy) -> anyhow::Result<()> {
    landlock::restrict(&grants::grants(&policy.hide, &policy.read, &policy.write))
}

#[cfg(not(target_os = "linux"))]
fn restrict(_: &Policy) -> anyhow::Result<()> {
    anyhow::bail!("this system cannot isolate processes")
}

/// How the agents of one `verial run` are confined.
pub(crate) struct Confinement {
    hidden: Vec<PathBuf>,
    /// Files that can be read wherever they are.
    readable: Vec<PathBuf>,
    /// Folders that can be changed: the working directory, the user's home, those for temporary files.
    writable: Vec<PathBuf>,
    /// The agents' folder for temporary files, removed when this is dropped.
    temporary: tempfile::TempDir,
}

impl Confinement {
    pub(crate) fn new(secrets: &Secrets<'_>) -> anyhow::Result<Self> {
        let temporary = tempfile::Builder::new().prefix("verial-agent-").tempdir().context("no temporary folder")?;
        let mut writable = grants::writable_folders();
        writable.push(temporary.path().canonicalize()?);
        // A build of this program may be in a hidden folder, but shell scripts need `verial call`.
        let binary = std::env::current_exe().context("cannot find this program")?.canonicalize()?;
        let readable = if secrets.binary_has_criteria { Vec::new() } else { vec![binary] };
        Ok(Self { hidden: secrets.hidden()?, readable, writable, temporary })
    }

    /// The command that confines itself and then becomes the agent.
    pub(crate) fn launcher(&self, agent: &str, credentials: &Path) -> anyhow::Result<Command> {
        let mut launcher = Command::new(RUNNING_PROGRAM);
        launcher.arg0("verial").arg("confine");
        for path in &self.hidden {
            launcher.arg("--hide").arg(path);
        }
        for path in &self.writable {
            launcher.arg("--write").arg(path);
        }
        for path in self.readable.iter().chain([&credentials.canonicalize()?]) {
            launcher.arg("--read").arg(path);
        }
        launcher.args(["--", "sh", "-c", agent]).env("TMPDIR", self.temporary.path());
        Ok(launcher)
    }

    /// A notice for a user whose agent works in a folder with hidden entries.
    pub(crate) fn notice(&self) -> Option<String> {
        let shown = |path: &PathBuf| crate::output::text::sanitize(&path.display().to_string());
        let working = std::env::current_dir().ok()?.canonicalize().ok()?;
        if let Some(around) = self.hidden.iter().find(|hidden| working.starts_with(hidden)) {
            return Some(format!("the agent cannot read the working directory: {} is hidden from it", shown(around)));
        }
        let within = |folder: &PathBuf| -> Vec<String> {
            self.hidden.iter().filter(|path| path.starts_with(folder)).map(shown).collect()
        };
        // The home directory is expected to have keys in it, and few agents create files there.
        let folders = [working, std::env::temp_dir().canonicalize().ok()?];
        let (folder, hidden) =
            folders.iter().map(|folder| (folder, within(folder))).find(|(_, hidden)| !hidden.is_empty())?;
        Some(format!(
            "the agent can neither list {} nor create entries in it, only use those that are there, because of what is \
             hidden from it: {}",
            shown(folder),
            hidden.join(", ")
        ))
    }
}
