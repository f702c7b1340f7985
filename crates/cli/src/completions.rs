//! `verial completions`: prints a shell's completion script.

use clap::Args;
use clap_complete::Shell;

#[derive(Args)]
pub(crate) struct CompletionsArgs {
    /// The shell; save the output where it looks for completions, such as ~/.local/share/bash-completion/completions/verial
    shell: Shell,
}

pub(crate) fn run(arguments: &CompletionsArgs) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::command_line(), "verial", &mut script);
    crate::output::print(String::from_utf8_lossy(&script).trim_end());
    Ok(())
}
