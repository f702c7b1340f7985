//! `verial run`: an agent through a benchmark, task by task, and a report that says what came of it.

mod agent;
mod arguments;
mod capture;
mod drive;
mod failed_tasks;
mod gate;
mod handover;
mod housekeeping;
mod interrupt;
pub(crate) mod journal;
mod metadata;
mod patience;
mod precheck;
mod progress;
pub(crate) mod retry;
mod setup;
mod target;
mod task;

use std::time::Duration;

use anyhow::Context;
use client::{Client, ClientError};
use model::BenchmarkRunId;
use model::run::{RunSummary, Status};
use model::stats::{PairedDifference, RunSample, compare};

pub(crate) use agent::{Agent, End, Times};
pub(crate) use arguments::Arguments;
use drive::{Asker, Drive};
use gate::Asked;
pub(crate) use handover::Handover;
pub(crate) use interrupt::Interrupt;
use journal::{CreatedRecord, RunRecord};
use patience::insist;
use setup::Setup;

use crate::report::model::{Hint, Report};
use crate::report::{self, build};
use crate::{block_on, exit};

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    block_on(async {
        let Some(setup) = setup::prepare(arguments).await? else { return Ok(()) };
        let drive = &setup.drive;
        let report = tokio::select! {
            report = through(arguments, drive) => report,
            () = at_once(drive) => Err(exit::interrupted("ended at once")),
        };
        let (step, is_stopped) = (go_on(&setup), drive.interrupt.is_stopped());
        let told = match report {
            Ok(mut report) => {
                report.hint = if arguments.server_ends { Hint::Nowhere } else { setup.hint() };
                report::tell(&report, &arguments.forms())?;
                ended(&report, &step)
            }
            Err(error) if is_stopped => Err(exit::interrupted(format!("interrupted ({error:#}); {step}"))),
            Err(error) => {
                let may_help = error.downcast_ref::<ClientError>().is_some_and(ClientError::is_infrastructure);
                if may_help {
                    crate::output::tell(step);
                } else if drive.journal.read().runs.iter().all(|run| run.created.is_none()) {
                    drive.journal.discard();
                }
                Err(error)
            }
        };
        setup.drive.journal.close();
        setup.close().await;
        told
    })
}

async fn through(arguments: &Arguments, drive: &Drive) -> anyhow::Result<Report> {
    drive.all().await?;
    retry::run_again(drive, arguments.retry_infra).await?;
    reported(arguments, drive).await
}

/// After the second signal agents have a moment to be killed in.
async fn at_once(drive: &Drive) {
    drive.interrupt.hurried().await;
    tokio::time::sleep(Duration::from_millis(500)).await;
}

/// What to do about a run that has not come to its end.
fn go_on(setup: &Setup) -> String {
    match setup.hint() {
        Hint::Nowhere => "it cannot be resumed, because its server's data are gone; --data DIR keeps them".into(),
        _ => format!("go on with: verial run --resume {}", setup.drive.journal.path().display()),
    }
}

fn ended(report: &Report, step: &str) -> anyhow::Result<()> {
    match report.exit_code {
        0 => Ok(()),
        1 => Err(exit::no(match (report.gate.passed, report.is_crash()) {
            (Some(false), true) => "under the gate: the agent crashed in every task",
            (_, true) => "the agent crashed in every task",
            (_, false) => "under the gate",
        })),
        130 => Err(exit::interrupted(format!("interrupted; {step}"))),
        _ => Err(exit::infrastructure(not_measured(report, step))),
    }
}

/// Why there is no result, and what to do about it.
fn not_measured(report: &Report, step: &str) -> String {
    if let Some(reason) = &report.agent_not_started {
        return format!("{reason}; correct --agent and run it again");
    }
    let faulty = report.tasks().filter(|task| task.status.is_no_measurement()).count();
    let open = report.tasks().any(|task| task.is_open);
    // What has ended cannot be resumed, only run again.
    let step = match (open, report.runs.iter().find_map(|run| run.id.as_deref())) {
        (false, Some(run)) => format!("run them again by --retry-infra, or later by --failed-from {run}"),
        _ => step.to_owned(),
    };
    format!("{faulty} of {} tasks were not measured; {step}", report.tasks().count())
}

