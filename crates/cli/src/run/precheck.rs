//! What can be known to be wrong before the first agent is started.

use model::BenchmarkRunId;
use model::run::Status;

use super::arguments::Arguments;
use super::drive::Asker;
use super::target::Runnable;
use crate::exit::usage;
use crate::report::model::axis_name;

/// Every part of the gate must be one that can be judged.
pub(super) async fn check_gate(arguments: &Arguments, asker: &Asker, runnable: &Runnable) -> anyhow::Result<()> {
    check_axes(arguments, runnable)?;
    check_tasks_passed(arguments, runnable)?;
    if arguments.evidence && matches!(asker, Asker::Solver(_)) {
        return Err(usage("--evidence needs an organization key"));
    }
    match &arguments.baseline {
        Some(baseline) => check_baseline(baseline, asker, runnable).await,
        None => Ok(()),
    }
}

fn check_axes(arguments: &Arguments, runnable: &Runnable) -> anyhow::Result<()> {
    let Some(names) = &runnable.axis_names else { return Ok(()) };
    let names: Vec<&str> = names.iter().map(|name| axis_name(name)).collect();
    match arguments.min_axis.iter().find(|floor| !names.contains(&axis_name(&floor.axis))) {
        None => Ok(()),
        Some(floor) => Err(usage(format!(
            "--min-axis {}={}: no criterion of {} has this axis; there are {}",
            floor.axis,
            floor.least,
            runnable.name,
            names.join(", ")
        ))),
    }
}

fn check_tasks_passed(arguments: &Arguments, runnable: &Runnable) -> anyhow::Result<()> {
    let selected = match arguments.tasks.len() {
        0 => runnable.tasks,
        named => Some(named),
    };
    let (Some(wanted), Some(tasks)) = (arguments.min_tasks_passed, selected) else { return Ok(()) };
    if wanted as usize > tasks {
        return Err(usage(format!("--min-tasks-passed {wanted}: the run has only {tasks} tasks")));
    }
    Ok(())
}

async fn check_baseline(baseline: &BenchmarkRunId, asker: &Asker, runnable: &Runnable) -> anyhow::Result<()> {
    let summary = match asker.summary(baseline).await {
        Ok(summary) => summary,
        Err(error) if error.status() == Some(404) => {
            return Err(usage(format!("--baseline {baseline}: there is no such run on {}", asker.client().base_url())));
        }
        Err(error) => return Err(error.into()),
    };
    if summary.status != Status::Completed {
        let status = summary.status.name();
        return Err(usage(format!("--baseline {baseline}: the run is {status} and has no score to compare with")));
    }
    let slug = runnable.name.split('@').next().unwrap_or_default();
    match summary.benchmark.slug {
        Some(other) if other != slug => {
            Err(usage(format!("--baseline {baseline}: that is a run of {other}, which has other tasks than {slug}")))
        }
        _ => Ok(()),
    }
}
