//! Renders the report as a scorecard for the terminal: tasks and criteria, failed fields, axes and the gate.

use model::run::CheckResult;
use model::score::Verdict;
use model::score::{format_score, format_score_short};

use super::critical::{guards_last, suffix, tally};
use super::model::{CheckReport, Report, ResultLocation, RunReport, TaskReport, TaskStatus, axis_name};
use super::{bounds, brief_value, conditions, describe_comparison, format_bound, headline, resumed_notice};
use crate::output::style::Color;
use crate::output::table::Cell;
use crate::output::text::{sanitize, truncate, width, wrap, wrap_keeping_words};
use crate::output::{Style, Table, columns, table_columns};

/// The maximum number of differences per check; the other formats show all.
const MAX_SHOWN_DIFFERENCES: usize = 4;

pub(crate) fn render(report: &Report) -> String {
    let (style, max_width, table_width) = (Style::of_stdout(), columns(), table_columns());
    let mut lines = vec![String::new(), title(report, style, table_width)];
    for (index, run) in report.runs.iter().enumerate() {
        lines.push(String::new());
        if report.runs.len() > 1 {
            let id = run.id.as_deref().unwrap_or("not created");
            let score = run
                .score
                .as_ref()
                .map_or_else(|| "no score".into(), |score| format!("score {}", format_score_short(score)));
            let bounds_text = bounds(run.floor, run.ceiling).map(|bounds| format!("  ({bounds})")).unwrap_or_default();
            let name = format!("Run {} of {}", index + 1, report.runs.len());
            let failures = suffix(run.critical_failures, "  ");
            lines.push(format!("{}  {id}  {score}{failures}{bounds_text}", style.paint(Color::Strong, &name)));
        }
        lines.push(
            matrix(run, report.has_odd_bounds(), report.critical_failures > 0).render_with_width(style, table_width),
        );
        for task in run.tasks.iter().filter(|task| has_details(task)) {
            lines.push(String::new());
            push_task(task, style, max_width, &mut lines);
        }
    }
    lines.push(String::new());
    summary(report, style, max_width, &mut lines);
    lines.join("\n")
}

fn title(report: &Report, style: Style, max_width: usize) -> String {
    let scored = if report.scored { "  scored" } else { "" };
    let text = format!("{}  {}{scored}", report.benchmark, sanitize(&report.name));
    style.paint(Color::Strong, &truncate(&text, max_width))
}

/// A table with one line per task and one mark per criterion, guards last and in parentheses. Columns for bounds and
/// critical failures are only shown if they are not trivial.
fn matrix(run: &RunReport, with_bounds: bool, with_critical: bool) -> Table {
    let bounds_text: &[&str] = if with_bounds { &["FLOOR", "CEILING"] } else { &[] };
    let critical: &[&str] = if with_critical { &["CRITICAL"] } else { &[] };
    let titles =
        ["TASK", "SCORE"].iter().chain(bounds_text).chain(&["VERDICT"]).chain(critical).chain(&["TIME", "CRITERIA"]);
    let mut table = Table::new(titles.copied());
    for task in &run.tasks {
        let (word, color) = verdict(task);
        let seconds = task.agent.as_ref().map_or_else(|| "-".into(), |agent| format!("{:.1}s", agent.seconds));
        let score = task.score.as_ref().map_or_else(|| "-".into(), format_score_short);
        let marks = marks(task);
        let mut cells = vec![Cell::new(&task.name), Cell::new(score)];
        if with_bounds {
            let shown = |value: Option<f64>| Cell::new(value.map_or_else(|| "-".into(), format_bound));
            cells.extend([shown(task.floor), shown(task.ceiling)]);
        }
        cells.push(Cell::colored(word, color));
        if with_critical {
            cells.push(match task.critical_failures {
                0 => Cell::new("-"),
                count => Cell::colored(format!("{count} failed"), Color::Bad),
            });
        }
        cells.extend([Cell::new(seconds), Cell::new(if marks.is_empty() { "-" } else { &marks })]);
        table.row(cells);
    }
    // Only names and criteria, in the first and last column, may be truncated.
    let optional = 2 * usize::from(with_bounds) + usize::from(with_critical);
    (1..4 + optional).fold(table, Table::never_truncate)
}

