//! The journal of `verial run`, written before each step, so that a resumed run does not start an agent twice by accident.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::Context;
use model::run::{Metadata, RunBenchmark, TaskRunResult};
use model::{BenchmarkRunId, TaskId, TaskRunId};
use serde::{Deserialize, Serialize};

use super::housekeeping;
use crate::confine::Isolation;
use crate::exit::usage;
use crate::user_config::{UserConfig, write_private};

pub(super) const FOLDER: &str = ".verial/runs";
const VERSION: u32 = 1;

/// One call of `verial run`, with all its runs.
#[derive(Serialize, Deserialize, Clone)]
pub(crate) struct Journal {
    version: u32,
    pub(crate) id: String,
    /// `slug@version`.
    pub(crate) benchmark: String,
    pub(crate) scored: bool,
    /// The id of the draft that is run instead of a version. `benchmark` is then its slug.
    #[serde(default)]
    pub(crate) draft: Option<String>,
    /// Names or ids of the tasks that are run; empty for all of them.
    #[serde(default)]
    pub(crate) tasks: Vec<String>,
    /// Tags of the tasks that are run; empty for all of them.
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    /// Metadata that the server stores with the runs.
    #[serde(default)]
    pub(crate) metadata: Metadata,
    /// The agent's command.
    pub(crate) agent: String,
    /// The agent name that the runs are stored under.
    pub(crate) agent_name: Option<String>,
    pub(crate) url: String,
    /// The data directory of the local server.
    pub(crate) local_data: Option<PathBuf>,
    /// The benchmark folder that is run. The agent must not read it.
    #[serde(default)]
    pub(crate) folder: Option<PathBuf>,
    /// How the agent of a local run is isolated from the criteria.
    #[serde(default)]
    pub(crate) isolation: Option<Isolation>,
    /// The agent is the bundled reference agent.
    #[serde(default)]
    pub(crate) reference: bool,
    /// How often the run was resumed.
    pub(crate) resumed: u32,
    pub(crate) runs: Vec<RunRecord>,
}

#[derive(Serialize, Deserialize, Clone, Default)]
pub(crate) struct RunRecord {
    /// `None` until the server has responded. Repeating the request returns the same run.
    pub(crate) created: Option<CreatedRecord>,
    pub(crate) tasks: Vec<TaskRecord>,
    /// The index of the run whose tasks are rerun here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) retry_of: Option<usize>,
    /// Ids of those tasks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) only: Vec<String>,
}

#[derive(Serialize, Deserialize, Clone)]
pub(crate) struct CreatedRecord {
    pub(crate) run: BenchmarkRunId,
    pub(crate) token: String,
    pub(crate) concurrency: i64,
    pub(crate) benchmark: RunBenchmark,
}

#[derive(Serialize, Deserialize, Clone)]
pub(crate) struct TaskRecord {
    pub(crate) task_run: TaskRunId,
    pub(crate) task: TaskId,
    pub(crate) name: String,
    pub(crate) step: TaskStage,
    /// How often the agent's command was started.
    pub(crate) attempts: u32,
    pub(crate) process: Option<Process>,
    pub(crate) agent: Option<AgentEnd>,
    /// The agent was interrupted, and the task was not scored.
    pub(crate) interrupted: bool,
    /// The agent's command could not be started.
    #[serde(default)]
    pub(crate) agent_not_started: bool,
    /// Why the task was not measured, for reasons other than the agent.
    pub(crate) fault: Option<String>,
    pub(crate) notes: Vec<String>,
    pub(crate) result: Option<TaskRunResult>,
}

/// How far a task is. Each stage is written before it begins.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TaskStage {
    Waiting,
    /// The server is starting the task; no agent has been started.
    Starting,
    /// The agent may have been started.
    Working,
    /// The agent has ended; the server is scoring.
    Completing,
    Done,
}

/// A process that may outlive this one: its group, and its start time to detect a reused process id.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Process {
    pub(crate) group: i32,
    pub(crate) began: u64,
}

/// How the agent's command ended.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub(crate) struct AgentEnd {
    pub(crate) exit_code: Option<i32>,
    pub(crate) signal: Option<i32>,
    /// It was stopped at its time limit.
    pub(crate) timed_out: bool,
    pub(crate) seconds: f64,
    pub(crate) output_bytes: u64,
    /// Bytes that are not in the log.
    pub(crate) left_out_bytes: u64,
    pub(crate) log: PathBuf,
}

/// The journal file, locked against other processes.
pub(crate) struct JournalFile {
    path: PathBuf,
    journal: Mutex<Journal>,
    _lock: File,
}

impl Journal {
    pub(crate) fn new(id: String, benchmark: &str, agent: &str, url: &str, repeat: u32) -> Self {
        Self {
            version: VERSION,
            id,
            benchmark: benchmark.to_owned(),
            scored: false,
            draft: None,
            tasks: Vec::new(),
            tags: Vec::new(),
            metadata: Metadata::new(),
            agent: agent.to_owned(),
            agent_name: None,
            url: url.to_owned(),
            local_data: None,
            folder: None,
            isolation: None,
            reference: false,
            resumed: 0,
            runs: vec![RunRecord::default(); repeat as usize],
        }
    }
}

impl JournalFile {
    pub(crate) fn create(path: PathBuf, journal: Journal) -> anyhow::Result<Self> {
        if path.exists() {
            let message = format!("{} already exists; resume it with --resume {0}", path.display());
            return Err(usage(message));
        }
        let file = Self { _lock: lock_journal(&path)?, path, journal: Mutex::new(journal) };
        housekeeping::keep_out_of_git(&file.path);
        housekeeping::remove_old(&file.path);
        file.change(|_| ())?;
        Ok(file)
    }

