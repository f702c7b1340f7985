//! Prepares a run: the server, the key and the journal.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

use anyhow::Context;
use app::Clock;
use client::Client;
use model::Ulid;
use model::api_key::masked;
use tokio::sync::Semaphore;

use super::arguments::RunArgs;
use super::interrupt::Interrupt;
use super::journal::{Journal, JournalFile, TaskStage, default_path};
use super::progress::{Progress, is_pass};
use super::retry::Outages;
use super::runner::{RunCreator, Runner};
use super::target::{self, ResolvedTarget, Target};
use super::{failed_tasks, metadata, precheck};
use crate::auth::check_solver_key;
use crate::confine::{self, Confinement, Isolation, Secrets};
use crate::exit::usage;
use crate::local_server::LocalServer;
use crate::output::eprint;
use crate::reference::{REFERENCE_NAME, is_reference};
use crate::report::model::ResultLocation;
use crate::user_config::UserConfig;

pub(crate) struct Setup {
    pub(crate) runner: Runner,
    local: Option<LocalServer>,
}

impl Setup {
    /// Where the results can be found after this process has ended.
    pub(crate) fn result_location(&self) -> ResultLocation {
        match &self.local {
            None => ResultLocation::Server,
            Some(local) if local.is_temporary() => ResultLocation::Discarded,
            Some(local) => ResultLocation::Data(local.data.display().to_string()),
        }
    }

    pub(crate) async fn close(self) {
        if let Some(local) = self.local {
            local.stop().await;
        }
    }
}

/// Returns `None` when there is nothing to run.
pub(crate) async fn prepare(arguments: &RunArgs) -> anyhow::Result<Option<Setup>> {
    check_outputs(arguments)?;
    let target = Target::of(arguments)?;
    let resumed = arguments.resume.as_deref().map(JournalFile::open).transpose()?;
    let isolation = isolation(arguments, resumed.as_ref())?;
    let local = start_local(arguments, resumed.as_ref()).await?;
    let url = match (&local, &resumed) {
        (Some(local), _) => local.url.clone(),
        (None, Some(journal)) if arguments.connection.url.is_none() => journal.read().url,
        _ => arguments.connection.url()?,
    };
    let creator = creator(arguments, local.as_ref(), &url).await?;
    let resolved = match (&target, &resumed) {
        (Some(target), _) => target.load(arguments, &creator).await?,
        (None, Some(journal)) => target::lookup(&creator, &journal.read().benchmark).await,
        (None, None) => return Err(usage("no benchmark given")),
    };
    precheck::check_gate(arguments, &creator, &resolved).await?;
    let Some(tasks) = select_tasks(arguments, &creator).await? else { return close(local).await };
    let journal = match resumed {
        Some(journal) => resume_journal(journal, arguments, &url, isolation)?,
        None => create_journal(arguments, &resolved, tasks, local.as_ref(), &url, isolation)?,
    };
    if let Some(folder) = target.as_ref().and_then(Target::folder) {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        journal.change(|journal| journal.folder = Some(folder))?;
    }
    let confinement = match (&local, isolation) {
        (Some(local), Some(Isolation::Landlock)) => Some(confinement(arguments, local, &journal)?),
        _ => None,
    };
    let runner = runner(arguments, creator, journal, confinement)?;
    Ok(Some(Setup { runner, local }))
}

fn runner(
    arguments: &RunArgs,
    creator: RunCreator,
    journal: JournalFile,
    confinement: Option<Confinement>,
) -> anyhow::Result<Runner> {
    let interrupt = Interrupt::listen()?;
    eprint(format_args!("journal: {}", journal.path().display()));
    let (tasks, ended) = count_tasks(&journal.read());
    if arguments.resume.is_some() {
        eprint(format_args!("{}", resume_notice(&journal.read(), tasks, ended)));
    }
    let progress = Progress::new(tasks, arguments.json);
    let resumed_journal = journal.read();
    let passed = resumed_journal.runs.iter().flat_map(|run| &run.tasks).filter(|task| is_pass(task)).count();
    progress.skip(ended, passed as u64);
    let parallel = arguments.parallel as usize;
    Ok(Runner {
        creator,
        journal,
        confinement,
        interrupt,
        progress,
        outages: Outages::default(),
        agents: Semaphore::new(parallel),
        parallel,
        timeout: arguments.timeout.map(Duration::from_secs),
        grace: Duration::from_secs(arguments.grace),
        patience: Duration::from_secs(arguments.patience),
        gave_up: AtomicBool::new(false),
        tasks: AtomicU64::new(tasks),
    })
}

/// The selected tasks, or an empty list for all. `None` when the earlier run passed all of its tasks.
async fn select_tasks(arguments: &RunArgs, creator: &RunCreator) -> anyhow::Result<Option<Vec<String>>> {
    let Some(earlier) = &arguments.failed_from else { return Ok(Some(arguments.tasks.clone())) };
    let failed = failed_tasks::find(earlier, creator).await?;
    if failed.is_empty() {
        eprint(format_args!("all tasks of {earlier} passed: nothing to run"));
        return Ok(None);
    }
    Ok(Some(failed.into_iter().collect()))
}

