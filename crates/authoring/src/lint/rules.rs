//! The rules, each a function over the folder.

use std::collections::BTreeSet;

use model::simulator::SimulatorType;
use model::template::{self, Bindings};
use serde_json::{Value, json};
use sims::Available;
use verify::{Assertion, Parsed};

use super::{Finding, Findings};
use crate::expand::expand;
use crate::folder::{Content, Folder, Task};

const DEFAULT_TIMEOUT: i64 = 3600;

/// Errors first.
pub fn lint(folder: &Folder) -> Vec<Finding> {
    let mut findings = Findings::default();
    environment(folder, &mut findings);
    unused(folder, &mut findings);
    match expand(folder) {
        Err(faults) => faults.into_iter().for_each(|fault| findings.add(fault)),
        Ok(tasks) => {
            if tasks.is_empty() {
                findings.add(Finding::error("tasks", "there is no task"));
            }
            names(&tasks, &mut findings);
            for (path, task) in &tasks {
                judge(folder, path, task, &mut findings);
            }
        }
    }
    findings.into_list()
}

fn environment(folder: &Folder, findings: &mut Findings) {
    let file = "benchmark.yaml";
    if !model::slug::is_slug(&folder.benchmark.slug) {
        findings.add(Finding::error(file, "slug: 1 to 64 lower-case letters, digits and single hyphens"));
    }
    let simulators = &folder.benchmark.environment.simulators;
    if simulators.is_empty() {
        findings.add(Finding::error(file, "environment.simulators: there is none"));
    }
    for (index, simulator) in simulators.iter().enumerate() {
        let place = format!("environment.simulators.{index}");
        if let Err(faults) = sims::validate_config(simulator.r#type, &simulator.config) {
            findings.add_fields(file, &format!("{place}.config"), &faults);
        }
        for key in simulator.datasets.iter().filter(|key| !folder.datasets.contains_key(*key)) {
            findings.add(Finding::error(file, format!("{place}.datasets: there is no datasets/{key}/dataset.yaml")));
        }
    }
}

fn unused(folder: &Folder, findings: &mut Findings) {
    let attached: BTreeSet<&String> =
        folder.benchmark.environment.simulators.iter().flat_map(|simulator| &simulator.datasets).collect();
    let bound: BTreeSet<&String> = folder.tasks.iter().flat_map(|(_, task)| references(task)).collect();
    for (key, dataset) in &folder.datasets {
        let file = format!("datasets/{key}/dataset.yaml");
        let has_content = dataset.content != Content::Empty;
        if has_content && !attached.contains(key) {
            findings.add(Finding::warning(&file, "no simulator starts from this data"));
        }
        for entity in &dataset.about.entities {
            if !bound.contains(&format!("{key}/{}", entity.name)) {
                findings
                    .add(Finding::warning(&file, format!("no task or criterion uses the entity `{}`", entity.name)));
            }
        }
    }
    for other in &folder.others {
        let is_known = other.ends_with(".md") || other.starts_with("agents/");
        if !is_known {
            findings.add(Finding::warning(other, "is no part of a benchmark and will not be pushed"));
        }
    }
}

fn references(task: &Task) -> impl Iterator<Item = &String> {
    let inputs = task.criteria.iter().filter_map(|criterion| criterion.entity.as_ref());
    task.each.iter().chain(&task.entities).chain(inputs)
}

fn names(tasks: &[(String, Task)], findings: &mut Findings) {
    let mut seen = BTreeSet::new();
    for (path, task) in tasks {
        if !seen.insert(&task.name) {
            findings.add(Finding::error(path, format!("name: another task is called `{}` too", task.name)));
        }
    }
}

fn judge(folder: &Folder, path: &str, task: &Task, findings: &mut Findings) {
    for reference in references(task).filter(|reference| folder.entity(reference).is_none()) {
        findings.add(Finding::error(path, format!("there is no entity `{reference}`")));
    }
    scenario(folder, path, task, findings);
    templates(folder, path, task, findings);
    wall_clock(folder, path, task, findings);
    if task.criteria.is_empty() {
        findings.add(Finding::error(path, format!("{}: no criteria: every agent would fail it", task.name)));
        return;
    }
    let mut asks_for_something = false;
    for (index, criterion) in task.criteria.iter().enumerate() {
        let place = format!("criteria.{index}.assertion");
        match verify::parse(&criterion.assertion) {
            Err(faults) => findings.add_fields(path, &place, &faults),
            Ok(Parsed::Unknown { name }) => {
                findings.add(Finding::error(path, format!("{place}.assert: there is no check `{name}`")));
            }
            Ok(Parsed::Known(assertion)) => {
                reachable(folder, path, &place, &assertion, findings);
                asks_for_something |= !is_passed_by_nothing(&criterion.assertion);
            }
        }
    }
    if !asks_for_something {
        let message = format!("{}: an agent that does nothing passes every criterion", task.name);
        findings.add(Finding::error(path, message));
    }
}

