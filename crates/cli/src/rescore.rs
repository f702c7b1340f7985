//! `verial rescore`: a finished run scored again from its stored evidence.

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
use crate::output::style::Colour;
use crate::output::table::Cell;
use crate::output::text::{cut, harmless, width};
use crate::output::{Style, Table, say, table_columns, tell};

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    connection: Connection,
    /// The run, as br_…
    run: BenchmarkRunId,
    /// A benchmark folder: its criteria are tried in place of those with the same task and label
    #[arg(conflicts_with = "criteria")]
    folder: Option<PathBuf>,
    /// Other assertions to try: JSON, a list of {"criterion_id", "assertion"}, or an object with such a list as `criteria`
    #[arg(long, value_name = "FILE")]
    criteria: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Fails when scoring again, with nothing changed, gives anything else than what was kept.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let client = arguments.connection.client()?;
    let criteria = match (&arguments.folder, &arguments.criteria) {
        (Some(folder), _) => Some(block_on(of_folder(&client, &arguments.run, folder))?),
        (None, Some(path)) => Some(read(path)?),
        (None, None) => None,
    };
    let body = json!({"criteria": criteria.clone().unwrap_or_else(|| json!([]))});
    let path = format!("/benchmark-runs/{}/rescore", arguments.run);
    let report: Rescore = block_on(async move { Ok(client.post(&path, &body).await?) })?;
    if arguments.json {
        say(serde_json::to_string(&report)?);
    } else {
        show(&report);
    }
    let is_of_same_engine = report.engine_before.as_ref() == Some(&report.engine_after);
    if criteria.is_none() && !report.identical && is_of_same_engine {
        return Err(crate::exit::no("scoring again gave something else than what was kept"));
    }
    Ok(())
}

/// The folder's assertions for the criteria of the run, found by the task's name and the label.
async fn of_folder(client: &Client, run: &BenchmarkRunId, folder: &Path) -> anyhow::Result<Value> {
    let folder = authoring::read(&source::directory(folder)?)?;
    let tasks = authoring::expand(&folder).map_err(authoring::Error::Faults)?;
    let mut changes = Vec::new();
    for task_run in client.run(run).await?.task_runs.unwrap_or_default() {
        let Some((_, task)) = tasks.iter().find(|(_, task)| task.name == task_run.name) else {
            tell(format_args!("note: the folder has no task `{}`", harmless(&task_run.name)));
            continue;
        };
        let query = [("task_run_id".to_owned(), task_run.id.to_string())];
        for known in client.all("/criterion-runs", &query).await? {
            let label = known["label"].as_str().unwrap_or_default();
            match task.criteria.iter().find(|criterion| criterion.label == label) {
                Some(criterion) => {
                    changes.push(json!({"criterion_id": known["criterion_id"], "assertion": criterion.assertion}));
                }
                None => tell(format_args!("note: {}: the folder has no criterion `{}`", task.name, harmless(label))),
            }
        }
    }
    if changes.is_empty() {
        return Err(usage("the folder has none of the run's criteria: tasks and labels must be the same"));
    }
    Ok(Value::Array(changes))
}

fn read(path: &Path) -> anyhow::Result<Value> {
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

fn show(report: &Rescore) {
    let mut table = Table::new(["  RESULT", "SCORE", "CRITERION"]).keep_whole(0).keep_whole(1);
    // With all ids or without any: a part of one is of no use.
    let with_id = |task: &RescoredTask| format!("{}  {}", title(task, usize::MAX), task.task_run_id);
    let has_room = report.task_runs.iter().all(|task| width(&with_id(task)) <= table_columns());
    for task in &report.task_runs {
        table.heading(&if has_room { with_id(task) } else { title(task, table_columns()) });
        task.criteria.iter().for_each(|criterion| add_criterion(&mut table, criterion));
    }
    say(table.render(Style::of_stdout()));
    let same = if report.identical { "identical, byte for byte" } else { "not identical" };
    let change = changed(report.score_before.as_ref(), report.score_after.as_ref());
    let failures = critical_failures(report.critical_failures_before, report.critical_failures_after);
    say(format_args!("\nscore {change}{failures}  {same}"));
    if report.stored {
        let before = report.engine_before.as_deref().unwrap_or("several engines");
        say(format_args!("the result of {} is stored beside that of {before}", report.engine_after));
    }
}

/// Of at most so many columns: it is the name that gives way.
fn title(task: &RescoredTask, most: usize) -> String {
    let change = changed(Some(&task.score_before), Some(&task.score_after));
    let verdict = match (task.verdict_before, task.verdict_after) {
        (before, after) if before == after => before.name().to_owned(),
        (before, after) => format!("{} → {}", before.name(), after.name()),
    };
    let failures = critical_failures(task.critical_failures_before, task.critical_failures_after);
    let result = format!("  score {change}  {verdict}{failures}");
    format!("{}{result}", cut(&harmless(&task.name), most.saturating_sub(width(&result))))
}

/// `  critical failures 0 → 1`; nothing where there are none.
fn critical_failures(before: i64, after: i64) -> String {
    match (before, after) {
        (0, 0) => String::new(),
        (before, after) if before == after => format!("  critical failures {after}"),
        (before, after) => format!("  critical failures {before} → {after}"),
    }
}

fn add_criterion(table: &mut Table, criterion: &RescoredCriterion) {
    let (mark, colour) = match (criterion.passed_before, criterion.passed_after) {
        (true, false) => ("FLIPPED to fail", Some(Colour::Bad)),
        (false, true) => ("FLIPPED to pass", Some(Colour::Warning)),
        _ if criterion.identical => ("same", None),
        _ if criterion.score_before == criterion.score_after => ("same score", None),
        _ => ("other score", Some(Colour::Warning)),
    };
    let mark = format!("  {mark}");
    let change = changed(Some(&criterion.score_before), Some(&criterion.score_after));
    let result = colour.map_or_else(|| Cell::new(&mark), |colour| Cell::coloured(&mark, colour));
    table.row(vec![result, Cell::new(change), Cell::new(&criterion.label)]);
    if !criterion.identical {
        table.note(&criterion.details_after);
    }
}

fn changed(before: Option<&Number>, after: Option<&Number>) -> String {
    let shown = |number: Option<&Number>| number.map_or_else(|| "none".to_owned(), model::score::brief);
    if before == after { shown(before) } else { format!("{} → {}", shown(before), shown(after)) }
}
