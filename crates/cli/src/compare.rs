//! `verial compare`: runs side by side, with paired differences.

use clap::{Args, ValueEnum};
use model::BenchmarkRunId;
use model::stats::{Comparison, PairedDifference};

use crate::auth::Connection;
use crate::block_on;
use crate::output::style::Colour;
use crate::output::table::Cell;
use crate::output::text::{harmless, wrap};
use crate::output::{Style, Table, columns, say, say_json};
use crate::report::{between, compared};

/// Tasks that are named on each side.
const MOST_TASKS: usize = 20;

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    connection: Connection,
    /// The runs, as br_…
    #[arg(required = true, num_args = 2..=100, value_name = "RUN")]
    runs: Vec<BenchmarkRunId>,
    /// What stands side by side
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

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let client = arguments.connection.client()?;
    let group_by = match arguments.group_by {
        GroupBy::Run => "run",
        GroupBy::Agent => "agent",
        GroupBy::Solver => "solver",
    };
    let comparison = block_on(async { Ok(client.compare(&arguments.runs, group_by).await?) })?;
    if arguments.json {
        say_json(&serde_json::to_value(&comparison)?);
    } else {
        show(&comparison);
    }
    Ok(())
}

fn show(comparison: &Comparison) {
    let style = Style::of_stdout();
    let number = |value: Option<f64>| value.map_or_else(|| "-".into(), model::score::shown);
    let mut groups =
        Table::new(["GROUP", "RUNS", "MEAN", "BOUNDS", "95 % INTERVAL", "PASSED", "CRITICAL"]).keep_whole(0);
    for group in &comparison.groups {
        let statistics = &group.statistics;
        let interval = statistics.interval.as_ref();
        groups.row(vec![
            Cell::new(&group.label),
            Cell::new(statistics.n.to_string()),
            Cell::new(number(statistics.mean)),
            Cell::new(between(statistics.floor, statistics.ceiling)),
            Cell::new(
                interval.map_or_else(|| "-".into(), |interval| format!("{:.4} … {:.4}", interval.low, interval.high)),
            ),
            Cell::new(format!("{} of {}", statistics.pass_rate.passes, statistics.pass_rate.n)),
            critical(statistics.critical_failures),
        ]);
    }
    say(groups.render(style));
    for difference in &comparison.differences {
        show_difference(difference, style);
    }
}

fn show_difference(difference: &PairedDifference, style: Style) {
    say("");
    let title = format!("{} less {}", difference.first, difference.second);
    say(style.paint(Colour::Strong, &harmless(&title)));
    wrap(&harmless(&compared(difference)), columns()).into_iter().for_each(say);
    let mut axes = Table::new(["AXIS", "FIRST", "SECOND", "DIFFERENCE"]);
    for (name, axis) in &difference.axes {
        let name = crate::report::model::axis_name(name);
        let cells = [axis.first, axis.second].map(|mean| Cell::new(model::score::shown(mean)));
        let [first, second] = cells;
        axes.row(vec![Cell::new(name), first, second, coloured(axis.difference)]);
    }
    if !axes.is_empty() {
        say(format_args!("\n{}", axes.render(style)));
    }
    let mut tasks = Table::new(["TASK", "FIRST", "SECOND", "DIFFERENCE"]);
    for task in difference.worse.iter().chain(&difference.better).take(MOST_TASKS) {
        tasks.row(vec![
            Cell::new(&task.name),
            Cell::new(model::score::shown(task.first.mean)),
            Cell::new(model::score::shown(task.second.mean)),
            coloured(task.difference),
        ]);
    }
    if !tasks.is_empty() {
        say(format_args!("\n{}", tasks.render(style)));
    }
}

/// How many critical criteria failed in the group's runs.
fn critical(failures: i64) -> Cell {
    match failures {
        0 => Cell::new("0"),
        failures => Cell::coloured(format!("{failures} failed"), Colour::Bad),
    }
}

fn coloured(difference: f64) -> Cell {
    let text = format!("{difference:+.4}");
    match difference {
        better if better > 0.0 => Cell::coloured(text, Colour::Good),
        worse if worse < 0.0 => Cell::coloured(text, Colour::Bad),
        _ => Cell::new(text),
    }
}
