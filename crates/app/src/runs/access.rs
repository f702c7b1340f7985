//! From a run's token to the sandboxes of a started task.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::run::Phase;
use model::simulator::SimulatorType;
use model::{BenchmarkRunId, Id, TaskRunId};
use store::sandboxes::StoredSandbox;
use store::task_runs::{self, StoredTaskRun};

use super::end;
use super::reach::Reach;
use crate::sandboxes::Access;
use crate::{App, AppError, RunGrant};

/// Which task runs of a run are started, and where. Valid as long as this process is the only one that starts any.
#[derive(Default)]
pub(crate) struct Started {
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    runs: HashMap<BenchmarkRunId, Place>,
    /// The number of the newest place: none has that of another.
    newest: u64,
}

/// Made by the first who asks after a change.
struct Place {
    number: u64,
    started: Option<Arc<Vec<StartedTask>>>,
}

pub(crate) struct StartedTask {
    id: TaskRunId,
    deadline: Option<model::Timestamp>,
    sandboxes: Vec<Arc<StoredSandbox>>,
}

const MOST_REMEMBERED: usize = 100_000;

impl Started {
    /// What is known, or the place for what the database knows.
    fn recall(&self, run: &BenchmarkRunId) -> Result<Arc<Vec<StartedTask>>, u64> {
        let mut known = self.lock();
        if let Some(place) = known.runs.get(run) {
            return place.started.clone().ok_or(place.number);
        }
        if known.runs.len() >= MOST_REMEMBERED {
            known.runs.clear();
        }
        known.newest += 1;
        let number = known.newest;
        known.runs.insert(run.clone(), Place { number, started: None });
        Err(number)
    }

    /// Fills a place, unless a change took it away.
    fn remember(&self, run: &BenchmarkRunId, number: u64, started: &Arc<Vec<StartedTask>>) {
        if let Some(place) = self.lock().runs.get_mut(run).filter(|place| place.number == number) {
            place.started = Some(Arc::clone(started));
        }
    }

    pub(crate) fn forget(&self, run: &BenchmarkRunId) {
        self.lock().runs.remove(run);
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sandbox of that type in the one started task.
pub async fn of_run(
    app: &App,
    grant: &RunGrant,
    run: &BenchmarkRunId,
    kind: SimulatorType,
) -> Result<Access, AppError> {
    if *run != grant.run {
        return Err(AppError::missing::<BenchmarkRunId>());
    }
    let started = started(app, run).await?;
    let task = match started.as_slice() {
        [] => return Err(AppError::conflict("no task of the run is started; start one first")),
        [task] => task,
        _ => {
            let message = "several tasks are started: name one, as in /v1/task-runs/{id}/sandbox/…";
            return Err(AppError::conflict(message));
        }
    };
    access(app, grant, task, (kind, None)).await
}

/// The sandbox of that type in a task run: the one with that id or name, or the first.
pub async fn of_task_run(
    app: &App,
    grant: &RunGrant,
    id: &TaskRunId,
    kind: SimulatorType,
    name: Option<&str>,
) -> Result<Access, AppError> {
    let started = started(app, &grant.run).await?;
    if let Some(task) = started.iter().find(|task| task.id == *id) {
        return access(app, grant, task, (kind, name)).await;
    }
    let (reach, id) = (Reach::from(grant), id.clone());
    let (_, task_run) = app.store().read(move |db| reach.task_run(db, &id)).await?;
    let words = match task_run.phase {
        Phase::Created => "is not started; start it first".to_owned(),
        Phase::Started => "is completed and being scored; its sandboxes take no traffic".to_owned(),
        Phase::Completed => format!("is {}; its sandboxes take no traffic", task_run.status.name()),
    };
    Err(AppError::conflict(format!("the task run {words}")))
}

async fn access(
    app: &App,
    grant: &RunGrant,
    task: &StartedTask,
    (kind, name): (SimulatorType, Option<&str>),
) -> Result<Access, AppError> {
    if task.deadline.is_some_and(|deadline| deadline <= app.now()) {
        end::expire_overdue(app, &grant.org, &grant.run).await?;
        return Err(AppError::conflict("the task run is timed out; its sandboxes take no traffic"));
    }
    let is_meant =
        |sandbox: &StoredSandbox| name.is_none_or(|name| sandbox.id.as_str() == name || sandbox.name == name);
    let sandbox = task.sandboxes.iter().find(|sandbox| sandbox.kind == kind && is_meant(sandbox));
    let sandbox = sandbox.ok_or(AppError::NotFound("sandbox"))?;
    Ok(Access { sandbox: Arc::clone(sandbox), actor: grant.run.to_string(), after_end: false })
}

async fn started(app: &App, run: &BenchmarkRunId) -> Result<Arc<Vec<StartedTask>>, AppError> {
    let mut place = None;
    if !app.store().is_shared() {
        match app.inner.started.recall(run) {
            Ok(known) => return Ok(known),
            Err(number) => place = Some(number),
        }
    }
    let id = run.clone();
    let read = app.store().read(move |db| {
        let all = task_runs::of_run(db, &id)?;
        let mut found = Vec::new();
        for task_run in all.into_iter().filter(StoredTaskRun::is_open) {
            let sandboxes = match &task_run.playground {
                Some(playground) => store::sandboxes::of_playground(db, playground)?,
                None => Vec::new(),
            };
            found.push((task_run, sandboxes));
        }
        Ok::<_, AppError>(found)
    });
    let remember = |sandbox: StoredSandbox| app.runtime().cache_sandbox(sandbox);
    let started = read.await?.into_iter().map(|(task_run, sandboxes)| StartedTask {
        id: task_run.id,
        deadline: task_run.deadline_at,
        sandboxes: sandboxes.into_iter().map(remember).collect(),
    });
    let started = Arc::new(started.collect());
    if let Some(number) = place {
        app.inner.started.remember(run, number, &started);
    }
    Ok(started)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_from_before_a_change_is_not_remembered() {
        let run: BenchmarkRunId = "br_01K9Z3T5Q8W7N4M2R6V0XBHCDE".parse().unwrap();
        let (started, none) = (Started::default(), Arc::new(Vec::new()));
        let before = started.recall(&run).err().unwrap();
        started.forget(&run);
        let after = started.recall(&run).err().unwrap();
        assert_eq!(started.recall(&run).err(), Some(after), "whoever asks after the change may answer");
        started.remember(&run, before, &none);
        assert!(started.recall(&run).is_err());
        started.remember(&run, after, &none);
        assert!(started.recall(&run).is_ok());
    }
}
