//! The audit of a benchmark: whether its scores can be trusted.
//!
//! It runs agents that must not score, the reference agent, mutants of it (near misses, which must fail), equivalents of it
//! (which must score in full), and attacks (which must fail).

use client::Client;
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};

use crate::attacks::{self, AttackCase, AttackResult, Attempts, Target, attempts};
use crate::guessability::{Guessability, MIN_BITS};
use crate::mutants::{sample, select};
use crate::runner::{TaskAgent, TaskResult, run_benchmark};
use crate::{AgentMode, Equivalent, Mutant, Plan};

/// The lowest score with which a task counts as passed.
pub const PASS: f64 = 0.9;

/// How many runs of the reference agent must be perfect in a full audit.
const REFERENCE_RUNS: usize = 5;
/// How many benchmark runs are made concurrently.
const CONCURRENT_RUNS: usize = 4;

/// How many of the possible mutants, equivalents and attacks are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// All of them.
    Full,
    /// A sample of one in this many. Each task gets a different part.
    OneIn(usize),
}

/// The results of an audit.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    pub reference: Vec<TaskResult>,
    /// More runs of the reference agent, in a full audit.
    pub repeats: Vec<TaskResult>,
    pub nothing: Vec<TaskResult>,
    pub shotgun: Vec<TaskResult>,
    /// Only mutants that altered something that the agent sent.
    pub mutants: Vec<(Mutant, TaskResult)>,
    /// Only equivalents that altered something that the agent sent.
    pub equivalents: Vec<(Equivalent, TaskResult)>,
    /// Attacks by mechanism, including those that the simulators rejected.
    pub attacks: Vec<AttackResult>,
    /// How hard each task is to guess, when its criteria are known.
    pub guessability: Vec<Guessability>,
}

/// Audits a published benchmark. Without a reference agent, only agents that must not score are run. `progress` is called
/// before each phase.
pub async fn audit(
    owner: &Client,
    benchmark: &str,
    reference: Option<&impl TaskAgent>,
    depth: Depth,
    progress: impl Fn(&str),
) -> anyhow::Result<Audit> {
    let mut audit = Audit::default();
    // The reference agent runs first so that a mistyped agent command fails immediately.
    if let Some(agent) = reference {
        progress("the reference agent");
        audit.reference = run_benchmark(owner, benchmark, agent, |_| Some(AgentMode::Reference)).await?;
    }
    progress("an agent that does nothing");
    audit.nothing = run_benchmark(owner, benchmark, &crate::ReferenceAgent, |_| Some(AgentMode::Nothing)).await?;
    progress("an agent that does a little of everything");
    audit.shotgun = run_benchmark(owner, benchmark, &crate::ReferenceAgent, |_| Some(AgentMode::Shotgun)).await?;
    let Some(agent) = reference else {
        return Ok(audit);
    };
    if depth == Depth::Full {
        progress("repeated runs of the reference agent");
        for _ in 1..REFERENCE_RUNS {
            audit.repeats.extend(run_benchmark(owner, benchmark, agent, |_| Some(AgentMode::Reference)).await?);
        }
    }
    progress("near misses of the reference agent");
    let mutants = mutants(&audit.reference, depth);
    let modes = mutants.into_iter().map(|mutants| mutants.into_iter().map(AgentMode::Mutant).collect()).collect();
    for (mode, result) in run_modes_that_apply(owner, benchmark, agent, modes).await? {
        if let AgentMode::Mutant(mutant) = mode {
            audit.mutants.push((mutant, result));
        }
    }
    progress("equivalent ways to do the work");
    let modes = (0..audit.reference.len()).map(|task| equivalents(task, depth)).collect();
    for (mode, result) in run_modes_that_apply(owner, benchmark, agent, modes).await? {
        if let AgentMode::Equivalent(equivalent) = mode {
            audit.equivalents.push((equivalent, result));
        }
    }
    progress("attacks by mechanism");
    audit.attacks = run_catalog(owner, benchmark, agent, &audit.reference, depth).await?;
    Ok(audit)
}

/// Runs only the catalog of attacks, after one run of the reference agent.
pub async fn run_attacks(
    owner: &Client,
    benchmark: &str,
    agent: &impl TaskAgent,
    depth: Depth,
) -> anyhow::Result<Vec<AttackResult>> {
    let reference = run_benchmark(owner, benchmark, agent, |_| Some(AgentMode::Reference)).await?;
    run_catalog(owner, benchmark, agent, &reference, depth).await
}

