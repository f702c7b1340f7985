//! `verial compare`: compares runs side by side, with paired differences.

use clap::{Args, ValueEnum};
use model::BenchmarkRunId;
use model::stats::{Comparison, PairedDifference};

use crate::auth::Connection;
use crate::block_on;
use crate::output::style::Color;
use crate::output::table::Cell;
use crate::output::text::{counted, sanitize, wrap};
use crate::output::{Style, Table, columns, print, print_json};
use crate::report::{bounds_cell, describe_comparison};

/// How many tasks are listed per difference.
const MAX_TASKS: usize = 20;

#[derive(Args)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    connection: Connection,
    /// The runs: br_…
    #[arg(required = true, num_args = 2..=100, value_name = "RUN")]
    runs: Vec<BenchmarkRunId>,
    /// What to compare
    #[arg(long, value_enum, default_value_t = GroupBy::Run)]
    group_by: GroupBy,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum GroupBy {
    Run,
    Agent,
    Solver,
}

pub(crate) fn run(arguments: &CompareArgs) -> anyhow::Result<()> {
    let client = arguments.connection.client()?;
    let group_by = match arguments.group_by {
        GroupBy::Run => "run",
        GroupBy::Agent => "agent",
        GroupBy::Solver => "solver",
    };
    let comparison = block_on(async { Ok(client.compare(&arguments.runs, group_by).await?) })?;
    if arguments.json {
        print_json(&serde_json::to_value(&comparison)?);
    } else {
        print_comparison(&comparison);
    }
    Ok(())
}

fn print_comparison(comparison: &Comparison) {
    let style = Style::of_stdout();
    let number = |value: Option<f64>| value.map_or_else(|| "-".into(), model::score::format_score);
    let mut groups =
        Table::new(["GROUP", "RUNS", "MEAN", "BOUNDS", "95 % INTERVAL", "PASSED", "CRITICAL"]).never_truncate(0);
    for group in &comparison.groups {
        let statistics = &group.statistics;
        let interval = statistics.interval.as_ref();
        groups.row(vec![
            Cell::new(&group.label),
            Cell::new(statistics.n.to_string()),
            Cell::new(number(statistics.mean)),
            Cell::new(bounds_cell(statistics.floor, statistics.ceiling)),
            Cell::new(
                interval.map_or_else(|| "-".into(), |interval| format!("{:.4} … {:.4}", interval.low, interval.high)),
            ),
            Cell::new(format!("{} of {}", statistics.pass_rate.passes, statistics.pass_rate.n)),
            critical_cell(statistics.critical_failures),
        ]);
    }
    print(groups.render(style));
    for group in comparison.groups.iter().filter(|group| group.statistics.incomplete_runs > 0) {
        let (label, statistics) = (sanitize(&group.label), &group.statistics);
        let note = format!(
            "{label}: {} with {} not measured: excluded from the mean and the axes; other tasks count.",
            counted(statistics.incomplete_runs as usize, "run"),
            counted(statistics.excluded_task_runs as usize, "task"),
        );
        wrap(&note, columns()).into_iter().for_each(print);
    }
    for difference in &comparison.differences {
        print_difference(difference, style);
    }
}

fn print_difference(difference: &PairedDifference, style: Style) {
    print("");
    let title = format!("{} minus {}", difference.first, difference.second);
    print(style.paint(Color::Strong, &sanitize(&title)));
    wrap(&sanitize(&describe_comparison(difference)), columns()).into_iter().for_each(print);
    let mut axes = Table::new(["AXIS", "FIRST", "SECOND", "DIFFERENCE"]);
    for (name, axis) in &difference.axes {
        let name = crate::report::model::axis_name(name);
        let cells = [axis.first, axis.second].map(|mean| Cell::new(model::score::format_score(mean)));
        let [first, second] = cells;
        axes.row(vec![Cell::new(name), first, second, difference_cell(axis.difference)]);
    }
    if !axes.is_empty() {
        print(format_args!("\n{}", axes.render(style)));
        let (first, second) = (difference.only_first.len(), difference.only_second.len());
        if first + second > 0 {
            let note = format!(
                "Each side's axes cover its own tasks: {} only in the first, {} only in the second.",
                counted(first, "task"),
                counted(second, "task")
            );
            wrap(&note, columns()).into_iter().for_each(print);
        }
    }
    let mut tasks = Table::new(["TASK", "FIRST", "SECOND", "DIFFERENCE"]);
    for task in difference.worse.iter().chain(&difference.better).take(MAX_TASKS) {
        tasks.row(vec![
            Cell::new(&task.name),
            Cell::new(model::score::format_score(task.first.mean)),
            Cell::new(model::score::format_score(task.second.mean)),
            difference_cell(task.difference),
        ]);
    }
    if !tasks.is_empty() {
        print(format_args!("\n{}", tasks.render(style)));
    }
}

/// How many critical criteria failed in the group's runs.
fn critical_cell(failures: i64) -> Cell {
    match failures {
        0 => Cell::new("0"),
        failures => Cell::colored(format!("{failures} failed"), Color::Bad),
    }
}

fn difference_cell(difference: f64) -> Cell {
    let text = format!("{difference:+.4}");
    match difference {
        better if better > 0.0 => Cell::colored(text, Color::Good),
        worse if worse < 0.0 => Cell::colored(text, Color::Bad),
        _ => Cell::new(text),
    }
}
