//! `verial run`: runs an agent on a benchmark, task by task, and reports the results.

mod agent;
mod agent_inputs;
mod arguments;
mod capture;
mod failed_tasks;
mod gate;
mod housekeeping;
mod interrupt;
pub(crate) mod journal;
mod metadata;
mod precheck;
mod progress;
pub(crate) mod rerun;
mod retry;
mod runner;
mod setup;
mod target;
mod task;

use std::time::Duration;

use anyhow::Context;
use client::{Client, ClientError};
use model::BenchmarkRunId;
use model::run::{RunSummary, Status};
use model::stats::{PairedDifference, RunSample, compare};

pub(crate) use agent::{Agent, AgentLimits, EndReason};
pub(crate) use agent_inputs::AgentInputs;
pub(crate) use arguments::RunArgs;
use gate::GateOptions;
pub(crate) use interrupt::Interrupt;
use journal::{CreatedRecord, RunRecord};
use retry::retry;
use runner::{RunCreator, Runner};
use setup::Setup;

use crate::report::model::{Report, ResultLocation};
use crate::report::{self, build};
use crate::{block_on, exit};

pub(crate) fn run(arguments: &RunArgs) -> anyhow::Result<()> {
    block_on(async {
        let Some(setup) = setup::prepare(arguments).await? else { return Ok(()) };
        let runner = &setup.runner;
        let report = tokio::select! {
            report = run_and_report(arguments, runner) => report,
            () = forced_stop(runner) => Err(exit::interrupted("stopped immediately")),
        };
        let (hint, is_stopped) = (resume_hint(&setup), runner.interrupt.is_stopped());
        let result = match report {
            Ok(mut report) => {
                report.result_location =
                    if arguments.server_ends { ResultLocation::Discarded } else { setup.result_location() };
                report::write(&report, &arguments.report_outputs())?;
                exit_result(&report, &hint)
            }
            Err(error) if is_stopped => Err(exit::interrupted(format!("interrupted ({error:#}); {hint}"))),
            Err(error) => {
                let is_infrastructure = error.downcast_ref::<ClientError>().is_some_and(ClientError::is_infrastructure);
                if is_infrastructure {
                    crate::output::eprint(hint);
                } else if runner.journal.read().runs.iter().all(|run| run.created.is_none()) {
                    runner.journal.discard();
                }
                Err(error)
            }
        };
        setup.runner.journal.close();
        setup.close().await;
        result
    })
}

async fn run_and_report(arguments: &RunArgs, runner: &Runner) -> anyhow::Result<Report> {
    runner.run_all().await?;
    rerun::run_again(runner, arguments.retry_infra).await?;
    build_report(arguments, runner).await
}

/// Resolves shortly after the second signal, so that agents can be killed first.
async fn forced_stop(runner: &Runner) {
    runner.interrupt.forced().await;
    tokio::time::sleep(Duration::from_millis(500)).await;
}

/// How to resume an unfinished run.
fn resume_hint(setup: &Setup) -> String {
    match setup.result_location() {
        ResultLocation::Discarded => {
            "it cannot be resumed, because its server's data was removed; use --data DIR to keep it".into()
        }
        _ => format!("resume with: verial run --resume {}", setup.runner.journal.path().display()),
    }
}

/// The result of the command, by the report's exit code.
fn exit_result(report: &Report, hint: &str) -> anyhow::Result<()> {
    match report.exit_code {
        0 => Ok(()),
        1 => Err(exit::failure(match (report.gate.passed, report.is_crash()) {
            (Some(false), true) => "gate not met: the agent crashed in every task",
            (_, true) => "the agent crashed in every task",
            (_, false) => "gate not met",
        })),
        130 => Err(exit::interrupted(format!("interrupted; {hint}"))),
        _ => Err(exit::infrastructure(not_measured_message(report, hint))),
    }
}

/// Why there is no score, and what to do about it.
fn not_measured_message(report: &Report, hint: &str) -> String {
    if let Some(reason) = &report.agent_not_started {
        return format!("{reason}; fix --agent and run it again");
    }
    let unmeasured = report.tasks().filter(|task| task.status.is_no_measurement()).count();
    let open = report.tasks().any(|task| task.is_open);
    // Finished tasks cannot be resumed, only run again.
    let hint = match (open, report.runs.iter().find_map(|run| run.id.as_deref())) {
        (false, Some(run)) => format!("run them again with --retry-infra, or later with --failed-from {run}"),
        _ => hint.to_owned(),
    };
    format!("{unmeasured} of {} tasks were not measured; {hint}", report.tasks().count())
}

