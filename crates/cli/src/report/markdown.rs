//! Markdown, for a pull request or a job's summary.

use std::fmt::Write;

use model::run::CheckResult;
use model::score::Verdict;
use model::score::{brief, shown};

use super::critical::{guards_last, suffix, tally};
use super::model::{Report, RunReport, TaskReport, TaskStatus};
use super::{bound, bounds, compared, conditions, gone_on, headline, short};
use crate::output::text::harmless;

pub(crate) fn render(report: &Report) -> String {
    let mut page = format!("## {}: {}\n\n", text(&report.benchmark), text(&report.name));
    let _ = writeln!(page, "**{}**\n", text(&headline(report)));
    if let Some(tally) = tally(report) {
        let _ = writeln!(page, "- {}", text(&tally));
    }
    for condition in &report.gate.conditions {
        let word = match (report.gate.passed, condition.passed) {
            (None, _) => "not judged",
            (Some(_), true) => "met",
            (Some(_), false) => "**not met**",
        };
        let _ = writeln!(page, "- Gate `{}`: {} ({word})", code(&condition.what), text(&condition.found));
    }
    if let Some(difference) = &report.baseline {
        let _ = writeln!(page, "- {}", text(&compared(difference)));
    }
    for (name, mean) in report.axes() {
        let _ = writeln!(page, "- Axis {}: {}", text(name), shown(mean));
    }
    for (name, value) in conditions(report) {
        let _ = writeln!(page, "- {name}: {value}");
    }
    if let Some(often) = gone_on(report.resumed) {
        let _ = writeln!(page, "- {often}");
    }
    for run in &report.runs {
        table(&mut page, run);
        let is_told = |task: &&TaskReport| {
            task.verdict != Some(Verdict::Pass) || !task.notes.is_empty() || task.critical_failures > 0
        };
        for task in run.tasks.iter().filter(is_told) {
            details(&mut page, task);
        }
    }
    page
}

fn table(page: &mut String, run: &RunReport) {
    let score = run.score.as_ref().map_or_else(|| "none".into(), brief);
    let between = bounds(run.floor, run.ceiling).map(|bounds| format!("; {bounds}")).unwrap_or_default();
    let failures = suffix(run.critical_failures, "; ");
    let id = run.id.as_deref().unwrap_or("not made");
    let _ = writeln!(page, "\n### Run {id} (score {score}{failures}{between})\n");
    page.push_str("| task | score | floor | ceiling | verdict | criteria | guards | critical failures |\n");
    page.push_str("|---|---|---|---|---|---|---|---|\n");
    for task in &run.tasks {
        let score = task.score.as_ref().map_or_else(|| "-".into(), brief);
        let passed = |guards: bool| {
            let of_kind = task.checks.iter().filter(|check| check.is_guard() == guards);
            let passed = of_kind.clone().filter(|check| check.result == CheckResult::Pass).count();
            (passed, of_kind.count())
        };
        let ((passed, criteria), guards) = (passed(false), passed(true));
        let guards = if guards.1 == 0 { "-".to_owned() } else { format!("{} of {}", guards.0, guards.1) };
        let verdict = match (task.status, task.verdict) {
            (TaskStatus::Completed, Some(verdict)) => verdict.name(),
            (status, _) => status.words(),
        };
        let [floor, ceiling] = [task.floor, task.ceiling].map(|value| value.map_or_else(|| "-".into(), bound));
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
        let _ = writeln!(page, "- {} (score {}{traits})", text(&check.label), brief(&check.score));
        for difference in &check.differences {
            let (expected, found) = (short(&difference.expected), short(&difference.found));
            let (field, expected, found) = (code(&difference.field), code(&expected), code(&found));
            let _ = writeln!(page, "  - `{field}`: expected `{expected}`, found `{found}`");
        }
        if let (true, Some(details)) = (check.differences.is_empty(), &check.details) {
            let _ = writeln!(page, "  - {}", text(details));
        }
    }
    page.push_str("\n</details>\n");
}

/// Text of others: no markup, no link, no mention.
fn text(raw: &str) -> String {
    let mut safe = String::with_capacity(raw.len());
    for letter in harmless(raw).chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '@' => safe.push_str("&#64;"),
            ':' => safe.push_str("&#58;"),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '#' | '!' | '|' | '~' => {
                safe.push('\\');
                safe.push(letter);
            }
            letter => safe.push(letter),
        }
    }
    safe
}

/// Between backticks nothing is markup but a backtick, and a bar in a table.
fn code(raw: &str) -> String {
    harmless(raw).replace('`', "'").replace('|', "\u{2502}")
}
