//! `verial reference-agent`: does the task of a bundled benchmark, or does not, as an agent of `verial run`.

use agents::{Assignment, Manner};
use clap::{Args, ValueEnum};

use crate::block_on;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The work itself, or something that must not score
    #[arg(long, value_enum, default_value_t = Way::Right)]
    manner: Way,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Way {
    /// Does the work
    Right,
    /// Does nothing
    Nothing,
    /// Does a little of everything
    Spray,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let manner = match arguments.manner {
        Way::Right => Manner::Reference,
        Way::Nothing => Manner::Nothing,
        Way::Spray => Manner::Spray,
    };
    let assignment = Assignment::from_environment()?;
    block_on(async { agents::work(manner, &assignment).await.map(drop) })
}