/// `✓✗ (✓)`: the criteria, and the guards in parentheses.
fn marks(task: &TaskReport) -> String {
    let marks_of = |guards: bool| -> String {
        task.checks.iter().filter(|check| check.is_guard() == guards).map(|check| mark(check).0).collect()
    };
    match (marks_of(false), marks_of(true)) {
        (earned, guards) if guards.is_empty() => earned,
        (earned, guards) if earned.is_empty() => format!("({guards})"),
        (earned, guards) => format!("{earned} ({guards})"),
    }
}

fn verdict(task: &TaskReport) -> (&'static str, Color) {
    match (task.status, task.verdict) {
        (TaskStatus::Completed, Some(Verdict::Pass)) => ("pass", Color::Good),
        (TaskStatus::Completed, Some(Verdict::Partial)) => ("partial", Color::Warning),
        (TaskStatus::Completed, _) => ("fail", Color::Bad),
        (status, _) => (status.label(), Color::Bad),
    }
}

fn mark(check: &CheckReport) -> (char, Color) {
    match check.result {
        CheckResult::Pass => ('✓', Color::Good),
        CheckResult::Fail if check.is_partial() => ('~', Color::Warning),
        CheckResult::Fail => ('✗', Color::Bad),
    }
}

/// Whether a task is listed in detail. Tasks that were not started are only listed if they have notes.
fn has_details(task: &TaskReport) -> bool {
    if matches!(task.status, TaskStatus::NotRun | TaskStatus::Infrastructure) {
        return !task.notes.is_empty();
    }
    task.critical_failures > 0
        || task.verdict != Some(Verdict::Pass)
        || task.status != TaskStatus::Completed
        || !task.notes.is_empty()
}

fn push_task(task: &TaskReport, style: Style, max_width: usize, lines: &mut Vec<String>) {
    lines.extend(wrap(&sanitize(&task.name), max_width).iter().map(|line| style.paint(Color::Strong, line)));
    for note in &task.notes {
        let wrapped = wrap_keeping_words(&sanitize(note), max_width.saturating_sub(4).max(20));
        let marks = std::iter::once("!").chain(std::iter::repeat(" "));
        lines.extend(wrapped.iter().zip(marks).map(|(line, mark)| format!("  {mark} {line}")));
    }
    for check in guards_last(&task.checks).filter(|check| check.result != CheckResult::Pass) {
        push_check(check, style, max_width, lines);
    }
    if let Some(agent) = &task.agent {
        let name = agent.log.file_name().unwrap_or_default().to_string_lossy();
        lines.push(format!("  {}", style.paint(Color::Dim, &format!("log: {}", sanitize(&name)))));
    }
}

fn push_check(check: &CheckReport, style: Style, max_width: usize, lines: &mut Vec<String>) {
    let (mark, color) = mark(check);
    let axis = check.axis.as_deref().map(|axis| format!("  [{}]", axis_name(axis))).unwrap_or_default();
    let axis = sanitize(&axis);
    let mut label = wrap(&sanitize(&check.label), max_width.saturating_sub(4).max(20));
    let last = label.pop().unwrap_or_default();
    // The score is at the end of the last line, or below it.
    let traits: String = check.traits().iter().map(|name| format!("  {}", name.to_uppercase())).collect();
    let scored = format!("{}{axis}{traits}", format_score_short(&check.score));
    if width(&last) + 2 + width(&scored) + 4 <= max_width {
        label.push(format!("{last}  {scored}"));
    } else {
        label.extend([last, scored]);
    }
    for (index, line) in label.iter().enumerate() {
        let mark = if index == 0 { mark } else { ' ' };
        lines.push(format!("  {}", style.paint(color, &format!("{mark} {line}"))));
    }
    let wrapped = check.differences.iter().take(MAX_SHOWN_DIFFERENCES);
    for difference in wrapped {
        let field = sanitize(&difference.field);
        push_wrapped(
            &format!("{field}: expected {}", sanitize(&brief_value(&difference.expected))),
            6,
            max_width,
            lines,
        );
        push_wrapped(&format!("{field}: found {}", sanitize(&brief_value(&difference.found))), 6, max_width, lines);
    }
    let more = check.differences.len().saturating_sub(MAX_SHOWN_DIFFERENCES);
    if more > 0 {
        lines.push(format!("      and {more} more"));
    }
    if let (true, Some(details)) = (check.differences.is_empty(), &check.details) {
        push_wrapped(&sanitize(details), 6, max_width, lines);
    }
}

