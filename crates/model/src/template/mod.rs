//! Templates `{{entity.…}}` and `{{task.…}}` in authored text: parsing and checking. Only authored values are read as
//! templates, never anything that an agent wrote.
//!
//! `entity` is the criterion's input entity, or in a task the first one bound to it: `entity.name`, `entity.ref`
//! (`Patient/p1`), `entity.id` (`p1`, the last part of `ref`), `entity.data.…`, and `entity.…` as a short form for a
//! member of `data`.
//! `task` is the task itself: `task.name`, `task.id`, `task.task_item.…`.

mod bind;

pub use bind::{Bindings, bind, bind_with};

use serde_json::Value;

use crate::FieldErrors;
use crate::reading::shortened;

/// The first name of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    Entity,
    Task,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template<'a> {
    pub root: Root,
    pub path: Vec<&'a str>,
}

/// Parses the templates of one text; the error describes the first invalid one.
pub fn parse(text: &str) -> Result<Vec<Template<'_>>, String> {
    insides(text)?.into_iter().map(parse_template).collect()
}

/// Whether the text contains a template, valid or not, so that its value is known only after binding.
pub fn is_template(text: &str) -> bool {
    text.contains("{{")
}

/// The contents of all `{{…}}` in a text, valid or not.
pub fn insides(text: &str) -> Result<Vec<&str>, String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, inside)) = rest.split_once("{{") {
        let (template, after) = inside.split_once("}}").ok_or("has `{{` without `}}`")?;
        found.push(template.trim());
        rest = after;
    }
    Ok(found)
}

fn parse_template(inside: &str) -> Result<Template<'_>, String> {
    let (root, path) = inside.split_once('.').unwrap_or((inside, ""));
    let root = match root {
        "entity" => Root::Entity,
        "task" => Root::Task,
        _ => return Err(format!("template `{{{{{}}}}}` must start with `entity.` or `task.`", excerpt(inside))),
    };
    Ok(Template { root, path: names(inside, path)? })
}

/// Splits the path of a template after its root. `inside` is the whole template, for the error message.
pub fn names<'a>(inside: &str, path: &'a str) -> Result<Vec<&'a str>, String> {
    let names: Vec<&str> = path.split('.').collect();
    let is_name = |part: &&str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    if names.len() > 16 || !names.iter().all(is_name) {
        return Err(format!("template `{{{{{}}}}}` must be a dotted path of names", excerpt(inside)));
    }
    Ok(names)
}

fn excerpt(inside: &str) -> String {
    shortened(inside, 60)
}

/// Checks the templates of every string in an authored value. `roots` are those that can be bound there.
pub fn check(value: &Value, roots: &[Root], errors: &mut FieldErrors) {
    walk(value, &mut String::new(), &mut |path, text| match parse(text) {
        Err(message) => errors.add(path, message),
        Ok(templates) => {
            for template in templates {
                if !roots.contains(&template.root) {
                    let name = if template.root == Root::Entity { "entity" } else { "task" };
                    errors.add(path, format!("`{{{{{name}.…}}}}` cannot be used here"));
                }
            }
        }
    });
}

/// Whether any string in the value has a valid template with this root.
pub fn uses(value: &Value, root: Root) -> bool {
    let mut found = false;
    walk(value, &mut String::new(), &mut |_, text| {
        found |= parse(text).is_ok_and(|templates| templates.iter().any(|template| template.root == root));
    });
    found
}

fn walk(value: &Value, path: &mut String, visit: &mut impl FnMut(&str, &str)) {
    match value {
        Value::String(text) => visit(path, text),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                descend(path, &index.to_string(), item, visit);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                descend(path, key, member, visit);
            }
        }
        _ => {}
    }
}

fn descend(path: &mut String, step: &str, value: &Value, visit: &mut impl FnMut(&str, &str)) {
    let length = path.len();
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(step);
    walk(value, path, visit);
    path.truncate(length);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn templates_are_found_and_checked() {
        assert_eq!(parse("no template {").unwrap(), vec![]);
        let found = parse("Patient/{{ entity.id }} and {{task.name}}").unwrap();
        assert_eq!(found[0], Template { root: Root::Entity, path: vec!["id"] });
        assert_eq!(found[1].root, Root::Task);
        for bad in
            ["{{entity.id", "{{}}", "{{entity}}", "{{entity.}}", "{{user.id}}", "{{entity.a b}}", "{{entity.{{x}}}}"]
        {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn errors_are_reported_by_path() {
        let value = json!({"steps": [{"content": "{{entity.name}} {{x.y}}"}, {"content": "{{task.name}}"}]});
        let mut errors = FieldErrors::new();
        check(&value, &[Root::Task], &mut errors);
        assert_eq!(errors.iter().next().map(|(path, _)| path), Some("steps.0.content"));
        assert!(uses(&json!(["{{entity.id}}"]), Root::Entity));
        assert!(!uses(&json!(["{{task.id}}"]), Root::Entity));
    }
}