async fn close(local: Option<LocalServer>) -> anyhow::Result<Option<Setup>> {
    if let Some(local) = local {
        local.stop().await;
    }
    Ok(None)
}

/// Checks that reports can be written before the run starts.
fn check_outputs(arguments: &RunArgs) -> anyhow::Result<()> {
    let outputs = [&arguments.junit, &arguments.report, &arguments.markdown];
    for path in outputs.into_iter().flatten() {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if path.is_dir() || folder.is_some_and(|folder| !folder.is_dir()) {
            return Err(usage(format!("{} cannot be written: its folder does not exist", path.display())));
        }
    }
    Ok(())
}

async fn start_local(arguments: &RunArgs, resumed: Option<&JournalFile>) -> anyhow::Result<Option<LocalServer>> {
    let kept_data = resumed.and_then(|journal| journal.read().local_data);
    if !arguments.local && kept_data.is_none() {
        return Ok(None);
    }
    if kept_data.as_ref().is_some_and(|data| !data.is_dir()) {
        return Err(usage("the data of this run's server was removed; use --data for runs that may be resumed"));
    }
    let data = kept_data.or_else(|| arguments.data.clone());
    let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
    Ok(Some(match data {
        Some(data) => LocalServer::start(Some(&data), loopback).await?,
        None => LocalServer::start_hidden(loopback).await?,
    }))
}

/// How the agent is isolated from a local server; `None` for other servers.
fn isolation(arguments: &RunArgs, resumed: Option<&JournalFile>) -> anyhow::Result<Option<Isolation>> {
    let resumed = resumed.map(JournalFile::read);
    let is_local = arguments.local || resumed.as_ref().is_some_and(|journal| journal.local_data.is_some());
    if !is_local {
        return Ok(None);
    }
    if arguments.no_isolation {
        return Ok(Some(Isolation::None));
    }
    if confine::is_available() && !arguments.assume_no_landlock {
        reject_visible_keys()?;
        return Ok(Some(Isolation::Landlock));
    }
    // A run that is already marked as not isolated can be resumed.
    let is_isolated = |journal: &Journal| journal.scored && journal.isolation != Some(Isolation::None);
    if arguments.scored || resumed.as_ref().is_some_and(is_isolated) {
        return Err(usage(
            "a scored local run needs an isolated agent, and this system cannot isolate it (that takes Linux 5.13 or \
             later with Landlock enabled): the agent could read the criteria. Use a server on another machine, or give \
             --no-isolation; reports then say `isolation: none`",
        ));
    }
    Ok(Some(Isolation::None))
}

/// Rejects keys on the command line, which every process on the machine can read, even an isolated agent.
fn reject_visible_keys() -> anyhow::Result<()> {
    match std::env::args().any(|word| masked(&word) != word) {
        false => Ok(()),
        true => Err(usage("the agent could read the key on this command line; a local run needs no key")),
    }
}

fn confinement(arguments: &RunArgs, local: &LocalServer, journal: &JournalFile) -> anyhow::Result<Confinement> {
    let record = journal.read();
    let folder = record.folder.as_deref();
    let slug = record.benchmark.split('@').next().unwrap_or_default();
    let is_this_program = crate::reference::is_this_program(&record.agent);
    let binary_has_criteria = record.scored && !is_this_program && agents::bundled::slugs().contains(&slug);
    let secrets =
        Secrets { data: &local.data, journal: journal.path(), folder, binary_has_criteria, more: &arguments.hide };
    let confinement = Confinement::new(&secrets)?;
    if let Some(notice) = confinement.notice() {
        eprint(format_args!("note: {notice}"));
    }
    Ok(confinement)
}

/// Uses the solver key if there is one, otherwise the organization key.
async fn creator(arguments: &RunArgs, local: Option<&LocalServer>, url: &str) -> anyhow::Result<RunCreator> {
    let client = match local {
        Some(local) => local.client()?,
        None => {
            let given_key = arguments.solver_key.clone().filter(|key| !key.is_empty());
            let solver_key = match given_key {
                Some(key) => Some(key),
                None if arguments.connection.api_key.is_none() => UserConfig::read()?.solver_key,
                None => None,
            };
            if let Some(key) = solver_key {
                check_solver_key(&key)?;
                return Ok(RunCreator::Solver(Client::new(url, &key)?));
            }
            let key = arguments.connection.key()?;
            let key = key.ok_or_else(|| {
                usage("no key: set VERIAL_SOLVER_KEY or VERIAL_API_KEY, run `verial auth set-key`, or try --local")
            })?;
            Client::new(url, &key)?
        }
    };
    let patience = Duration::from_secs(arguments.patience);
    let solver = super::retry::retry_with_notice(patience, || client.find_or_create_solver(&arguments.solver)).await?;
    Ok(RunCreator::Organization(client, solver))
}

