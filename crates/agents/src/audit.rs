//! Whether a benchmark can be believed: what agents that must not score get of it, what the reference gets, and which near
//! misses of the reference are told from it.

use client::Client;
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};

use crate::attacks::{self, AttackResult, Attempts, Case, Target, attempts};
use crate::drive::{Result, Worker, drive};
use crate::guess::{ENOUGH_BITS, Guess};
use crate::near::{chosen, some_of};
use crate::{Manner, NearMiss, Plan, Variant};

/// From here on a task counts as passed.
pub const PASS: f64 = 0.9;

/// As often the reference agent has to have everything right.
const RUNS: usize = 5;
/// Runs beside each other.
const AT_ONCE: usize = 4;

/// How much of all that could be tried is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Every near miss and every other way.
    Full,
    /// One in so many of them, another one in each task.
    OneIn(usize),
}

#[derive(Clone, Debug, Default)]
pub struct Audit {
    pub reference: Vec<Result>,
    /// The reference agent again and again, when all is tried.
    pub repeats: Vec<Result>,
    pub nothing: Vec<Result>,
    pub spray: Vec<Result>,
    /// Only those that sent something else than the reference.
    pub near_misses: Vec<(NearMiss, Result)>,
    pub variants: Vec<(Variant, Result)>,
    /// Attacks by mechanism, with those that the simulators refused.
    pub attacks: Vec<AttackResult>,
    /// How hard each task is to guess, when its criteria are known.
    pub guesses: Vec<Guess>,
}

/// Drives agents of ours through a published benchmark: those that must not score, and without a reference agent no other.
pub async fn audit(
    owner: &Client,
    benchmark: &str,
    reference: Option<&impl Worker>,
    depth: Depth,
    told: impl Fn(&str),
) -> anyhow::Result<Audit> {
    let mut audit = Audit::default();
    // First, as it is what can be mistyped: nobody should wait for the others to hear of it.
    if let Some(worker) = reference {
        told("the reference agent");
        audit.reference = drive(owner, benchmark, worker, |_| Some(Manner::Reference)).await?;
    }
    told("an agent that does nothing");
    audit.nothing = drive(owner, benchmark, &crate::Ours, |_| Some(Manner::Nothing)).await?;
    told("an agent that does a little of everything");
    audit.spray = drive(owner, benchmark, &crate::Ours, |_| Some(Manner::Spray)).await?;
    let Some(worker) = reference else {
        return Ok(audit);
    };
    if depth == Depth::Full {
        told("the same again");
        for _ in 1..RUNS {
            audit.repeats.extend(drive(owner, benchmark, worker, |_| Some(Manner::Reference)).await?);
        }
    }
    told("near misses of it");
    let misses = near_misses(&audit.reference, depth);
    let manners = misses.into_iter().map(|misses| misses.into_iter().map(Manner::Mutant).collect()).collect();
    for (manner, result) in each(owner, benchmark, worker, manners).await? {
        if let Manner::Mutant(miss) = manner {
            audit.near_misses.push((miss, result));
        }
    }
    told("other ways that are as good");
    let ways = (0..audit.reference.len()).map(|task| ways(task, depth)).collect();
    for (manner, result) in each(owner, benchmark, worker, ways).await? {
        if let Manner::Variant(variant) = manner {
            audit.variants.push((variant, result));
        }
    }
    told("attacks by mechanism");
    audit.attacks = attacked(owner, benchmark, worker, &audit.reference, depth).await?;
    Ok(audit)
}

/// Only the catalog of attacks, after one run of the reference agent.
pub async fn attacks_on(
    owner: &Client,
    benchmark: &str,
    worker: &impl Worker,
    depth: Depth,
) -> anyhow::Result<Vec<AttackResult>> {
    let reference = drive(owner, benchmark, worker, |_| Some(Manner::Reference)).await?;
    attacked(owner, benchmark, worker, &reference, depth).await
}

