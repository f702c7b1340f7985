//! The rules, each a function over the folder.

use std::collections::BTreeSet;

use model::template::{self, Bindings};
use serde_json::Value;
use sims::Available;

use super::{Finding, Findings, answer_leaks, criteria, data, limits, resources};
use crate::expand::{about, expand_most, input};
use crate::folder::{Content, Folder, Task};

const DEFAULT_TIMEOUT: i64 = 3600;

/// Errors first.
pub fn lint(folder: &Folder) -> Vec<Finding> {
    let mut findings = Findings::default();
    environment(folder, &mut findings);
    unused(folder, &mut findings);
    let (tasks, faults) = expand_most(folder);
    if tasks.is_empty() && faults.is_empty() {
        findings.add(Finding::error("tasks", "there is no task"));
    }
    faults.into_iter().for_each(|fault| findings.add(fault));
    data::judge(folder, &tasks, &mut findings);
    resources::judge(folder, &tasks, &mut findings);
    limits::judge(folder, &tasks, &mut findings);
    names(folder, &tasks, &mut findings);
    answer_leaks::judge(folder, &tasks, &mut findings);
    for (path, task) in &tasks {
        judge(folder, path, task, &mut findings);
    }
    findings.into_list(&folder.places)
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
    folder.others.iter().filter_map(|path| stray(path)).for_each(|finding| findings.add(finding));
}

/// What lies among tasks and data was meant to be one: it must not be left behind unseen.
fn stray(path: &str) -> Option<Finding> {
    if path.ends_with(".md") || path.starts_with("agents/") {
        return None;
    }
    let top = path.split_once('/').map(|(top, _)| top);
    Some(match top {
        Some("tasks") => Finding::error(path, "is no task: the name of its file must end in `.yaml`"),
        Some("datasets") => Finding::error(
            path,
            "is no part of a dataset: that has `dataset.yaml`, and `data.ndjson` or `data.json` (type fhir) or `files/…` \
             (type files)",
        ),
        _ => Finding::warning(path, "is no part of a benchmark and will not be pushed"),
    })
}

fn references(task: &Task) -> impl Iterator<Item = &String> {
    let inputs = task.criteria.iter().filter_map(|criterion| criterion.entity.as_ref());
    task.each.iter().chain(&task.entities).chain(inputs)
}

fn names(folder: &Folder, tasks: &[(String, Task)], findings: &mut Findings) {
    for (path, task) in folder.tasks.iter().filter(|(_, task)| task.each.is_empty()) {
        if template::is_template(&task.name) {
            findings.add(Finding::error(path, "name: `{{…}}` is filled in only where `each` names the entities"));
        }
    }
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
    instruction(path, task, findings);
    scenario(folder, path, task, findings);
    templates(folder, path, task, findings);
    wall_clock(folder, path, task, findings);
    criteria::judge(folder, path, task, findings);
}

/// What the runner gives an agent as its instruction.
fn instruction(path: &str, task: &Task, findings: &mut Findings) {
    let item = &task.task_item;
    let told = item.as_str().or_else(|| item["instruction"].as_str()).unwrap_or_default();
    if told.trim().is_empty() {
        findings.add(Finding::warning(path, "task_item has no `instruction`: an agent is not told what to do"));
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

/// What a template names must be there.
fn templates(folder: &Folder, path: &str, task: &Task, findings: &mut Findings) {
    let own = input(folder, task.entities.first());
    let about = about(task);
    let bindings = Bindings { entity: own.as_ref(), task: Some(&about) };
    for (name, value) in [("task_item", &task.task_item), ("scenario", &task.scenario)] {
        if let Err(faults) = template::bind(value, &bindings) {
            findings.add_fields(path, name, &faults);
        }
    }
    for (index, criterion) in task.criteria.iter().enumerate() {
        let entity = input(folder, criterion.entity.as_ref());
        let bindings = Bindings { entity: entity.as_ref(), task: Some(&about) };
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
