//! One task: start, agent, complete. Whatever an earlier process had begun is gone on with from where it was.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use client::{Client, ClientError};
use model::run::{Phase, StartedTaskRun, TaskRunResult};

use super::agent::{Agent, End, Times, end_leftover};
use super::drive::Drive;
use super::handover::Handover;
use super::journal::{CreatedRecord, Place, Step, TaskRecord, logs_of};
use super::patience::insist;

/// From where it is to its end, or to where it cannot go on.
pub(crate) async fn go_on(drive: &Drive, client: &Client, place: Place, run: &CreatedRecord) -> anyhow::Result<()> {
    let Some(task) = drive.journal.task(place) else { return Ok(()) };
    let step = match task.step {
        Step::Done => return Ok(()),
        Step::Working => {
            interrupted_earlier(drive, place, &task)?;
            Step::Completing
        }
        step => step,
    };
    if step != Step::Completing {
        let _permit = drive.agents.acquire().await?;
        if !drive.goes_on() {
            return Ok(());
        }
        drive.progress.working(&task.name);
        if !sample(drive, client, place, &task, run).await? {
            return Ok(());
        }
    }
    complete(drive, client, place, &task).await
}

/// An agent whose `verial run` was killed is not started again: what it has left is what is scored, and that is said.
fn interrupted_earlier(drive: &Drive, place: Place, task: &TaskRecord) -> anyhow::Result<()> {
    let was_running = task.process.is_some_and(end_leftover);
    drive.journal.change_task(place, |task| {
        task.step = Step::Completing;
        task.interrupted = true;
        let end = if was_running { "it was still running and was ended" } else { "it had ended" };
        task.notes.push(format!("`verial run` was killed while the agent worked; {end}; what it left was scored"));
    })
}

/// Starts the task and lets the agent work. Whether there is something to complete.
async fn sample(
    drive: &Drive,
    client: &Client,
    place: Place,
    task: &TaskRecord,
    run: &CreatedRecord,
) -> anyhow::Result<bool> {
    drive.journal.change_task(place, |task| {
        task.step = Step::Starting;
        task.fault = None;
    })?;
    let key = format!("start-{}", task.task_run);
    let started = match insist(drive.patience, || client.start_task(&task.task_run, &key)).await {
        Ok(started) => started,
        Err(error) => return not_started(drive, client, place, task, &error).await,
    };
    let folder = folder(drive);
    let benchmark = drive.journal.read().benchmark;
    let handover = Handover::new(client.base_url(), &benchmark, (&run.run, &run.token), &started, &folder)?;
    let log = folder.join(format!("{}.log", task.task_run));
    let outages = drive.outages.count();
    drive.journal.change_task(place, |task| {
        task.step = Step::Working;
        task.attempts += 1;
    })?;
    let agent = match start_agent(drive, &handover, &log) {
        Ok(agent) => agent,
        Err(error) => return agent_missing(drive, place, &format!("{error:#}")),
    };
    let process = agent.process();
    drive.journal.change_task(place, |task| task.process = process)?;
    let (end, ended) = agent.wait(times(drive, &started), &drive.interrupt, &log).await;
    if end == End::ByItself && ended.was_not_started() {
        let code = ended.exit_code.unwrap_or_default();
        drive.journal.change_task(place, |task| task.agent = Some(ended))?;
        let confined = if drive.confinement.is_some() { ", perhaps because it is hidden from the agent" } else { "" };
        let words = format!(
            "the shell could not start the agent's command (exit code {code}){confined}; see {}",
            log.display()
        );
        return agent_missing(drive, place, &words);
    }
    let was_away = drive.outages.count() > outages;
    drive.journal.change_task(place, |task| {
        task.step = Step::Completing;
        task.agent = Some(ended);
        task.interrupted = end == End::Interrupted;
        if task.interrupted {
            task.notes.push("interrupted: the agent was ended; what it had left was scored".into());
        }
        if was_away {
            task.fault = Some("the server did not answer for a while as the agent worked".into());
        }
    })?;
    Ok(true)
}

