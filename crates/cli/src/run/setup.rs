//! Before the first agent: the server, the key, the journal.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

use anyhow::Context;
use app::Clock;
use client::Client;
use model::Ulid;
use model::api_key::masked;
use tokio::sync::Semaphore;

use super::arguments::Arguments;
use super::drive::{Asker, Drive};
use super::interrupt::Interrupt;
use super::journal::{Journal, JournalFile, Step, default_path};
use super::patience::Outages;
use super::progress::{Progress, is_pass};
use super::target::{self, Runnable, Target};
use super::{failed_tasks, metadata, precheck};
use crate::auth::check_solver_key;
use crate::confine::{self, Confinement, Isolation, Secrets};
use crate::exit::usage;
use crate::local::Local;
use crate::output::tell;
use crate::reference::{REFERENCE_NAME, is_reference};
use crate::report::model::Hint;
use crate::stored::Stored;

pub(crate) struct Setup {
    pub(crate) drive: Drive,
    local: Option<Local>,
}

impl Setup {
    /// Where the runs can be looked at when this process has ended.
    pub(crate) fn hint(&self) -> Hint {
        match &self.local {
            None => Hint::Server,
            Some(local) if local.is_passing() => Hint::Nowhere,
            Some(local) => Hint::Data(local.data.display().to_string()),
        }
    }

    pub(crate) async fn close(self) {
        if let Some(local) = self.local {
            local.stop().await;
        }
    }
}

/// None when there is nothing to run.
pub(crate) async fn prepare(arguments: &Arguments) -> anyhow::Result<Option<Setup>> {
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
    let asker = asker(arguments, local.as_ref(), &url).await?;
    let runnable = match (&target, &resumed) {
        (Some(target), _) => target.load(arguments, &asker).await?,
        (None, Some(journal)) => target::known(&asker, &journal.read().benchmark).await,
        (None, None) => return Err(usage("which benchmark?")),
    };
    precheck::check_gate(arguments, &asker, &runnable).await?;
    let Some(tasks) = selected(arguments, &asker).await? else { return close(local).await };
    let journal = match resumed {
        Some(journal) => go_on(journal, arguments, &url, isolation)?,
        None => begin(arguments, &runnable, tasks, local.as_ref(), &url, isolation)?,
    };
    if let Some(folder) = target.as_ref().and_then(Target::folder) {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        journal.change(|journal| journal.folder = Some(folder))?;
    }
    let confinement = match (&local, isolation) {
        (Some(local), Some(Isolation::Landlock)) => Some(confinement(arguments, local, &journal)?),
        _ => None,
    };
    let drive = drive(arguments, asker, journal, confinement)?;
    Ok(Some(Setup { drive, local }))
}

fn drive(
    arguments: &Arguments,
    asker: Asker,
    journal: JournalFile,
    confinement: Option<Confinement>,
) -> anyhow::Result<Drive> {
    let interrupt = Interrupt::listen()?;
    tell(format_args!("journal: {}", journal.path().display()));
    let (tasks, ended) = counted(&journal.read());
    if arguments.resume.is_some() {
        tell(format_args!("{}", going_on(&journal.read(), tasks, ended)));
    }
    let progress = Progress::new(tasks, arguments.json);
    let done = journal.read();
    let passed = done.runs.iter().flat_map(|run| &run.tasks).filter(|task| is_pass(task)).count();
    progress.skip(ended, passed as u64);
    let parallel = arguments.parallel as usize;
    Ok(Drive {
        asker,
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
        is_hopeless: AtomicBool::new(false),
        tasks: AtomicU64::new(tasks),
    })
}

/// The tasks that are to be run, empty for all of them; none when the earlier run has passed them all.
async fn selected(arguments: &Arguments, asker: &Asker) -> anyhow::Result<Option<Vec<String>>> {
    let Some(earlier) = &arguments.failed_from else { return Ok(Some(arguments.tasks.clone())) };
    let failed = failed_tasks::find(earlier, asker).await?;
    if failed.is_empty() {
        tell(format_args!("every task of {earlier} passed: there is nothing to run"));
        return Ok(None);
    }
    Ok(Some(failed.into_iter().collect()))
}

