//! `verial reference-agent`: performs a task of a bundled benchmark (or deliberately does not) as an agent of `verial run`.

use std::path::{Path, PathBuf};

use agents::{AgentMode, Assignment};
use clap::{Args, ValueEnum};

use crate::block_on;

/// The agent name of the reference agent's runs, unless the user gives one.
pub(crate) const REFERENCE_NAME: &str = "verial reference-agent";
const SUBCOMMAND: &str = "reference-agent";

#[derive(Args)]
pub(crate) struct ReferenceArgs {
    /// What the agent does: the work, or something that must not score
    #[arg(long, value_enum, default_value_t = AgentBehavior::Right)]
    manner: AgentBehavior,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum AgentBehavior {
    /// Does the work
    Right,
    /// Does nothing
    Nothing,
    /// Does a little of everything
    Spray,
}

pub(crate) fn run(arguments: &ReferenceArgs) -> anyhow::Result<()> {
    let mode = match arguments.manner {
        AgentBehavior::Right => AgentMode::Reference,
        AgentBehavior::Nothing => AgentMode::Nothing,
        AgentBehavior::Spray => AgentMode::Shotgun,
    };
    let assignment = Assignment::from_environment()?;
    block_on(async { agents::run_task(mode, &assignment).await.map(drop) })
}

/// Whether a shell command starts the bundled reference agent, whose score says nothing about the user's agent.
pub(crate) fn is_reference(command: &str) -> bool {
    let words: Vec<&str> =
        command.split(|character: char| character.is_whitespace() || "'\"();&|`".contains(character)).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    words.windows(2).any(|pair| matches!(pair, [program, SUBCOMMAND] if is_named_like_this_program(program)))
}

fn is_named_like_this_program(program: &str) -> bool {
    let this = std::env::current_exe().ok();
    let this_name = this.as_deref().and_then(Path::file_name);
    let name = Path::new(program).file_name();
    name.is_some() && (name == this_name || name == Some("verial".as_ref()))
}

/// Whether a shell command only starts this program as the reference agent.
pub(crate) fn is_this_program(command: &str) -> bool {
    let command = command.trim();
    let (program, rest) = match command.strip_prefix('\'') {
        Some(quoted) => quoted.split_once('\'').unwrap_or((quoted, "")),
        None => command.split_once(' ').unwrap_or((command, "")),
    };
    let is_plain =
        |word: &str| word.chars().all(|character| character.is_ascii_alphanumeric() || "-=".contains(character));
    let mut words = rest.split_whitespace();
    words.next() == Some(SUBCOMMAND) && words.all(is_plain) && is_this_file(program)
}

/// Whether a path, or a name on `PATH`, is this program.
#[expect(clippy::disallowed_methods, reason = "PATH is where a shell finds programs")]
fn is_this_file(program: &str) -> bool {
    let Ok(this) = std::env::current_exe().and_then(|this| this.canonicalize()) else { return false };
    let found = if program.contains('/') {
        Some(PathBuf::from(program))
    } else {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file())
    };
    found.and_then(|path| path.canonicalize().ok()).is_some_and(|path| path == this)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_agent_is_recognized_in_a_command() {
        for command in [
            "verial reference-agent",
            "'/opt/my tools/verial' reference-agent",
            "cd x && ./verial reference-agent --manner spray",
        ] {
            assert!(is_reference(command), "{command}");
        }
        for command in ["./reference-agent", "python3 agent.py", "verial call GET /x", "echo reference-agent verial"] {
            assert!(!is_reference(command), "{command}");
        }
    }

    #[test]
    fn only_a_plain_call_of_this_program_is_recognized() {
        let this = std::env::current_exe().unwrap().display().to_string();
        assert!(is_this_program(&format!("'{this}' reference-agent")));
        assert!(is_this_program(&format!("{this} reference-agent --manner nothing")));
        for command in
            [format!("{this} reference-agent; cat {this}"), format!("{this} call"), "sh reference-agent".into()]
        {
            assert!(!is_this_program(&command), "{command}");
        }
    }
}