/// The catalog of attacks on every task.
async fn attacked(
    owner: &Client,
    benchmark: &str,
    worker: &impl Worker,
    reference: &[Result],
    depth: Depth,
) -> anyhow::Result<Vec<AttackResult>> {
    let criteria = attacks::criteria_of(owner, benchmark).await?;
    let plans: Vec<Plan> = reference.iter().map(|result| result.plan.clone()).collect();
    let types = attacks::surveyed_types(&plans);
    let surveyed = drive(owner, benchmark, worker, |_| Some(Manner::Survey(types.clone()))).await?;
    let plans: Vec<Plan> = surveyed.iter().map(|result| result.plan.clone()).collect();
    let of_task = |(task, result): (usize, &Result)| {
        let cases = Target::new(task, &plans, &result.survey).map(|target| attacks::cases(&target));
        let cases = sampled(cases.unwrap_or_default(), task, depth);
        cases.into_iter().map(Manner::Attack).collect::<Vec<_>>()
    };
    let manners: Vec<Vec<Manner>> = surveyed.iter().enumerate().map(of_task).collect();
    let mut results: Vec<(Case, Result)> = Vec::new();
    for (manner, result) in tried(owner, benchmark, worker, manners).await? {
        if let Manner::Attack(case) = manner {
            results.push((case, result));
        }
    }
    results.extend(attacks::scored_cases(owner, benchmark, &surveyed).await?);
    let none = Vec::new();
    let of =
        |(case, result): &(Case, Result)| attacks::result(case, result, criteria.get(result.place).unwrap_or(&none));
    Ok(results.iter().filter_map(of).collect())
}

/// In a sample each task has another part of the catalog.
fn sampled(cases: Vec<Case>, task: usize, depth: Depth) -> Vec<Case> {
    match depth {
        Depth::Full => cases,
        Depth::OneIn(each) => {
            let is_taken = |place: usize| (place + task).is_multiple_of(each.max(1));
            cases.into_iter().enumerate().filter(|(place, _)| is_taken(*place)).map(|(_, case)| case).collect()
        }
    }
}

fn near_misses(reference: &[Result], depth: Depth) -> Vec<Vec<NearMiss>> {
    let plans: Vec<Plan> = reference.iter().map(|result| result.plan.clone()).collect();
    let of_task = |task| match depth {
        Depth::Full => chosen(task, &plans),
        Depth::OneIn(each) => some_of(chosen(task, &plans), task, each),
    };
    (0..plans.len()).map(of_task).collect()
}

fn ways(task: usize, depth: Depth) -> Vec<Manner> {
    let all = Variant::ALL.iter().enumerate();
    let taken = all.filter(|(place, _)| match depth {
        Depth::Full => true,
        Depth::OneIn(each) => (place + task).is_multiple_of(each.max(1)),
    });
    taken.map(|(_, variant)| Manner::Variant(*variant)).collect()
}

/// Each task in each of its manners. What made no difference is left out.
async fn each(
    owner: &Client,
    benchmark: &str,
    worker: &impl Worker,
    manners: Vec<Vec<Manner>>,
) -> anyhow::Result<Vec<(Manner, Result)>> {
    let all = tried(owner, benchmark, worker, manners).await?;
    Ok(all.into_iter().filter(|(_, result)| result.applied).collect())
}

