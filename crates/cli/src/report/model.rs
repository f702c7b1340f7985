//! The data model of the report of `verial run`, also its JSON format.

use std::collections::BTreeMap;

use model::run::{CheckResult, ShownAxes};
use model::score::Verdict;
use model::stats::{PairedDifference, Statistics};
use serde::Serialize;
use serde_json::{Number, Value};

use crate::confine::Isolation;
use crate::run::journal::AgentEnd;

#[derive(Serialize)]
pub(crate) struct Report {
    /// `slug@version`.
    pub(crate) benchmark: String,
    pub(crate) name: String,
    pub(crate) scored: bool,
    /// How the agent of a local run was isolated from the criteria; null if another process runs the server.
    pub(crate) isolation: Option<Isolation>,
    /// The agent was the bundled reference agent.
    pub(crate) reference: bool,
    pub(crate) agent: AgentReport,
    /// Why the agent's command could not be started; reported once for all tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent_not_started: Option<String>,
    /// Metadata that the server stores with the runs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) metadata: BTreeMap<String, String>,
    pub(crate) server: String,
    pub(crate) journal: String,
    /// How often the run was resumed.
    pub(crate) resumed: u32,
    /// Where the results can be found; not part of the JSON report.
    #[serde(skip)]
    pub(crate) result_location: ResultLocation,
    pub(crate) runs: Vec<RunReport>,
    /// How many critical criteria failed in all runs.
    pub(crate) critical_failures: i64,
    pub(crate) tasks_passed: i64,
    /// In how many tasks every criterion passed.
    pub(crate) clean_tasks: i64,
    /// The score for doing nothing, and that of the reference agent, if the benchmark was audited.
    pub(crate) floor: Option<f64>,
    pub(crate) ceiling: Option<f64>,
    /// Statistics of the finished runs, from scores as they are shown.
    pub(crate) statistics: Statistics,
    /// The difference between these runs and the baseline.
    pub(crate) baseline: Option<PairedDifference>,
    pub(crate) gate: Gate,
    pub(crate) exit_code: u8,
}

/// Where the results of the runs can be found afterwards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum ResultLocation {
    /// On the server.
    #[default]
    Server,
    /// In the data directory of a local server that has stopped.
    Data(String),
    /// The local server and its data were removed.
    Discarded,
}

#[derive(Serialize)]
pub(crate) struct AgentReport {
    pub(crate) command: String,
    pub(crate) name: Option<String>,
}

#[derive(Serialize)]
pub(crate) struct RunReport {
    /// `None` if the server has not created it.
    pub(crate) id: Option<String>,
    pub(crate) status: String,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) score: Option<Number>,
    /// How many critical criteria failed.
    pub(crate) critical_failures: i64,
    pub(crate) tasks_passed: i64,
    /// In how many tasks every criterion passed.
    pub(crate) clean_tasks: i64,
    pub(crate) floor: Option<f64>,
    pub(crate) ceiling: Option<f64>,
    pub(crate) axes: ShownAxes,
    pub(crate) tasks: Vec<TaskReport>,
}

#[derive(Serialize)]
pub(crate) struct TaskReport {
    pub(crate) task_run_id: String,
    pub(crate) task_id: String,
    pub(crate) name: String,
    pub(crate) status: TaskStatus,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) score: Option<Number>,
    /// How many critical criteria failed.
    pub(crate) critical_failures: i64,
    pub(crate) floor: Option<f64>,
    pub(crate) ceiling: Option<f64>,
    pub(crate) axes: ShownAxes,
    /// How often the agent's command was started.
    pub(crate) attempts: u32,
    pub(crate) agent: Option<AgentEnd>,
    /// Whether `verial run --resume` can resume it.
    #[serde(skip)]
    pub(crate) is_open: bool,
    /// Notes on what happened besides the score.
    pub(crate) notes: Vec<String>,
    pub(crate) checks: Vec<CheckReport>,
}

/// Only `completed` and `timed_out` measure the agent; a timeout counts against it.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TaskStatus {
    Completed,
    TimedOut,
    Cancelled,
    /// The scenario could not be carried out.
    Failed,
    Interrupted,
    Infrastructure,
    NotRun,
}

#[derive(Serialize)]
pub(crate) struct CheckReport {
    pub(crate) label: String,
    pub(crate) result: CheckResult,
    pub(crate) score: Number,
    pub(crate) axis: Option<String>,
    /// Failing it means harm. Not known for a scored run, unless its details were fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) critical: Option<bool>,
    /// An agent that does nothing passes it. Not known for a scored run, as with `critical`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) guard: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) details: Option<String>,
    /// The fields that differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) differences: Vec<Difference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) evidence: Option<Value>,
}

impl CheckReport {
    /// Whether it failed with a score above 0.
    pub(crate) fn is_partial(&self) -> bool {
        self.result == CheckResult::Fail && self.score.as_f64().is_some_and(|score| score > 0.0)
    }
}

