//! Scoring again, from what is stored. What is stored stays; the result of another engine is stored beside it.

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
use super::evaluate::{self, Judged};
use super::{evidence_names, found, snapshots};
use crate::{App, AppError, OrgGrant};

type Changes = BTreeMap<CriterionId, Value>;

/// With other assertions in place of the version's own, if some are given.
pub async fn rescore(
    app: &App,
    grant: &OrgGrant,
    id: &BenchmarkRunId,
    criteria: Vec<CriteriaChange>,
) -> Result<Rescore, AppError> {
    let (org, wanted) = (grant.org.clone(), id.clone());
    let read = app.store().read(move |db| {
        let run = found(db, &org, &wanted)?;
        let task_runs = task_runs::of_run(db, &run.id)?;
        Ok::<_, AppError>((run, task_runs))
    });
    let (run, task_runs) = read.await?;
    let snapshot = snapshots::of(app, &run).await?;
    let changes: Changes = criteria.into_iter().map(|change| (change.criterion_id, change.assertion)).collect();
    check_known(&snapshot, &changes)?;
    let mut rescored = Vec::new();
    let mut of_engine = Vec::new();
    let mut results: Vec<(Score, Axes)> = Vec::new();
    for task_run in &task_runs {
        if task_run.status == Status::Completed {
            let (task, result, stored) = rescore_task(app, &run, &snapshot, task_run, &changes).await?;
            rescored.push(task);
            of_engine.push(stored);
            results.push(result);
        } else if let Some(result) = &task_run.result {
            results.push(result.clone());
        }
    }
    // A run that has no score keeps none.
    let after = run.result.as_ref().map(|_| score::run(&results));
    let is_of_another = run.status == Status::Completed && run.engine.as_deref() != Some(app.engine());
    let stored = changes.is_empty() && is_of_another;
    if stored {
        engines::store(app, &run, Rescored { result: after.clone(), task_runs: of_engine }).await?;
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
    let known = |id: &CriterionId| snapshot.tasks.iter().flat_map(|task| &task.criteria).any(|one| one.id == *id);
    let mut errors = FieldErrors::new();
    for unknown in changes.keys().filter(|id| !known(id)).take(20) {
        errors.add(format!("criteria.{unknown}"), "is not a criterion of what was run");
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
    let lost = || AppError::Internal("a completed task run has no evidence".into());
    let playground = task_run.playground.as_ref().ok_or_else(lost)?;
    let id = task_run.id.clone();
    let kept = app.store().read(move |db| task_runs::criteria_of(db, &id)).await?;
    let task = changed(snapshots::task(snapshot, &task_run.task)?, changes);
    let world = app.runtime().load_latest(playground).await?.world;
    let frozen = Arc::new(app.frozen(playground, world, task_run.completed_seq).await?);
    let judged = app.judge(Arc::clone(snapshot), task, Arc::clone(&frozen)).await?;
    app.runtime().unload(playground);
    let result = evaluate::total(&judged);
    let critical_failures = judged.iter().filter(|one| one.is_critical_failure()).count() as i64;
    let stored = engines::rescored_task(app, task_run, result.clone(), &judged).await?;
    let mut criteria = Vec::new();
    for (before, after) in kept.iter().zip(judged) {
        let kept = app.runtime().read_text(before.evidence.clone()).await?;
        criteria.push(compared(before, &kept, after, changes));
    }
    let (before, sealed) = (task_run.result.clone().ok_or_else(lost)?, task_run.sealed.as_ref().ok_or_else(lost)?);
    // Another engine may have scored it; what it scored must be the same.
    let now = evaluate::sealed(&frozen, snapshot, &run.content_hash, &sealed.engine, sealed.sealed_at);
    let is_same_state = now == *sealed;
    let shown = RescoredTask {
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
    Ok((shown, result, stored))
}

fn changed(task: &FrozenTask, changes: &Changes) -> FrozenTask {
    let mut task = task.clone();
    for criterion in &mut task.criteria {
        if let Some(assertion) = changes.get(&criterion.id) {
            criterion.assertion = assertion.clone();
        }
    }
    task
}

/// `kept` is the text of the evidence as it was stored.
fn compared(before: &StoredCriterionRun, kept: &str, after: Judged, changes: &Changes) -> RescoredCriterion {
    let Judged { criterion, outcome } = after;
    let found = outcome.evidence.to_string();
    let identical = before.score == outcome.score
        && before.passed == outcome.passed
        && before.details == outcome.details
        && kept == found;
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
        evidence_after: evidence_names::with_both(outcome.evidence),
    }
}
