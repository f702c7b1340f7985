//! Renders the report as JUnit XML for CI systems: a suite per run, a case per task, and one for the gate.
//!
//! A task that did not pass is a `failure`, one that was not measured is an `error`, one that was not started is `skipped`.

use std::fmt::Write;

use model::run::CheckResult;
use model::score::Verdict;
use model::score::format_score_short;

use super::critical::{guards_last, suffix};
use super::model::{Report, RunReport, TaskReport, TaskStatus};
use super::{bounds, brief_value};
use crate::output::text::is_unsafe_char;

pub(crate) fn render(report: &Report) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let counts = report
        .runs
        .iter()
        .map(counts)
        .fold((0, 0, 0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1, sum.2 + one.2, sum.3 + one.3));
    let gate_cases = usize::from(!report.gate.conditions.is_empty());
    let gate_failures = usize::from(report.gate.passed == Some(false));
    let seconds: f64 = report.tasks().filter_map(|task| task.agent.as_ref()).map(|agent| agent.seconds).sum();
    let _ = writeln!(
        xml,
        "<testsuites name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{seconds:.3}\">",
        text(&report.benchmark),
        counts.0 + gate_cases,
        counts.1 + gate_failures,
        counts.2,
        counts.3
    );
    for run in &report.runs {
        suite(&mut xml, report, run);
    }
    if gate_cases > 0 {
        gate(&mut xml, report, gate_failures);
    }
    xml.push_str("</testsuites>\n");
    xml
}