fn create_journal(
    arguments: &RunArgs,
    resolved: &ResolvedTarget,
    tasks: Vec<String>,
    local: Option<&LocalServer>,
    url: &str,
    isolation: Option<Isolation>,
) -> anyhow::Result<JournalFile> {
    let agent = arguments.agent.as_deref().context("no agent given")?;
    let id = fresh_id()?;
    let default = || default_path(&id, local.is_some(), arguments.data.as_deref());
    let path = arguments.journal.clone().unwrap_or_else(default);
    let mut journal = Journal::new(id, &resolved.name, agent, url, arguments.repeat);
    journal.draft.clone_from(&resolved.draft);
    journal.scored = arguments.scored;
    journal.reference = is_reference(agent);
    journal.isolation = isolation;
    journal.agent_name = agent_label(arguments.agent_name.clone(), &journal);
    journal.tasks = tasks;
    journal.tags.clone_from(&arguments.tags);
    journal.metadata = metadata::collect(&arguments.metadata);
    journal.local_data = local.map(|local| local.data.clone());
    JournalFile::create(path, journal)
}

/// The agent name that the server stores with the runs. Scores of the reference agent and of unisolated agents are marked,
/// so that they are not mixed with the agent's other runs.
fn agent_label(name: Option<String>, journal: &Journal) -> Option<String> {
    const MAX: usize = 200;
    let is_unisolated = journal.scored && journal.isolation == Some(Isolation::None);
    let marks = [journal.reference.then_some(REFERENCE_NAME), is_unisolated.then_some("isolation: none")];
    let is_missing = |mark: &&str| !name.as_deref().unwrap_or_default().contains(mark);
    let marks: Vec<&str> = marks.into_iter().flatten().filter(is_missing).collect();
    match (name, marks.join(", ")) {
        (name, marks) if marks.is_empty() => name,
        (None, marks) => Some(marks),
        (Some(name), marks) => {
            let room = MAX.saturating_sub(marks.len() + " ()".len());
            Some(format!("{} ({marks})", name.chars().take(room).collect::<String>()))
        }
    }
}

fn resume_journal(
    file: JournalFile,
    arguments: &RunArgs,
    url: &str,
    isolation: Option<Isolation>,
) -> anyhow::Result<JournalFile> {
    file.change(|journal| {
        journal.resumed += 1;
        url.clone_into(&mut journal.url);
        if let Some(agent) = &arguments.agent {
            journal.agent.clone_from(agent);
        }
        journal.reference |= is_reference(&journal.agent);
        // Journals of earlier versions have no isolation: their agents were not isolated.
        journal.isolation = isolation.map(|now| now.weaker(journal.isolation.unwrap_or(Isolation::None)));
        journal.agent_name = agent_label(journal.agent_name.take(), journal);
    })?;
    Ok(file)
}

fn count_tasks(journal: &Journal) -> (u64, u64) {
    let tasks = journal.runs.iter().flat_map(|run| &run.tasks);
    let ended = tasks.clone().filter(|task| task.step == TaskStage::Done).count();
    (tasks.count() as u64, ended as u64)
}

/// Describes the state of a resumed run.
fn resume_notice(journal: &Journal, tasks: u64, ended: u64) -> String {
    let all = journal.runs.iter().flat_map(|run| &run.tasks);
    let is_in_progress =
        |step: TaskStage| matches!(step, TaskStage::Starting | TaskStage::Working | TaskStage::Completing);
    let in_progress = all.filter(|task| is_in_progress(task.step)).count();
    let suffix = match in_progress {
        0 => String::new(),
        1 => "; 1 was in progress".into(),
        several => format!("; {several} were in progress"),
    };
    format!("resuming {}: {ended} of {tasks} tasks were done{suffix}", journal.benchmark)
}

/// A random id. It must be unique, because the server uses it for idempotency.
fn fresh_id() -> anyhow::Result<String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|error| anyhow::anyhow!("no randomness: {error}"))?;
    let now = u64::try_from(Clock::system().now().milliseconds()).unwrap_or_default();
    Ok(Ulid::new(now, u128::from_le_bytes(random)).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_say_little_about_an_agent_are_filed_apart() {
        let mut journal = Journal::new("id".into(), "b@1", "agent", "http://a", 1);
        let filed = |name: Option<&str>, journal: &Journal| agent_label(name.map(ToOwned::to_owned), journal);
        assert_eq!((filed(None, &journal), filed(Some("v1"), &journal)), (None, Some("v1".into())));
        journal.isolation = Some(Isolation::None);
        assert_eq!(
            filed(Some("v1"), &journal),
            Some("v1".into()),
            "the agent of an unscored run may know the criteria"
        );
        journal.scored = true;
        assert_eq!(filed(None, &journal), Some("isolation: none".into()));
        let marked = filed(Some("v1"), &journal);
        assert_eq!(marked.as_deref(), Some("v1 (isolation: none)"));
        assert_eq!(filed(marked.as_deref(), &journal), marked, "a resumed run is not marked twice");
        journal.reference = true;
        journal.isolation = Some(Isolation::Landlock);
        assert_eq!(filed(Some("v1"), &journal), Some("v1 (verial reference-agent)".into()));
        assert_eq!(filed(Some(&"x".repeat(200)), &journal).map(|name| name.len()), Some(200));
    }
}