fn start_agent(drive: &Drive, handover: &Handover, log: &Path) -> anyhow::Result<Agent> {
    let command = drive.journal.read().agent;
    match &drive.confinement {
        Some(confinement) => {
            Agent::start_confined(confinement.launcher(&command, handover.file())?, &handover.variables(), log)
        }
        None => Agent::start(&command, &handover.variables(), log),
    }
}

/// Nothing was sampled: the step before is where a later process goes on, and the next task would fare no better.
fn agent_missing(drive: &Drive, place: Place, words: &str) -> anyhow::Result<bool> {
    drive.is_hopeless.store(true, Ordering::Relaxed);
    drive.journal.change_task(place, |task| {
        task.step = Step::Starting;
        task.fault = Some(words.to_owned());
    })?;
    tell_end(drive, place);
    Ok(false)
}

/// The server would not start it: it has ended already, its scenario cannot be carried out, or nobody is there.
async fn not_started(
    drive: &Drive,
    client: &Client,
    place: Place,
    task: &TaskRecord,
    error: &ClientError,
) -> anyhow::Result<bool> {
    if error.status() == Some(409)
        && let Ok(result) = client.task_result(&task.task_run).await
        && result.phase == Phase::Completed
    {
        let words = format!("no agent was started: {error}");
        finish(drive, place, result, Some(words))?;
        return Ok(false);
    }
    if error.is_infrastructure() {
        drive.is_hopeless.store(true, Ordering::Relaxed);
    }
    drive.journal.change_task(place, |task| task.fault = Some(format!("the task could not be started: {error}")))?;
    tell_end(drive, place);
    Ok(false)
}

async fn complete(drive: &Drive, client: &Client, place: Place, task: &TaskRecord) -> anyhow::Result<()> {
    let key = format!("complete-{}", task.task_run);
    let completed = match insist(drive.patience, || client.complete_task(&task.task_run, &key)).await {
        // Its time was over, or an earlier process has completed it.
        Err(error) if error.status() == Some(409) => {
            insist(drive.patience, || client.task_result(&task.task_run)).await
        }
        other => other,
    };
    match completed {
        Ok(result) if result.phase == Phase::Completed => finish(drive, place, result, None),
        Ok(result) => fault(drive, place, &format!("the task run is still {}", result.phase.name())),
        Err(error) => fault(drive, place, &format!("the task could not be completed: {error}")),
    }
}

fn fault(drive: &Drive, place: Place, words: &str) -> anyhow::Result<()> {
    drive.is_hopeless.store(true, Ordering::Relaxed);
    drive.journal.change_task(place, |task| task.fault = Some(words.to_owned()))?;
    tell_end(drive, place);
    Ok(())
}

fn finish(drive: &Drive, place: Place, result: TaskRunResult, fault: Option<String>) -> anyhow::Result<()> {
    drive.journal.change_task(place, |task| {
        task.step = Step::Done;
        task.process = None;
        task.result = Some(result);
        if fault.is_some() {
            task.fault = fault;
        }
    })?;
    tell_end(drive, place);
    Ok(())
}

fn tell_end(drive: &Drive, place: Place) {
    if let Some(task) = drive.journal.task(place) {
        drive.progress.ended(&task);
    }
}

/// Until the server's own deadline, or less when the user says so.
fn times(drive: &Drive, started: &StartedTaskRun) -> Times {
    let allowed = started.deadline_at.milliseconds() - started.started_at.milliseconds();
    let allowed = Duration::from_millis(u64::try_from(allowed).unwrap_or_default());
    Times { work: drive.timeout.map_or(allowed, |limit| limit.min(allowed)), grace: drive.grace }
}

fn folder(drive: &Drive) -> PathBuf {
    logs_of(drive.journal.path())
}