#[derive(Serialize, PartialEq, Debug)]
pub(crate) struct Difference {
    pub(crate) field: String,
    pub(crate) expected: Value,
    pub(crate) found: Value,
}

#[derive(Serialize)]
pub(crate) struct Gate {
    /// `None` without conditions, or if they cannot be evaluated.
    pub(crate) passed: Option<bool>,
    pub(crate) conditions: Vec<Condition>,
}

#[derive(Serialize)]
pub(crate) struct Condition {
    /// For example `score >= 0.8`.
    pub(crate) what: String,
    pub(crate) found: String,
    pub(crate) passed: bool,
}

impl TaskStatus {
    pub(crate) fn name(self) -> &'static str {
        match self {
            TaskStatus::Completed => "completed",
            TaskStatus::TimedOut => "timed_out",
            TaskStatus::Cancelled => "cancelled",
            TaskStatus::Failed => "failed",
            TaskStatus::Interrupted => "interrupted",
            TaskStatus::Infrastructure => "infrastructure",
            TaskStatus::NotRun => "not_run",
        }
    }

    /// The name for people.
    pub(crate) fn label(self) -> &'static str {
        match self {
            TaskStatus::TimedOut => "timed out",
            TaskStatus::Infrastructure => "not measured",
            TaskStatus::NotRun => "not run",
            other => other.name(),
        }
    }

    /// Whether the result does not measure the agent.
    pub(crate) fn is_no_measurement(self) -> bool {
        !matches!(self, TaskStatus::Completed | TaskStatus::TimedOut)
    }
}

impl Report {
    pub(crate) fn tasks(&self) -> impl Iterator<Item = &TaskReport> {
        self.runs.iter().flat_map(|run| &run.tasks)
    }

    /// Whether the agent ended by an error or a signal in every task, and passed none.
    pub(crate) fn is_crash(&self) -> bool {
        let is_crash = |task: &TaskReport| {
            let has_failed = |agent: &AgentEnd| !agent.timed_out && agent.exit_code != Some(0);
            task.agent.as_ref().is_some_and(has_failed) && task.verdict != Some(Verdict::Pass)
        };
        self.tasks().next().is_some() && self.tasks().all(is_crash)
    }

    /// Whether a task has other bounds than 0 and 1.
    pub(crate) fn has_odd_bounds(&self) -> bool {
        let is_odd = |task: &TaskReport| {
            task.floor.is_some_and(|floor| floor > 0.0) || task.ceiling.is_some_and(|ceiling| ceiling < 1.0)
        };
        self.tasks().any(is_odd)
    }

    /// The mean of each axis over the finished runs.
    pub(crate) fn axes(&self) -> BTreeMap<&str, f64> {
        let axes = self.statistics.axes.iter();
        axes.filter_map(|(name, axis)| Some((axis_name(name), axis.mean?))).collect()
    }
}

/// The display name of an axis. Criteria without an axis have a reserved one.
pub(crate) fn axis_name(name: &str) -> &str {
    if name == "__default__" { "other" } else { name }
}

/// The failed fields in a check's evidence at any depth, at most `limit`.
pub(crate) fn differences(evidence: &Value, limit: usize) -> Vec<Difference> {
    let mut found = Vec::new();
    collect_differences(evidence, limit, 0, &mut found);
    found
}

const MAX_DEPTH: usize = 12;

fn collect_differences(value: &Value, limit: usize, depth: usize, found: &mut Vec<Difference>) {
    if found.len() >= limit || depth > MAX_DEPTH {
        return;
    }
    match value {
        Value::Object(members) => {
            let field = ["path", "fhirpath", "field", "phrase", "name"].iter().find_map(|name| members.get(*name));
            if let (Some(field), Some(expected)) = (field, members.get("expected"))
                && members.get("passed") == Some(&Value::Bool(false))
            {
                let actual = ["actual", "found"].iter().find_map(|name| members.get(*name));
                found.push(Difference {
                    field: field.as_str().map_or_else(|| field.to_string(), ToOwned::to_owned),
                    expected: expected.clone(),
                    found: actual.cloned().unwrap_or_default(),
                });
                return;
            }
            members.values().for_each(|inner| collect_differences(inner, limit, depth + 1, found));
        }
        Value::Array(items) => items.iter().for_each(|inner| collect_differences(inner, limit, depth + 1, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_failed_fields_are_listed() {
        let evidence = json!({"fieldResults": [
            {"path": "status", "expected": "active", "actual": "draft", "passed": false},
            {"path": "intent", "expected": "order", "actual": "order", "passed": true}]});
        let expected = Difference { field: "status".into(), expected: json!("active"), found: json!("draft") };
        assert_eq!(differences(&evidence, 5), [expected]);
        assert_eq!(differences(&evidence, 0), []);
    }
}
