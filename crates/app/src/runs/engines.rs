//! Results by scoring engine. Results of different engines are not comparable, so statistics, comparisons and leaderboards
//! use the results of one engine.

use std::collections::{BTreeSet, HashMap, HashSet};

use model::run::{EngineCriterionResult, EngineResult, EngineScore, EngineTaskResult, shown_axes};
use model::score::{Axes, Score};
use model::{BenchmarkRunId, FieldErrors};
use store::engine_results::{self, StoredEngineResult, StoredEngineTask};
use store::runs::StoredRun;
use store::task_runs::{self, StoredCriterionRun, StoredTaskRun};
use store::{Db, log::Text};

use super::evaluate::CriterionOutcome;
use super::{ENGINE, find_run};
use crate::{App, AppError, OrgGrant};

/// The engine that scored these task runs of a run; none if several did. If no task was scored, it is the engine of this
/// server.
pub(super) fn of_task_runs(task_runs: &[StoredTaskRun]) -> Option<String> {
    let mut engines = task_runs.iter().filter_map(|task_run| task_run.sealed.as_ref()).map(|sealed| &sealed.engine);
    let first = engines.next().map_or(ENGINE, String::as_str);
    engines.all(|engine| engine == first).then(|| first.to_owned())
}

/// Runs with the results of one engine.
pub(super) struct Selected<T> {
    /// None if there are no results.
    pub(super) engine: Option<String>,
    /// With the result of that engine.
    pub(super) runs: Vec<T>,
    /// The number of runs that were left out, because this engine has not scored them.
    pub(super) other_engines: u64,
    /// The runs whose result is from a rescore.
    rescored: HashSet<BenchmarkRunId>,
}

/// Selects the results of the requested engine, or of the newest engine that scored any of the runs.
pub(super) fn select<T>(
    db: &mut Db<'_>,
    mut runs: Vec<T>,
    wanted: Option<&str>,
    run_of: impl Fn(&mut T) -> &mut StoredRun,
) -> Result<Selected<T>, AppError> {
    let all: Vec<StoredRun> = runs.iter_mut().map(|run| run_of(run).clone()).collect();
    let mut results = rescored(db, &all)?;
    let engines = all.iter().flat_map(|run| engines_of(run, &results)).max_by_key(|engine| age(engine));
    let engine = wanted.map(ToOwned::to_owned).or(engines);
    let mut selected = Selected { engine, runs: Vec::new(), other_engines: 0, rescored: HashSet::new() };
    for mut one in runs {
        let run = run_of(&mut one);
        if run.engine.is_none() || run.engine != selected.engine {
            let others = results.remove(&run.id).unwrap_or_default();
            let Some(result) = others.into_iter().find(|other| Some(&other.engine) == selected.engine.as_ref()) else {
                selected.other_engines += 1;
                continue;
            };
            run.result = result.result;
            selected.rescored.insert(run.id.clone());
        }
        selected.runs.push(one);
    }
    Ok(selected)
}

/// The same for comparisons of single runs, where no run may be left out.
pub(super) fn select_all(
    db: &mut Db<'_>,
    runs: Vec<StoredRun>,
    wanted: Option<&str>,
) -> Result<Selected<StoredRun>, AppError> {
    let results = rescored(db, &runs)?;
    let of = |run: &StoredRun| engines_of(run, &results).into_iter().collect::<BTreeSet<String>>();
    let common = runs.iter().map(of).reduce(|left, right| &left & &right).unwrap_or_default();
    let engine = match wanted {
        Some(wanted) => common.get(wanted),
        None => common.iter().max_by_key(|engine| age(engine)),
    };
    match engine.cloned() {
        Some(engine) => select(db, runs, Some(&engine), |run| run),
        None => Err(no_common_engine(&runs, wanted)),
    }
}

fn no_common_engine(runs: &[StoredRun], wanted: Option<&str>) -> AppError {
    let mut details = FieldErrors::new();
    for run in runs {
        details.add(run.id.to_string(), run.engine.as_deref().unwrap_or("several engines"));
    }
    let message = match wanted {
        Some(wanted) => format!("`{wanted}` has not scored all of these runs"),
        None => "the runs were scored by different engines, whose scores do not compare; score the older ones again \
                 (POST /benchmark-runs/{id}/rescore)"
            .to_owned(),
    };
    AppError::Conflict { message, details }
}

