//! Expands task files with `each` into one task per entity, and renders templates.

use model::template::Bindings;
use serde_json::{Value, json};

use crate::folder::{Folder, Task};
use crate::lint::Finding;

/// Expands the task files of a folder. Returns each task with its file path.
pub fn expand(folder: &Folder) -> Result<Vec<(String, Task)>, Vec<Finding>> {
    let (tasks, findings) = expand_valid(folder);
    if findings.is_empty() { Ok(tasks) } else { Err(findings) }
}

/// Expands those tasks that can be expanded, and reports why others cannot.
pub(crate) fn expand_valid(folder: &Folder) -> (Vec<(String, Task)>, Vec<Finding>) {
    let mut tasks = Vec::new();
    let mut findings = Vec::new();
    for (path, task) in &folder.tasks {
        if task.each.is_empty() {
            tasks.push((path.clone(), task.clone()));
        }
        for reference in &task.each {
            match expand_for(folder, task, reference) {
                Ok(expanded) => tasks.push((path.clone(), expanded)),
                Err(error) => findings.push(Finding::error(path.clone(), format!("each: {error}"))),
            }
        }
    }
    (tasks, findings)
}

/// An entity as templates see it.
pub(crate) fn entity_value(folder: &Folder, reference: Option<&String>) -> Option<Value> {
    let entity = folder.entity(reference?)?;
    Some(json!({"name": entity.name, "ref": entity.r#ref, "data": entity.data}))
}

/// The message for a reference to an unknown entity, with a suggestion.
pub(crate) fn unknown_entity_message(folder: &Folder, reference: &str) -> String {
    let names = folder.datasets.iter().flat_map(|(key, dataset)| {
        dataset.metadata.entities.iter().map(move |entity| format!("{key}/{}", entity.name))
    });
    let names: Vec<String> = names.collect();
    let nearest = fhir::nearest(reference, names.iter().map(String::as_str));
    let hint = nearest.map(|name| format!(": did you mean `{name}`?")).unwrap_or_default();
    format!("there is no entity `{reference}`{hint}")
}

/// A task as templates see it.
pub(crate) fn task_value(task: &Task) -> Value {
    json!({"id": "task", "name": task.name, "task_item": task.task_item})
}

/// The task for one entity.
fn expand_for(folder: &Folder, task: &Task, reference: &String) -> Result<Task, String> {
    let entity = entity_value(folder, Some(reference)).ok_or_else(|| unknown_entity_message(folder, reference))?;
    let bindings = Bindings { entity: Some(&entity), task: None };
    let name =
        model::template::bind(&Value::String(task.name.clone()), &bindings).map_err(|error| error.to_string())?;
    let mut expanded = task.clone();
    expanded.name = name.as_str().map_or_else(|| name.to_string(), str::to_owned);
    expanded.each = Vec::new();
    expanded.entities.insert(0, reference.to_owned());
    for criterion in &mut expanded.criteria {
        criterion.entity.get_or_insert_with(|| reference.to_owned());
    }
    Ok(expanded)
}

/// Renders all templates of an expanded task, as in a run.
pub fn render_task(folder: &Folder, task: &Task) -> Result<Value, String> {
    let (item, assertions) = render_item_and_assertions(folder, task)?;
    let (task_value, entity) = (task_value(task), entity_value(folder, task.entities.first()));
    let bindings = Bindings { entity: entity.as_ref(), task: Some(&task_value) };
    let scenario = model::template::bind(&task.scenario, &bindings).map_err(|error| error.to_string())?;
    let mut rendered = serde_json::to_value(task).map_err(|error| error.to_string())?;
    for (member, value) in [("task_item", item), ("scenario", scenario)] {
        if !value.is_null() {
            rendered[member] = value;
        }
    }
    for (criterion, assertion) in rendered["criteria"].as_array_mut().into_iter().flatten().zip(assertions) {
        criterion["assertion"] = assertion;
    }
    Ok(rendered)
}

/// Renders the task item and the assertions of an expanded task.
pub fn render_item_and_assertions(folder: &Folder, task: &Task) -> Result<(Value, Vec<Value>), String> {
    let task_value = task_value(task);
    let bind = |value: &Value, reference: Option<&String>| {
        let entity = entity_value(folder, reference);
        let bindings = Bindings { entity: entity.as_ref(), task: Some(&task_value) };
        model::template::bind(value, &bindings).map_err(|error| error.to_string())
    };
    let item = bind(&task.task_item, task.entities.first())?;
    let assertions = task.criteria.iter().map(|criterion| bind(&criterion.assertion, criterion.entity.as_ref()));
    Ok((item, assertions.collect::<Result<Vec<_>, _>>()?))
}
