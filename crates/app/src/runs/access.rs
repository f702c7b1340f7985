//! Finds the sandboxes of a started task for a run's token.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::run::Phase;
use model::simulator::SimulatorType;
use model::{BenchmarkRunId, Id, TaskRunId};
use runtime::LruCache;
use store::sandboxes::StoredSandbox;
use store::task_runs::{self, StoredTaskRun};

use super::expire;
use crate::caller::Caller;
use crate::sandboxes::Access;
use crate::{App, AppError, RunGrant};

/// The started task runs of each run. Only used if this process is the only one that starts tasks.
pub(crate) struct StartedTasks {
    cache: Mutex<Cache>,
}

impl Default for StartedTasks {
    fn default() -> Self {
        Self { cache: Mutex::new(Cache { runs: LruCache::new(MAX_CACHED_RUNS), newest: 0 }) }
    }
}

struct Cache {
    runs: LruCache<BenchmarkRunId, CacheEntry>,
    /// The number of the newest entry. Numbers are unique.
    newest: u64,
}

/// Created by the first request after a change, and filled when that has read the database.
struct CacheEntry {
    number: u64,
    tasks: Option<Arc<Vec<StartedTask>>>,
}

pub(crate) struct StartedTask {
    id: TaskRunId,
    deadline: Option<model::Timestamp>,
    sandboxes: Vec<Arc<StoredSandbox>>,
}

const MAX_CACHED_RUNS: usize = 100_000;

impl StartedTasks {
    /// The cached tasks, or the number of the entry to fill.
    fn get(&self, run: &BenchmarkRunId) -> Result<Arc<Vec<StartedTask>>, u64> {
        let mut cache = self.lock();
        if let Some(entry) = cache.runs.get(run) {
            return entry.tasks.clone().ok_or(entry.number);
        }
        cache.newest += 1;
        let number = cache.newest;
        cache.runs.insert(run.clone(), CacheEntry { number, tasks: None }, 1);
        Err(number)
    }

    /// Fills an entry, unless a change has removed it.
    fn fill(&self, run: &BenchmarkRunId, number: u64, tasks: &Arc<Vec<StartedTask>>) {
        if let Some(entry) = self.lock().runs.get(run).filter(|entry| entry.number == number) {
            entry.tasks = Some(Arc::clone(tasks));
        }
    }

    pub(crate) fn invalidate(&self, run: &BenchmarkRunId) {
        self.lock().runs.remove(run);
    }

    fn lock(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
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
    let (scope, id) = (Caller::from(grant).scope, id.clone());
    let (_, task_run) = app.store().read(move |db| scope.task_run(db, &id)).await?;
    let state = match task_run.phase {
        Phase::Created => "is not started; start it first".to_owned(),
        Phase::Started => "is completed and being scored; its sandboxes take no traffic".to_owned(),
        Phase::Completed => format!("is {}; its sandboxes take no traffic", task_run.status.name()),
    };
    Err(AppError::conflict(format!("the task run {state}")))
}

async fn access(
    app: &App,
    grant: &RunGrant,
    task: &StartedTask,
    (kind, name): (SimulatorType, Option<&str>),
) -> Result<Access, AppError> {
    if task.deadline.is_some_and(|deadline| deadline <= app.now()) {
        expire::expire_overdue(app, &grant.org, &grant.run).await?;
        return Err(AppError::conflict("the task run is timed out; its sandboxes take no traffic"));
    }
    let is_named =
        |sandbox: &StoredSandbox| name.is_none_or(|name| sandbox.id.as_str() == name || sandbox.name == name);
    let sandbox = task.sandboxes.iter().find(|sandbox| sandbox.kind == kind && is_named(sandbox));
    let sandbox = sandbox.ok_or(AppError::NotFound("sandbox"))?;
    Ok(Access { sandbox: Arc::clone(sandbox), actor: grant.run.to_string(), after_end: false })
}

async fn started(app: &App, run: &BenchmarkRunId) -> Result<Arc<Vec<StartedTask>>, AppError> {
    let mut entry = None;
    if !app.store().is_shared() {
        match app.inner.started_tasks.get(run) {
            Ok(tasks) => return Ok(tasks),
            Err(number) => entry = Some(number),
        }
    }
    let id = run.clone();
    let read = app.store().read(move |db| {
        let all = task_runs::of_run(db, &id)?;
        let mut started = Vec::new();
        for task_run in all.into_iter().filter(StoredTaskRun::is_open) {
            let sandboxes = match &task_run.playground {
                Some(playground) => store::sandboxes::of_playground(db, playground)?,
                None => Vec::new(),
            };
            started.push((task_run, sandboxes));
        }
        Ok::<_, AppError>(started)
    });
    let cache = |sandbox: StoredSandbox| app.runtime().cache_sandbox(sandbox);
    let started = read.await?.into_iter().map(|(task_run, sandboxes)| StartedTask {
        id: task_run.id,
        deadline: task_run.deadline_at,
        sandboxes: sandboxes.into_iter().map(cache).collect(),
    });
    let started = Arc::new(started.collect());
    if let Some(number) = entry {
        app.inner.started_tasks.fill(run, number, &started);
    }
    Ok(started)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_from_before_a_change_is_not_cached() {
        let run: BenchmarkRunId = "br_01K9Z3T5Q8W7N4M2R6V0XBHCDE".parse().unwrap();
        let (started, no_tasks) = (StartedTasks::default(), Arc::new(Vec::new()));
        let before = started.get(&run).err().unwrap();
        started.invalidate(&run);
        let after = started.get(&run).err().unwrap();
        assert_eq!(started.get(&run).err(), Some(after), "only a read from after the change may fill the entry");
        started.fill(&run, before, &no_tasks);
        assert!(started.get(&run).is_err());
        started.fill(&run, after, &no_tasks);
        assert!(started.get(&run).is_ok());
    }
}
