//! `verial rescore`: scores a finished run again from its stored evidence.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use authoring::source;
use clap::Args;
use client::Client;
use model::BenchmarkRunId;
use model::run::{Rescore, RescoredCriterion, RescoredTask};
use serde_json::{Number, Value, json};

use crate::auth::Connection;
use crate::block_on;
use crate::exit::usage;
use crate::output::style::Color;
use crate::output::table::Cell;
use crate::output::text::{sanitize, truncate, width};
use crate::output::{Style, Table, eprint, print, table_columns};

#[derive(Args)]
pub(crate) struct RescoreArgs {
    #[command(flatten)]
    connection: Connection,
    /// The run: br_…
    run: BenchmarkRunId,
    /// A benchmark folder whose criteria replace those with the same task and label
    #[arg(conflicts_with = "criteria")]
    folder: Option<PathBuf>,
    /// A JSON file with other assertions to try: a list of {"criterion_id", "assertion"}, or an object with such a list as `criteria`
    #[arg(long, value_name = "FILE")]
    criteria: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Fails when rescoring with unchanged criteria and the same engine gives a different result.
pub(crate) fn run(arguments: &RescoreArgs) -> anyhow::Result<()> {
    let client = arguments.connection.client()?;
    let criteria = match (&arguments.folder, &arguments.criteria) {
        (Some(folder), _) => Some(block_on(folder_criteria(&client, &arguments.run, folder))?),
        (None, Some(path)) => Some(read_criteria(path)?),
        (None, None) => None,
    };
    let body = json!({"criteria": criteria.clone().unwrap_or_else(|| json!([]))});
    let path = format!("/benchmark-runs/{}/rescore", arguments.run);
    let report: Rescore = block_on(async move { Ok(client.post(&path, &body).await?) })?;
    if arguments.json {
        print(serde_json::to_string(&report)?);
    } else {
        print_report(&report);
    }
    let is_same_engine = report.engine_before.as_ref() == Some(&report.engine_after);
    if criteria.is_none() && !report.identical && is_same_engine {
        return Err(crate::exit::failure("rescoring gave a different result than the stored one"));
    }
    Ok(())
}

/// The folder's assertions for the run's criteria, matched by task name and label.
async fn folder_criteria(client: &Client, run: &BenchmarkRunId, folder: &Path) -> anyhow::Result<Value> {
    let folder = authoring::read(&source::read_directory(folder)?)?;
    let tasks = authoring::expand(&folder).map_err(authoring::Error::Findings)?;
    let mut changes = Vec::new();
    for task_run in client.run(run).await?.task_runs.unwrap_or_default() {
        let Some((_, task)) = tasks.iter().find(|(_, task)| task.name == task_run.name) else {
            eprint(format_args!("note: the folder has no task `{}`", sanitize(&task_run.name)));
            continue;
        };
        let query = [("task_run_id".to_owned(), task_run.id.to_string())];
        for criterion_run in client.list_all("/criterion-runs", &query).await? {
            let label = criterion_run["label"].as_str().unwrap_or_default();
            match task.criteria.iter().find(|criterion| criterion.label == label) {
                Some(criterion) => {
                    changes
                        .push(json!({"criterion_id": criterion_run["criterion_id"], "assertion": criterion.assertion}));
                }
                None => eprint(format_args!("note: {}: the folder has no criterion `{}`", task.name, sanitize(label))),
            }
        }
    }
    if changes.is_empty() {
        return Err(usage("the folder has none of the run's criteria: task names and labels must match"));
    }
    Ok(Value::Array(changes))
}

fn read_criteria(path: &Path) -> anyhow::Result<Value> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let value: Value = serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))?;
    match value {
        Value::Array(_) => Ok(value),
        Value::Object(mut members) => {
            members.shift_remove("criteria").with_context(|| format!("{} has no `criteria`", path.display()))
        }
        _ => bail!("{}: must be a list of {{\"criterion_id\", \"assertion\"}}", path.display()),
    }
}

fn print_report(report: &Rescore) {
    let mut table = Table::new(["  RESULT", "SCORE", "CRITERION"]).never_truncate(0).never_truncate(1);
    // Show all ids in full, or none.
    let with_id = |task: &RescoredTask| format!("{}  {}", title(task, usize::MAX), task.task_run_id);
    let has_room = report.task_runs.iter().all(|task| width(&with_id(task)) <= table_columns());
    for task in &report.task_runs {
        table.heading(&if has_room { with_id(task) } else { title(task, table_columns()) });
        task.criteria.iter().for_each(|criterion| add_criterion(&mut table, criterion));
    }
    print(table.render(Style::of_stdout()));
    let same = if report.identical { "identical, byte for byte" } else { "not identical" };
    let change = format_change(report.score_before.as_ref(), report.score_after.as_ref());
    let failures = critical_failures(report.critical_failures_before, report.critical_failures_after);
    print(format_args!("\nscore {change}{failures}  {same}"));
    if report.stored {
        let before = report.engine_before.as_deref().unwrap_or("several engines");
        print(format_args!("the result of {} is stored next to that of {before}", report.engine_after));
    }
}

/// The heading of a task, with its name truncated to fit `max_width`.
fn title(task: &RescoredTask, max_width: usize) -> String {
    let change = format_change(Some(&task.score_before), Some(&task.score_after));
    let verdict = match (task.verdict_before, task.verdict_after) {
        (before, after) if before == after => before.name().to_owned(),
        (before, after) => format!("{} → {}", before.name(), after.name()),
    };
    let failures = critical_failures(task.critical_failures_before, task.critical_failures_after);
    let result = format!("  score {change}  {verdict}{failures}");
    format!("{}{result}", truncate(&sanitize(&task.name), max_width.saturating_sub(width(&result))))
}

/// `  critical failures 0 → 1`; empty if there are none.
fn critical_failures(before: i64, after: i64) -> String {
    match (before, after) {
        (0, 0) => String::new(),
        (before, after) if before == after => format!("  critical failures {after}"),
        (before, after) => format!("  critical failures {before} → {after}"),
    }
}

fn add_criterion(table: &mut Table, criterion: &RescoredCriterion) {
    let (mark, color) = match (criterion.passed_before, criterion.passed_after) {
        (true, false) => ("FLIPPED to fail", Some(Color::Bad)),
        (false, true) => ("FLIPPED to pass", Some(Color::Warning)),
        _ if criterion.identical => ("same", None),
        _ if criterion.score_before == criterion.score_after => ("same score", None),
        _ => ("other score", Some(Color::Warning)),
    };
    let mark = format!("  {mark}");
    let change = format_change(Some(&criterion.score_before), Some(&criterion.score_after));
    let result = color.map_or_else(|| Cell::new(&mark), |color| Cell::colored(&mark, color));
    table.row(vec![result, Cell::new(change), Cell::new(&criterion.label)]);
    if !criterion.identical {
        table.note(&criterion.details_after);
    }
}

fn format_change(before: Option<&Number>, after: Option<&Number>) -> String {
    let format_score =
        |number: Option<&Number>| number.map_or_else(|| "none".to_owned(), model::score::format_score_short);
    if before == after { format_score(before) } else { format!("{} → {}", format_score(before), format_score(after)) }
}
