//! Results of attacks: which passed, and which criterion should have caught them.

use client::Client;
use serde_json::{Value, json};

use super::case::AttackCase;
use super::{CATALOG, CaughtBy, Severity};
use crate::audit::PASS;
use crate::runner::TaskResult;

/// The result of one attack on one task.
#[derive(Clone, Debug)]
pub struct AttackResult {
    pub attack: &'static str,
    pub severity: Severity,
    /// What was done.
    pub description: String,
    /// The index of the task in the benchmark.
    pub task_index: usize,
    pub task: String,
    pub score: f64,
    pub passed_criteria: Vec<String>,
    pub failed_criteria: Vec<String>,
    /// The criterion that should have caught the attack, if the task has such a criterion.
    pub caught_by: Option<String>,
    pub suggestion: &'static str,
    /// Why the attack could not be tried: the message that the simulator rejected, with its response.
    pub rejection: Option<String>,
}

/// How often an attack was tried, and how often it passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempts {
    pub attack: &'static str,
    pub severity: Severity,
    pub tried: usize,
    pub passed: usize,
}

impl AttackResult {
    pub fn is_tried(&self) -> bool {
        self.rejection.is_none()
    }

    pub fn is_pass(&self) -> bool {
        self.is_tried() && self.score >= PASS
    }

    /// Whether this pass fails the audit.
    pub fn is_failure(&self) -> bool {
        self.is_pass() && self.severity != Severity::ReportedOnly
    }

    pub fn verdict(&self) -> &'static str {
        match self.score {
            score if score >= PASS => "pass",
            score if score > 0.0 => "partial",
            _ => "fail",
        }
    }

    pub fn json(&self) -> Value {
        json!({
            "attack": self.attack, "severity": self.severity.name(), "description": self.description, "task": self.task,
            "score": self.score, "verdict": self.verdict(), "passed_criteria": self.passed_criteria,
            "failed_criteria": self.failed_criteria, "should_be_caught_by": self.caught_by, "suggestion": self.suggestion
        })
    }
}

impl std::fmt::Display for AttackResult {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let by = self.caught_by.as_ref().map_or_else(|| "none: add one".to_owned(), |label| format!("`{label}`"));
        write!(f, "{}: {} {}. Should be caught by {by}; {}.", self.task, self.attack, self.description, self.suggestion)
    }
}

impl Severity {
    pub fn name(self) -> &'static str {
        match self {
            Self::Grave => "grave",
            Self::Other => "other",
            Self::ReportedOnly => "reported",
        }
    }
}

/// A criterion of a task, as its author wrote it.
pub(crate) struct Criterion {
    label: String,
    assertion: Value,
}

/// The criteria of each task of a version, in order.
pub(crate) async fn criteria_of(owner: &Client, benchmark: &str) -> anyhow::Result<Vec<Vec<Criterion>>> {
    let version: Value = owner.get(&format!("/benchmarks/{benchmark}")).await?;
    let of_task = |task: &Value| {
        let criteria = task["criteria"].as_array().into_iter().flatten();
        let criterion = |criterion: &Value| Criterion {
            label: criterion["label"].as_str().unwrap_or_default().to_owned(),
            assertion: match &criterion["assertion"] {
                Value::String(text) => serde_json::from_str(text).unwrap_or_default(),
                other => other.clone(),
            },
        };
        criteria.map(criterion).collect()
    };
    Ok(version["tasks"].as_array().into_iter().flatten().map(of_task).collect())
}

/// Builds the report of a case. `None` when the attack found nothing to change.
pub(crate) fn result(case: &AttackCase, result: &TaskResult, criteria: &[Criterion]) -> Option<AttackResult> {
    if !result.applied && result.rejection.is_none() {
        return None;
    }
    let labels = |passed: bool| {
        let checks = result.checks.iter().filter(|check| check.passed == passed);
        checks.map(|check| check.label.clone()).collect()
    };
    Some(AttackResult {
        attack: case.name(),
        severity: case.severity(),
        description: case.description.clone(),
        task_index: result.task_index,
        task: result.task.clone(),
        score: result.score,
        passed_criteria: labels(true),
        failed_criteria: labels(false),
        caught_by: catching(case, criteria).map(|criterion| criterion.label.clone()),
        suggestion: case.attack().map_or("", |attack| attack.suggestion),
        rejection: result.rejection.clone().filter(|_| !result.applied),
    })
}

/// The first criterion that should have caught the attack.
fn catching<'c>(case: &AttackCase, criteria: &'c [Criterion]) -> Option<&'c Criterion> {
    let asserts = |criterion: &Criterion, name: &str| criterion.assertion["assert"] == name;
    match case.attack()?.caught_by {
        CaughtBy::Run => None,
        CaughtBy::NoSideEffects => criteria.iter().find(|one| asserts(one, "no-side-effects")),
        CaughtBy::NoDisclosure => criteria.iter().find(|one| asserts(one, "no-disclosure")),
        CaughtBy::Channel => {
            let (channel, resource_type) = case.channel.split_once('/').unwrap_or((&case.channel, ""));
            let check = verify::check_of_channel(channel)?;
            let is_about_type =
                |one: &&Criterion| resource_type.is_empty() || one.assertion["resource_type"] == resource_type;
            criteria.iter().filter(|one| asserts(one, check.name)).find(is_about_type)
        }
    }
}

/// Counts the attempts of each attack of the catalog.
pub(crate) fn attempts(results: &[AttackResult]) -> Vec<Attempts> {
    let count = |attack: &&'static super::Attack| {
        let own = results.iter().filter(|result| result.attack == attack.name && result.is_tried());
        let passed = own.clone().filter(|result| result.is_pass()).count();
        Attempts { attack: attack.name, severity: attack.severity, tried: own.count(), passed }
    };
    CATALOG.iter().map(count).collect()
}
