//! The bundled benchmarks and their reference agents: each does its benchmark's work as the instruction says, over the public
//! API alone, and knows of a task only what any agent is told.

pub mod audit;
pub mod bundled;
mod cds_triage;
mod claim_status;
pub mod drive;
mod eligibility;
mod fax_referral;
mod hl7;
mod insurance;
mod lab_followup;
mod med_reconciliation;
mod mutation;
mod phone_scheduling;
mod prior_auth;
mod prior_auth_imaging;
mod prior_auth_pharmacy;
pub mod record;
mod records_release;
mod sandbox;
mod wrong;
mod x12;

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
        Manner::Mutant(Mutation::Deletion) => {
            reference(&sandbox, &assignment.benchmark).await?;
            sandbox.delete_a_patient().await?;
        }
        // What it did wrong may keep it from going on; that is for the score to tell.
        Manner::Mutant(_) => drop(reference(&sandbox, &assignment.benchmark).await),
        Manner::Variant(_) => {
            sandbox.look_around().await;
            reference(&sandbox, &assignment.benchmark).await?;
        }
    }
    Ok(sandbox.was_altered())
}

/// Whether there is one for this `slug@version`.
pub fn has_reference(benchmark: &str) -> bool {
    bundled::slugs().contains(&benchmark.split('@').next().unwrap_or_default())
}

async fn reference(sandbox: &Sandbox, benchmark: &str) -> anyhow::Result<()> {
    let slug = benchmark.split('@').next().unwrap_or_default();
    match slug {
        "cds-triage" => cds_triage::work(sandbox).await,
        "fax-referral" => fax_referral::work(sandbox).await,
        "lab-followup" => lab_followup::work(sandbox).await,
        "med-reconciliation" => med_reconciliation::work(sandbox).await,
        "claim-status" => claim_status::work(sandbox).await,
        "eligibility" => eligibility::work(sandbox).await,
        "phone-scheduling" => phone_scheduling::work(sandbox).await,
        "prior-auth-imaging" => prior_auth_imaging::work(sandbox).await,
        "prior-auth-pharmacy" => prior_auth_pharmacy::work(sandbox).await,
        "records-release" => records_release::work(sandbox).await,
        other => bail!("there is no reference agent for `{other}`"),
    }
}
