//! Renders the report as a self-contained HTML file without scripts, fonts or images. All text from agents is escaped.

use std::fmt::Write;

use model::run::CheckResult;
use model::score::Verdict;
use model::score::format_score_short;

use super::critical::{failures, guards_last, tally};
use super::model::{CheckReport, Report, RunReport, TaskReport, TaskStatus, axis_name};
use super::svg::{Bar, bars};
use super::{bounds, brief_value, conditions, describe_comparison, headline};
use crate::output::text::is_unsafe_char;

const STYLE: &str = include_str!("report.css");
/// Even if markup got through, a browser would fetch and run nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
/// Longer evidence is truncated; the JSON report has all of it.
const MAX_EVIDENCE_CHARS: usize = 20_000;

pub(crate) fn render(report: &Report) -> String {
    let title = format!("{} – {}", text(&report.benchmark), text(&report.name));
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"referrer\" content=\"no-referrer\">\
         <title>{title}</title><style>{STYLE}</style></head><body><main>\n<h1>{title}</h1>\n"
    );
    head(&mut page, report);
    for (index, run) in report.runs.iter().enumerate() {
        section(&mut page, report, run, index);
    }
    page.push_str("</main></body></html>\n");
    page
}

fn head(page: &mut String, report: &Report) {
    let _ = writeln!(page, "<p class=\"headline\">{}</p>", text(&headline(report)));
    if let Some(tally) = tally(report) {
        let _ = writeln!(page, "<p>{}</p>", text(&tally));
    }
    page.push_str("<dl>");
    let scored = if report.scored { "yes: the agent saw no details" } else { "no" };
    for (name, value) in [
        ("agent", report.agent.command.as_str()),
        ("filed under", report.agent.name.as_deref().unwrap_or("-")),
        ("scored", scored),
        ("server", report.server.as_str()),
        ("journal", report.journal.as_str()),
    ] {
        let _ = write!(page, "<dt>{name}</dt><dd>{}</dd>", text(value));
    }
    for (name, value) in conditions(report) {
        let _ = write!(page, "<dt>{name}</dt><dd>{value}</dd>");
    }
    if report.resumed > 0 {
        let _ = write!(page, "<dt>resumed</dt><dd>{} times</dd>", report.resumed);
    }
    page.push_str("</dl>\n");
    gate(page, report);
    if let Some(difference) = &report.baseline {
        let _ = writeln!(page, "<p>{}</p>", text(&describe_comparison(difference)));
    }
    charts(page, report);
}

fn gate(page: &mut String, report: &Report) {
    if report.gate.conditions.is_empty() {
        return;
    }
    page.push_str("<h2>Gate</h2><table><tr><th>condition</th><th>found</th><th></th></tr>");
    for condition in &report.gate.conditions {
        let (class, word) = match (report.gate.passed, condition.passed) {
            (None, _) => ("partial", "not evaluated"),
            (Some(_), true) => ("pass", "met"),
            (Some(_), false) => ("fail", "not met"),
        };
        let (what, found) = (text(&condition.what), text(&condition.found));
        let _ = write!(page, "<tr><td>{what}</td><td>{found}</td><td class=\"{class}\">{word}</td></tr>");
    }
    page.push_str("</table>\n");
}

fn charts(page: &mut String, report: &Report) {
    let axes: Vec<Bar> = report
        .statistics
        .axes
        .iter()
        .map(|(name, axis)| Bar {
            label: axis_name(name).to_owned(),
            length: axis.mean,
            class: class_of(axis.mean),
            interval: axis.interval.as_ref().map(|interval| (interval.low, interval.high)),
            marks: Vec::new(),
        })
        .collect();
    if !axes.is_empty() {
        let _ = writeln!(page, "<h2>Axes</h2>{}", bars("Score of each axis", &axes));
    }
    let tasks: Vec<Bar> = report
        .statistics
        .tasks
        .iter()
        .map(|task| Bar {
            label: task.name.clone(),
            length: task.mean,
            class: class_of(task.mean),
            interval: task.interval.as_ref().map(|interval| (interval.low, interval.high)),
            marks: marks_of(report, &task.task.to_string()),
        })
        .collect();
    if !tasks.is_empty() {
        let _ = writeln!(page, "<h2>Tasks</h2>{}", bars("Score of each task", &tasks));
        if tasks.iter().any(|task| !task.marks.is_empty()) {
            page.push_str(
                "<p class=\"log\">Marks: what doing nothing scores, and what the reference agent scores.</p>\n",
            );
        }
    }
}

/// Floor and ceiling of a task.
fn marks_of(report: &Report, id: &str) -> Vec<f64> {
    let task = report.tasks().find(|task| task.task_id == id && task.floor.is_some());
    task.into_iter().flat_map(|task| [task.floor, task.ceiling]).flatten().collect()
}