/// Runs the catalog of attacks on every task.
async fn run_catalog(
    owner: &Client,
    benchmark: &str,
    agent: &impl TaskAgent,
    reference: &[TaskResult],
    depth: Depth,
) -> anyhow::Result<Vec<AttackResult>> {
    let criteria = attacks::criteria_of(owner, benchmark).await?;
    let plans: Vec<Plan> = reference.iter().map(|result| result.plan.clone()).collect();
    let types = attacks::surveyed_types(&plans);
    let surveyed = run_benchmark(owner, benchmark, agent, |_| Some(AgentMode::Survey(types.clone()))).await?;
    let plans: Vec<Plan> = surveyed.iter().map(|result| result.plan.clone()).collect();
    let of_task = |(task, result): (usize, &TaskResult)| {
        let cases = Target::new(task, &plans, &result.survey).map(|target| attacks::cases(&target));
        let cases = sampled(cases.unwrap_or_default(), task, depth);
        cases.into_iter().map(AgentMode::Attack).collect::<Vec<_>>()
    };
    let modes: Vec<Vec<AgentMode>> = surveyed.iter().enumerate().map(of_task).collect();
    let mut results: Vec<(AttackCase, TaskResult)> = Vec::new();
    for (mode, result) in run_modes(owner, benchmark, agent, modes).await? {
        if let AgentMode::Attack(case) = mode {
            results.push((case, result));
        }
    }
    results.extend(attacks::scored_cases(owner, benchmark, &surveyed).await?);
    let none = Vec::new();
    let attack_result = |(case, result): &(AttackCase, TaskResult)| {
        attacks::result(case, result, criteria.get(result.task_index).unwrap_or(&none))
    };
    Ok(results.iter().filter_map(attack_result).collect())
}

/// Limits the cases of a task to the depth. In a sample, each task gets a different part of the catalog.
fn sampled(cases: Vec<AttackCase>, task: usize, depth: Depth) -> Vec<AttackCase> {
    match depth {
        Depth::Full => cases,
        Depth::OneIn(each) => {
            let is_taken = |index: usize| (index + task).is_multiple_of(each.max(1));
            cases.into_iter().enumerate().filter(|(index, _)| is_taken(*index)).map(|(_, case)| case).collect()
        }
    }
}

/// The mutants of each task.
fn mutants(reference: &[TaskResult], depth: Depth) -> Vec<Vec<Mutant>> {
    let plans: Vec<Plan> = reference.iter().map(|result| result.plan.clone()).collect();
    let of_task = |task| match depth {
        Depth::Full => select(task, &plans),
        Depth::OneIn(each) => sample(select(task, &plans), task, each),
    };
    (0..plans.len()).map(of_task).collect()
}

/// The equivalents of a task.
fn equivalents(task: usize, depth: Depth) -> Vec<AgentMode> {
    let all = Equivalent::ALL.iter().enumerate();
    let taken = all.filter(|(index, _)| match depth {
        Depth::Full => true,
        Depth::OneIn(each) => (index + task).is_multiple_of(each.max(1)),
    });
    taken.map(|(_, equivalent)| AgentMode::Equivalent(*equivalent)).collect()
}

/// Runs each task in each of its modes, and returns only results in which the mode altered something.
async fn run_modes_that_apply(
    owner: &Client,
    benchmark: &str,
    agent: &impl TaskAgent,
    modes: Vec<Vec<AgentMode>>,
) -> anyhow::Result<Vec<(AgentMode, TaskResult)>> {
    let all = run_modes(owner, benchmark, agent, modes).await?;
    Ok(all.into_iter().filter(|(_, result)| result.applied).collect())
}

