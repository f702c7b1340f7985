//! Scores a run again from stored data. The original result never changes; the result of another engine is stored in
//! addition.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::publication::{FrozenTask, Snapshot};
use model::run::{CriteriaChange, Rescore, RescoredCriterion, RescoredTask, Status};
use model::score::{self, Axes, Score};
use model::{BenchmarkRunId, CriterionId, FieldErrors};
use serde_json::Value;
use store::engine_results::StoredEngineTask;
use store::runs::StoredRun;
use store::task_runs::{self, StoredCriterionRun, StoredTaskRun};

use super::engines::{self, Rescored};
use super::evaluate::{self, CriterionOutcome};
use super::{find_run, snapshots, views};
use crate::{App, AppError, OrgGrant};

type Changes = BTreeMap<CriterionId, Value>;

/// `criteria` replace assertions of the version.
pub async fn rescore(
    app: &App,
    grant: &OrgGrant,
    id: &BenchmarkRunId,
    criteria: Vec<CriteriaChange>,
) -> Result<Rescore, AppError> {
    let (org, wanted) = (grant.org.clone(), id.clone());
    let read = app.store().read(move |db| {
        let run = find_run(db, &org, &wanted)?;
        let task_runs = task_runs::of_run(db, &run.id)?;
        Ok::<_, AppError>((run, task_runs))
    });
    let (run, task_runs) = read.await?;
    let snapshot = snapshots::of(app, &run).await?;
    let changes: Changes = criteria.into_iter().map(|change| (change.criterion_id, change.assertion)).collect();
    check_known(&snapshot, &changes)?;
    let mut rescored = Vec::new();
    let mut engine_tasks = Vec::new();
    let mut results: Vec<(Score, Axes)> = Vec::new();
    for task_run in &task_runs {
        if task_run.status == Status::Completed {
            let (task, result, stored) = rescore_task(app, &run, &snapshot, task_run, &changes).await?;
            rescored.push(task);
            engine_tasks.push(stored);
            results.push(result);
        } else if let Some(result) = &task_run.result {
            results.push(result.clone());
        }
    }
    // A run without a score still has none.
    let after = run.result.as_ref().map(|_| score::run(&results));
    let is_of_other_engine = run.status == Status::Completed && run.engine.as_deref() != Some(app.engine());
    let stored = changes.is_empty() && is_of_other_engine;
    if stored {
        engines::store(app, &run, Rescored { result: after.clone(), task_runs: engine_tasks }).await?;
    }
    let after = after.map(|(score, _)| score);
    Ok(Rescore {
        identical: rescored.iter().all(|task| task.identical),
        score_before: run.result.as_ref().map(|(score, _)| score.number()),
        score_after: after.as_ref().map(Score::number),
        verdict_before: run.verdict(),
        verdict_after: after.as_ref().map(Score::verdict),
        critical_failures_before: run.counts.critical_failures,
        critical_failures_after: rescored.iter().map(|task| task.critical_failures_after).sum(),
        engine_before: run.engine.clone(),
        engine_after: app.engine().to_owned(),
        stored,
        task_runs: rescored,
    })
}

fn check_known(snapshot: &Snapshot, changes: &Changes) -> Result<(), AppError> {
    let exists = |id: &CriterionId| snapshot.tasks.iter().flat_map(|task| &task.criteria).any(|one| one.id == *id);
    let mut errors = FieldErrors::new();
    for unknown in changes.keys().filter(|id| !exists(id)).take(20) {
        errors.add(format!("criteria.{unknown}"), "is not a criterion of the run");
    }
    Ok(errors.into_result()?)
}

async fn rescore_task(
    app: &App,
    run: &StoredRun,
    snapshot: &Arc<Snapshot>,
    task_run: &StoredTaskRun,
    changes: &Changes,
) -> Result<(RescoredTask, (Score, Axes), StoredEngineTask), AppError> {
    let missing = || AppError::Internal("a completed task run has no evidence".into());
    let playground = task_run.playground.as_ref().ok_or_else(missing)?;
    let id = task_run.id.clone();
    let original = app.store().read(move |db| task_runs::criterion_runs_of(db, &id)).await?;
    let task = with_changes(snapshots::task(snapshot, &task_run.task)?, changes);
    let world = app.runtime().load_latest(playground).await?.world;
    let frozen = Arc::new(app.frozen_evidence(playground, world, task_run.completed_seq).await?);
    let outcomes = app.evaluate(Arc::clone(snapshot), task, Arc::clone(&frozen)).await?;
    app.runtime().unload(playground);
    let result = evaluate::task_score(&outcomes);
    let critical_failures = outcomes.iter().filter(|one| one.is_critical_failure()).count() as i64;
    let stored = engines::rescored_task(app, task_run, result.clone(), &outcomes).await?;
    let mut criteria = Vec::new();
    for (before, after) in original.iter().zip(outcomes) {
        let evidence = app.runtime().read_text(before.evidence.clone()).await?;
        criteria.push(compare(before, &evidence, after, changes));
    }
    let (before, sealed) =
        (task_run.result.clone().ok_or_else(missing)?, task_run.sealed.as_ref().ok_or_else(missing)?);
    // Another engine may have scored it, but the data must be the same.
    let now = evaluate::sealed(&frozen, snapshot, &run.content_hash, &sealed.engine, sealed.sealed_at);
    let is_same_state = now == *sealed;
    let view = RescoredTask {
        task_run_id: task_run.id.clone(),
        task_id: task_run.task.clone(),
        name: task_run.name.clone(),
        identical: is_same_state && before == result && criteria.iter().all(|criterion| criterion.identical),
        score_before: before.0.number(),
        score_after: result.0.number(),
        verdict_before: before.0.verdict(),
        verdict_after: result.0.verdict(),
        critical_failures_before: task_run.critical_failures,
        critical_failures_after: critical_failures,
        criteria,
    };
    Ok((view, result, stored))
}

fn with_changes(task: &FrozenTask, changes: &Changes) -> FrozenTask {
    let mut task = task.clone();
    for criterion in &mut task.criteria {
        if let Some(assertion) = changes.get(&criterion.id) {
            criterion.assertion = assertion.clone();
        }
    }
    task
}

/// `stored_evidence` is the JSON text of the original evidence.
fn compare(
    before: &StoredCriterionRun,
    stored_evidence: &str,
    after: CriterionOutcome,
    changes: &Changes,
) -> RescoredCriterion {
    let CriterionOutcome { criterion, outcome } = after;
    let evidence = outcome.evidence.to_string();
    let identical = before.score == outcome.score
        && before.passed == outcome.passed
        && before.details == outcome.details
        && stored_evidence == evidence;
    RescoredCriterion {
        changed: changes.contains_key(&criterion.id),
        criterion_id: criterion.id,
        label: criterion.label,
        critical: criterion.critical,
        identical,
        passed_before: before.passed,
        passed_after: outcome.passed,
        score_before: before.score.number(),
        score_after: outcome.score.number(),
        details_after: outcome.details,
        evidence_after: views::with_both(outcome.evidence),
    }
}