fn class_of(score: Option<f64>) -> &'static str {
    match score {
        Some(score) if score >= 0.9 => "pass",
        Some(score) if score > 0.0 => "partial",
        _ => "fail",
    }
}

fn section(page: &mut String, report: &Report, run: &RunReport, index: usize) {
    let id = run.id.as_deref().unwrap_or("not created");
    let score =
        run.score.as_ref().map_or_else(|| "no score".into(), |score| format!("score {}", format_score_short(score)));
    let number = if report.runs.len() > 1 { format!(" {} of {}", index + 1, report.runs.len()) } else { String::new() };
    let bounds_text = bounds(run.floor, run.ceiling).map(|bounds| format!(", {bounds}")).unwrap_or_default();
    let failures = critical_span(run.critical_failures);
    let _ = writeln!(page, "<h2>Run{number} <small>{} – {score}{bounds_text}{failures}</small></h2>", text(id));
    for task in &run.tasks {
        details(page, task);
    }
}

/// `, 2 critical failures`, highlighted.
fn critical_span(count: i64) -> String {
    failures(count).map(|words| format!(", <span class=\"fail\">{words}</span>")).unwrap_or_default()
}

fn details(page: &mut String, task: &TaskReport) {
    let (class, word) = match (task.status, task.verdict) {
        (TaskStatus::Completed, Some(Verdict::Pass)) => ("pass", "pass"),
        (TaskStatus::Completed, Some(Verdict::Partial)) => ("partial", "partial"),
        (TaskStatus::Completed, _) => ("fail", "fail"),
        (status, _) => ("fault", status.label()),
    };
    let open = if class == "pass" && task.critical_failures == 0 { "" } else { " open" };
    let failures = critical_span(task.critical_failures);
    let score = task.score.as_ref().map_or_else(|| "-".into(), format_score_short);
    let bounds_text = bounds(task.floor, task.ceiling).map(|bounds| format!(" ({bounds})")).unwrap_or_default();
    let _ = write!(
        page,
        "<details{open}><summary><span class=\"{class}\">{word}</span> {} <small>{score}{bounds_text}{failures}</small></summary>",
        text(&task.name)
    );
    for note in &task.notes {
        let _ = write!(page, "<p class=\"note\">{}</p>", text(note));
    }
    page.push_str("<table><tr><th>criterion</th><th>axis</th><th>score</th><th>expected and found</th></tr>");
    let mut in_guards = false;
    for check in guards_last(&task.checks) {
        if check.is_guard() && !in_guards {
            page.push_str("<tr><th colspan=\"4\">guards: passed by doing nothing</th></tr>");
            in_guards = true;
        }
        row(page, check);
    }
    page.push_str("</table>");
    if let Some(agent) = &task.agent {
        let _ = write!(
            page,
            "<p class=\"log\">{:.1} s, {} bytes of output, log {}</p>",
            agent.seconds,
            agent.output_bytes,
            text(&agent.log.display().to_string())
        );
    }
    page.push_str("</details>\n");
}

fn row(page: &mut String, check: &CheckReport) {
    let class = match check.result {
        CheckResult::Pass => "pass",
        CheckResult::Fail if check.is_partial() => "partial",
        CheckResult::Fail => "fail",
    };
    let axis = check.axis.as_deref().unwrap_or("-");
    let _ = write!(
        page,
        "<tr><td class=\"{class}\">{}{}</td><td>{}</td><td>{}</td><td>",
        text(&check.label),
        if check.critical == Some(true) { " <strong>critical</strong>" } else { "" },
        text(axis),
        format_score_short(&check.score)
    );
    for difference in &check.differences {
        let (expected, found) = (text(&brief_value(&difference.expected)), text(&brief_value(&difference.found)));
        let _ = write!(
            page,
            "<p><code>{}</code><br>expected <code>{expected}</code><br>found <code>{found}</code></p>",
            text(&difference.field)
        );
    }
    if let Some(details) = &check.details {
        let _ = write!(page, "<p>{}</p>", text(details));
    }
    if let Some(evidence) = &check.evidence {
        let evidence_text: String = format!("{evidence:#}").chars().take(MAX_EVIDENCE_CHARS).collect();
        let _ = write!(page, "<details><summary>evidence</summary><pre>{}</pre></details>", text(&evidence_text));
    }
    page.push_str("</td></tr>");
}

/// Escapes text for elements and attributes.
pub(crate) fn text(raw: &str) -> String {
    let mut safe = String::with_capacity(raw.len());
    for character in raw.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' => safe.push('\n'),
            character if is_unsafe_char(character) => safe.push('\u{fffd}'),
            character => safe.push(character),
        }
    }
    safe
}