impl<T> Selected<T> {
    /// Whether the run's result is from a rescore.
    pub(super) fn is_rescored(&self, run: &BenchmarkRunId) -> bool {
        self.rescored.contains(run)
    }

    /// The task runs of a run with the results of the selected engine.
    pub(super) fn task_runs(&self, db: &mut Db<'_>, run: &BenchmarkRunId) -> Result<Vec<StoredTaskRun>, AppError> {
        let mut task_runs = task_runs::of_run(db, run)?;
        if let Some(engine) = self.engine.as_ref().filter(|_| self.rescored.contains(run)) {
            for StoredEngineTask { task_run, score, axes, .. } in engine_results::tasks_of(db, run, engine)? {
                if let Some(task_run) = task_runs.iter_mut().find(|one| one.id == task_run) {
                    task_run.result = Some((score, axes));
                }
            }
        }
        Ok(task_runs)
    }
}

type ResultsByRun = HashMap<BenchmarkRunId, Vec<StoredEngineResult>>;

fn rescored(db: &mut Db<'_>, runs: &[StoredRun]) -> Result<ResultsByRun, AppError> {
    let ids: Vec<&BenchmarkRunId> = runs.iter().map(|run| &run.id).collect();
    let mut results = ResultsByRun::new();
    for result in engine_results::of_runs(db, &ids)? {
        results.entry(result.run.clone()).or_default().push(result);
    }
    Ok(results)
}

fn engines_of(run: &StoredRun, results: &ResultsByRun) -> Vec<String> {
    let others = results.get(&run.id).into_iter().flatten().map(|result| result.engine.clone());
    run.engine.clone().into_iter().chain(others).collect()
}

/// Greater for newer engines: `verify/10` is newer than `verify/9`.
fn age(engine: &str) -> (u64, String) {
    let number = engine.rsplit_once('/').and_then(|(_, number)| number.parse().ok()).unwrap_or(0);
    (number, engine.to_owned())
}

/// The result of a rescore, which is stored in addition to the original result.
pub(super) struct Rescored {
    pub(super) result: Option<(Score, Axes)>,
    pub(super) task_runs: Vec<StoredEngineTask>,
}

pub(super) async fn rescored_task(
    app: &App,
    task_run: &StoredTaskRun,
    (score, axes): (Score, Axes),
    outcomes: &[CriterionOutcome],
) -> Result<StoredEngineTask, AppError> {
    let criteria: Vec<EngineCriterionResult> = outcomes.iter().map(criterion_result).collect();
    let text = serde_json::to_string(&criteria).map_err(|error| AppError::Internal(error.to_string()))?;
    let criteria: Text = app.runtime().store_text(&text.into()).await?;
    Ok(StoredEngineTask { task_run: task_run.id.clone(), score, axes, criteria })
}

fn criterion_result(outcome: &CriterionOutcome) -> EngineCriterionResult {
    let CriterionOutcome { criterion, outcome } = outcome;
    EngineCriterionResult {
        criterion_id: criterion.id.clone(),
        label: criterion.label.clone(),
        axis: criterion.axis.clone(),
        weight: criterion.weight,
        passed: outcome.passed,
        score: outcome.score.number(),
        details: outcome.details.clone(),
        evidence: outcome.evidence.clone(),
    }
}

/// Stores the result of this server's engine, unless it has stored one before.
pub(super) async fn store(app: &App, run: &StoredRun, rescored: Rescored) -> Result<(), AppError> {
    let Rescored { result, task_runs } = rescored;
    let stored =
        StoredEngineResult { run: run.id.clone(), engine: app.engine().to_owned(), result, scored_at: app.now() };
    app.store().write(move |db| Ok::<_, AppError>(engine_results::insert(db, &stored, &task_runs)?)).await?;
    Ok(())
}

