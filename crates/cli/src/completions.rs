//! `verial completions`: what a shell needs to complete commands.

use clap::Args;
use clap_complete::Shell;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Which shell; put the output where it looks, as ~/.local/share/bash-completion/completions/verial
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::command_line(), "verial", &mut script);
    crate::output::say(String::from_utf8_lossy(&script).trim_end());
    Ok(())
}
