//! The bundled benchmarks, their reference agents, and the audit of a benchmark.
//!
//! A reference agent does the work of its benchmark as the instruction says. It uses only the public API and knows about a
//! task only what any agent sees.

pub mod attacks;
pub mod audit;
mod baselines;
pub mod bundled;
mod cds_triage;
mod claim_status;
mod eligibility;
mod equivalents;
mod fax_referral;
pub mod floors;
pub mod guessability;
mod hl7;
mod insurance;
mod lab_followup;
mod med_reconciliation;
mod message;
mod mutants;
mod mutating_proxy;
mod phone_scheduling;
mod prior_auth;
mod prior_auth_imaging;
mod prior_auth_pharmacy;
pub mod record;
mod records_release;
pub mod runner;
mod sandbox;
mod x12;

pub use equivalents::Equivalent;
pub use message::Message;
pub use mutants::{Mutant, MutationKind, Plan};
pub use mutating_proxy::MutatingProxy;
pub use sandbox::Assignment;

use anyhow::bail;
use runner::{RunRecord, StartedTask, TaskAgent};
use sandbox::Sandbox;

/// How an agent handles a task: it does the work, does it in a modified way, or does something that must not score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentMode {
    /// Does the work.
    Reference,
    /// Does nothing.
    Nothing,
    /// Ignores the task and writes a little of everything to every channel.
    Shotgun,
    /// Does the work with one error in it.
    Mutant(Mutant),
    /// Does the work in an equivalent way that must score the same.
    Equivalent(Equivalent),
    /// Reads resources of these types and all files, then does the work.
    Survey(Vec<String>),
    /// Attacks the benchmark.
    Attack(attacks::AttackCase),
}

/// The bundled agents: reference agents, baselines and attackers, by [`AgentMode`].
pub struct ReferenceAgent;

impl TaskAgent for ReferenceAgent {
    async fn run_task(&self, mode: AgentMode, started: &StartedTask) -> anyhow::Result<RunRecord> {
        run_task(mode, &started.assignment).await
    }
}

/// Runs the bundled agent on one started task.
pub async fn run_task(mode: AgentMode, assignment: &Assignment) -> anyhow::Result<RunRecord> {
    let sandbox = Sandbox::new(assignment, mode.clone())?;
    let outcome = match mode {
        AgentMode::Nothing => Ok(()),
        AgentMode::Shotgun => baselines::shotgun(&sandbox).await,
        AgentMode::Attack(case) if case.replayed().is_some() => {
            let recorded = case.replayed().unwrap_or_default();
            sandbox.proxy().replay(recorded).await.map_err(Into::into)
        }
        _ => {
            sandbox.proxy().begin().await;
            let outcome = solve(&sandbox, &assignment.benchmark).await;
            sandbox.proxy().finish().await?;
            outcome
        }
    };
    let agent_error = outcome.err().map(|error| format!("{error:#}"));
    Ok(sandbox.proxy().run_record(agent_error))
}

/// Whether there is a reference agent for this `slug@version`.
pub fn has_reference(benchmark: &str) -> bool {
    bundled::slugs().contains(&benchmark.split('@').next().unwrap_or_default())
}

/// Does the work of a task with the reference agent of its benchmark.
async fn solve(sandbox: &Sandbox, benchmark: &str) -> anyhow::Result<()> {
    let slug = benchmark.split('@').next().unwrap_or_default();
    match slug {
        "cds-triage" => cds_triage::solve(sandbox).await,
        "fax-referral" => fax_referral::solve(sandbox).await,
        "lab-followup" => lab_followup::solve(sandbox).await,
        "med-reconciliation" => med_reconciliation::solve(sandbox).await,
        "claim-status" => claim_status::solve(sandbox).await,
        "eligibility" => eligibility::solve(sandbox).await,
        "phone-scheduling" => phone_scheduling::solve(sandbox).await,
        "prior-auth-imaging" => prior_auth_imaging::solve(sandbox).await,
        "prior-auth-pharmacy" => prior_auth_pharmacy::solve(sandbox).await,
        "records-release" => records_release::solve(sandbox).await,
        other => bail!("there is no reference agent for `{other}`"),
    }
}