    /// Opens a journal by its path, or by the id of a run in it.
    pub(crate) fn open(named: &str) -> anyhow::Result<Self> {
        let path = find_path(named)?
            .ok_or_else(|| usage(format!("{named} is not a file, and no journal in {FOLDER} contains it")))?;
        let lock = lock_journal(&path)?;
        let journal = read(&path)?;
        Ok(Self { _lock: lock, path, journal: Mutex::new(journal) })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn read(&self) -> Journal {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes the journal and writes it to disk.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut Journal) -> T) -> anyhow::Result<T> {
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        let result = change(&mut journal);
        write_private(&self.path, &serde_json::to_vec_pretty(&*journal)?)?;
        Ok(result)
    }

    /// Removes the journal of a run that was never started.
    pub(crate) fn discard(&self) {
        let _ = std::fs::remove_file(&self.path);
        let _ = std::fs::remove_file(lock_of(&self.path));
    }

    /// Removes the lock if all runs are finished.
    pub(crate) fn close(&self) {
        let journal = self.read();
        let is_done = |run: &RunRecord| {
            run.created.is_some() && !run.tasks.is_empty() && run.tasks.iter().all(|task| task.step == TaskStage::Done)
        };
        if journal.runs.iter().all(is_done) {
            let _ = std::fs::remove_file(lock_of(&self.path));
        }
    }

    /// Changes one task of one run. Does nothing if there is no such task.
    pub(crate) fn change_task(&self, index: TaskIndex, change: impl FnOnce(&mut TaskRecord)) -> anyhow::Result<()> {
        self.change(|journal| {
            let run = journal.runs.get_mut(index.run);
            if let Some(task) = run.and_then(|run| run.tasks.get_mut(index.task)) {
                change(task);
            }
        })
    }

    pub(crate) fn task(&self, index: TaskIndex) -> Option<TaskRecord> {
        let journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        journal.runs.get(index.run)?.tasks.get(index.task).cloned()
    }
}

/// The index of a run in the journal, and of a task in that run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TaskIndex {
    pub(crate) run: usize,
    pub(crate) task: usize,
}

/// Locks a journal. The system releases the lock when this process ends.
fn lock_journal(journal: &Path) -> anyhow::Result<File> {
    if let Some(folder) = journal.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    let path = lock_of(journal);
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
    let file = file.with_context(|| format!("cannot write {}", path.display()))?;
    match file.try_lock() {
        // Another process may have removed the lock file after it was opened.
        Ok(()) if !housekeeping::is_same_file(&file, &path) => lock_journal(journal),
        Ok(()) => Ok(file),
        Err(_) => Err(usage(format!("another `verial run` is working on {}", journal.display()))),
    }
}

/// The default path of a journal. That of a local run is not in the working directory: it would have to be hidden from the
/// agent, which could then not create files there.
pub(crate) fn default_path(id: &str, is_local: bool, data: Option<&Path>) -> PathBuf {
    let folder = match (is_local, data) {
        (true, Some(data)) => data.join("runs"),
        (true, None) => home_folder().unwrap_or_else(|| FOLDER.into()),
        (false, _) => FOLDER.into(),
    };
    folder.join(format!("{id}.json"))
}

fn home_folder() -> Option<PathBuf> {
    Some(UserConfig::path().ok()?.parent()?.join("runs"))
}

/// The folder for logs and credentials of a journal's agents, next to the journal.
pub(crate) fn logs_of(journal: &Path) -> PathBuf {
    journal.with_extension("logs")
}

pub(crate) fn lock_of(journal: &Path) -> PathBuf {
    let mut name = journal.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}

/// Reads the journal at a path, or the one that contains the run with this id. It may be in use.
pub(crate) fn find_journal(named: &str) -> anyhow::Result<Option<Journal>> {
    find_path(named)?.map(|path| read(&path)).transpose()
}

fn read(path: &Path) -> anyhow::Result<Journal> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let journal: Journal =
        serde_json::from_str(&text).with_context(|| format!("{} is not the journal of a run", path.display()))?;
    if journal.version != VERSION {
        return Err(usage(format!("{} was written by another version of verial", path.display())));
    }
    Ok(journal)
}

fn find_path(named: &str) -> anyhow::Result<Option<PathBuf>> {
    let path = PathBuf::from(named);
    if path.is_file() {
        return Ok(Some(path));
    }
    let mut matches = Vec::new();
    let mut folders: Vec<PathBuf> = [Some(FOLDER.into()), home_folder()]
        .into_iter()
        .flatten()
        .filter_map(|path| path.canonicalize().ok())
        .collect();
    folders.dedup();
    for entry in folders.iter().flat_map(std::fs::read_dir).flatten().flatten() {
        let path = entry.path();
        let is_journal = path.extension().is_some_and(|extension| extension == "json");
        let text = if is_journal { std::fs::read_to_string(&path).unwrap_or_default() } else { String::new() };
        if text.contains(&format!("\"{named}\"")) {
            matches.push(path);
        }
    }
    match matches.pop() {
        Some(path) if matches.is_empty() => Ok(Some(path)),
        Some(_) => Err(usage(format!("several journals in {FOLDER} contain {named}: specify the file"))),
        None => Ok(None),
    }
}
