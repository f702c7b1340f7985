//! The report of `verial run` in all its forms.

pub(crate) mod build;
mod html;
mod junit;
mod markdown;
pub(crate) mod model;
pub(crate) mod owned;
mod svg;
mod terminal;

use std::path::Path;

use anyhow::Context;

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

/// What is told of the runs as a whole.
fn headline(report: &Report) -> String {
    let statistics = &report.statistics;
    let Some(mean) = statistics.mean else { return "no score: no run was finished".into() };
    let whole = format!("score {mean:.4}");
    match (&statistics.interval, statistics.n) {
        (Some(interval), n) => {
            let rate = &statistics.pass_rate;
            format!(
                "{whole}  mean of {n} runs, 95 % interval {:.4} … {:.4}; {} of {n} passed",
                interval.low, interval.high, rate.passes
            )
        }
        _ => {
            let verdict = report.runs.iter().find_map(|run| run.verdict);
            format!("{whole}  {}", verdict.map_or("", ::model::score::Verdict::name))
        }
    }
}

/// How these runs stand against the baseline.
pub(crate) fn compared(difference: &::model::stats::PairedDifference) -> String {
    let signs = &difference.sign_test;
    let words = match (&difference.interval, difference.mean) {
        (Some(interval), Some(mean)) => {
            let sure = if difference.significant == Some(true) { "more than chance explains" } else { "within chance" };
            format!(
                "{mean:+.4}, 95 % interval {:+.4} … {:+.4} over {} tasks: {sure}",
                interval.low, interval.high, difference.n
            )
        }
        (None, Some(mean)) => format!("{mean:+.4} on the one task in common"),
        _ => "no task in common".into(),
    };
    format!(
        "against {}: {words}; better {}, worse {}, equal {} (sign test p = {:.3})",
        difference.second, signs.better, signs.worse, signs.equal, signs.p_value
    )
}
