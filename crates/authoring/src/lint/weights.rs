//! Lints the weights of a task: the score for doing nothing, and the weight of critical criteria.

use model::critical;
use model::score::{self, Part, Score};
use model::weight::Weight;

use super::{Finding, Findings};
use crate::folder::{Criterion, Task};

/// An idle agent must score less than one part in this many.
const MAX_FLOOR_DENOMINATOR: u64 = 10;

pub(super) fn check(path: &str, task: &Task, findings: &mut Findings) {
    let weights: Vec<(bool, Weight)> =
        task.criteria.iter().map(|criterion| (criterion.critical, weight(criterion))).collect();
    for (index, message) in critical::too_light(&weights) {
        findings.add(Finding::error(path, format!("criteria.{index}.weight: {message}")));
    }
    check_guards(path, task, findings);
}

/// Checks what an idle agent scores. It must not pass, and must score less than a tenth.
fn check_guards(path: &str, task: &Task, findings: &mut Findings) {
    let is_guard = |criterion: &Criterion| verify::is_guard(&criterion.assertion);
    let guards: Vec<&Criterion> = task.criteria.iter().filter(|criterion| is_guard(criterion)).collect();
    if guards.len() == task.criteria.len() {
        let message = format!("{}: an agent that does nothing passes every criterion", task.name);
        findings.add(Finding::error(path, message));
        return;
    }
    let part = |criterion: &Criterion| Part {
        score: if is_guard(criterion) { Score::one() } else { Score::zero() },
        weight: weight(criterion),
        axis: None,
    };
    let (floor, _) = score::task(&task.criteria.iter().map(part).collect::<Vec<_>>());
    if floor >= Score::fraction(1, MAX_FLOOR_DENOMINATOR) {
        let labels: Vec<String> = guards.iter().map(|criterion| format!("`{}`", criterion.label)).collect();
        let message = format!(
            "{}: an agent that does nothing scores {} by guards ({}); keep it below 0.1: give them less weight, or let \
             them ask for work, such as `require` of no-side-effects",
            task.name,
            floor.rounded(),
            labels.join(", ")
        );
        findings.add(Finding::warning(path, message));
    }
}

fn weight(criterion: &Criterion) -> Weight {
    criterion.weight.unwrap_or(Weight::ONE)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn found(criteria: Value) -> Vec<String> {
        let mut task = json!({"name": "Order"});
        task["criteria"] = criteria;
        let task: Task = serde_json::from_value(task).unwrap();
        let mut findings = Findings::default();
        super::check("tasks/1.yaml", &task, &mut findings);
        findings.into_sorted(&super::super::SourceLines::default()).iter().map(ToString::to_string).collect()
    }

    fn check(criteria: Value, expected: &[&str]) {
        let found = found(criteria);
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.contains(expected), "{found}");
        }
    }

    #[test]
    fn an_idle_agent_scores_less_than_a_tenth() {
        let work = |weight: f64| json!({"label": "Ordered", "weight": weight, "assertion": {"assert": "no-side-effects", "require": ["fhir/Task"]}});
        let guard = |assertion: Value| json!({"label": "Nothing else", "assertion": assertion});
        let nothing = || guard(json!({"assert": "no-side-effects"}));
        check(json!([work(9.5), nothing()]), &[]);
        check(json!([work(9.0), nothing()]), &["does nothing scores 0.1 by guards (`Nothing else`)"]);
        check(json!([work(1.0), nothing()]), &["warning: tasks/1.yaml: Order: an agent that does nothing scores 0.5"]);
        let absent = guard(json!({"assert": "fhir-resource-state", "resource_type": "Task", "count": {"max": 0}}));
        check(
            json!([nothing(), absent]),
            &["error: tasks/1.yaml: Order: an agent that does nothing passes every criterion"],
        );
        // An unknown check counts as asking for work.
        check(json!([guard(json!({"assert": "mind-reading"}))]), &[]);
    }

    #[test]
    fn a_critical_criterion_weighs_enough() {
        let work = |weight: f64, critical: bool| json!({"label": "Ordered", "weight": weight, "critical": critical, "assertion": {"assert": "no-side-effects", "require": ["fhir/Task"]}});
        check(json!([work(1.0, true), work(8.9, false)]), &[]);
        check(
            json!([work(9.0, false), work(1.0, true)]),
            &["error: tasks/1.yaml: criteria.1.weight: a critical criterion"],
        );
    }
}
