//! The gate: what the runs must reach, and the exit code that says whether they did.

use std::str::FromStr;

use model::stats::PairedDifference;

use crate::report::model::{Condition, Gate, Report};

/// `safety=1.0`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AxisFloor {
    pub(crate) axis: String,
    pub(crate) least: f64,
}

impl FromStr for AxisFloor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (axis, least) = text.split_once('=').ok_or("write it as safety=1.0")?;
        Ok(Self { axis: axis.trim().to_owned(), least: floor(least.trim())? })
    }
}

/// A score that can be asked for.
pub(crate) fn floor(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err("must be a number from 0 to 1".into()),
    }
}

pub(crate) struct Asked<'a> {
    pub(crate) least: Option<f64>,
    pub(crate) axes: &'a [AxisFloor],
    /// So many tasks must pass in each run.
    pub(crate) least_tasks_passed: Option<u32>,
    /// Critical failures do not fail the gate.
    pub(crate) allow_critical: bool,
}

/// Judges the finished runs. Nothing can be told while one of them has no score.
pub(crate) fn judge(report: &Report, asked: &Asked) -> Gate {
    let mut conditions = Vec::new();
    let shown = |found: Option<f64>| found.map_or_else(|| "none".to_owned(), model::score::shown);
    if let Some(least) = asked.least {
        let found = report.statistics.mean;
        let passed = found.is_some_and(|found| reaches(found, least));
        conditions.push(Condition { what: format!("score >= {least}"), found: shown(found), passed });
    }
    for floor in asked.axes {
        let name = if floor.axis == "other" { "__default__" } else { &floor.axis };
        let axes = &report.statistics.axes;
        let found = axes.get(name).and_then(|axis| axis.mean);
        // An axis that no criterion has cannot hold anything up to it.
        let passed = found.is_some_and(|found| reaches(found, floor.least));
        let shown = if found.is_none() && !axes.is_empty() { no_such_axis(axes.keys()) } else { shown(found) };
        conditions.push(Condition { what: format!("{} >= {}", floor.axis, floor.least), found: shown, passed });
    }
    if let Some(least) = asked.least_tasks_passed {
        let found = report.runs.iter().map(|run| run.tasks_passed).min();
        let passed = found.is_some_and(|found| found >= i64::from(least));
        let shown = found.map_or_else(|| "none".to_owned(), |found| found.to_string());
        conditions.push(Condition { what: format!("tasks passed >= {least}"), found: shown, passed });
    }
    // Asked for by nobody, and so told only where it is not met.
    if report.critical_failures > 0 && !asked.allow_critical {
        let found = report.critical_failures.to_string();
        conditions.push(Condition { what: "no critical failures".to_owned(), found, passed: false });
    }
    if let Some(difference) = &report.baseline {
        conditions.push(against(difference));
    }
    let is_whole = !report.runs.is_empty() && report.runs.iter().all(|run| run.score.is_some());
    let passed = (is_whole && !conditions.is_empty()).then(|| conditions.iter().all(|condition| condition.passed));
    Gate { passed, conditions }
}

fn no_such_axis<'a>(axes: impl Iterator<Item = &'a String>) -> String {
    let names: Vec<&str> = axes.map(|name| if name == "__default__" { "other" } else { name }).collect();
    format!("no criterion has this axis; there are {}", names.join(", "))
}

/// Scores are shown with four digits: a floor of 0.6667 is reached by two thirds.
fn reaches(found: f64, least: f64) -> bool {
    found + 0.000_05 >= least && (least < 1.0 || found >= 1.0 - 1e-9)
}

/// Only a difference that chance does not explain counts. Where nothing could be compared, nothing was met.
fn against(difference: &PairedDifference) -> Condition {
    let is_worse = difference.significant == Some(true) && difference.mean.is_some_and(|mean| mean < 0.0);
    let found = match (&difference.interval, difference.mean) {
        (Some(interval), Some(mean)) => format!("{mean:+.4} ({:+.4} … {:+.4})", interval.low, interval.high),
        (None, Some(mean)) => format!("{mean:+.4} on {} task", difference.n),
        _ => "no task in common".into(),
    };
    Condition { what: format!("not worse than {}", difference.second), found, passed: difference.n > 0 && !is_worse }
}

/// What the process ends with. Faults of ours win over everything that is told of the agent.
pub(crate) fn exit_code(report: &Report, is_stopped: bool) -> u8 {
    let no_measurement = report.tasks().any(|task| task.status.is_no_measurement());
    let is_whole = !report.runs.is_empty() && report.runs.iter().all(|run| run.score.is_some());
    match report.gate.passed {
        _ if is_stopped => 130,
        _ if no_measurement || !is_whole => 4,
        Some(false) => 1,
        // A gate that is met all the same was meant that way.
        None if report.is_crash() => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_compared_is_not_met() {
        let comparison = model::stats::compare(&[("new".into(), vec![]), ("old".into(), vec![])]);
        let condition = against(&comparison.differences[0]);
        assert_eq!((condition.found.as_str(), condition.passed), ("no task in common", false));
    }

    #[test]
    fn floors() {
        assert_eq!("safety=1.0".parse(), Ok(AxisFloor { axis: "safety".into(), least: 1.0 }));
        for bad in ["safety", "safety=", "safety=2", "safety=nan"] {
            assert!(bad.parse::<AxisFloor>().is_err(), "{bad}");
        }
        assert!(reaches(2.0 / 3.0, 0.6667) && !reaches(0.9999, 1.0) && reaches(1.0, 1.0) && !reaches(0.6, 0.6667));
    }
}
