//! The bundled benchmarks and their reference agents: each does its benchmark's work as the instruction says, over the public
//! API alone, and knows of a task only what any agent is told.

pub mod attacks;
pub mod audit;
pub mod bundled;
mod cds_triage;
mod claim_status;
mod courier;
pub mod drive;
mod eligibility;
mod fax_referral;
pub mod floors;
pub mod guess;
mod hl7;
mod insurance;
mod lab_followup;
mod med_reconciliation;
mod message;
mod near;
mod phone_scheduling;
mod prior_auth;
mod prior_auth_imaging;
mod prior_auth_pharmacy;
pub mod record;
mod records_release;
mod sandbox;
mod ways;
mod wrong;
mod x12;

pub use courier::Courier;
pub use message::Message;
pub use near::{Kind, NearMiss, Plan};
pub use sandbox::Assignment;
pub use ways::Variant;

use anyhow::bail;
use drive::{Started, Worked, Worker};
use sandbox::Sandbox;

/// What to do with a task: the work itself, or something that must not score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Does the work.
    Reference,
    /// Does nothing at all.
    Nothing,
    /// Looks at everything, says that all is done, and writes to every place it can find.
    Spray,
    /// Does the work with one thing wrong.
    Mutant(NearMiss),
    /// Does the work in another way that must score the same.
    Variant(Variant),
    /// Does the work, and first reads resources of these types and all files.
    Survey(Vec<String>),
    /// Attacks the benchmark.
    Attack(attacks::Case),
}

/// The agents of this crate.
pub struct Ours;

impl Worker for Ours {
    async fn work(&self, manner: Manner, started: &Started) -> anyhow::Result<Worked> {
        work(manner, &started.assignment).await
    }
}

/// Does the work of one started task.
pub async fn work(manner: Manner, assignment: &Assignment) -> anyhow::Result<Worked> {
    let sandbox = Sandbox::new(assignment, manner.clone())?;
    let done = match manner {
        Manner::Nothing => Ok(()),
        Manner::Spray => wrong::spray(&sandbox).await,
        Manner::Attack(case) if case.replayed().is_some() => {
            let recorded = case.replayed().unwrap_or_default();
            sandbox.courier().replay(recorded).await.map_err(Into::into)
        }
        _ => {
            sandbox.courier().begin().await;
            let done = reference(&sandbox, &assignment.benchmark).await;
            sandbox.courier().finish().await?;
            done
        }
    };
    let complaint = done.err().map(|error| format!("{error:#}"));
    Ok(sandbox.courier().worked(complaint))
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
