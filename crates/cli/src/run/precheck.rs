//! Checks the gate's options before the first agent is started.

use model::BenchmarkRunId;
use model::run::Status;

use super::arguments::RunArgs;
use super::runner::RunCreator;
use super::target::ResolvedTarget;
use crate::exit::usage;
use crate::output::text::counted;
use crate::report::model::axis_name;

/// Checks that every condition of the gate can be evaluated.
pub(super) async fn check_gate(
    arguments: &RunArgs,
    creator: &RunCreator,
    resolved: &ResolvedTarget,
) -> anyhow::Result<()> {
    check_axes(arguments, resolved)?;
    check_tasks_passed(arguments, resolved)?;
    if arguments.evidence && matches!(creator, RunCreator::Solver(_)) {
        return Err(usage("--evidence needs an organization key"));
    }
    match &arguments.baseline {
        Some(baseline) => check_baseline(baseline, creator, resolved).await,
        None => Ok(()),
    }
}

fn check_axes(arguments: &RunArgs, resolved: &ResolvedTarget) -> anyhow::Result<()> {
    let Some(names) = &resolved.axis_names else { return Ok(()) };
    let names: Vec<&str> = names.iter().map(|name| axis_name(name)).collect();
    match arguments.min_axis.iter().find(|minimum| !names.contains(&axis_name(&minimum.axis))) {
        None => Ok(()),
        Some(minimum) => Err(usage(format!(
            "--min-axis {}={}: no criterion of {} has this axis; its axes are {}",
            minimum.axis,
            minimum.min,
            resolved.name,
            names.join(", ")
        ))),
    }
}

fn check_tasks_passed(arguments: &RunArgs, resolved: &ResolvedTarget) -> anyhow::Result<()> {
    let (Some(wanted), Some(tasks)) = (arguments.min_tasks_passed, resolved.selected(arguments)) else {
        return Ok(());
    };
    // If no task is selected, creating the run fails with the unknown name or tag.
    if wanted as usize > tasks && tasks > 0 {
        let selected = if arguments.tasks.is_empty() && arguments.tags.is_empty() { "has" } else { "selects" };
        return Err(usage(format!("--min-tasks-passed {wanted}: the run {selected} only {}", counted(tasks, "task"))));
    }
    Ok(())
}

async fn check_baseline(
    baseline: &BenchmarkRunId,
    creator: &RunCreator,
    resolved: &ResolvedTarget,
) -> anyhow::Result<()> {
    let summary = match creator.summary(baseline).await {
        Ok(summary) => summary,
        Err(error) if error.status() == Some(404) => {
            return Err(usage(format!("--baseline {baseline}: run not found on {}", creator.client().base_url())));
        }
        Err(error) => return Err(error.into()),
    };
    if summary.status != Status::Completed {
        let status = summary.status.name();
        return Err(usage(format!("--baseline {baseline}: the run is {status} and has no score to compare with")));
    }
    let slug = resolved.name.split('@').next().unwrap_or_default();
    match summary.benchmark.slug {
        Some(other) if other != slug => Err(usage(format!(
            "--baseline {baseline}: this is a run of {other}, whose tasks differ from those of {slug}"
        ))),
        _ => Ok(()),
    }
}
