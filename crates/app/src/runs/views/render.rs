//! Converts stored rows to API values. In a scored run, an agent sees neither details nor evidence, nor the real ids and
//! names of its tasks.

use model::Timestamp;
use model::audit::Bounds;
use model::criterion::Criterion;
use model::publication::{FrozenTask, Snapshot};
use model::run::{
    BenchmarkRun, Check, CheckResult, CreatedRun, CriterionRun, CriterionRunSummary, CriterionSnapshot,
    CriticalFailure, MOST_CRITICAL_CRITERIA, Phase, RunState, RunSummary, RunTask, ShownAxes, TaskRun, TaskRunResult,
    TaskSnapshot, shown_axes,
};
use model::score::{Axes, Score};
use model::template::{self, Bindings};
use serde_json::{Number, Value};
use store::runs::StoredRun;
use store::task_runs::{StoredCriterionRun, StoredTaskRun};

use super::{evidence_names, neutral};
use crate::caller::TaskIdentity;
use crate::runs::create::RunContent;
use crate::runs::{channels, snapshots};

pub(in crate::runs) fn created_run(
    run: &StoredRun,
    task_runs: &[StoredTaskRun],
    content: &RunContent,
    token: &str,
    identity: TaskIdentity,
) -> CreatedRun {
    let snapshot = &content.snapshot;
    CreatedRun {
        id: run.id.clone(),
        benchmark_run_id: run.id.clone(),
        benchmark_id: run.benchmark.id.clone(),
        benchmark: run.benchmark.clone(),
        scored: run.scored,
        partial_selection: run.partial_selection,
        phase: run.phase,
        status: run.status,
        agent: run.agent.clone(),
        metadata: run.metadata.clone(),
        bearer_token: token.to_owned(),
        bearer_token_expires_at: run.token_expires_at,
        concurrency: run.concurrency,
        endpoints: channels::of_run(snapshot, &run.id),
        sandboxes: Vec::new(),
        task_runs: run_tasks(run, task_runs, snapshot, identity),
    }
}

pub(super) fn summary(
    run: &StoredRun,
    task_runs: &[StoredTaskRun],
    snapshot: &Snapshot,
    identity: TaskIdentity,
) -> RunSummary {
    let (score, axes) = score_and_axes(run.result.as_ref());
    let Bounds { floor, ceiling } = bounds_if_scored(score.as_ref(), run.bounds());
    RunSummary {
        id: run.id.clone(),
        benchmark_run_id: run.id.clone(),
        benchmark_id: run.benchmark.id.clone(),
        benchmark: run.benchmark.clone(),
        scored: run.scored,
        partial_selection: run.partial_selection,
        phase: run.phase,
        status: run.status,
        verdict: run.verdict(),
        score,
        critical_failures: run.counts.critical_failures,
        tasks_passed: run.counts.passed,
        clean_tasks: run.counts.clean,
        floor,
        ceiling,
        axes,
        agent: run.agent.clone(),
        metadata: run.metadata.clone(),
        created_at: run.created_at,
        started_at: run.started_at,
        completed_at: run.completed_at,
        bearer_token_expires_at: run.token_expires_at,
        concurrency: run.concurrency,
        endpoints: channels::of_run(snapshot, &run.id),
        task_runs: run_tasks(run, task_runs, snapshot, identity),
    }
}

fn run_tasks(
    run: &StoredRun,
    task_runs: &[StoredTaskRun],
    snapshot: &Snapshot,
    identity: TaskIdentity,
) -> Vec<RunTask> {
    let view = |task_run: &StoredTaskRun| {
        let mut view = run_task(run, task_run);
        if identity == TaskIdentity::Neutral {
            neutral::hide(&mut view, task_run, snapshot);
        }
        view
    };
    task_runs.iter().map(view).collect()
}

fn run_task(run: &StoredRun, task_run: &StoredTaskRun) -> RunTask {
    let id = &task_run.id;
    let score = score_and_axes(task_run.result.as_ref()).0;
    let Bounds { floor, ceiling } = bounds_if_scored(score.as_ref(), run.bounds_of(&task_run.task));
    RunTask {
        id: id.clone(),
        task_id: task_run.task.clone(),
        name: task_run.name.clone(),
        phase: task_run.phase,
        status: task_run.status,
        verdict: task_run.verdict(),
        score,
        critical_failures: task_run.critical_failures,
        floor,
        ceiling,
        started_at: task_run.started_at,
        deadline_at: task_run.deadline_at,
        sealed_at: sealed_at(task_run),
        completed_at: task_run.completed_at,
        playground_id: task_run.playground.clone(),
        start_url: format!("/v1/task-runs/{id}/start"),
        complete_url: format!("/v1/task-runs/{id}/complete"),
    }
}

