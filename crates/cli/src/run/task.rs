//! Runs one task: start, agent, complete. Resumes a task that an earlier process has started.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use client::{Client, ClientError};
use model::run::{Phase, StartedTaskRun, TaskRunResult};

use super::agent::{Agent, AgentLimits, EndReason, kill_leftover};
use super::agent_inputs::AgentInputs;
use super::journal::{CreatedRecord, TaskIndex, TaskRecord, TaskStage, logs_of};
use super::retry::retry;
use super::runner::Runner;

/// Runs a task from its current stage to its end, or until it cannot continue.
pub(crate) async fn resume(
    runner: &Runner,
    client: &Client,
    index: TaskIndex,
    run: &CreatedRecord,
) -> anyhow::Result<()> {
    let Some(task) = runner.journal.task(index) else { return Ok(()) };
    let step = match task.step {
        TaskStage::Done => return Ok(()),
        TaskStage::Working => {
            mark_interrupted(runner, index, &task)?;
            TaskStage::Completing
        }
        step => step,
    };
    if step != TaskStage::Completing {
        let _permit = runner.agents.acquire().await?;
        if !runner.should_continue() {
            return Ok(());
        }
        runner.progress.set_current(&task.name);
        if !run_agent(runner, client, index, &task, run).await? {
            return Ok(());
        }
    }
    complete(runner, client, index, &task).await
}

/// Marks a task whose `verial run` was killed while the agent worked. The agent is not started again, and the task is not
/// scored, because it is unknown how far the agent got.
fn mark_interrupted(runner: &Runner, index: TaskIndex, task: &TaskRecord) -> anyhow::Result<()> {
    let was_running = task.process.is_some_and(kill_leftover);
    runner.journal.change_task(index, |task| {
        task.step = TaskStage::Completing;
        task.interrupted = true;
        let end = if was_running { "it was still running and was killed" } else { "it had ended" };
        task.notes.push(format!("`verial run` was killed while the agent worked; {end}; the task was not scored"));
    })
}

/// Starts the task and the agent. Returns whether the task can be completed.
async fn run_agent(
    runner: &Runner,
    client: &Client,
    index: TaskIndex,
    task: &TaskRecord,
    run: &CreatedRecord,
) -> anyhow::Result<bool> {
    runner.journal.change_task(index, |task| {
        task.step = TaskStage::Starting;
        task.fault = None;
        task.agent_not_started = false;
    })?;
    let key = format!("start-{}", task.task_run);
    let started = match retry(runner.patience, || client.start_task(&task.task_run, &key)).await {
        Ok(started) => started,
        Err(error) => return not_started(runner, client, index, task, &error).await,
    };
    let folder = folder(runner);
    let benchmark = runner.journal.read().benchmark;
    let inputs = AgentInputs::new(client.base_url(), &benchmark, (&run.run, &run.token), &started, &folder)?;
    let log = folder.join(log_name(index, task));
    let outages = runner.outages.count();
    runner.journal.change_task(index, |task| {
        task.step = TaskStage::Working;
        task.attempts += 1;
    })?;
    let agent = match start_agent(runner, &inputs, &log) {
        Ok(agent) => agent,
        Err(error) => return agent_not_started(runner, index, &format!("{error:#}")),
    };
    let process = agent.process();
    runner.journal.change_task(index, |task| task.process = process)?;
    let (end, ended) = agent.wait(limits(runner, &started), &runner.interrupt, &log).await;
    if end == EndReason::ByItself && ended.was_not_started() {
        let code = ended.exit_code.unwrap_or_default();
        runner.journal.change_task(index, |task| task.agent = Some(ended))?;
        let isolation_note = if runner.confinement.is_some() { " (it may be hidden from the agent)" } else { "" };
        let reason = crate::report::build::last_log_line(&log);
        return agent_not_started(runner, index, &format!("exit code {code}{reason}{isolation_note}"));
    }
    let had_outage = runner.outages.count() > outages;
    runner.journal.change_task(index, |task| {
        task.step = TaskStage::Completing;
        task.agent = Some(ended);
        task.interrupted = end == EndReason::Interrupted;
        if task.interrupted {
            task.notes.push("interrupted: the agent was stopped, and the task was not scored".into());
        }
        if had_outage {
            task.fault = Some("the server did not respond for a while during the agent's work".into());
        }
    })?;
    Ok(true)
}

fn start_agent(runner: &Runner, inputs: &AgentInputs, log: &Path) -> anyhow::Result<Agent> {
    let command = runner.journal.read().agent;
    match &runner.confinement {
        Some(confinement) => {
            Agent::start_confined(confinement.launcher(&command, inputs.file())?, &inputs.variables(), log)
        }
        None => Agent::start(&command, &inputs.variables(), log),
    }
}

