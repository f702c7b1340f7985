//! The scorecard in a terminal: tasks and their criteria, axes, and of what failed what was expected and what was found.

use model::run::CheckResult;
use model::score::Verdict;
use model::score::{brief, shown};

use super::critical::{guards_last, suffix, tally};
use super::model::{CheckReport, Hint, Report, RunReport, TaskReport, TaskStatus, axis_name};
use super::{bound, bounds, compared, conditions, gone_on, headline, short};
use crate::output::style::Colour;
use crate::output::table::Cell;
use crate::output::text::{cut, harmless, width, wrap, wrap_whole};
use crate::output::{Style, Table, columns, table_columns};

/// Differences that are shown of one check; the other forms have all.
const MOST_SHOWN: usize = 4;

pub(crate) fn render(report: &Report) -> String {
    let (style, most, widest) = (Style::of_stdout(), columns(), table_columns());
    let mut lines = vec![String::new(), title(report, style, widest)];
    for (place, run) in report.runs.iter().enumerate() {
        lines.push(String::new());
        if report.runs.len() > 1 {
            let id = run.id.as_deref().unwrap_or("not made");
            let score = run.score.as_ref().map_or_else(|| "no score".into(), |score| format!("score {}", brief(score)));
            let between = bounds(run.floor, run.ceiling).map(|bounds| format!("  ({bounds})")).unwrap_or_default();
            let name = format!("Run {} of {}", place + 1, report.runs.len());
            let failures = suffix(run.critical_failures, "  ");
            lines.push(format!("{}  {id}  {score}{failures}{between}", style.paint(Colour::Strong, &name)));
        }
        lines.push(matrix(run, report.has_odd_bounds(), report.critical_failures > 0).render_in(style, widest));
        for task in run.tasks.iter().filter(|task| is_told(task)) {
            lines.push(String::new());
            tell_task(task, style, most, &mut lines);
        }
    }
    lines.push(String::new());
    summary(report, style, most, &mut lines);
    lines.join("\n")
}

fn title(report: &Report, style: Style, most: usize) -> String {
    let scored = if report.scored { "  scored" } else { "" };
    let text = format!("{}  {}{scored}", report.benchmark, harmless(&report.name));
    style.paint(Colour::Strong, &cut(&text, most))
}

/// One line for each task, one mark for each of its criteria, guards last and in brackets. Floors of 0 and ceilings of 1 go
/// without saying, and so does that no critical criterion failed.
fn matrix(run: &RunReport, with_bounds: bool, with_critical: bool) -> Table {
    let between: &[&str] = if with_bounds { &["FLOOR", "CEILING"] } else { &[] };
    let critical: &[&str] = if with_critical { &["CRITICAL"] } else { &[] };
    let titles =
        ["TASK", "SCORE"].iter().chain(between).chain(&["VERDICT"]).chain(critical).chain(&["TIME", "CRITERIA"]);
    let mut table = Table::new(titles.copied());
    for task in &run.tasks {
        let (word, colour) = verdict(task);
        let seconds = task.agent.as_ref().map_or_else(|| "-".into(), |agent| format!("{:.1}s", agent.seconds));
        let score = task.score.as_ref().map_or_else(|| "-".into(), brief);
        let marks = marks(task);
        let mut cells = vec![Cell::new(&task.name), Cell::new(score)];
        if with_bounds {
            let shown = |value: Option<f64>| Cell::new(value.map_or_else(|| "-".into(), bound));
            cells.extend([shown(task.floor), shown(task.ceiling)]);
        }
        cells.push(Cell::coloured(word, colour));
        if with_critical {
            cells.push(match task.critical_failures {
                0 => Cell::new("-"),
                count => Cell::coloured(format!("{count} failed"), Colour::Bad),
            });
        }
        cells.extend([Cell::new(seconds), Cell::new(if marks.is_empty() { "-" } else { &marks })]);
        table.row(cells);
    }
    // Names and criteria give way, in their first and last column.
    let optional = 2 * usize::from(with_bounds) + usize::from(with_critical);
    (1..4 + optional).fold(table, Table::keep_whole)
}

/// `✓✗ (✓)`: what was earned, and in brackets the guards.
fn marks(task: &TaskReport) -> String {
    let of = |guards: bool| -> String {
        task.checks.iter().filter(|check| check.is_guard() == guards).map(|check| mark(check).0).collect()
    };
    match (of(false), of(true)) {
        (earned, guards) if guards.is_empty() => earned,
        (earned, guards) if earned.is_empty() => format!("({guards})"),
        (earned, guards) => format!("{earned} ({guards})"),
    }
}

fn verdict(task: &TaskReport) -> (&'static str, Colour) {
    match (task.status, task.verdict) {
        (TaskStatus::Completed, Some(Verdict::Pass)) => ("pass", Colour::Good),
        (TaskStatus::Completed, Some(Verdict::Partial)) => ("partial", Colour::Warning),
        (TaskStatus::Completed, _) => ("fail", Colour::Bad),
        (status, _) => (status.words(), Colour::Bad),
    }
}

fn mark(check: &CheckReport) -> (char, Colour) {
    match check.result {
        CheckResult::Pass => ('✓', Colour::Good),
        CheckResult::Fail if check.is_partial() => ('~', Colour::Warning),
        CheckResult::Fail => ('✗', Colour::Bad),
    }
}

/// What was not begun has nothing to tell but that.
fn is_told(task: &TaskReport) -> bool {
    if matches!(task.status, TaskStatus::NotRun | TaskStatus::Infrastructure) {
        return !task.notes.is_empty();
    }
    task.critical_failures > 0
        || task.verdict != Some(Verdict::Pass)
        || task.status != TaskStatus::Completed
        || !task.notes.is_empty()
}

