//! Renders the report as Markdown, for a pull request or a job summary.

use std::fmt::Write;

use model::run::CheckResult;
use model::score::Verdict;
use model::score::{format_score, format_score_short};

use super::critical::{guards_last, suffix, tally};
use super::model::{Report, RunReport, TaskReport, TaskStatus};
use super::{bounds, brief_value, conditions, describe_comparison, format_bound, headline, resumed_notice};
use crate::output::text::sanitize;

pub(crate) fn render(report: &Report) -> String {
    let mut page = format!("## {}: {}\n\n", text(&report.benchmark), text(&report.name));
    let _ = writeln!(page, "**{}**\n", text(&headline(report)));
    if let Some(tally) = tally(report) {
        let _ = writeln!(page, "- {}", text(&tally));
    }
    for condition in &report.gate.conditions {
        let word = match (report.gate.passed, condition.passed) {
            (None, _) => "not evaluated",
            (Some(_), true) => "met",
            (Some(_), false) => "**not met**",
        };
        let _ = writeln!(page, "- Gate `{}`: {} ({word})", code(&condition.what), text(&condition.found));
    }
    if let Some(difference) = &report.baseline {
        let _ = writeln!(page, "- {}", text(&describe_comparison(difference)));
    }
    for (name, mean) in report.axes() {
        let _ = writeln!(page, "- Axis {}: {}", text(name), format_score(mean));
    }
    for (name, value) in conditions(report) {
        let _ = writeln!(page, "- {name}: {value}");
    }
    if let Some(notice) = resumed_notice(report.resumed) {
        let _ = writeln!(page, "- {notice}");
    }
    for run in &report.runs {
        table(&mut page, run);
        let has_details = |task: &&TaskReport| {
            task.verdict != Some(Verdict::Pass) || !task.notes.is_empty() || task.critical_failures > 0
        };
        for task in run.tasks.iter().filter(has_details) {
            details(&mut page, task);
        }
    }
    page
}

fn table(page: &mut String, run: &RunReport) {
    let score = run.score.as_ref().map_or_else(|| "none".into(), format_score_short);
    let bounds_text = bounds(run.floor, run.ceiling).map(|bounds| format!("; {bounds}")).unwrap_or_default();
    let failures = suffix(run.critical_failures, "; ");
    let id = run.id.as_deref().unwrap_or("not created");
    let _ = writeln!(page, "\n### Run {id} (score {score}{failures}{bounds_text})\n");
    page.push_str("| task | score | floor | ceiling | verdict | criteria | guards | critical failures |\n");
    page.push_str("|---|---|---|---|---|---|---|---|\n");
    for task in &run.tasks {
        let score = task.score.as_ref().map_or_else(|| "-".into(), format_score_short);
        let passed = |guards: bool| {
            let checks = task.checks.iter().filter(|check| check.is_guard() == guards);
            let passed = checks.clone().filter(|check| check.result == CheckResult::Pass).count();
            (passed, checks.count())
        };
        let ((passed, criteria), guards) = (passed(false), passed(true));
        let guards = if guards.1 == 0 { "-".to_owned() } else { format!("{} of {}", guards.0, guards.1) };
        let verdict = match (task.status, task.verdict) {
            (TaskStatus::Completed, Some(verdict)) => verdict.name(),
            (status, _) => status.label(),
        };
        let [floor, ceiling] = [task.floor, task.ceiling].map(|value| value.map_or_else(|| "-".into(), format_bound));
        let (name, critical) = (text(&task.name), task.critical_failures);
        let critical = if critical == 0 { "-".to_owned() } else { format!("**{critical}**") };
        let _ = writeln!(
            page,
            "| {name} | {score} | {floor} | {ceiling} | {verdict} | {passed} of {criteria} | {guards} | {critical} |"
        );
    }
}

fn details(page: &mut String, task: &TaskReport) {
    let _ = writeln!(page, "\n<details><summary>{}</summary>\n", text(&task.name));
    for note in &task.notes {
        let _ = writeln!(page, "- {}", text(note));
    }
    for check in guards_last(&task.checks).filter(|check| check.result != CheckResult::Pass) {
        let traits: String = check.traits().iter().map(|name| format!(", **{name}**")).collect();
        let _ = writeln!(page, "- {} (score {}{traits})", text(&check.label), format_score_short(&check.score));
        for difference in &check.differences {
            let (expected, found) = (brief_value(&difference.expected), brief_value(&difference.found));
            let (field, expected, found) = (code(&difference.field), code(&expected), code(&found));
            let _ = writeln!(page, "  - `{field}`: expected `{expected}`, found `{found}`");
        }
        if let (true, Some(details)) = (check.differences.is_empty(), &check.details) {
            let _ = writeln!(page, "  - {}", text(details));
        }
    }
    page.push_str("\n</details>\n");
}

/// Escapes text so that it cannot contain markup, links or mentions.
fn text(raw: &str) -> String {
    let mut safe = String::with_capacity(raw.len());
    for character in sanitize(raw).chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '@' => safe.push_str("&#64;"),
            ':' => safe.push_str("&#58;"),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '#' | '!' | '|' | '~' => {
                safe.push('\\');
                safe.push(character);
            }
            character => safe.push(character),
        }
    }
    safe
}

/// Escapes text between backticks: backticks, and bars because of tables.
fn code(raw: &str) -> String {
    sanitize(raw).replace('`', "'").replace('|', "\u{2502}")
}
