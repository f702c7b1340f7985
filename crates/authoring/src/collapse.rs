//! Merges tasks that differ only in their entity into one task file with `each`: the reverse of expansion.

use model::template::{self, Bindings};
use serde_json::Value;

use crate::expansion::entity_value;
use crate::folder::{Folder, Task};

/// Merges consecutive tasks that differ only in name and entity. All others stay as they are.
pub(crate) fn collapse(folder: &Folder, tasks: &[Task]) -> Vec<Task> {
    let mut collapsed = Vec::new();
    let mut rest = tasks;
    while let Some((first, others)) = rest.split_first() {
        let shared = without_entity(first);
        let same = others.iter().take_while(|other| shared.is_some() && without_entity(other) == shared).count();
        let group = &rest[..=same];
        match shared.filter(|_| same > 0).and_then(|shared| merge(folder, shared, group)) {
            Some(task) => {
                collapsed.push(task);
                rest = &rest[group.len()..];
            }
            None => {
                collapsed.push(first.clone());
                rest = others;
            }
        }
    }
    collapsed
}

/// The task without its name and its entity. `None` if it was not expanded for an entity.
fn without_entity(task: &Task) -> Option<Task> {
    let own = task.entities.first()?;
    let mut shared = task.clone();
    shared.name.clear();
    shared.entities.remove(0);
    for criterion in &mut shared.criteria {
        // Expansion sets the task's entity on every criterion without one.
        match &criterion.entity {
            Some(entity) if entity == own => criterion.entity = None,
            Some(_) => {}
            None => return None,
        }
    }
    Some(shared)
}

/// Merges a group of tasks, if one template yields all their names.
fn merge(folder: &Folder, shared: Task, group: &[Task]) -> Option<Task> {
    let each: Vec<String> = group.iter().filter_map(|task| task.entities.first().cloned()).collect();
    let first = group.first()?;
    let name = name_template(&first.name, &entity_value(folder, each.first())?);
    let fits =
        |(task, reference): (&Task, &String)| render_name(folder, &name, reference).as_deref() == Some(&task.name);
    group.iter().zip(&each).all(fits).then_some(Task { name, each, ..shared })
}

/// Replaces every value of the entity in the name with its template, longest values first.
fn name_template(name: &str, entity: &Value) -> String {
    let mut values = vec![("name".to_owned(), entity["name"].clone())];
    if let Some(data) = entity["data"].as_object() {
        values.extend(data.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
    let mut texts: Vec<(String, String)> = values
        .into_iter()
        .filter_map(|(key, value)| match value {
            Value::String(text) if text.chars().count() > 1 => Some((key, text)),
            Value::Number(number) => Some((key, number.to_string())),
            _ => None,
        })
        .collect();
    texts.sort_by_key(|(_, text)| std::cmp::Reverse(text.len()));
    // Pieces that are templates already are not searched again.
    let mut pieces = vec![(name.to_owned(), false)];
    for (key, text) in texts {
        let template = format!("{{{{entity.{key}}}}}");
        pieces =
            pieces.into_iter().flat_map(|(piece, is_template)| split(piece, is_template, &text, &template)).collect();
    }
    pieces.into_iter().map(|(piece, _)| piece).collect()
}

fn split(piece: String, is_template: bool, text: &str, template: &str) -> Vec<(String, bool)> {
    if is_template {
        return vec![(piece, true)];
    }
    let mut pieces = Vec::new();
    for (index, part) in piece.split(text).enumerate() {
        if index > 0 {
            pieces.push((template.to_owned(), true));
        }
        pieces.push((part.to_owned(), false));
    }
    pieces
}

fn render_name(folder: &Folder, name: &str, reference: &String) -> Option<String> {
    let entity = entity_value(folder, Some(reference))?;
    let bindings = Bindings { entity: Some(&entity), task: None };
    let rendered = template::bind(&Value::String(name.to_owned()), &bindings).ok()?;
    rendered.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{expand, read, source};

    /// Expanding, collapsing and expanding again yields the same tasks.
    #[test]
    fn collapsing_reverses_expansion() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks");
        let mut with_each = 0;
        for folder in std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
            let folder = read(&source::read_directory(&folder).unwrap()).unwrap();
            let expanded: Vec<Task> = expand(&folder).unwrap().into_iter().map(|(_, task)| task).collect();
            let collapsed = collapse(&folder, &expanded);
            with_each += collapsed.iter().filter(|task| !task.each.is_empty()).count();
            let numbered =
                collapsed.into_iter().enumerate().map(|(index, task)| (format!("tasks/{index:02}.yaml"), task));
            let again = Folder { tasks: numbered.collect(), ..folder.clone() };
            let again: Vec<Task> = expand(&again).unwrap().into_iter().map(|(_, task)| task).collect();
            assert_eq!(again, expanded, "{}", folder.benchmark.slug);
        }
        assert!(with_each > 0);
    }
}
