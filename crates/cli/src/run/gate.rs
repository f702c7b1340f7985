//! The gate: minimum results of the runs, and the resulting exit code.

use std::str::FromStr;

use model::stats::PairedDifference;

use crate::report::model::{Condition, Gate, Report};

/// `safety=1.0`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AxisMinimum {
    pub(crate) axis: String,
    pub(crate) min: f64,
}

impl FromStr for AxisMinimum {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (axis, min) = text.split_once('=').ok_or("expected AXIS=SCORE, such as safety=1.0")?;
        Ok(Self { axis: axis.trim().to_owned(), min: parse_score(min.trim())? })
    }
}

/// Parses a score from 0 to 1.
pub(crate) fn parse_score(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err("must be a number from 0 to 1".into()),
    }
}

pub(crate) struct GateOptions<'a> {
    pub(crate) min_score: Option<f64>,
    pub(crate) axes: &'a [AxisMinimum],
    /// The minimum number of passed tasks in each run.
    pub(crate) min_tasks_passed: Option<u32>,
    /// Critical failures do not fail the gate.
    pub(crate) allow_critical: bool,
}

/// Evaluates the gate on the finished runs. The result is unknown while one of them has no score.
pub(crate) fn evaluate(report: &Report, options: &GateOptions) -> Gate {
    let mut conditions = Vec::new();
    let format_score = |found: Option<f64>| found.map_or_else(|| "none".to_owned(), model::score::format_score);
    if let Some(min) = options.min_score {
        let found = report.statistics.mean;
        let passed = found.is_some_and(|found| reaches(found, min));
        conditions.push(Condition { what: format!("score >= {min}"), found: format_score(found), passed });
    }
    for minimum in options.axes {
        let name = if minimum.axis == "other" { "__default__" } else { &minimum.axis };
        let axes = &report.statistics.axes;
        let found = axes.get(name).and_then(|axis| axis.mean);
        // An axis without criteria does not meet any minimum.
        let passed = found.is_some_and(|found| reaches(found, minimum.min));
        let text =
            if found.is_none() && !axes.is_empty() { unknown_axis_message(axes.keys()) } else { format_score(found) };
        conditions.push(Condition { what: format!("{} >= {}", minimum.axis, minimum.min), found: text, passed });
    }
    if let Some(min) = options.min_tasks_passed {
        let found = report.runs.iter().map(|run| run.tasks_passed).min();
        let passed = found.is_some_and(|found| found >= i64::from(min));
        let text = found.map_or_else(|| "none".to_owned(), |found| found.to_string());
        conditions.push(Condition { what: format!("tasks passed >= {min}"), found: text, passed });
    }
    // An implicit condition, which is only listed if it is not met.
    if report.critical_failures > 0 && !options.allow_critical {
        let found = report.critical_failures.to_string();
        conditions.push(Condition { what: "no critical failures".to_owned(), found, passed: false });
    }
    if let Some(difference) = &report.baseline {
        conditions.push(baseline_condition(difference));
    }
    let is_complete = !report.runs.is_empty() && report.runs.iter().all(|run| run.score.is_some());
    let passed = (is_complete && !conditions.is_empty()).then(|| conditions.iter().all(|condition| condition.passed));
    Gate { passed, conditions }
}

fn unknown_axis_message<'a>(axes: impl Iterator<Item = &'a String>) -> String {
    let names: Vec<&str> = axes.map(|name| if name == "__default__" { "other" } else { name }).collect();
    format!("no criterion has this axis; there are {}", names.join(", "))
}

/// Compares with the four digits of printed scores: two thirds meet a minimum of 0.6667.
fn reaches(found: f64, min: f64) -> bool {
    found + 0.000_05 >= min && (min < 1.0 || found >= 1.0 - 1e-9)
}

/// The condition for a baseline. Only a significant difference fails it, or no tasks in common.
fn baseline_condition(difference: &PairedDifference) -> Condition {
    let is_worse = difference.significant == Some(true) && difference.mean.is_some_and(|mean| mean < 0.0);
    let found = match (&difference.interval, difference.mean) {
        (Some(interval), Some(mean)) => format!("{mean:+.4} ({:+.4} … {:+.4})", interval.low, interval.high),
        (None, Some(mean)) => format!("{mean:+.4} on {} task", difference.n),
        _ => "no task in common".into(),
    };
    Condition { what: format!("not worse than {}", difference.second), found, passed: difference.n > 0 && !is_worse }
}

/// The exit code of the process. Infrastructure failures take precedence over results of the agent.
pub(crate) fn exit_code(report: &Report, is_stopped: bool) -> u8 {
    let has_unmeasured = report.tasks().any(|task| task.status.is_no_measurement());
    let is_complete = !report.runs.is_empty() && report.runs.iter().all(|run| run.score.is_some());
    match report.gate.passed {
        _ if is_stopped => 130,
        _ if has_unmeasured || !is_complete => 4,
        Some(false) => 1,
        // With a gate that is met, a crash is accepted.
        None if report.is_crash() => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_baseline_without_common_tasks_is_not_met() {
        let comparison = model::stats::compare(&[("new".into(), vec![]), ("old".into(), vec![])]);
        let condition = baseline_condition(&comparison.differences[0]);
        assert_eq!((condition.found.as_str(), condition.passed), ("no task in common", false));
    }

    #[test]
    fn axis_minimums_are_parsed_and_compared() {
        assert_eq!("safety=1.0".parse(), Ok(AxisMinimum { axis: "safety".into(), min: 1.0 }));
        for bad in ["safety", "safety=", "safety=2", "safety=nan"] {
            assert!(bad.parse::<AxisMinimum>().is_err(), "{bad}");
        }
        assert!(reaches(2.0 / 3.0, 0.6667) && !reaches(0.9999, 1.0) && reaches(1.0, 1.0) && !reaches(0.6, 0.6667));
    }
}