fn tell_task(task: &TaskReport, style: Style, most: usize, lines: &mut Vec<String>) {
    lines.extend(wrap(&harmless(&task.name), most).iter().map(|line| style.paint(Colour::Strong, line)));
    for note in &task.notes {
        let told = wrap_whole(&harmless(note), most.saturating_sub(4).max(20));
        let marks = std::iter::once("!").chain(std::iter::repeat(" "));
        lines.extend(told.iter().zip(marks).map(|(line, mark)| format!("  {mark} {line}")));
    }
    for check in guards_last(&task.checks).filter(|check| check.result != CheckResult::Pass) {
        tell_check(check, style, most, lines);
    }
    if let Some(agent) = &task.agent {
        let name = agent.log.file_name().unwrap_or_default().to_string_lossy();
        lines.push(format!("  {}", style.paint(Colour::Dim, &format!("log: {}", harmless(&name)))));
    }
}

fn tell_check(check: &CheckReport, style: Style, most: usize, lines: &mut Vec<String>) {
    let (mark, colour) = mark(check);
    let axis = check.axis.as_deref().map(|axis| format!("  [{}]", axis_name(axis))).unwrap_or_default();
    let axis = harmless(&axis);
    let mut label = wrap(&harmless(&check.label), most.saturating_sub(4).max(20));
    let last = label.pop().unwrap_or_default();
    // What it scored stands behind the last line, or below it.
    let traits: String = check.traits().iter().map(|name| format!("  {}", name.to_uppercase())).collect();
    let scored = format!("{}{axis}{traits}", brief(&check.score));
    if width(&last) + 2 + width(&scored) + 4 <= most {
        label.push(format!("{last}  {scored}"));
    } else {
        label.extend([last, scored]);
    }
    for (place, line) in label.iter().enumerate() {
        let mark = if place == 0 { mark } else { ' ' };
        lines.push(format!("  {}", style.paint(colour, &format!("{mark} {line}"))));
    }
    let told = check.differences.iter().take(MOST_SHOWN);
    for difference in told {
        let field = harmless(&difference.field);
        push_wrapped(&format!("{field}: expected {}", harmless(&short(&difference.expected))), 6, most, lines);
        push_wrapped(&format!("{field}: found {}", harmless(&short(&difference.found))), 6, most, lines);
    }
    let more = check.differences.len().saturating_sub(MOST_SHOWN);
    if more > 0 {
        lines.push(format!("      and {more} more"));
    }
    if let (true, Some(details)) = (check.differences.is_empty(), &check.details) {
        push_wrapped(&harmless(details), 6, most, lines);
    }
}

fn push_wrapped(text: &str, indent: usize, most: usize, lines: &mut Vec<String>) {
    let room = most.saturating_sub(indent).max(20);
    lines.extend(wrap_whole(text, room).into_iter().map(|line| format!("{}{line}", " ".repeat(indent))));
}

fn summary(report: &Report, style: Style, most: usize, lines: &mut Vec<String>) {
    let axes: Vec<String> =
        report.axes().iter().map(|(name, mean)| format!("{} {}", harmless(name), shown(*mean))).collect();
    if !axes.is_empty() {
        push_wrapped(&format!("axes: {}", axes.join(", ")), 0, most, lines);
    }
    if let Some(tally) = tally(report) {
        push_wrapped(&tally, 0, most, lines);
    }
    let whole = headline(report);
    let told = if width(&whole) <= most {
        vec![whole]
    } else {
        // The bounds in brackets stay in one piece.
        whole.replacen("  (", "\n(", 1).lines().flat_map(|line| wrap(line, most)).collect()
    };
    lines.extend(told.iter().map(|line| style.paint(Colour::Strong, line)));
    if let Some(difference) = &report.baseline {
        push_wrapped(&compared(difference), 0, most, lines);
    }
    for condition in &report.gate.conditions {
        let (word, colour) = match (report.gate.passed, condition.passed) {
            (None, _) => ("not judged", Colour::Warning),
            (Some(_), true) => ("met", Colour::Good),
            (Some(_), false) => ("NOT MET", Colour::Bad),
        };
        let what = format!("gate: {}: {}", harmless(&condition.what), condition.found);
        let word = style.paint(colour, word);
        if width(&what) + "  not judged".len() <= most {
            lines.push(format!("{what}  {word}"));
        } else {
            push_wrapped(&what, 0, most, lines);
            lines.push(format!("      {word}"));
        }
    }
    for (name, value) in conditions(report) {
        let colour = if value == "landlock" { Colour::Dim } else { Colour::Warning };
        lines.extend(wrap(&format!("{name}: {value}"), most).iter().map(|line| style.paint(colour, line)));
    }
    if let Some(often) = gone_on(report.resumed) {
        lines.push(style.paint(Colour::Dim, &often));
    }
    let log = report.tasks().filter_map(|task| task.agent.as_ref()).find_map(|agent| agent.log.parent());
    if let Some(folder) = log {
        lines.push(style.paint(Colour::Dim, &format!("logs: {}", harmless(&folder.display().to_string()))));
    }
    lines.extend(afterwards(report).into_iter().map(|line| style.paint(Colour::Dim, &line)));
}

/// Where to look further. A server that is gone is not spoken of.
fn afterwards(report: &Report) -> Vec<String> {
    let runs = report.runs.iter().filter_map(|run| run.id.as_deref());
    match &report.hint {
        Hint::Server => runs.map(|run| format!("more: verial runs get {run}")).collect(),
        Hint::Data(folder) => vec![format!("data: {}, for verial serve --data", harmless(folder))],
        Hint::Nowhere => Vec::new(),
    }
}