fn push_wrapped(text: &str, indent: usize, max_width: usize, lines: &mut Vec<String>) {
    let room = max_width.saturating_sub(indent).max(20);
    lines.extend(wrap_keeping_words(text, room).into_iter().map(|line| format!("{}{line}", " ".repeat(indent))));
}

fn summary(report: &Report, style: Style, max_width: usize, lines: &mut Vec<String>) {
    let axes: Vec<String> =
        report.axes().iter().map(|(name, mean)| format!("{} {}", sanitize(name), format_score(*mean))).collect();
    if !axes.is_empty() {
        push_wrapped(&format!("axes: {}", axes.join(", ")), 0, max_width, lines);
    }
    if let Some(tally) = tally(report) {
        push_wrapped(&tally, 0, max_width, lines);
    }
    let headline_text = headline(report);
    let wrapped = if width(&headline_text) <= max_width {
        vec![headline_text]
    } else {
        // Do not split the bounds in parentheses.
        headline_text.replacen("  (", "\n(", 1).lines().flat_map(|line| wrap(line, max_width)).collect()
    };
    lines.extend(wrapped.iter().map(|line| style.paint(Color::Strong, line)));
    if let Some(difference) = &report.baseline {
        push_wrapped(&describe_comparison(difference), 0, max_width, lines);
    }
    for condition in &report.gate.conditions {
        let (word, color) = match (report.gate.passed, condition.passed) {
            (None, _) => ("not evaluated", Color::Warning),
            (Some(_), true) => ("met", Color::Good),
            (Some(_), false) => ("NOT MET", Color::Bad),
        };
        let what = format!("gate: {}: {}", sanitize(&condition.what), condition.found);
        let word = style.paint(color, word);
        if width(&what) + "  not evaluated".len() <= max_width {
            lines.push(format!("{what}  {word}"));
        } else {
            push_wrapped(&what, 0, max_width, lines);
            lines.push(format!("      {word}"));
        }
    }
    for (name, value) in conditions(report) {
        let color = if value == "landlock" { Color::Dim } else { Color::Warning };
        lines.extend(wrap(&format!("{name}: {value}"), max_width).iter().map(|line| style.paint(color, line)));
    }
    if let Some(notice) = resumed_notice(report.resumed) {
        lines.push(style.paint(Color::Dim, &notice));
    }
    let log = report.tasks().filter_map(|task| task.agent.as_ref()).find_map(|agent| agent.log.parent());
    if let Some(folder) = log {
        lines.push(style.paint(Color::Dim, &format!("logs: {}", sanitize(&folder.display().to_string()))));
    }
    lines.extend(follow_up(report).into_iter().map(|line| style.paint(Color::Dim, &line)));
}

/// Where to find more. Nothing if the server and its data were removed.
fn follow_up(report: &Report) -> Vec<String> {
    let runs = report.runs.iter().filter_map(|run| run.id.as_deref());
    match &report.result_location {
        ResultLocation::Server => runs.map(|run| format!("more: verial runs get {run}")).collect(),
        ResultLocation::Data(folder) => vec![format!("data: {}, for verial serve --data", sanitize(folder))],
        ResultLocation::Discarded => Vec::new(),
    }
}
