//! The lint rules, each a function over the folder.

use std::collections::BTreeSet;

use model::FieldErrors;
use model::template::{self, Bindings};
use serde_json::Value;
use sims::EnvironmentSimulator;

use super::{Finding, Findings, answer_leaks, criteria, data, limits, resources};
use crate::expansion::{entity_value, expand_valid, task_value, unknown_entity_message};
use crate::folder::{Content, Folder, Task};

const DEFAULT_TIMEOUT: i64 = 3600;

/// Lints a folder. Findings are sorted by severity, file and line.
pub fn lint(folder: &Folder) -> Vec<Finding> {
    let mut findings = Findings::default();
    check_environment(folder, &mut findings);
    check_unused(folder, &mut findings);
    let (tasks, errors) = expand_valid(folder);
    if tasks.is_empty() && errors.is_empty() {
        findings.add(Finding::error("tasks", "the folder has no tasks"));
    }
    errors.into_iter().for_each(|error| findings.add(error));
    data::check(folder, &tasks, &mut findings);
    resources::check(folder, &tasks, &mut findings);
    limits::check(folder, &tasks, &mut findings);
    check_names(folder, &tasks, &mut findings);
    answer_leaks::check(folder, &tasks, &mut findings);
    for (path, task) in &tasks {
        check_task(folder, path, task, &mut findings);
    }
    findings.into_sorted(&folder.source_lines)
}

fn check_environment(folder: &Folder, findings: &mut Findings) {
    let file = "benchmark.yaml";
    if !model::slug::is_slug(&folder.benchmark.slug) {
        findings.add(Finding::error(file, "slug: 1 to 64 lower-case letters, digits and single hyphens"));
    }
    let simulators = &folder.benchmark.environment.simulators;
    if simulators.is_empty() {
        findings.add(Finding::error(file, "environment.simulators: the environment has no simulators"));
    }
    for (index, simulator) in simulators.iter().enumerate() {
        let path = format!("environment.simulators.{index}");
        if let Err(errors) = sims::validate_config(simulator.r#type, &simulator.config) {
            findings.add_fields(file, &format!("{path}.config"), &errors);
        }
        for key in simulator.datasets.iter().filter(|key| !folder.datasets.contains_key(*key)) {
            let nearest = fhir::nearest(key, folder.datasets.keys().map(String::as_str));
            let hint = nearest.map(|name| format!(": did you mean `{name}`?")).unwrap_or_default();
            let message = format!("{path}.datasets: there is no datasets/{key}/dataset.yaml{hint}");
            findings.add(Finding::error(file, message));
        }
    }
}

fn check_unused(folder: &Folder, findings: &mut Findings) {
    let attached: BTreeSet<&String> =
        folder.benchmark.environment.simulators.iter().flat_map(|simulator| &simulator.datasets).collect();
    let bound: BTreeSet<&String> = folder.tasks.iter().flat_map(|(_, task)| references(task)).collect();
    for (key, dataset) in &folder.datasets {
        let file = format!("datasets/{key}/dataset.yaml");
        let has_content = dataset.content != Content::Empty;
        if has_content && !attached.contains(key) {
            findings.add(Finding::warning(&file, "no simulator uses this data"));
        }
        for entity in &dataset.metadata.entities {
            if !bound.contains(&format!("{key}/{}", entity.name)) {
                findings
                    .add(Finding::warning(&file, format!("no task or criterion uses the entity `{}`", entity.name)));
            }
        }
    }
    folder.other_files.iter().filter_map(|path| stray_file(path)).for_each(|finding| findings.add(finding));
}

/// Reports a file that is not part of the benchmark. Among tasks and datasets this is an error: the author meant to include
/// it.
fn stray_file(path: &str) -> Option<Finding> {
    if path.ends_with(".md") || path.starts_with("agents/") {
        return None;
    }
    let top = path.split_once('/').map(|(top, _)| top);
    Some(match top {
        Some("tasks") => Finding::error(path, "is not a task: the file name must end in `.yaml`"),
        Some("datasets") => Finding::error(
            path,
            "is not part of a dataset, which has `dataset.yaml`, and `data.ndjson` or `data.json` (type fhir) or `files/…` \
             (type files)",
        ),
        _ => Finding::warning(path, "is not part of the benchmark and will not be pushed"),
    })
}

/// All entities that a task refers to.
fn references(task: &Task) -> impl Iterator<Item = &String> {
    let inputs = task.criteria.iter().filter_map(|criterion| criterion.entity.as_ref());
    task.each.iter().chain(&task.entities).chain(inputs)
}

