//! The report of `verial run` in all its forms.

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
use crate::output::{say, say_json, tell as tell_user};
use model::Report;

/// Which forms are wanted.
pub(crate) struct Forms<'a> {
    pub(crate) json: bool,
    pub(crate) junit: Option<&'a Path>,
    pub(crate) html: Option<&'a Path>,
    pub(crate) markdown: Option<&'a Path>,
}

pub(crate) fn tell(report: &Report, forms: &Forms) -> anyhow::Result<()> {
    for (path, render) in [
        (forms.junit, junit::render as fn(&Report) -> String),
        (forms.html, html::render),
        (forms.markdown, markdown::render),
    ] {
        if let Some(path) = path {
            std::fs::write(path, render(report)).with_context(|| format!("cannot write {}", path.display()))?;
            tell_user(format_args!("written: {}", path.display()));
        }
    }
    if forms.json {
        say_json(&serde_json::to_value(report)?);
    } else {
        say(terminal::render(report));
    }
    Ok(())
}

/// A short text of a JSON value.
fn short(value: &serde_json::Value) -> String {
    const MOST: usize = 300;
    let text = match value {
        serde_json::Value::String(text) => format!("\"{text}\""),
        serde_json::Value::Null => "nothing".into(),
        other => other.to_string(),
    };
    crate::output::text::cut(&text, MOST)
}

/// What a score lies between, in words; nothing where it is not known.
pub(crate) fn bounds(floor: Option<f64>, ceiling: Option<f64>) -> Option<String> {
    let floor = format!("floor {}", bound(floor?));
    Some(ceiling.map_or_else(|| floor.clone(), |ceiling| format!("{floor}, ceiling {}", bound(ceiling))))
}

/// The same in one cell of a table.
pub(crate) fn between(floor: Option<f64>, ceiling: Option<f64>) -> String {
    let shown = |value: Option<f64>| value.map_or_else(|| "?".to_owned(), bound);
    if floor.is_none() { "-".into() } else { format!("{}–{}", shown(floor), shown(ceiling)) }
}

/// With two digits after the point, or as many as it has, up to the four of scores.
pub(crate) fn bound(value: f64) -> String {
    let text = format!("{value:.4}");
    let (exact, cents) = (text.trim_end_matches('0'), format!("{value:.2}"));
    if exact.len() > cents.len() { exact.to_owned() } else { cents }
}

/// `, 2 critical failures`; nothing when there are none.
pub(crate) fn critical_failures(count: i64) -> String {
    critical::suffix(count, ", ")
}

/// What is told of the runs as a whole.
fn headline(report: &Report) -> String {
    let statistics = &report.statistics;
    let Some(mean) = statistics.mean else { return no_score(report) };
    let whole = format!("score {}", ::model::score::shown(mean));
    let between = bounds(report.floor, report.ceiling).map(|bounds| format!("  ({bounds})")).unwrap_or_default();
    match (&statistics.interval, statistics.n) {
        (Some(interval), n) => {
            let rate = &statistics.pass_rate;
            format!(
                "{whole}  mean of {n} runs, 95 % interval {:.4} … {:.4}; {} of {n} passed{}{between}",
                interval.low,
                interval.high,
                rate.passes,
                critical::suffix(report.critical_failures, "; ")
            )
        }
        _ => {
            let verdict = report.runs.iter().find_map(|run| run.verdict);
            let failures = critical::suffix(report.critical_failures, "  ");
            format!("{whole}  {}{failures}{between}", verdict.map_or("", ::model::score::Verdict::name))
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

/// Under which conditions the agent worked, where they limit what its score says.
fn conditions(report: &Report) -> Vec<(&'static str, &'static str)> {
    let isolation = report.isolation.map(|isolation| {
        let words = match (isolation, report.scored) {
            (Isolation::Landlock, _) => "landlock",
            (Isolation::None, false) => "none",
            (Isolation::None, true) => "none: the agent could read the criteria",
        };
        ("isolation", words)
    });
    let reference = report.reference.then_some(("agent", "the bundled reference agent, which knows the criteria"));
    isolation.into_iter().chain(reference).collect()
}

/// That the runs were gone on with, and how often.
fn gone_on(resumed: u32) -> Option<String> {
    match resumed {
        0 => None,
        1 => Some("resumed once".into()),
        times => Some(format!("resumed {times} times")),
    }
}

/// How these runs stand against the baseline.
pub(crate) fn compared(difference: &::model::stats::PairedDifference) -> String {
    let signs = &difference.sign_test;
    let words = match (&difference.interval, difference.mean) {
        (Some(interval), Some(mean)) => {
            // Without any spread an interval says nothing of chance.
            let sure = match difference.significant {
                _ if interval.low >= interval.high && mean == 0.0 => "the same on every task",
                _ if interval.low >= interval.high => "by as much on every task",
                Some(true) => "more than chance explains",
                _ => "within chance",
            };
            format!(
                "{mean:+.4}, 95 % interval {:+.4} … {:+.4} over {} tasks: {sure}",
                interval.low, interval.high, difference.n
            )
        }
        (None, Some(mean)) => format!("{mean:+.4} on the one task in common"),
        _ => "no task in common".into(),
    };
    format!(
        "against {}: {words}; better {}, worse {}, equal {} (sign test p={:.3})",
        difference.second, signs.better, signs.worse, signs.equal, signs.p_value
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_have_two_digits_or_more_where_they_need_them() {
        for (value, shown) in [(0.0, "0.00"), (1.0, "1.00"), (0.125, "0.125"), (0.3333, "0.3333"), (0.0417, "0.0417")] {
            assert_eq!(bound(value), shown);
        }
        assert_eq!(bounds(Some(0.0), Some(1.0)).as_deref(), Some("floor 0.00, ceiling 1.00"));
        assert_eq!((bounds(Some(0.5), None).as_deref(), bounds(None, None)), (Some("floor 0.50"), None));
    }
}