/// What is plain to see without running anything; `audit` finds the rest.
fn is_passed_by_nothing(assertion: &Value) -> bool {
    let is_empty = |name: &str| assertion[name].as_array().is_none_or(Vec::is_empty);
    match assertion["assert"].as_str() {
        Some("no-side-effects") => is_empty("require"),
        Some("interaction-budget") => true,
        _ => assertion["count"]["max"].as_u64() == Some(0) || assertion["count"].as_u64() == Some(0),
    }
}

fn scenario(folder: &Folder, path: &str, task: &Task, findings: &mut Findings) {
    let simulators = &folder.benchmark.environment.simulators;
    let available: Vec<Available<'_>> =
        simulators.iter().map(|simulator| Available { kind: simulator.r#type, name: &simulator.name }).collect();
    if let Err(faults) = sims::validate_scenario(&task.scenario, Some(&available)) {
        findings.add_fields(path, "scenario", &faults);
    }
}

/// A check whose simulator the environment does not have finds nothing, whatever the agent does.
fn reachable(folder: &Folder, path: &str, place: &str, assertion: &Assertion, findings: &mut Findings) {
    let Some(kind) = simulator_of(assertion) else { return };
    let has = folder.benchmark.environment.simulators.iter().any(|simulator| simulator.r#type == kind);
    if !has {
        findings.add(Finding::error(path, format!("{place}: the environment has no {} simulator", kind.name())));
    }
}

fn simulator_of(assertion: &Assertion) -> Option<SimulatorType> {
    match assertion {
        Assertion::FhirResourceState(_) => Some(SimulatorType::Fhir),
        Assertion::Hl7Structural(_) => Some(SimulatorType::Hl7),
        Assertion::PortalStateMatch(_) => Some(SimulatorType::Payer),
        Assertion::SftpFilePresent(_) => Some(SimulatorType::Files),
        Assertion::VoiceTranscript(_) => Some(SimulatorType::Voice),
        Assertion::X12Response(_) => Some(SimulatorType::Clearinghouse),
        Assertion::FaxDocument(_) => Some(SimulatorType::Fax),
        Assertion::MessageTranscript(_) => Some(SimulatorType::Message),
        Assertion::CdsResponse(_) => Some(SimulatorType::CdsHooks),
        Assertion::NoSideEffects(_) | Assertion::InteractionBudget(_) => None,
    }
}

/// What a template names must be there.
fn templates(folder: &Folder, path: &str, task: &Task, findings: &mut Findings) {
    let entity = |reference: Option<&String>| {
        let entity = folder.entity(reference?)?;
        Some(json!({"name": entity.name, "ref": entity.r#ref, "data": entity.data}))
    };
    let own = entity(task.entities.first());
    let about = json!({"id": "task", "name": task.name, "task_item": task.task_item});
    let bindings = Bindings { entity: own.as_ref(), task: Some(&about) };
    for (name, value) in [("task_item", &task.task_item), ("scenario", &task.scenario)] {
        if let Err(faults) = template::bind(value, &bindings) {
            findings.add_fields(path, name, &faults);
        }
    }
    for (index, criterion) in task.criteria.iter().enumerate() {
        let input = entity(criterion.entity.as_ref());
        let bindings = Bindings { entity: input.as_ref(), task: Some(&about) };
        if let Err(faults) = template::bind(&criterion.assertion, &bindings) {
            findings.add_fields(path, &format!("criteria.{index}.assertion"), &faults);
        }
    }
}

/// The same agent must meet the same task on every day.
fn wall_clock(folder: &Folder, path: &str, task: &Task, findings: &mut Findings) {
    let timeout = task.timeout.or(folder.benchmark.timeout).unwrap_or(DEFAULT_TIMEOUT);
    let steps = task.scenario.get("steps").and_then(Value::as_array).into_iter().flatten();
    for (index, step) in steps.enumerate() {
        let after = step.get("after_seconds").and_then(Value::as_i64).unwrap_or(0);
        if after >= timeout {
            let message = format!("scenario.steps.{index}.after_seconds: {after} is past the task's time of {timeout}");
            findings.add(Finding::error(path, message));
        }
    }
    let text = task.task_item.to_string().to_lowercase();
    let words = ["today", "tomorrow", "yesterday", "this week", "next week", "right now", "this month"];
    let has_date = ["\"today\":", "\"as_of\":", "\"current_date\":", "\"date\":"].iter().any(|key| text.contains(key));
    for word in words.iter().filter(|word| text.contains(*word) && !has_date) {
        let message = format!(
            "task_item says \"{word}\", and nothing in it says which day that is: write a date, or a member `today`"
        );
        findings.add(Finding::warning(path, message));
    }
}