fn check_names(folder: &Folder, tasks: &[(String, Task)], findings: &mut Findings) {
    for (path, task) in folder.tasks.iter().filter(|(_, task)| task.each.is_empty()) {
        if template::is_template(&task.name) {
            findings.add(Finding::error(path, "name: `{{…}}` can only be used with `each`"));
        }
    }
    let mut seen = BTreeSet::new();
    for (path, task) in tasks {
        if !seen.insert(&task.name) {
            findings.add(Finding::error(path, format!("name: another task has the name `{}`", task.name)));
        }
    }
}

fn check_task(folder: &Folder, path: &str, task: &Task, findings: &mut Findings) {
    for reference in references(task).filter(|reference| folder.entity(reference).is_none()) {
        findings.add(Finding::error(path, unknown_entity_message(folder, reference)));
    }
    check_instruction(path, task, findings);
    check_scenario(folder, path, task, findings);
    check_templates(folder, path, task, findings);
    check_wall_clock(folder, path, task, findings);
    criteria::check(folder, path, task, findings);
}

/// Checks that the task item has an instruction for the agent.
fn check_instruction(path: &str, task: &Task, findings: &mut Findings) {
    let item = &task.task_item;
    let instruction = item.as_str().or_else(|| item["instruction"].as_str()).unwrap_or_default();
    if instruction.trim().is_empty() {
        findings.add(Finding::warning(path, "task_item has no `instruction`: an agent does not learn what to do"));
    }
}

fn check_scenario(folder: &Folder, path: &str, task: &Task, findings: &mut Findings) {
    let simulators = &folder.benchmark.environment.simulators;
    let available: Vec<EnvironmentSimulator<'_>> = simulators
        .iter()
        .map(|simulator| EnvironmentSimulator { kind: simulator.r#type, name: &simulator.name })
        .collect();
    if let Err(errors) = sims::validate_scenario(&task.scenario, Some(&available)) {
        findings.add_fields(path, "scenario", &errors);
    }
}

/// Checks that all templates can be rendered.
fn check_templates(folder: &Folder, path: &str, task: &Task, findings: &mut Findings) {
    let own = entity_value(folder, task.entities.first());
    let task_value = task_value(task);
    let bindings = Bindings { entity: own.as_ref(), task: Some(&task_value) };
    for (name, value) in [("task_item", &task.task_item), ("scenario", &task.scenario)] {
        if let Err(errors) = template::bind(value, &bindings) {
            findings.add_fields(path, name, &with_names(&errors, own.as_ref()));
        }
    }
    for (index, criterion) in task.criteria.iter().enumerate() {
        let entity = entity_value(folder, criterion.entity.as_ref());
        let bindings = Bindings { entity: entity.as_ref(), task: Some(&task_value) };
        if let Err(errors) = template::bind(&criterion.assertion, &bindings) {
            findings.add_fields(path, &format!("criteria.{index}.assertion"), &with_names(&errors, entity.as_ref()));
        }
    }
}

/// Adds the names of the entity's members to errors about the entity.
fn with_names(errors: &FieldErrors, entity: Option<&Value>) -> FieldErrors {
    let Some(entity) = entity else { return errors.clone() };
    let data = entity["data"].as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    let names: Vec<String> = ["name", "ref", "id"].into_iter().chain(data).map(|name| format!("`{name}`")).collect();
    let mut named = FieldErrors::new();
    for (path, messages) in errors.iter() {
        for message in messages {
            let is_about_entity = message.contains("`{{entity.");
            let hint = if is_about_entity { format!("; the entity has {}", names.join(", ")) } else { String::new() };
            named.add(path, format!("{message}{hint}"));
        }
    }
    named
}

/// Reports what depends on the current time: the same agent must get the same task on every day.
fn check_wall_clock(folder: &Folder, path: &str, task: &Task, findings: &mut Findings) {
    let timeout = task.timeout.or(folder.benchmark.timeout).unwrap_or(DEFAULT_TIMEOUT);
    let steps = task.scenario.get("steps").and_then(Value::as_array).into_iter().flatten();
    for (index, step) in steps.enumerate() {
        let after = step.get("after_seconds").and_then(Value::as_i64).unwrap_or(0);
        if after >= timeout {
            let message = format!(
                "scenario.steps.{index}.after_seconds: {after} is after the task's timeout of {timeout} seconds"
            );
            findings.add(Finding::error(path, message));
        }
    }
    let text = task.task_item.to_string().to_lowercase();
    let words = ["today", "tomorrow", "yesterday", "this week", "next week", "right now", "this month"];
    let has_date = ["\"today\":", "\"as_of\":", "\"current_date\":", "\"date\":"].iter().any(|key| text.contains(key));
    for word in words.iter().filter(|word| text.contains(*word) && !has_date) {
        let message = format!(
            "task_item says \"{word}\" without saying which day that is: write a date, or add a member `today`"
        );
        findings.add(Finding::warning(path, message));
    }
}