async fn close(local: Option<Local>) -> anyhow::Result<Option<Setup>> {
    if let Some(local) = local {
        local.stop().await;
    }
    Ok(None)
}

/// A report that cannot be written is told before hours of work and not after.
fn check_outputs(arguments: &Arguments) -> anyhow::Result<()> {
    let outputs = [&arguments.junit, &arguments.report, &arguments.markdown];
    for path in outputs.into_iter().flatten() {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if path.is_dir() || folder.is_some_and(|folder| !folder.is_dir()) {
            return Err(usage(format!("{} cannot be written: its folder is not there", path.display())));
        }
    }
    Ok(())
}

async fn start_local(arguments: &Arguments, resumed: Option<&JournalFile>) -> anyhow::Result<Option<Local>> {
    let kept = resumed.and_then(|journal| journal.read().local_data);
    if !arguments.local && kept.is_none() {
        return Ok(None);
    }
    if kept.as_ref().is_some_and(|data| !data.is_dir()) {
        return Err(usage("this run's server and its data are gone; give --data to runs that are to be gone on with"));
    }
    let data = kept.or_else(|| arguments.data.clone());
    let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
    Ok(Some(match data {
        Some(data) => Local::start(Some(&data), loopback).await?,
        None => Local::start_apart(loopback).await?,
    }))
}

/// What can isolate the agent from a server in this process; nothing is known of other servers.
fn isolation(arguments: &Arguments, resumed: Option<&JournalFile>) -> anyhow::Result<Option<Isolation>> {
    let resumed = resumed.map(JournalFile::read);
    let is_local = arguments.local || resumed.as_ref().is_some_and(|journal| journal.local_data.is_some());
    if !is_local {
        return Ok(None);
    }
    if arguments.no_isolation {
        return Ok(Some(Isolation::None));
    }
    if confine::is_available() && !arguments.assume_no_landlock {
        refuse_visible_keys()?;
        return Ok(Some(Isolation::Landlock));
    }
    // A run that is marked already goes on as it began.
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

/// Everyone on the machine can read the command line of a process, also an isolated agent.
fn refuse_visible_keys() -> anyhow::Result<()> {
    match std::env::args().any(|word| masked(&word) != word) {
        false => Ok(()),
        true => Err(usage("the agent could read the key on this command line; a local run needs no key")),
    }
}

fn confinement(arguments: &Arguments, local: &Local, journal: &JournalFile) -> anyhow::Result<Confinement> {
    let record = journal.read();
    let folder = record.folder.as_deref();
    let slug = record.benchmark.split('@').next().unwrap_or_default();
    let is_ours = crate::reference::is_this_program(&record.agent);
    let binary_tells = record.scored && !is_ours && agents::bundled::slugs().contains(&slug);
    let secrets = Secrets { data: &local.data, journal: journal.path(), folder, binary_tells, more: &arguments.hide };
    let confinement = Confinement::new(&secrets)?;
    if let Some(notice) = confinement.notice() {
        tell(format_args!("note: {notice}"));
    }
    Ok(confinement)
}

/// A solver's key where there is one, else the organization's.
async fn asker(arguments: &Arguments, local: Option<&Local>, url: &str) -> anyhow::Result<Asker> {
    let client = match local {
        Some(local) => local.client()?,
        None => {
            let given = arguments.solver_key.clone().filter(|key| !key.is_empty());
            let solver_key = match given {
                Some(key) => Some(key),
                None if arguments.connection.api_key.is_none() => Stored::read()?.solver_key,
                None => None,
            };
            if let Some(key) = solver_key {
                check_solver_key(&key)?;
                return Ok(Asker::Solver(Client::new(url, &key)?));
            }
            let key = arguments.connection.key()?;
            let key = key.ok_or_else(|| {
                usage("no key: set VERIAL_SOLVER_KEY or VERIAL_API_KEY, run `verial auth set-key`, or try --local")
            })?;
            Client::new(url, &key)?
        }
    };
    let patience = Duration::from_secs(arguments.patience);
    let solver = super::patience::insist_aloud(patience, || client.solver(&arguments.solver)).await?;
    Ok(Asker::Organization(client, solver))
}

fn begin(
    arguments: &Arguments,
    runnable: &Runnable,
    tasks: Vec<String>,
    local: Option<&Local>,
    url: &str,
    isolation: Option<Isolation>,
) -> anyhow::Result<JournalFile> {
    let agent = arguments.agent.as_deref().context("which agent?")?;
    let id = fresh_id()?;
    let default = || default_path(&id, local.is_some(), arguments.data.as_deref());
    let path = arguments.journal.clone().unwrap_or_else(default);
    let mut journal = Journal::new(id, &runnable.name, agent, url, arguments.repeat);
    journal.draft.clone_from(&runnable.draft);
    journal.scored = arguments.scored;
    journal.reference = is_reference(agent);
    journal.isolation = isolation;
    journal.agent_name = filed_under(arguments.agent_name.clone(), &journal);
    journal.tasks = tasks;
    journal.tags.clone_from(&arguments.tags);
    journal.metadata = metadata::collect(&arguments.metadata);
    journal.local_data = local.map(|local| local.data.clone());
    JournalFile::create(path, journal)
}

/// What the server files the runs under. A score that says little about an agent is not among those of its other runs.
fn filed_under(name: Option<String>, journal: &Journal) -> Option<String> {
    const LONGEST: usize = 200;
    let is_open = journal.scored && journal.isolation == Some(Isolation::None);
    let marks = [journal.reference.then_some(REFERENCE_NAME), is_open.then_some("isolation: none")];
    let missing = |mark: &&str| !name.as_deref().unwrap_or_default().contains(mark);
    let marks: Vec<&str> = marks.into_iter().flatten().filter(missing).collect();
    match (name, marks.join(", ")) {
        (name, marks) if marks.is_empty() => name,
        (None, marks) => Some(marks),
        (Some(name), marks) => {
            let room = LONGEST.saturating_sub(marks.len() + " ()".len());
            Some(format!("{} ({marks})", name.chars().take(room).collect::<String>()))
        }
    }
}

fn go_on(
    file: JournalFile,
    arguments: &Arguments,
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
        // A journal of an earlier version says nothing: its agents were not isolated.
        journal.isolation = isolation.map(|now| now.weaker(journal.isolation.unwrap_or(Isolation::None)));
        journal.agent_name = filed_under(journal.agent_name.take(), journal);
    })?;
    Ok(file)
}

