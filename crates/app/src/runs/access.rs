//! From a run's token to the sandboxes of a started task.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::run::Phase;
use model::simulator::SimulatorType;
use model::{BenchmarkRunId, TaskRunId};
use store::sandboxes::StoredSandbox;
use store::task_runs;

use super::end;
use super::reach::Reach;
use crate::sandboxes::fhir;
use crate::{App, AppError, RunGrant};

/// Which task runs of a run are started, and where. Valid as long as this process is the only one that starts any.
#[derive(Default)]
pub(crate) struct Started {
    remembered: Mutex<Remembered>,
}

#[derive(Default)]
struct Remembered {
    known: HashMap<BenchmarkRunId, Arc<Vec<StartedTask>>>,
    /// Rises whenever something is forgotten.
    era: u64,
}

pub(crate) struct StartedTask {
    id: TaskRunId,
    deadline: Option<model::Timestamp>,
    sandboxes: Vec<Arc<StoredSandbox>>,
}

const MOST_REMEMBERED: usize = 100_000;

impl Started {
    fn recall(&self, run: &BenchmarkRunId) -> Option<Arc<Vec<StartedTask>>> {
        self.lock().known.get(run).cloned()
    }

    fn era(&self) -> u64 {
        self.lock().era
    }

    /// What was read in an earlier era may be of before a start or an end, and is not worth remembering.
    fn remember(&self, run: &BenchmarkRunId, started: &Arc<Vec<StartedTask>>, era: u64) {
        let mut remembered = self.lock();
        if remembered.era != era {
            return;
        }
        if remembered.known.len() >= MOST_REMEMBERED {
            remembered.known.clear();
        }
        remembered.known.insert(run.clone(), Arc::clone(started));
    }

    pub(crate) fn forget(&self, run: &BenchmarkRunId) {
        let mut remembered = self.lock();
        remembered.known.remove(run);
        remembered.era += 1;
    }

    fn lock(&self) -> MutexGuard<'_, Remembered> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The FHIR sandbox of the one started task.
pub async fn fhir_of_run(app: &App, grant: &RunGrant, run: &BenchmarkRunId) -> Result<fhir::Access, AppError> {
    if *run != grant.run {
        return Err(AppError::missing::<BenchmarkRunId>());
    }
    let started = started(app, run).await?;
    let task = match started.as_slice() {
        [] => return Err(AppError::conflict("no task of the run is started; start one first")),
        [task] => task,
        _ => {
            let message = "several tasks are started: name one, as in /v1/task-runs/{id}/sandbox/fhir";
            return Err(AppError::conflict(message));
        }
    };
    access(app, grant, task).await
}

/// The FHIR sandbox of a task run.
pub async fn fhir_of_task_run(app: &App, grant: &RunGrant, id: &TaskRunId) -> Result<fhir::Access, AppError> {
    let started = started(app, &grant.run).await?;
    if let Some(task) = started.iter().find(|task| task.id == *id) {
        return access(app, grant, task).await;
    }
    let (reach, id) = (Reach::from(grant), id.clone());
    let (_, task_run) = app.store().read(move |db| reach.task_run(db, &id)).await?;
    let words = match task_run.phase {
        Phase::Created => "is not started; start it first".to_owned(),
        Phase::Started | Phase::Completed => format!("is {}; its sandboxes take no traffic", task_run.status.name()),
    };
    Err(AppError::conflict(format!("the task run {words}")))
}

async fn access(app: &App, grant: &RunGrant, task: &StartedTask) -> Result<fhir::Access, AppError> {
    if task.deadline.is_some_and(|deadline| deadline <= app.now()) {
        end::expire_overdue(app, &grant.org, &grant.run).await?;
        return Err(AppError::conflict("the task run is timed out; its sandboxes take no traffic"));
    }
    let sandbox = task.sandboxes.iter().find(|sandbox| sandbox.kind == SimulatorType::Fhir);
    let sandbox = sandbox.ok_or(AppError::NotFound("sandbox"))?;
    Ok(fhir::admit_run(Arc::clone(sandbox), &grant.run))
}

async fn started(app: &App, run: &BenchmarkRunId) -> Result<Arc<Vec<StartedTask>>, AppError> {
    let is_alone = !app.store().is_shared();
    if let Some(known) = is_alone.then(|| app.inner.started.recall(run)).flatten() {
        return Ok(known);
    }
    let (id, era) = (run.clone(), app.inner.started.era());
    let read = app.store().read(move |db| {
        let all = task_runs::of_run(db, &id)?;
        let mut found = Vec::new();
        for task_run in all.into_iter().filter(|task_run| task_run.phase == Phase::Started) {
            let sandboxes = match &task_run.playground {
                Some(playground) => store::sandboxes::of_playground(db, playground)?,
                None => Vec::new(),
            };
            found.push((task_run, sandboxes));
        }
        Ok::<_, AppError>(found)
    });
    let remember = |sandbox: StoredSandbox| app.inner.worlds.remember(sandbox);
    let started = read.await?.into_iter().map(|(task_run, sandboxes)| StartedTask {
        id: task_run.id,
        deadline: task_run.deadline_at,
        sandboxes: sandboxes.into_iter().map(remember).collect(),
    });
    let started = Arc::new(started.collect());
    if is_alone {
        app.inner.started.remember(run, &started, era);
    }
    Ok(started)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_before_a_start_is_not_remembered_after_it() {
        let (started, run) = (Started::default(), "br_01K9Z3T5Q8W7N4M2R6V0XBHCDE".parse().unwrap());
        let (before, nothing) = (started.era(), Arc::new(Vec::new()));
        // A start between the look-up and its memory.
        started.forget(&run);
        started.remember(&run, &nothing, before);
        assert!(started.recall(&run).is_none());
        started.remember(&run, &nothing, started.era());
        assert!(started.recall(&run).is_some());
    }
}