/// Each task in each of its manners: as many runs as the longest list has.
async fn tried(
    owner: &Client,
    benchmark: &str,
    worker: &impl Worker,
    manners: Vec<Vec<Manner>>,
) -> anyhow::Result<Vec<(Manner, Result)>> {
    let rounds = manners.iter().map(Vec::len).max().unwrap_or_default();
    let manners = &manners;
    let runs = stream::iter(0..rounds).map(|round| async move {
        let manner = move |task: usize| manners.get(task)?.get(round).cloned();
        let results = drive(owner, benchmark, worker, manner).await?;
        let pairs = results.into_iter().filter_map(|result| Some((manner(result.place)?, result)));
        anyhow::Ok(pairs.collect::<Vec<_>>())
    });
    let mut all = Vec::new();
    for run in runs.buffered(AT_ONCE).collect::<Vec<_>>().await {
        all.extend(run?);
    }
    Ok(all)
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

    /// What the reference agent had to say of the first task that it failed and spoke of.
    pub fn complaint(&self) -> Option<(&str, &str)> {
        let failed = self.reference.iter().filter(|result| result.checks.iter().any(|check| !check.passed));
        failed.filter_map(|result| Some((result.task.as_str(), result.complaint.as_deref()?))).next()
    }

    /// How many checks an agent may guess, of how many that are no guards; and how many tasks.
    pub fn weak(&self) -> (usize, usize, usize) {
        let checks = self.guesses.iter().flat_map(|guess| guess.criteria.iter().flatten()).count();
        let tasks = self.guesses.iter().filter(|guess| guess.task < ENOUGH_BITS).count();
        (self.guesses.iter().map(Guess::weak).sum(), checks, tasks)
    }

    /// How many near misses did not pass, of how many.
    pub fn told(&self) -> (usize, usize) {
        let told = self.near_misses.iter().filter(|(_, result)| result.score < PASS).count();
        (told, self.near_misses.len())
    }

    /// Of those that harm somebody.
    pub fn told_grave(&self) -> (usize, usize) {
        let grave = self.near_misses.iter().filter(|(miss, _)| miss.kind.is_grave());
        (grave.clone().filter(|(_, result)| result.score < PASS).count(), grave.count())
    }

    /// Of the task with the fewest: how many near misses, and how many other ways.
    pub fn fewest(&self) -> (usize, usize) {
        let of = |places: Vec<usize>| {
            let count = |task| places.iter().filter(|place| **place == task).count();
            (0..self.reference.len()).map(count).min().unwrap_or_default()
        };
        let near = of(self.near_misses.iter().map(|(_, result)| result.place).collect());
        (near, of(self.variants.iter().map(|(_, result)| result.place).collect()))
    }

    /// How many other ways scored in full, of how many.
    pub fn accepted(&self) -> (usize, usize) {
        let accepted = self.variants.iter().filter(|(_, result)| result.score >= 1.0).count();
        (accepted, self.variants.len())
    }

    /// The near misses that passed, in words.
    pub fn passed(&self) -> Vec<String> {
        let passed = self.near_misses.iter().filter(|(_, result)| result.score >= PASS);
        passed.map(|(miss, result)| format!("{}: {miss}", result.task)).collect()
    }

    /// The other ways that did not score in full, in words.
    pub fn refused(&self) -> Vec<String> {
        let refused = self.variants.iter().filter(|(_, result)| result.score < 1.0);
        refused.map(|(way, result)| format!("{}: {} scores {:.2}", result.task, way.name(), result.score)).collect()
    }

    /// How often each attack was tried, and how often it passed.
    pub fn attempts(&self) -> Vec<Attempts> {
        attempts(&self.attacks)
    }

    /// The attacks that passed.
    pub fn passed_attacks(&self) -> impl Iterator<Item = &AttackResult> {
        self.attacks.iter().filter(|result| result.is_pass())
    }

    /// One row of the table of all benchmarks, as the manual has it.
    pub fn row(&self, slug: &str) -> String {
        let ((told, near), (grave_told, grave)) = (self.told(), self.told_grave());
        let (accepted, variants) = self.accepted();
        let before = self.row_of_all(slug);
        format!("{before} {told} of {near} | {grave_told} of {grave} | {accepted} of {variants} |")
    }

    /// Its beginning, which does not depend on how much was tried.
    pub fn row_of_all(&self, slug: &str) -> String {
        let passed = |results: &[Result]| results.iter().filter(|result| result.score >= PASS).count();
        let (weak, checks, tasks) = self.weak();
        format!(
            "| `{slug}` | {} | {:.2} | {:.2} | {} | {weak} of {checks} | {tasks} |",
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
                let bits = self.guesses.get(place).and_then(|guess| guess.criteria.get(index).copied().flatten());
                rows.push(json!({
                    "task": task.task, "criterion": check.label, "guard": check.guard, "nothing": check.passed, "spray": passes(&self.spray),
                    "reference": passes(&self.reference), "near_misses": of_task.count(), "failed_by": failed.count(),
                    "bits": bits.map(f64::floor), "weak": bits.map(|bits| bits < ENOUGH_BITS)
                }));
            }
        }
        rows
    }
}

fn mean(results: &[Result]) -> f64 {
    if results.is_empty() { 0.0 } else { results.iter().map(|result| result.score).sum::<f64>() / results.len() as f64 }
}