fn counted(journal: &Journal) -> (u64, u64) {
    let tasks = journal.runs.iter().flat_map(|run| &run.tasks);
    let ended = tasks.clone().filter(|task| task.step == Step::Done).count();
    (tasks.count() as u64, ended as u64)
}

/// What an earlier process has left.
fn going_on(journal: &Journal, tasks: u64, ended: u64) -> String {
    let all = journal.runs.iter().flat_map(|run| &run.tasks);
    let is_under_way = |step: Step| matches!(step, Step::Starting | Step::Working | Step::Completing);
    let under_way = all.filter(|task| is_under_way(task.step)).count();
    let left = match under_way {
        0 => String::new(),
        1 => "; 1 was under way".into(),
        several => format!("; {several} were under way"),
    };
    format!("going on with {}: {ended} of {tasks} tasks were done{left}", journal.benchmark)
}

/// Never the same twice: the server takes two requests with one id for one request.
fn fresh_id() -> anyhow::Result<String> {
    let mut chance = [0; 16];
    getrandom::fill(&mut chance).map_err(|error| anyhow::anyhow!("no randomness: {error}"))?;
    let now = u64::try_from(Clock::system().now().milliseconds()).unwrap_or_default();
    Ok(Ulid::new(now, u128::from_le_bytes(chance)).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_say_little_about_an_agent_are_filed_apart() {
        let mut journal = Journal::new("id".into(), "b@1", "agent", "http://a", 1);
        let filed = |name: Option<&str>, journal: &Journal| filed_under(name.map(ToOwned::to_owned), journal);
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
