//! Builds the report from the journal and from the server's summaries of the runs.

use std::collections::BTreeMap;
use std::path::Path;

use model::api_key::masked;
use model::audit::Bounds;
use model::run::{CheckResult, RunSummary, RunTask, ShownAxes, ShownAxis, Status, TaskRunResult};
use model::score::{AxisScore, Score, Verdict};
use model::stats::{RunSample, TaskSample, statistics};
use serde_json::Number;

use super::model::{
    AgentReport, CheckReport, Gate, Report, ResultLocation, RunReport, TaskReport, TaskStatus, differences,
};
use crate::output::text::{sanitize, truncate};
use crate::run::journal::{Journal, RunRecord, TaskRecord, TaskStage};
use crate::run::rerun;

/// The maximum number of differences per check.
const MAX_DIFFERENCES: usize = 20;

/// `summaries` has one entry for each run of the journal, `None` if unknown.
pub(crate) fn build(journal: &Journal, path: &str, summaries: &[Option<RunSummary>]) -> Report {
    let summaries = &merged_summaries(journal, summaries);
    let merged_runs = rerun::merged_runs(journal);
    let runs: Vec<RunReport> =
        merged_runs.iter().zip(summaries).map(|(run, summary)| run_report(run, summary.as_ref())).collect();
    let unstarted_task = merged_runs.iter().flat_map(|run| &run.tasks).find(|task| task.agent_not_started);
    let samples: Vec<RunSample> = summaries.iter().flatten().filter_map(sample).collect();
    let statistics = statistics(&samples);
    let created_run = journal.runs.iter().filter_map(|run| run.created.as_ref()).next();
    Report {
        benchmark: journal.benchmark.clone(),
        name: created_run.map_or_else(|| journal.benchmark.clone(), |created| created.benchmark.name.clone()),
        scored: journal.scored,
        isolation: journal.isolation,
        reference: journal.reference,
        agent: AgentReport { command: journal.agent.clone(), name: journal.agent_name.clone() },
        agent_not_started: unstarted_task.and_then(|task| task.fault.clone()),
        metadata: journal.metadata.clone(),
        server: journal.url.clone(),
        journal: path.to_owned(),
        resumed: journal.resumed,
        result_location: ResultLocation::default(),
        critical_failures: runs.iter().map(|run| run.critical_failures).sum(),
        tasks_passed: runs.iter().map(|run| run.tasks_passed).sum(),
        clean_tasks: runs.iter().map(|run| run.clean_tasks).sum(),
        runs,
        floor: statistics.floor,
        ceiling: statistics.ceiling,
        statistics,
        baseline: None,
        gate: Gate { passed: None, conditions: Vec::new() },
        exit_code: 0,
    }
}

fn run_report(record: &RunRecord, summary: Option<&RunSummary>) -> RunReport {
    let tasks: Vec<TaskReport> = record.tasks.iter().map(task).collect();
    // The journal has the tasks' results even if the server no longer responds.
    let known_failures = tasks.iter().map(|task| task.critical_failures).sum();
    // The server counts unmeasured tasks as 0, which would blame the agent.
    let is_measured = tasks.iter().all(|task| !task.status.is_no_measurement());
    let scored = summary.filter(|_| is_measured);
    RunReport {
        id: record.created.as_ref().map(|created| created.run.to_string()),
        status: summary.map_or("not_made", |summary| summary.status.name()).to_owned(),
        verdict: scored.and_then(|summary| summary.verdict),
        score: scored.and_then(|summary| summary.score.clone()),
        critical_failures: summary.map_or(known_failures, |summary| summary.critical_failures),
        tasks_passed: summary.map_or(0, |summary| summary.tasks_passed),
        clean_tasks: summary.map_or(0, |summary| summary.clean_tasks),
        floor: summary.and_then(|summary| summary.floor),
        ceiling: summary.and_then(|summary| summary.ceiling),
        axes: summary.map(|summary| summary.axes.clone()).unwrap_or_default(),
        tasks,
    }
}