/// Runs each task in each of its modes. Makes as many benchmark runs as the longest list of modes has entries.
async fn run_modes(
    owner: &Client,
    benchmark: &str,
    agent: &impl TaskAgent,
    modes: Vec<Vec<AgentMode>>,
) -> anyhow::Result<Vec<(AgentMode, TaskResult)>> {
    let rounds = modes.iter().map(Vec::len).max().unwrap_or_default();
    let modes = &modes;
    let runs = stream::iter(0..rounds).map(|round| async move {
        let mode = move |task: usize| modes.get(task)?.get(round).cloned();
        let results = run_benchmark(owner, benchmark, agent, mode).await?;
        let pairs = results.into_iter().filter_map(|result| Some((mode(result.task_index)?, result)));
        anyhow::Ok(pairs.collect::<Vec<_>>())
    });
    let mut all = Vec::new();
    for run in runs.buffered(CONCURRENT_RUNS).collect::<Vec<_>>().await {
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

    /// The first failed task of the reference agent for which it reported an error, with that error.
    pub fn reference_error(&self) -> Option<(&str, &str)> {
        let failed = self.reference.iter().filter(|result| result.checks.iter().any(|check| !check.passed));
        failed.filter_map(|result| Some((result.task.as_str(), result.agent_error.as_deref()?))).next()
    }

    /// Counts the weak checks (which an agent may guess), the checks that are not guards, and the tasks that may be guessed.
    pub fn weak_checks(&self) -> (usize, usize, usize) {
        let checks = self.guessability.iter().flat_map(|guess| guess.criteria.iter().flatten()).count();
        let tasks = self.guessability.iter().filter(|guess| guess.task < MIN_BITS).count();
        (self.guessability.iter().map(Guessability::weak_criteria).sum(), checks, tasks)
    }

    /// Counts the mutants that failed, and all mutants.
    pub fn failed_mutants(&self) -> (usize, usize) {
        let failed = self.mutants.iter().filter(|(_, result)| result.score < PASS).count();
        (failed, self.mutants.len())
    }

    /// Counts the harmful mutants that failed, and all harmful mutants.
    pub fn failed_grave_mutants(&self) -> (usize, usize) {
        let grave = self.mutants.iter().filter(|(mutant, _)| mutant.kind.is_grave());
        (grave.clone().filter(|(_, result)| result.score < PASS).count(), grave.count())
    }

    /// The smallest number of mutants, and the smallest number of equivalents, that any task has.
    pub fn min_per_task(&self) -> (usize, usize) {
        let min = |tasks: Vec<usize>| {
            let count = |task| tasks.iter().filter(|index| **index == task).count();
            (0..self.reference.len()).map(count).min().unwrap_or_default()
        };
        let mutants = min(self.mutants.iter().map(|(_, result)| result.task_index).collect());
        (mutants, min(self.equivalents.iter().map(|(_, result)| result.task_index).collect()))
    }

    /// Counts the equivalents that scored in full, and all equivalents.
    pub fn accepted_equivalents(&self) -> (usize, usize) {
        let accepted = self.equivalents.iter().filter(|(_, result)| result.score >= 1.0).count();
        (accepted, self.equivalents.len())
    }

    /// Describes the mutants that passed.
    pub fn passed_mutants(&self) -> Vec<String> {
        let passed = self.mutants.iter().filter(|(_, result)| result.score >= PASS);
        passed.map(|(mutant, result)| format!("{}: {mutant}", result.task)).collect()
    }

    /// Describes the equivalents that did not score in full.
    pub fn rejected_equivalents(&self) -> Vec<String> {
        let rejected = self.equivalents.iter().filter(|(_, result)| result.score < 1.0);
        let describe = |(equivalent, result): &(Equivalent, TaskResult)| {
            format!("{}: {} scores {:.2}", result.task, equivalent.name(), result.score)
        };
        rejected.map(describe).collect()
    }

    /// How often each attack was tried, and how often it passed.
    pub fn attempts(&self) -> Vec<Attempts> {
        attempts(&self.attacks)
    }

    /// The attacks that passed.
    pub fn passed_attacks(&self) -> impl Iterator<Item = &AttackResult> {
        self.attacks.iter().filter(|result| result.is_pass())
    }

    /// Formats the benchmark's row of the audit table in `docs/benchmarks.md`.
    pub fn row(&self, slug: &str) -> String {
        let ((failed, mutants), (grave_failed, grave)) = (self.failed_mutants(), self.failed_grave_mutants());
        let (accepted, equivalents) = self.accepted_equivalents();
        let start = self.row_start(slug);
        format!("{start} {failed} of {mutants} | {grave_failed} of {grave} | {accepted} of {equivalents} |")
    }

    /// Formats the start of the row, which does not depend on the depth of the audit.
    pub fn row_start(&self, slug: &str) -> String {
        let passed = |results: &[TaskResult]| results.iter().filter(|result| result.score >= PASS).count();
        let (weak, checks, tasks) = self.weak_checks();
        format!(
            "| `{slug}` | {} | {:.2} | {:.2} | {} | {weak} of {checks} | {tasks} |",
            self.nothing.len(),
            self.ceiling().unwrap_or_default(),
            self.floor(),
            passed(&self.shotgun),
        )
    }

    /// Reports for each criterion of each task which agents pass it and how many mutants fail it.
    pub fn criteria(&self) -> Vec<Value> {
        let mut rows = Vec::new();
        for (task_index, task) in self.nothing.iter().enumerate() {
            for (index, check) in task.checks.iter().enumerate() {
                let passes = |results: &[TaskResult]| {
                    results.get(task_index).and_then(|result| result.checks.get(index)).map(|check| check.passed)
                };
                let of_task = self.mutants.iter().filter(|(_, result)| result.task == task.task);
                let failed =
                    of_task.clone().filter(|(_, result)| result.checks.get(index).is_some_and(|check| !check.passed));
                let bits =
                    self.guessability.get(task_index).and_then(|guess| guess.criteria.get(index).copied().flatten());
                rows.push(json!({
                    "task": task.task, "criterion": check.label, "guard": check.guard, "nothing": check.passed, "spray": passes(&self.shotgun),
                    "reference": passes(&self.reference), "near_misses": of_task.count(), "failed_by": failed.count(),
                    "bits": bits.map(f64::floor), "weak": bits.map(|bits| bits < MIN_BITS)
                }));
            }
        }
        rows
    }
}

fn mean(results: &[TaskResult]) -> f64 {
    if results.is_empty() { 0.0 } else { results.iter().map(|result| result.score).sum::<f64>() / results.len() as f64 }
}
