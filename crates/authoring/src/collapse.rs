//! Tasks that differ only in their entity, written as one file with `each`: the reverse of expanding it.

use model::template::{self, Bindings};
use serde_json::Value;

use crate::expand::input;
use crate::folder::{Folder, Task};

/// Neighboring tasks that one file with `each` stands for become that one; all others stay as they are.
pub(crate) fn collapse(folder: &Folder, tasks: &[Task]) -> Vec<Task> {
    let mut collapsed = Vec::new();
    let mut rest = tasks;
    while let Some((first, others)) = rest.split_first() {
        let shared = neutral(first);
        let alike = others.iter().take_while(|other| shared.is_some() && neutral(other) == shared).count();
        let group = &rest[..=alike];
        match shared.filter(|_| alike > 0).and_then(|shared| together(folder, shared, group)) {
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

/// The task without its name and its own entity, if it has one.
fn neutral(task: &Task) -> Option<Task> {
    let own = task.entities.first()?;
    let mut shared = task.clone();
    shared.name.clear();
    shared.entities.remove(0);
    for criterion in &mut shared.criteria {
        // Expanding gives every criterion without an entity that of the task.
        match &criterion.entity {
            Some(entity) if entity == own => criterion.entity = None,
            Some(_) => {}
            None => return None,
        }
    }
    Some(shared)
}

/// One task for all, if their names follow one template.
fn together(folder: &Folder, shared: Task, group: &[Task]) -> Option<Task> {
    let each: Vec<String> = group.iter().filter_map(|task| task.entities.first().cloned()).collect();
    let first = group.first()?;
    let name = template_of(&first.name, &input(folder, each.first())?);
    let fits = |(task, reference): (&Task, &String)| filled(folder, &name, reference).as_deref() == Some(&task.name);
    group.iter().zip(&each).all(fits).then_some(Task { name, each, ..shared })
}

/// The name with every value of the entity that stands in it replaced by its template, longest values first.
fn template_of(name: &str, entity: &Value) -> String {
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
    // What is a template already is not looked at again.
    let mut pieces = vec![(name.to_owned(), false)];
    for (key, text) in texts {
        let template = format!("{{{{entity.{key}}}}}");
        pieces = pieces.into_iter().flat_map(|(piece, is_done)| split(piece, is_done, &text, &template)).collect();
    }
    pieces.into_iter().map(|(piece, _)| piece).collect()
}

fn split(piece: String, is_done: bool, text: &str, template: &str) -> Vec<(String, bool)> {
    if is_done {
        return vec![(piece, true)];
    }
    let mut pieces = Vec::new();
    for (place, part) in piece.split(text).enumerate() {
        if place > 0 {
            pieces.push((template.to_owned(), true));
        }
        pieces.push((part.to_owned(), false));
    }
    pieces
}

fn filled(folder: &Folder, name: &str, reference: &String) -> Option<String> {
    let entity = input(folder, Some(reference))?;
    let bindings = Bindings { entity: Some(&entity), task: None };
    let filled = template::bind(&Value::String(name.to_owned()), &bindings).ok()?;
    filled.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{expand, read, source};

    /// What is expanded and collapsed again stands for the same tasks, in as few files.
    #[test]
    fn collapsing_undoes_expanding() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks");
        let mut with_each = 0;
        for folder in std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
            let folder = read(&source::directory(&folder).unwrap()).unwrap();
            let expanded: Vec<Task> = expand(&folder).unwrap().into_iter().map(|(_, task)| task).collect();
            let collapsed = collapse(&folder, &expanded);
            with_each += collapsed.iter().filter(|task| !task.each.is_empty()).count();
            let numbered =
                collapsed.into_iter().enumerate().map(|(place, task)| (format!("tasks/{place:02}.yaml"), task));
            let again = Folder { tasks: numbered.collect(), ..folder.clone() };
            let again: Vec<Task> = expand(&again).unwrap().into_iter().map(|(_, task)| task).collect();
            assert_eq!(again, expanded, "{}", folder.benchmark.slug);
        }
        assert!(with_each > 0);
    }
}
