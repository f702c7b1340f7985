//! The report of `verial run` in all output formats.

pub(crate) mod build;
mod critical;
mod html;
mod junit;
mod markdown;
pub(crate) mod model;
pub(crate) mod owned;
mod svg;
mod terminal;

use std::path::Path;

use anyhow::Context;

use crate::confine::Isolation;
use crate::output::{eprint, print, print_json};
use model::Report;

/// The requested output formats, with their files.
pub(crate) struct ReportOutputs<'a> {
    pub(crate) json: bool,
    pub(crate) junit: Option<&'a Path>,
    pub(crate) html: Option<&'a Path>,
    pub(crate) markdown: Option<&'a Path>,
}

/// Writes the report files, and prints the report to standard output.
pub(crate) fn write(report: &Report, outputs: &ReportOutputs) -> anyhow::Result<()> {
    for (path, render) in [
        (outputs.junit, junit::render as fn(&Report) -> String),
        (outputs.html, html::render),
        (outputs.markdown, markdown::render),
    ] {
        if let Some(path) = path {
            std::fs::write(path, render(report)).with_context(|| format!("cannot write {}", path.display()))?;
            eprint(format_args!("written: {}", path.display()));
        }
    }
    if outputs.json {
        print_json(&serde_json::to_value(report)?);
    } else {
        print(terminal::render(report));
    }
    Ok(())
}

/// A JSON value as text, truncated.
fn brief_value(value: &serde_json::Value) -> String {
    const MAX: usize = 300;
    let text = match value {
        serde_json::Value::String(text) => format!("\"{text}\""),
        serde_json::Value::Null => "nothing".into(),
        other => other.to_string(),
    };
    crate::output::text::truncate(&text, MAX)
}

/// Floor and ceiling as text; `None` if not known.
pub(crate) fn bounds(floor: Option<f64>, ceiling: Option<f64>) -> Option<String> {
    let floor = format!("floor {}", format_bound(floor?));
    Some(ceiling.map_or_else(|| floor.clone(), |ceiling| format!("{floor}, ceiling {}", format_bound(ceiling))))
}

/// Floor and ceiling in a table cell.
pub(crate) fn bounds_cell(floor: Option<f64>, ceiling: Option<f64>) -> String {
    let format = |value: Option<f64>| value.map_or_else(|| "?".to_owned(), format_bound);
    if floor.is_none() { "-".into() } else { format!("{}–{}", format(floor), format(ceiling)) }
}

/// Formats a bound with two to four decimal places.
pub(crate) fn format_bound(value: f64) -> String {
    let text = format!("{value:.4}");
    let (exact, cents) = (text.trim_end_matches('0'), format!("{value:.2}"));
    if exact.len() > cents.len() { exact.to_owned() } else { cents }
}

/// `, 2 critical failures`; empty if there are none.
pub(crate) fn critical_failures(count: i64) -> String {
    critical::suffix(count, ", ")
}

/// The result of all runs in one line.
fn headline(report: &Report) -> String {
    let statistics = &report.statistics;
    let Some(mean) = statistics.mean else { return no_score(report) };
    let score = format!("score {}", ::model::score::format_score(mean));
    let bounds_text = bounds(report.floor, report.ceiling).map(|bounds| format!("  ({bounds})")).unwrap_or_default();
    match (&statistics.interval, statistics.n) {
        (Some(interval), n) => {
            let rate = &statistics.pass_rate;
            format!(
                "{score}  mean of {n} runs, 95 % interval {:.4} … {:.4}; {} of {n} passed{}{bounds_text}",
                interval.low,
                interval.high,
                rate.passes,
                critical::suffix(report.critical_failures, "; ")
            )
        }
        _ => {
            let verdict = report.runs.iter().find_map(|run| run.verdict);
            let failures = critical::suffix(report.critical_failures, "  ");
            format!("{score}  {}{failures}{bounds_text}", verdict.map_or("", ::model::score::Verdict::name))
        }
    }
}

fn no_score(report: &Report) -> String {
    let tasks = report.tasks().count();
    let open = report.tasks().filter(|task| task.status.is_no_measurement()).count();
    if report.agent_not_started.is_some() {
        "no score: the agent could not be started".into()
    } else if open > 0 {
        format!("no score: {open} of {tasks} tasks were not measured")
    } else {
        "no score: no run was finished".into()
    }
}

/// Conditions of the run that limit what the score says: isolation and the reference agent.
fn conditions(report: &Report) -> Vec<(&'static str, &'static str)> {
    let isolation = report.isolation.map(|isolation| {
        let words = match (isolation, report.scored) {
            (Isolation::Landlock, _) => "landlock",
            (Isolation::None, false) => "none",
            (Isolation::None, true) => "none: the agent could read the criteria",
        };
        ("isolation", words)
    });
    let reference = report.reference.then_some(("reference", "the bundled reference agent, which knows the criteria"));
    isolation.into_iter().chain(reference).collect()
}

/// How often the run was resumed; `None` if never.
fn resumed_notice(resumed: u32) -> Option<String> {
    match resumed {
        0 => None,
        1 => Some("resumed once".into()),
        times => Some(format!("resumed {times} times")),
    }
}

/// Describes the difference to the baseline.
pub(crate) fn describe_comparison(difference: &::model::stats::PairedDifference) -> String {
    let sign_test = &difference.sign_test;
    let text = match (&difference.interval, difference.mean) {
        (Some(interval), Some(mean)) => {
            // Without variance the interval says nothing about significance.
            let significance = match difference.significant {
                _ if interval.low >= interval.high && mean == 0.0 => "the same on every task",
                _ if interval.low >= interval.high => "by as much on every task",
                Some(true) => "more than chance explains",
                _ => "within chance",
            };
            format!(
                "{mean:+.4}, 95 % interval {:+.4} … {:+.4} over {} tasks: {significance}",
                interval.low, interval.high, difference.n
            )
        }
        (None, Some(mean)) => format!("{mean:+.4} on the one task in common"),
        _ => "no task in common".into(),
    };
    format!(
        "against {}: {text}; better {}, worse {}, equal {} (sign test p={:.3})",
        difference.second, sign_test.better, sign_test.worse, sign_test.equal, sign_test.p_value
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_have_two_to_four_decimal_places() {
        for (value, shown) in [(0.0, "0.00"), (1.0, "1.00"), (0.125, "0.125"), (0.3333, "0.3333"), (0.0417, "0.0417")] {
            assert_eq!(format_bound(value), shown);
        }
        assert_eq!(bounds(Some(0.0), Some(1.0)).as_deref(), Some("floor 0.00, ceiling 1.00"));
        assert_eq!((bounds(Some(0.5), None).as_deref(), bounds(None, None)), (Some("floor 0.50"), None));
    }
}
