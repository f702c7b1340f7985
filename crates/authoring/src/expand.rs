//! A task file for several entities becomes as many tasks.

use model::template::Bindings;
use serde_json::{Value, json};

use crate::folder::{Folder, Task};
use crate::lint::Finding;

/// The tasks that a folder's files stand for, each with the file it is from.
pub fn expand(folder: &Folder) -> Result<Vec<(String, Task)>, Vec<Finding>> {
    let (tasks, findings) = expand_most(folder);
    if findings.is_empty() { Ok(tasks) } else { Err(findings) }
}

/// Those of them that can be made, and why the others cannot.
pub(crate) fn expand_most(folder: &Folder) -> (Vec<(String, Task)>, Vec<Finding>) {
    let mut tasks = Vec::new();
    let mut findings = Vec::new();
    for (path, task) in &folder.tasks {
        if task.each.is_empty() {
            tasks.push((path.clone(), task.clone()));
        }
        for reference in &task.each {
            match one(folder, task, reference) {
                Ok(one) => tasks.push((path.clone(), one)),
                Err(fault) => findings.push(Finding::error(path.clone(), format!("each: {fault}"))),
            }
        }
    }
    (tasks, findings)
}

/// An entity as templates know it.
pub(crate) fn input(folder: &Folder, reference: Option<&String>) -> Option<Value> {
    let entity = folder.entity(reference?)?;
    Some(json!({"name": entity.name, "ref": entity.r#ref, "data": entity.data}))
}

/// A task as templates know it.
pub(crate) fn about(task: &Task) -> Value {
    json!({"id": "task", "name": task.name, "task_item": task.task_item})
}

fn one(folder: &Folder, task: &Task, reference: &String) -> Result<Task, String> {
    let entity = input(folder, Some(reference)).ok_or_else(|| format!("there is no entity `{reference}`"))?;
    let bindings = Bindings { entity: Some(&entity), task: None };
    let name =
        model::template::bind(&Value::String(task.name.clone()), &bindings).map_err(|fault| fault.to_string())?;
    let mut one = task.clone();
    one.name = name.as_str().map_or_else(|| name.to_string(), str::to_owned);
    one.each = Vec::new();
    one.entities.insert(0, reference.to_owned());
    for criterion in &mut one.criteria {
        criterion.entity.get_or_insert_with(|| reference.to_owned());
    }
    Ok(one)
}

/// An expanded task as it runs: with all templates filled in.
pub fn filled(folder: &Folder, task: &Task) -> Result<Value, String> {
    let (item, assertions) = bound(folder, task)?;
    let (about, entity) = (about(task), input(folder, task.entities.first()));
    let bindings = Bindings { entity: entity.as_ref(), task: Some(&about) };
    let scenario = model::template::bind(&task.scenario, &bindings).map_err(|fault| fault.to_string())?;
    let mut whole = serde_json::to_value(task).map_err(|fault| fault.to_string())?;
    for (member, value) in [("task_item", item), ("scenario", scenario)] {
        if !value.is_null() {
            whole[member] = value;
        }
    }
    for (criterion, assertion) in whole["criteria"].as_array_mut().into_iter().flatten().zip(assertions) {
        criterion["assertion"] = assertion;
    }
    Ok(whole)
}

/// What an agent is told of an expanded task, and what its criteria assert, with all templates filled in.
pub fn bound(folder: &Folder, task: &Task) -> Result<(Value, Vec<Value>), String> {
    let about = about(task);
    let bind = |value: &Value, reference: Option<&String>| {
        let input = input(folder, reference);
        let bindings = Bindings { entity: input.as_ref(), task: Some(&about) };
        model::template::bind(value, &bindings).map_err(|fault| fault.to_string())
    };
    let item = bind(&task.task_item, task.entities.first())?;
    let assertions = task.criteria.iter().map(|criterion| bind(&criterion.assertion, criterion.entity.as_ref()));
    Ok((item, assertions.collect::<Result<Vec<_>, _>>()?))
}