/// Without its task runs.
pub(super) fn run(run: &StoredRun, task_runs: &[StoredTaskRun]) -> BenchmarkRun {
    let (score, axes) = score_and_axes(run.result.as_ref());
    let Bounds { floor, ceiling } = bounds_if_scored(score.as_ref(), run.bounds());
    let completed = task_runs.iter().filter(|task_run| task_run.phase == Phase::Completed);
    BenchmarkRun {
        id: run.id.clone(),
        benchmark_run_id: run.id.clone(),
        organization_id: run.org.clone(),
        benchmark_id: run.benchmark.id.clone(),
        benchmark: run.benchmark.clone(),
        solver_id: run.solver.clone(),
        agent: run.agent.clone(),
        metadata: run.metadata.clone(),
        scored: run.scored,
        partial_selection: run.partial_selection,
        organization_writes: run.organization_writes,
        order_seed: run.order_seed,
        phase: run.phase,
        status: run.status,
        verdict: run.verdict(),
        score,
        critical_failures: run.counts.critical_failures,
        tasks_passed: run.counts.passed,
        clean_tasks: run.counts.clean,
        critical_criteria: Vec::new(),
        floor,
        ceiling,
        axes,
        tasks: task_runs.len() as i64,
        tasks_completed: completed.count() as i64,
        created_at: run.created_at,
        started_at: run.started_at,
        completed_at: run.completed_at,
        bearer_token_expires_at: run.token_expires_at,
        published_at: run.published_at,
        engine: run.engine.clone(),
        results: None,
        task_runs: None,
    }
}

pub(super) fn task_run(run: &StoredRun, task_run: &StoredTaskRun, criteria: &[StoredCriterionRun]) -> TaskRun {
    let (score, axes) = score_and_axes(task_run.result.as_ref());
    let Bounds { floor, ceiling } = bounds_if_scored(score.as_ref(), run.bounds_of(&task_run.task));
    let summary = |criterion: &StoredCriterionRun| CriterionRunSummary {
        id: criterion.id.clone(),
        critical: criterion.critical,
        guard: criterion.guard,
        passed: criterion.passed,
        score: criterion.score.number(),
    };
    TaskRun {
        id: task_run.id.clone(),
        benchmark_run_id: task_run.run.clone(),
        task_id: task_run.task.clone(),
        name: task_run.name.clone(),
        phase: task_run.phase,
        status: task_run.status,
        verdict: task_run.verdict(),
        score,
        critical_failures: task_run.critical_failures,
        critical_criteria: critical_criteria(criteria),
        floor,
        ceiling,
        axes,
        playground_id: task_run.playground.clone(),
        scored: run.scored,
        snapshot: None,
        sealed: task_run.sealed.clone(),
        failure: task_run.failure.clone(),
        criterion_runs: criteria.iter().map(summary).collect(),
        created_at: task_run.created_at,
        started_at: task_run.started_at,
        deadline_at: task_run.deadline_at,
        sealed_at: sealed_at(task_run),
        completed_at: task_run.completed_at,
    }
}

/// The frozen task with its templates filled in. A template with an error stays as it is; the task run contains the error.
pub(super) fn task_snapshot(snapshot: &Snapshot, task: &FrozenTask) -> TaskSnapshot {
    let value = snapshots::task_value(task);
    let entity = snapshots::entity_value(snapshot, task.entities.first());
    let bindings = Bindings { entity: entity.as_ref(), task: Some(&value) };
    let filled = |part: &Value| template::bind(part, &bindings).unwrap_or_else(|_| part.clone());
    let criterion = |criterion: &Criterion| {
        let entity = snapshots::entity_value(snapshot, criterion.input_entity_id.as_ref());
        CriterionSnapshot {
            id: criterion.id.clone(),
            label: criterion.label.clone(),
            assertion: verify::fill_templates(
                &criterion.assertion,
                &Bindings { entity: entity.as_ref(), task: Some(&value) },
            ),
            weight: criterion.weight,
            axis: criterion.axis.clone(),
            critical: criterion.critical,
            input_entity_id: criterion.input_entity_id.clone(),
        }
    };
    TaskSnapshot {
        name: task.name.clone(),
        timeout: task.timeout,
        tags: task.tags.clone(),
        task_item: filled(&task.task_item),
        scenario: filled(&task.scenario),
        criteria: task.criteria.iter().map(criterion).collect(),
    }
}