/// Every result of a run that has ended, the original one first.
pub(super) fn scores(db: &mut Db<'_>, run: &StoredRun) -> Result<Vec<EngineScore>, AppError> {
    if run.result.is_none() {
        return Ok(Vec::new());
    }
    let others = engine_results::of_runs(db, &[&run.id])?;
    let others = others.into_iter().map(|other| EngineScore {
        engine: Some(other.engine),
        original: false,
        ..score_view(other.result.as_ref(), Some(other.scored_at))
    });
    let own =
        EngineScore { engine: run.engine.clone(), original: true, ..score_view(run.result.as_ref(), run.completed_at) };
    Ok(std::iter::once(own).chain(others).collect())
}

fn score_view(result: Option<&(Score, Axes)>, scored_at: Option<model::Timestamp>) -> EngineScore {
    EngineScore {
        engine: None,
        original: false,
        verdict: result.map(|(score, _)| score.verdict()),
        score: result.map(|(score, _)| score.number()),
        axes: result.map(|(_, axes)| shown_axes(axes)).unwrap_or_default(),
        scored_at,
    }
}

/// The result of one engine for each criterion; the original result if no engine is given.
pub async fn result(
    app: &App,
    grant: &OrgGrant,
    id: &BenchmarkRunId,
    engine: Option<String>,
) -> Result<EngineResult, AppError> {
    let (org, id) = (grant.org.clone(), id.clone());
    let read = move |db: &mut Db<'_>| {
        let run = find_run(db, &org, &id)?;
        let is_requested =
            |score: &EngineScore| engine.is_none() && score.original || engine.is_some() && score.engine == engine;
        let score = scores(db, &run)?.into_iter().find(is_requested).ok_or(AppError::NotFound("result"))?;
        let task_runs = task_runs::of_run(db, &run.id)?;
        let rescored = match &score.engine {
            Some(engine) if !score.original => engine_results::tasks_of(db, &run.id, engine)?,
            _ => Vec::new(),
        };
        let mut original = Vec::new();
        for task_run in task_runs.iter().filter(|_| score.original) {
            original.push(task_runs::criterion_runs_of(db, &task_run.id)?);
        }
        Ok::<_, AppError>((score, task_runs, rescored, original))
    };
    let (score, task_runs, rescored, original) = app.store().read(read).await?;
    let mut views = Vec::new();
    if score.original {
        for (task_run, criteria) in task_runs.iter().zip(original).filter(|(task_run, _)| task_run.sealed.is_some()) {
            views.extend(original_task(app, task_run, criteria).await?);
        }
    } else {
        for task_run in &task_runs {
            if let Some(task) = rescored.iter().find(|task| task.task_run == task_run.id) {
                let text = app.runtime().read_text(task.criteria.clone()).await?;
                let criteria = serde_json::from_str(&text).map_err(|error| AppError::Internal(error.to_string()))?;
                views.push(task_result(task_run, (&task.score, &task.axes), criteria));
            }
        }
    }
    Ok(EngineResult { result: score, task_runs: views })
}

async fn original_task(
    app: &App,
    task_run: &StoredTaskRun,
    criteria: Vec<StoredCriterionRun>,
) -> Result<Option<EngineTaskResult>, AppError> {
    let Some((score, axes)) = &task_run.result else { return Ok(None) };
    let mut views = Vec::new();
    for criterion in criteria {
        let text = app.runtime().read_text(criterion.evidence.clone()).await?;
        views.push(EngineCriterionResult {
            criterion_id: criterion.criterion,
            label: criterion.label,
            axis: criterion.axis,
            weight: criterion.weight,
            passed: criterion.passed,
            score: criterion.score.number(),
            details: criterion.details,
            evidence: serde_json::from_str(&text).map_err(|error| AppError::Internal(error.to_string()))?,
        });
    }
    Ok(Some(task_result(task_run, (score, axes), views)))
}

fn task_result(
    task_run: &StoredTaskRun,
    (score, axes): (&Score, &Axes),
    criteria: Vec<EngineCriterionResult>,
) -> EngineTaskResult {
    EngineTaskResult {
        task_run_id: task_run.id.clone(),
        task_id: task_run.task.clone(),
        name: task_run.name.clone(),
        verdict: score.verdict(),
        score: score.number(),
        axes: shown_axes(axes),
        criteria,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_ordered_by_their_number() {
        let mut engines = ["verify/10", "verify/9", "other", "verify/11"];
        engines.sort_by_key(|engine| age(engine));
        assert_eq!(engines, ["other", "verify/9", "verify/10", "verify/11"]);
    }
}