/// Records that the agent could not be started. A later process resumes at the stage before. No more tasks are started,
/// because they would fail in the same way.
fn agent_not_started(runner: &Runner, index: TaskIndex, reason: &str) -> anyhow::Result<bool> {
    runner.gave_up.store(true, Ordering::Relaxed);
    runner.journal.change_task(index, |task| {
        task.step = TaskStage::Starting;
        task.fault = Some(format!("the agent could not be started: {reason}"));
        task.agent_not_started = true;
    })?;
    Ok(false)
}

/// Records that the server could not start the task: it has ended, its scenario failed, or the server does not respond.
async fn not_started(
    runner: &Runner,
    client: &Client,
    index: TaskIndex,
    task: &TaskRecord,
    error: &ClientError,
) -> anyhow::Result<bool> {
    if error.status() == Some(409)
        && let Ok(result) = client.task_result(&task.task_run).await
        && result.phase == Phase::Completed
    {
        let message = format!("no agent was started: {error}");
        finish(runner, index, result, Some(message))?;
        return Ok(false);
    }
    if error.is_infrastructure() {
        runner.gave_up.store(true, Ordering::Relaxed);
    }
    runner.journal.change_task(index, |task| task.fault = Some(format!("the task could not be started: {error}")))?;
    show_end(runner, index);
    Ok(false)
}

async fn complete(runner: &Runner, client: &Client, index: TaskIndex, task: &TaskRecord) -> anyhow::Result<()> {
    let is_not_measured = |task: &TaskRecord| task.interrupted || task.fault.is_some();
    if runner.journal.task(index).as_ref().is_some_and(is_not_measured) {
        return cancel(runner, client, index, task).await;
    }
    let key = format!("complete-{}", task.task_run);
    let completed = match retry(runner.patience, || client.complete_task(&task.task_run, &key)).await {
        // Its deadline has passed, or an earlier process has completed it.
        Err(error) if error.status() == Some(409) => {
            retry(runner.patience, || client.task_result(&task.task_run)).await
        }
        other => other,
    };
    match completed {
        Ok(result) if result.phase == Phase::Completed => finish(runner, index, result, None),
        Ok(result) => fail(runner, index, &format!("the task run is still {}", result.phase.name())),
        Err(error) => fail(runner, index, &format!("the task could not be completed: {error}")),
    }
}

/// Cancels a task whose result would not measure the agent. The server does not score it, and excludes it from statistics.
async fn cancel(runner: &Runner, client: &Client, index: TaskIndex, task: &TaskRecord) -> anyhow::Result<()> {
    let key = format!("cancel-{}", task.task_run);
    let cancelled = match retry(runner.patience, || client.cancel_task(&task.task_run, &key)).await {
        // Its deadline has passed, or it has been completed.
        Err(error) if error.status() == Some(409) => {
            retry(runner.patience, || client.task_result(&task.task_run)).await
        }
        other => other,
    };
    match cancelled {
        Ok(result) if result.phase == Phase::Completed => finish(runner, index, result, None),
        Ok(_) | Err(_) => {
            // The stage stays, so that a later process tries again.
            show_end(runner, index);
            Ok(())
        }
    }
}

fn fail(runner: &Runner, index: TaskIndex, message: &str) -> anyhow::Result<()> {
    runner.gave_up.store(true, Ordering::Relaxed);
    runner.journal.change_task(index, |task| task.fault = Some(message.to_owned()))?;
    show_end(runner, index);
    Ok(())
}

fn finish(runner: &Runner, index: TaskIndex, result: TaskRunResult, reason: Option<String>) -> anyhow::Result<()> {
    runner.journal.change_task(index, |task| {
        task.step = TaskStage::Done;
        task.process = None;
        task.result = Some(result);
        if reason.is_some() {
            task.fault = reason;
        }
    })?;
    show_end(runner, index);
    Ok(())
}

fn show_end(runner: &Runner, index: TaskIndex) {
    if let Some(task) = runner.journal.task(index) {
        runner.progress.task_ended(&task);
    }
}

/// The agent's time limit: the task's deadline, or less if the user says so.
fn limits(runner: &Runner, started: &StartedTaskRun) -> AgentLimits {
    let allowed = started.deadline_at.milliseconds() - started.started_at.milliseconds();
    let allowed = Duration::from_millis(u64::try_from(allowed).unwrap_or_default());
    AgentLimits { work: runner.timeout.map_or(allowed, |limit| limit.min(allowed)), grace: runner.grace }
}

/// `03-order-a-chest-x-ray.log`; later runs are prefixed: `run-2-03-order-a-chest-x-ray.log`.
fn log_name(index: TaskIndex, task: &TaskRecord) -> String {
    let run = if index.run == 0 { String::new() } else { format!("run-{}-", index.run + 1) };
    format!("{run}{:02}-{}.log", index.task + 1, authoring::slugify(&task.name))
}

fn folder(runner: &Runner) -> PathBuf {
    logs_of(runner.journal.path())
}