/// The report with its gate.
async fn reported(arguments: &Arguments, drive: &Drive) -> anyhow::Result<Report> {
    let summaries = name_ended_runs(drive).await?;
    if arguments.evidence {
        fetch_evidence(drive).await?;
    }
    let journal = drive.journal.read();
    let mut report = build::build(&journal, &drive.journal.path().display().to_string(), &summaries);
    if let Some(baseline) = &arguments.baseline {
        let settled = build::settled_summaries(&journal, &summaries);
        let samples = settled.iter().flatten().filter_map(build::sample).collect();
        report.baseline = Some(against(&drive.asker, baseline, samples).await?);
    }
    let asked = Asked {
        least: arguments.min_score,
        axes: &arguments.min_axis,
        least_tasks_passed: arguments.min_tasks_passed,
        allow_critical: arguments.allow_critical,
    };
    report.gate = gate::judge(&report, &asked);
    report.exit_code = gate::exit_code(&report, drive.interrupt.is_stopped());
    Ok(report)
}

/// The summaries of all runs, with the real names of tasks of scored runs that have ended put into the journal.
async fn name_ended_runs(drive: &Drive) -> anyhow::Result<Vec<Option<RunSummary>>> {
    let mut summaries = Vec::new();
    for (run, record) in drive.journal.read().runs.iter().enumerate() {
        let summary = match &record.created {
            Some(created) => summary(drive, created).await,
            None => None,
        };
        if let Some(summary) = summary.as_ref().filter(|summary| summary.status != Status::Active) {
            drive.journal.change(|journal| name_tasks(journal.runs.get_mut(run), summary))?;
        }
        summaries.push(summary);
    }
    Ok(summaries)
}

/// With the key that made the run, if the run has ended: then it reads the real ids and names of a scored run's tasks.
/// Until then, and where the key cannot read the run, as the agent sees it.
async fn summary(drive: &Drive, created: &CreatedRecord) -> Option<RunSummary> {
    let agent = drive.asker.client().with_key(&created.token);
    let seen = insist(drive.patience, || agent.run_summary(&created.run)).await.ok();
    if seen.as_ref().is_some_and(|seen| !seen.scored || seen.status == Status::Active) {
        return seen;
    }
    insist(drive.patience, || drive.asker.summary(&created.run)).await.ok().or(seen)
}

/// Replaces the neutral ids and names of a scored run's tasks, by which nothing could be compared.
fn name_tasks(record: Option<&mut RunRecord>, summary: &RunSummary) {
    for task in record.into_iter().flat_map(|record| &mut record.tasks) {
        if let Some(known) = summary.task_runs.iter().find(|known| known.id == task.task_run) {
            task.task.clone_from(&known.task_id);
            task.name.clone_from(&known.name);
        }
    }
}

/// These runs against one that is there already, paired by task.
async fn against(asker: &Asker, baseline: &BenchmarkRunId, ours: Vec<RunSample>) -> anyhow::Result<PairedDifference> {
    let theirs = asker.summary(baseline).await?;
    let theirs = build::sample(&theirs).with_context(|| format!("{baseline} has no score to compare with"))?;
    let groups = [("these runs".to_owned(), ours), (baseline.to_string(), vec![theirs])];
    compare(&groups).differences.into_iter().next().context("nothing to compare")
}

/// Of a scored run only the organization may see details; its journal and report then hold them.
async fn fetch_evidence(drive: &Drive) -> anyhow::Result<()> {
    let Asker::Organization(client, _) = &drive.asker else {
        return Err(exit::usage("--evidence needs an organization key"));
    };
    for (run, record) in drive.journal.read().runs.iter().enumerate() {
        for (task, record) in record.tasks.iter().enumerate() {
            let checks = owned_checks(client, &record.task_run.to_string()).await?;
            drive.journal.change_task(journal::Place { run, task }, |task| {
                if let Some(result) = &mut task.result {
                    for check in &mut result.checks {
                        let id = check.criterion_run_id.to_string();
                        if let Some(found) = checks.iter().find(|found| found["id"] == id.as_str()) {
                            check.label = found["label"].as_str().unwrap_or(&check.label).to_owned();
                            check.critical = found["critical"].as_bool();
                            check.guard = found["guard"].as_bool();
                            check.details = found["details"].as_str().map(ToOwned::to_owned);
                            check.evidence = Some(found["evidence"].clone());
                        }
                    }
                }
            })?;
        }
    }
    Ok(())
}

async fn owned_checks(client: &Client, task_run: &str) -> anyhow::Result<Vec<serde_json::Value>> {
    Ok(client.all("/criterion-runs", &[("task_run_id".to_owned(), task_run.to_owned())]).await?)
}