fn task(record: &TaskRecord) -> TaskReport {
    let status = status(record);
    let result = record.result.as_ref().filter(|_| !status.is_no_measurement());
    let mut notes = record.notes.clone();
    notes.extend(record.fault.clone().filter(|_| !record.agent_not_started));
    if let Some(agent) = record.agent.as_ref().filter(|_| !record.interrupted) {
        match (agent.timed_out, agent.exit_code, agent.signal) {
            (true, ..) => notes.push("the agent reached its time limit and was stopped".into()),
            (false, Some(0), _) => {}
            _ if agent.was_not_started() => {}
            (false, Some(code), _) => {
                notes.push(format!("the agent ended with exit code {code}{}", last_log_line(&agent.log)))
            }
            (false, None, Some(signal)) => notes.push(format!("the agent was ended by signal {signal}")),
            (false, None, None) => {}
        }
        if agent.left_out_bytes > 0 {
            notes.push(format!("{} bytes of the agent's output are not in its log", agent.left_out_bytes));
        }
    }
    if record.attempts > 1 {
        notes.push(format!("the agent's command was started {} times", record.attempts));
    }
    TaskReport {
        task_run_id: record.task_run.to_string(),
        task_id: record.task.to_string(),
        name: record.name.clone(),
        status,
        is_open: record.step != TaskStage::Done,
        verdict: result.and_then(|result| result.verdict),
        score: result.and_then(|result| result.score.clone()),
        critical_failures: result.map_or(0, |result| result.critical_failures),
        floor: result.and_then(|result| result.floor),
        ceiling: result.and_then(|result| result.ceiling),
        axes: result.map(|result| result.axes.clone()).unwrap_or_default(),
        attempts: record.attempts,
        agent: record.agent.clone(),
        notes,
        checks: result.into_iter().flat_map(|result| &result.checks).map(check).collect(),
    }
}

/// The last line of a log, with secrets masked, because reports are shared.
pub(crate) fn last_log_line(log: &Path) -> String {
    const MAX: usize = 300;
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text[text.len().saturating_sub(4 * MAX)..]);
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
    line.map(|line| format!(": {}", truncate(&sanitize(&masked(line)), MAX))).unwrap_or_default()
}

fn status(record: &TaskRecord) -> TaskStatus {
    match (&record.fault, &record.result) {
        (Some(_), _) => TaskStatus::Infrastructure,
        (None, None) if record.step == TaskStage::Waiting => TaskStatus::NotRun,
        (None, None) => TaskStatus::Interrupted,
        (None, Some(_)) if record.interrupted => TaskStatus::Interrupted,
        (None, Some(result)) => match result.status {
            Status::Completed => TaskStatus::Completed,
            Status::TimedOut => TaskStatus::TimedOut,
            Status::Cancelled => TaskStatus::Cancelled,
            Status::Failed | Status::Active => TaskStatus::Failed,
        },
    }
}

fn check(check: &model::run::Check) -> CheckReport {
    let evidence = check.evidence.clone();
    CheckReport {
        label: check.label.clone(),
        result: check.result,
        score: check.score.clone(),
        axis: check.axis.clone(),
        critical: check.critical,
        guard: check.guard,
        details: check.details.clone(),
        differences: evidence.as_ref().map(|evidence| differences(evidence, MAX_DIFFERENCES)).unwrap_or_default(),
        evidence,
    }
}

/// The summaries of the requested runs, with the results of reruns merged into them.
pub(crate) fn merged_summaries(journal: &Journal, summaries: &[Option<RunSummary>]) -> Vec<Option<RunSummary>> {
    let merged_runs = rerun::merged_runs(journal);
    let records = merged_runs.iter().zip(&journal.runs).zip(summaries);
    let merged = records.map(|((merged_runs, first), summary)| {
        let is_changed =
            merged_runs.tasks.iter().zip(&first.tasks).any(|(now, before)| now.task_run != before.task_run);
        let summary = summary.as_ref()?;
        Some(if is_changed { with_reruns(summary, merged_runs) } else { summary.clone() })
    });
    merged.collect()
}

