//! The reference agents of the bundled benchmarks: each does its benchmark's work as the instruction says, over the public
//! API alone, and knows of a task only what any agent is told.

pub mod drive;
mod fax_referral;
mod hl7;
mod lab_followup;
mod med_reconciliation;
mod mutation;
mod sandbox;
mod wrong;

pub use mutation::{Mutation, Variant};
pub use sandbox::Assignment;

use anyhow::bail;
use sandbox::Sandbox;

/// What to do with a task: the work itself, or something that must not score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Does the work.
    Reference,
    /// Does nothing at all.
    Nothing,
    /// Looks at everything, says that all is done, and writes to every place it can find.
    Spray,
    /// Does the work with one thing wrong.
    Mutant(Mutation),
    /// Does the work in another way that must score the same.
    Variant(Variant),
}

/// Does the work of one started task. Tells whether a mutant or variant differed from the reference in anything it sent.
pub async fn work(manner: Manner, assignment: &Assignment) -> anyhow::Result<bool> {
    let sandbox = Sandbox::new(assignment, manner)?;
    match manner {
        Manner::Nothing => {}
        Manner::Spray => wrong::spray(&sandbox).await?,
        Manner::Reference => reference(&sandbox, &assignment.benchmark).await?,
        // What it did wrong may keep it from going on; that is for the score to tell.
        Manner::Mutant(_) => drop(reference(&sandbox, &assignment.benchmark).await),
        Manner::Variant(_) => {
            sandbox.look_around().await;
            reference(&sandbox, &assignment.benchmark).await?;
        }
    }
    Ok(sandbox.was_altered())
}

async fn reference(sandbox: &Sandbox, benchmark: &str) -> anyhow::Result<()> {
    let slug = benchmark.split('@').next().unwrap_or_default();
    match slug {
        "fax-referral" => fax_referral::work(sandbox).await,
        "lab-followup" => lab_followup::work(sandbox).await,
        "med-reconciliation" => med_reconciliation::work(sandbox).await,
        other => bail!("there is no reference agent for `{other}`"),
    }
}
