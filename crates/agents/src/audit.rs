//! Whether a benchmark can be believed: what agents that must not score get of it, what the reference gets, and which near
//! misses of the reference are told from it.

use client::Client;
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};

use crate::drive::{Result, drive};
use crate::{Manner, Mutation, Variant};

/// From here on a task counts as passed.
pub const PASS: f64 = 0.9;

/// Runs beside each other.
const AT_ONCE: usize = 4;

#[derive(Clone, Debug, Default)]
pub struct Audit {
    pub reference: Vec<Result>,
    pub nothing: Vec<Result>,
    pub spray: Vec<Result>,
    /// Only those that sent something else than the reference.
    pub near_misses: Vec<(Mutation, Result)>,
    pub variants: Vec<(Variant, Result)>,
}

/// Drives all agents of ours through a published benchmark. Without a reference agent for it only those that must not score.
pub async fn audit(owner: &Client, benchmark: &str, told: impl Fn(&str)) -> anyhow::Result<Audit> {
    let mut audit = Audit::default();
    told("an agent that does nothing");
    audit.nothing = drive(owner, benchmark, Manner::Nothing).await?;
    told("an agent that does a little of everything");
    audit.spray = drive(owner, benchmark, Manner::Spray).await?;
    if !crate::has_reference(benchmark) {
        return Ok(audit);
    }
    told("the reference agent");
    audit.reference = drive(owner, benchmark, Manner::Reference).await?;
    told("near misses of it");
    let wrong = stream::iter(Mutation::ALL)
        .map(async |mutation| (mutation, drive(owner, benchmark, Manner::Mutant(mutation)).await));
    for (mutation, results) in wrong.buffered(AT_ONCE).collect::<Vec<_>>().await {
        let altered = results?.into_iter().filter(|result| result.applied);
        audit.near_misses.extend(altered.map(|result| (mutation, result)));
    }
    told("other ways that are as good");
    for variant in Variant::ALL {
        let results = drive(owner, benchmark, Manner::Variant(variant)).await?;
        audit.variants.extend(results.into_iter().map(|result| (variant, result)));
    }
    Ok(audit)
}

impl Audit {
    /// The mean score of an agent that does nothing.
    pub fn floor(&self) -> f64 {
        mean(&self.nothing)
    }

    /// The mean score of the reference agent, if there is one.
    pub fn ceiling(&self) -> Option<f64> {
        (!self.reference.is_empty()).then(|| mean(&self.reference))
    }

    /// How many near misses did not pass, of how many.
    pub fn told(&self) -> (usize, usize) {
        let told = self.near_misses.iter().filter(|(_, result)| result.score < PASS).count();
        (told, self.near_misses.len())
    }

    /// How many other ways scored in full, of how many.
    pub fn accepted(&self) -> (usize, usize) {
        let accepted = self.variants.iter().filter(|(_, result)| result.score >= 1.0).count();
        (accepted, self.variants.len())
    }

    /// One row of the table of all benchmarks, as the manual has it.
    pub fn row(&self, slug: &str) -> String {
        let (told, near) = self.told();
        let (accepted, variants) = self.accepted();
        let passed = |results: &[Result]| results.iter().filter(|result| result.score >= PASS).count();
        format!(
            "| `{slug}` | {} | {:.2} | {:.2} | {} | {told} of {near} | {accepted} of {variants} |",
            self.nothing.len(),
            self.ceiling().unwrap_or_default(),
            self.floor(),
            passed(&self.spray),
        )
    }

    /// For each criterion of each task: who passes it, and how many near misses fail it.
    pub fn criteria(&self) -> Vec<Value> {
        let mut rows = Vec::new();
        for (place, task) in self.nothing.iter().enumerate() {
            for (index, check) in task.checks.iter().enumerate() {
                let passes = |results: &[Result]| {
                    results.get(place).and_then(|result| result.checks.get(index)).map(|check| check.passed)
                };
                let of_task = self.near_misses.iter().filter(|(_, result)| result.task == task.task);
                let failed =
                    of_task.clone().filter(|(_, result)| result.checks.get(index).is_some_and(|check| !check.passed));
                rows.push(json!({
                    "task": task.task, "criterion": check.label, "nothing": check.passed, "spray": passes(&self.spray),
                    "reference": passes(&self.reference), "near_misses": of_task.count(), "failed_by": failed.count()
                }));
            }
        }
        rows
    }
}

fn mean(results: &[Result]) -> f64 {
    if results.is_empty() { 0.0 } else { results.iter().map(|result| result.score).sum::<f64>() / results.len() as f64 }
}