fn critical_criteria(criteria: &[StoredCriterionRun]) -> Vec<CriticalFailure> {
    let failed = criteria.iter().filter(|criterion| criterion.critical && !criterion.passed);
    let failure = |criterion: &StoredCriterionRun| CriticalFailure {
        criterion_id: criterion.criterion.clone(),
        criterion_run_id: criterion.id.clone(),
        task_run_id: criterion.task_run.clone(),
        label: criterion.label.clone(),
    };
    failed.take(MOST_CRITICAL_CRITERIA).map(failure).collect()
}

/// Older results have it only in `sealed`.
fn sealed_at(task_run: &StoredTaskRun) -> Option<Timestamp> {
    task_run.sealed_at.or_else(|| task_run.sealed.as_ref().map(|sealed| sealed.sealed_at))
}

pub(super) fn criterion_run(criterion: &StoredCriterionRun, evidence: Value) -> CriterionRun {
    CriterionRun {
        id: criterion.id.clone(),
        task_run_id: criterion.task_run.clone(),
        criterion_id: criterion.criterion.clone(),
        label: criterion.label.clone(),
        axis: criterion.axis.clone(),
        weight: criterion.weight,
        critical: criterion.critical,
        guard: criterion.guard,
        passed: criterion.passed,
        score: criterion.score.number(),
        details: criterion.details.clone(),
        evidence: evidence_names::with_both(evidence),
        started_at: criterion.started_at,
        completed_at: criterion.completed_at,
    }
}

/// A task run as its agent sees it. In a scored run, criteria have no evidence, and it does not show which of them are
/// critical or guards.
pub(super) fn result(
    run: &StoredRun,
    task_run: &StoredTaskRun,
    criteria: Vec<(StoredCriterionRun, Value)>,
) -> TaskRunResult {
    let (score, axes) = score_and_axes(task_run.result.as_ref());
    let Bounds { floor, ceiling } = bounds_if_scored(score.as_ref(), run.bounds_of(&task_run.task));
    let check = |(criterion, evidence): (StoredCriterionRun, Value)| {
        let unscored = !run.scored;
        let label = criterion.public_label.filter(|_| run.scored).unwrap_or(criterion.label);
        Check {
            id: criterion.id.clone(),
            criterion_id: criterion.criterion,
            criterion_run_id: criterion.id,
            label,
            passed: criterion.passed,
            result: if criterion.passed { CheckResult::Pass } else { CheckResult::Fail },
            score: criterion.score.number(),
            axis: criterion.axis,
            critical: unscored.then_some(criterion.critical),
            guard: unscored.then_some(criterion.guard),
            details: unscored.then_some(criterion.details),
            evidence: unscored.then(|| evidence_names::with_both(evidence)),
        }
    };
    TaskRunResult {
        task_run_id: task_run.id.clone(),
        phase: task_run.phase,
        status: task_run.status,
        verdict: task_run.verdict(),
        score,
        critical_failures: task_run.critical_failures,
        floor,
        ceiling,
        axes,
        sealed_at: sealed_at(task_run),
        checks: criteria.into_iter().map(check).collect(),
        benchmark_run: state(run),
    }
}

fn state(run: &StoredRun) -> RunState {
    let score = score_and_axes(run.result.as_ref()).0;
    let Bounds { floor, ceiling } = bounds_if_scored(score.as_ref(), run.bounds());
    RunState {
        id: run.id.clone(),
        phase: run.phase,
        status: run.status,
        verdict: run.verdict(),
        score,
        critical_failures: run.counts.critical_failures,
        floor,
        ceiling,
    }
}

/// Before there is a score, the bounds would reveal which tasks an idle agent passes.
fn bounds_if_scored(score: Option<&Number>, bounds: Bounds) -> Bounds {
    if score.is_some() { bounds } else { Bounds::default() }
}

fn score_and_axes(result: Option<&(Score, Axes)>) -> (Option<Number>, ShownAxes) {
    match result {
        Some((score, axes)) => (Some(score.number()), shown_axes(axes)),
        None => (None, ShownAxes::new()),
    }
}