/// Builds the report and evaluates the gate.
async fn build_report(arguments: &RunArgs, runner: &Runner) -> anyhow::Result<Report> {
    let summaries = fetch_summaries(runner).await?;
    if arguments.evidence {
        fetch_evidence(runner).await?;
    }
    let journal = runner.journal.read();
    let mut report = build::build(&journal, &runner.journal.path().display().to_string(), &summaries);
    if let Some(baseline) = &arguments.baseline {
        let merged_runs = build::merged_summaries(&journal, &summaries);
        let samples = merged_runs.iter().flatten().filter_map(build::sample).collect();
        report.baseline = Some(compare_with_baseline(&runner.creator, baseline, samples).await?);
    }
    let options = GateOptions {
        min_score: arguments.min_score,
        axes: &arguments.min_axis,
        min_tasks_passed: arguments.min_tasks_passed,
        allow_critical: arguments.allow_critical,
    };
    report.gate = gate::evaluate(&report, &options);
    report.exit_code = gate::exit_code(&report, runner.interrupt.is_stopped());
    Ok(report)
}

/// Fetches the summaries of all runs, and writes the real task names of finished scored runs to the journal.
async fn fetch_summaries(runner: &Runner) -> anyhow::Result<Vec<Option<RunSummary>>> {
    let mut summaries = Vec::new();
    for (run, record) in runner.journal.read().runs.iter().enumerate() {
        let summary = match &record.created {
            Some(created) => summary(runner, created).await,
            None => None,
        };
        if let Some(summary) = summary.as_ref().filter(|summary| summary.status != Status::Active) {
            runner.journal.change(|journal| name_tasks(journal.runs.get_mut(run), summary))?;
        }
        summaries.push(summary);
    }
    Ok(summaries)
}

/// The summary of a run. A finished scored run is read with the key that created it, which sees the real ids and names of
/// its tasks; other runs, and runs that this key cannot read, are read with the agent's token.
async fn summary(runner: &Runner, created: &CreatedRecord) -> Option<RunSummary> {
    let agent = runner.creator.client().with_key(&created.token);
    let agent_view = retry(runner.patience, || agent.run_summary(&created.run)).await.ok();
    if agent_view.as_ref().is_some_and(|agent_view| !agent_view.scored || agent_view.status == Status::Active) {
        return agent_view;
    }
    retry(runner.patience, || runner.creator.summary(&created.run)).await.ok().or(agent_view)
}

/// Replaces the neutral task ids and names of a scored run by the real ones, so that runs can be compared.
fn name_tasks(record: Option<&mut RunRecord>, summary: &RunSummary) {
    for task in record.into_iter().flat_map(|record| &mut record.tasks) {
        if let Some(named) = summary.task_runs.iter().find(|named| named.id == task.task_run) {
            task.task.clone_from(&named.task_id);
            task.name.clone_from(&named.name);
        }
    }
}

/// Compares these runs with an existing one, paired by task.
async fn compare_with_baseline(
    creator: &RunCreator,
    baseline: &BenchmarkRunId,
    samples: Vec<RunSample>,
) -> anyhow::Result<PairedDifference> {
    let baseline_sample = creator.summary(baseline).await?;
    let baseline_sample =
        build::sample(&baseline_sample).with_context(|| format!("{baseline} has no score to compare with"))?;
    let groups = [("these runs".to_owned(), samples), (baseline.to_string(), vec![baseline_sample])];
    compare(&groups).differences.into_iter().next().context("nothing to compare")
}

/// Adds check details and evidence of scored runs to the journal. Only the organization may read them.
async fn fetch_evidence(runner: &Runner) -> anyhow::Result<()> {
    let RunCreator::Organization(client, _) = &runner.creator else {
        return Err(exit::usage("--evidence needs an organization key"));
    };
    for (run, record) in runner.journal.read().runs.iter().enumerate() {
        for (task, record) in record.tasks.iter().enumerate() {
            let checks = criterion_runs(client, &record.task_run.to_string()).await?;
            runner.journal.change_task(journal::TaskIndex { run, task }, |task| {
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

async fn criterion_runs(client: &Client, task_run: &str) -> anyhow::Result<Vec<serde_json::Value>> {
    Ok(client.list_all("/criterion-runs", &[("task_run_id".to_owned(), task_run.to_owned())]).await?)
}
