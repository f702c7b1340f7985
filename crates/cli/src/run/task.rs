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

/// An agent whose `verial run` was killed is not started again: nobody knows how far it was, so its task is not scored.
fn interrupted_earlier(drive: &Drive, place: Place, task: &TaskRecord) -> anyhow::Result<()> {
    let was_running = task.process.is_some_and(end_leftover);
    drive.journal.change_task(place, |task| {
        task.step = Step::Completing;
        task.interrupted = true;
        let end = if was_running { "it was still running and was ended" } else { "it had ended" };
        task.notes.push(format!("`verial run` was killed while the agent worked; {end}; the task was not scored"));
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
        task.agent_not_started = false;
    })?;
    let key = format!("start-{}", task.task_run);
    let started = match insist(drive.patience, || client.start_task(&task.task_run, &key)).await {
        Ok(started) => started,
        Err(error) => return not_started(drive, client, place, task, &error).await,
    };
    let folder = folder(drive);
    let benchmark = drive.journal.read().benchmark;
    let handover = Handover::new(client.base_url(), &benchmark, (&run.run, &run.token), &started, &folder)?;
    let log = folder.join(log_name(place, task));
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
        let confined = if drive.confinement.is_some() { " (it may be hidden from the agent)" } else { "" };
        let reason = crate::report::build::last_words(&log);
        return agent_missing(drive, place, &format!("exit code {code}{reason}{confined}"));
    }
    let was_away = drive.outages.count() > outages;
    drive.journal.change_task(place, |task| {
        task.step = Step::Completing;
        task.agent = Some(ended);
        task.interrupted = end == End::Interrupted;
        if task.interrupted {
            task.notes.push("interrupted: the agent was ended, and the task was not scored".into());
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

/// Nothing was sampled: the step before is where a later process goes on. The next task would fare no better, so no more
/// are started.
fn agent_missing(drive: &Drive, place: Place, reason: &str) -> anyhow::Result<bool> {
    drive.is_hopeless.store(true, Ordering::Relaxed);
    drive.journal.change_task(place, |task| {
        task.step = Step::Starting;
        task.fault = Some(format!("the agent could not be started: {reason}"));
        task.agent_not_started = true;
    })?;
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
    let is_unmeasured = |task: &TaskRecord| task.interrupted || task.fault.is_some();
    if drive.journal.task(place).as_ref().is_some_and(is_unmeasured) {
        return cancel(drive, client, place, task).await;
    }
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

/// The result would say nothing about the agent: the server does not score it, and leaves it out of statistics.
async fn cancel(drive: &Drive, client: &Client, place: Place, task: &TaskRecord) -> anyhow::Result<()> {
    let key = format!("cancel-{}", task.task_run);
    let cancelled = match insist(drive.patience, || client.cancel_task(&task.task_run, &key)).await {
        // Its time was over, or it has been completed.
        Err(error) if error.status() == Some(409) => {
            insist(drive.patience, || client.task_result(&task.task_run)).await
        }
        other => other,
    };
    match cancelled {
        Ok(result) if result.phase == Phase::Completed => finish(drive, place, result, None),
        Ok(_) | Err(_) => {
            // The step stays, so that a later process asks again.
            tell_end(drive, place);
            Ok(())
        }
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

/// `03-order-a-chest-x-ray.log`, after the first run with its number: `run-2-03-order-a-chest-x-ray.log`.
fn log_name(place: Place, task: &TaskRecord) -> String {
    let run = if place.run == 0 { String::new() } else { format!("run-{}-", place.run + 1) };
    format!("{run}{:02}-{}.log", place.task + 1, authoring::slugged(&task.name))
}

fn folder(drive: &Drive) -> PathBuf {
    logs_of(drive.journal.path())
}