/// The numbers of tests, failures, errors and skipped tests.
fn counts(run: &RunReport) -> (usize, usize, usize, usize) {
    let count = |result: CaseResult| run.tasks.iter().filter(|task| CaseResult::of(task) == result).count();
    (run.tasks.len(), count(CaseResult::Failure), count(CaseResult::Error), count(CaseResult::Skipped))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CaseResult {
    Pass,
    Failure,
    Error,
    Skipped,
}

impl CaseResult {
    fn of(task: &TaskReport) -> Self {
        match (task.status, task.verdict) {
            (TaskStatus::NotRun, _) => CaseResult::Skipped,
            (status, _) if status.is_no_measurement() => CaseResult::Error,
            // A critical failure fails the case at any score.
            _ if task.critical_failures > 0 => CaseResult::Failure,
            (TaskStatus::Completed, Some(Verdict::Pass)) => CaseResult::Pass,
            _ => CaseResult::Failure,
        }
    }
}

fn suite(xml: &mut String, report: &Report, run: &RunReport) {
    let (tests, failures, errors, skipped) = counts(run);
    let seconds: f64 = run.tasks.iter().filter_map(|task| task.agent.as_ref()).map(|agent| agent.seconds).sum();
    let id = run.id.as_deref().unwrap_or("not created");
    let _ = writeln!(
        xml,
        "  <testsuite name=\"{} {}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\" time=\"{seconds:.3}\">",
        text(&report.benchmark),
        text(id)
    );
    let score = run.score.as_ref().map(ToString::to_string).unwrap_or_default();
    let _ = write!(xml, "    <properties><property name=\"score\" value=\"{}\"/>", text(&score));
    for (name, value) in [
        ("critical_failures", run.critical_failures),
        ("tasks_passed", run.tasks_passed),
        ("clean_tasks", run.clean_tasks),
    ] {
        let _ = write!(xml, "<property name=\"{name}\" value=\"{value}\"/>");
    }
    for (name, value) in [("floor", run.floor), ("ceiling", run.ceiling)] {
        if let Some(value) = value {
            let _ = write!(xml, "<property name=\"{name}\" value=\"{value}\"/>");
        }
    }
    if let Some(isolation) = report.isolation {
        let _ = write!(xml, "<property name=\"isolation\" value=\"{}\"/>", isolation.name());
    }
    if report.reference {
        xml.push_str("<property name=\"reference\" value=\"true\"/>");
    }
    xml.push_str("</properties>\n");
    for task in &run.tasks {
        case(xml, report, task);
    }
    xml.push_str("  </testsuite>\n");
}

fn case(xml: &mut String, report: &Report, task: &TaskReport) {
    let seconds = task.agent.as_ref().map_or(0.0, |agent| agent.seconds);
    let (class, name) = (text(&report.benchmark), text(&task.name));
    let _ = write!(xml, "    <testcase classname=\"{class}\" name=\"{name}\" time=\"{seconds:.3}\">");
    let message = message(task);
    match CaseResult::of(task) {
        CaseResult::Pass => {}
        CaseResult::Failure => {
            let kind = task.verdict.map_or(task.status.name(), Verdict::name);
            let _ =
                write!(xml, "<failure type=\"{kind}\" message=\"{}\">{}</failure>", text(&message), text(&body(task)));
        }
        CaseResult::Error => {
            let kind = task.status.name();
            let _ = write!(xml, "<error type=\"{kind}\" message=\"{}\">{}</error>", text(&message), text(&body(task)));
        }
        CaseResult::Skipped => xml.push_str("<skipped message=\"not run\"/>"),
    }
    if let Some(agent) = &task.agent {
        let _ = write!(xml, "<system-out>log: {}</system-out>", text(&agent.log.display().to_string()));
    }
    xml.push_str("</testcase>\n");
}

fn message(task: &TaskReport) -> String {
    let score = task
        .score
        .as_ref()
        .map_or_else(|| "no score".to_owned(), |score| format!("score {}", format_score_short(score)));
    let failed = task.checks.iter().filter(|check| check.result != CheckResult::Pass).count();
    let bounds_text = bounds(task.floor, task.ceiling).map(|bounds| format!(" ({bounds})")).unwrap_or_default();
    let failures = suffix(task.critical_failures, ", ");
    format!(
        "{}: {score}{failures}{bounds_text}, {failed} of {} criteria not met",
        task.status.name(),
        task.checks.len()
    )
}

fn body(task: &TaskReport) -> String {
    let mut body = String::new();
    for note in &task.notes {
        let _ = writeln!(body, "{note}");
    }
    for check in guards_last(&task.checks).filter(|check| check.result != CheckResult::Pass) {
        let traits: String = check.traits().iter().map(|name| format!(", {name}")).collect();
        let _ = writeln!(body, "{} (score {}{traits})", check.label, format_score_short(&check.score));
        for difference in &check.differences {
            let (expected, found) = (brief_value(&difference.expected), brief_value(&difference.found));
            let _ = writeln!(body, "  {}: expected {expected}, found {found}", difference.field);
        }
        if let (true, Some(details)) = (check.differences.is_empty(), &check.details) {
            let _ = writeln!(body, "  {details}");
        }
    }
    body
}

fn gate(xml: &mut String, report: &Report, failures: usize) {
    let _ = writeln!(
        xml,
        "  <testsuite name=\"gate\" tests=\"1\" failures=\"{failures}\" errors=\"0\" skipped=\"0\" time=\"0\">"
    );
    let _ = write!(xml, "    <testcase classname=\"{}\" name=\"gate\" time=\"0\">", text(&report.benchmark));
    if failures > 0 {
        let failed: Vec<String> = report
            .gate
            .conditions
            .iter()
            .filter(|condition| !condition.passed)
            .map(|condition| format!("{}: {}", condition.what, condition.found))
            .collect();
        let _ = write!(xml, "<failure type=\"gate\" message=\"{}\"></failure>", text(&failed.join("; ")));
    }
    xml.push_str("</testcase>\n  </testsuite>\n");
}

/// Escapes text for elements and attributes, and replaces characters that XML 1.0 does not allow.
fn text(raw: &str) -> String {
    let mut safe = String::with_capacity(raw.len());
    for character in raw.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' => safe.push('\n'),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            character if is_unsafe_char(character) => safe.push('\u{fffd}'),
            character => safe.push(character),
        }
    }
    safe
}