/// The summary as if the run had the results of `record`.
fn with_reruns(summary: &RunSummary, record: &RunRecord) -> RunSummary {
    let mut summary = summary.clone();
    let results: Vec<&TaskRunResult> = record.tasks.iter().filter_map(|task| task.result.as_ref()).collect();
    for task in &mut summary.task_runs {
        let record = record.tasks.iter().find(|record| record.task == task.task_id);
        if let Some(result) = record.and_then(|record| record.result.as_ref()) {
            task.id = result.task_run_id.clone();
            (task.status, task.verdict, task.score) = (result.status, result.verdict, result.score.clone());
            task.critical_failures = result.critical_failures;
        }
    }
    let scores: Vec<Score> = results.iter().filter_map(|result| result.score.as_ref()).map(Score::of_number).collect();
    let mean = Score::mean(&scores);
    summary.verdict = Some(mean.verdict());
    summary.score = Some(mean.number());
    summary.axes = mean_axes(&results);
    summary.critical_failures = results.iter().map(|result| result.critical_failures).sum();
    summary.tasks_passed = results.iter().filter(|result| result.verdict == Some(Verdict::Pass)).count() as i64;
    let is_clean = |result: &&&TaskRunResult| {
        !result.checks.is_empty() && result.checks.iter().all(|check| check.result == CheckResult::Pass)
    };
    summary.clean_tasks = results.iter().filter(is_clean).count() as i64;
    summary
}

/// The mean of each axis over the tasks that have it.
fn mean_axes(results: &[&TaskRunResult]) -> ShownAxes {
    let mut axes: BTreeMap<&String, Vec<&ShownAxis>> = BTreeMap::new();
    for (name, axis) in results.iter().flat_map(|result| &result.axes) {
        axes.entry(name).or_default().push(axis);
    }
    let mean = |axes: Vec<&ShownAxis>| {
        let scores: Vec<Score> = axes.iter().map(|axis| Score::of_number(&axis.score)).collect();
        let weight: f64 = axes.iter().filter_map(|axis| axis.weight.as_f64()).sum();
        ShownAxis { score: Score::mean(&scores).number(), weight: Number::from_f64(weight).unwrap_or(0.into()) }
    };
    axes.into_iter().map(|(name, axes)| (name.clone(), mean(axes))).collect()
}

/// A finished run as a sample for statistics.
pub(crate) fn sample(summary: &RunSummary) -> Option<RunSample> {
    // Like the server: failed tasks do not measure the agent, and neither do cancelled ones, except in a
    // scored run.
    let is_measured = |task: &&RunTask| match task.status {
        Status::Failed => false,
        Status::Cancelled => summary.scored,
        _ => true,
    };
    let tasks = summary.task_runs.iter().filter(is_measured).map(|task| {
        let score = task.score.as_ref().map_or_else(Score::zero, Score::of_number);
        let verdict = task.verdict.unwrap_or(Verdict::Fail);
        let (task_id, name, critical_failures) = (task.task_id.clone(), task.name.clone(), task.critical_failures);
        TaskSample { task: task_id, name, score, verdict, critical_failures }
    });
    // Statistics do not use weights.
    let weight = Score::one().exact().clone();
    let axes = summary
        .axes
        .iter()
        .map(|(name, axis)| (name.clone(), AxisScore { score: Score::of_number(&axis.score), weight: weight.clone() }));
    Some(RunSample {
        run: summary.benchmark_run_id.clone(),
        score: Score::of_number(summary.score.as_ref()?),
        axes: axes.collect(),
        tasks: tasks.collect(),
        critical_failures: summary.critical_failures,
        bounds: Bounds { floor: summary.floor, ceiling: summary.ceiling },
        unmeasured: summary.task_runs.iter().filter(|task| !is_measured(task)).count() as u64,
    })
}
