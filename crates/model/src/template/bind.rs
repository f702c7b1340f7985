//! Fills templates with the entity and the task.
//!
//! What is filled in is data: it is never read as a template again, and a caller whose text has a notation of its own
//! (a path, a pattern, a message) says how a value is written there. What is missing, null, a list or an object cannot
//! be filled in.

use serde_json::{Map, Value};

use super::{Root, Template, is_template, parse};
use crate::FieldErrors;
use crate::reading::shortened;

/// A few templates can name one long value again and again: what they become together ends here.
const MOST_BOUND_BYTES: usize = 16 << 20;

/// What templates are filled with.
#[derive(Clone, Copy, Debug)]
pub struct Bindings<'a> {
    /// `{name, ref, data}`.
    pub entity: Option<&'a Value>,
    /// `{id, name, task_item}`.
    pub task: Option<&'a Value>,
}

/// The value without templates, or why they cannot be filled, by dotted path. A text that is one template and nothing
/// else keeps the type of what it names.
pub fn bind(value: &Value, bindings: &Bindings<'_>) -> Result<Value, FieldErrors> {
    bind_with(value, |_, text| bindings.typed(text))
}

/// The same with another rule: `bind_text` is given the dotted path of each text that has a template, and the text.
pub fn bind_with(value: &Value, bind_text: impl Fn(&str, &str) -> Result<Value, String>) -> Result<Value, FieldErrors> {
    let mut walk = Walk { bind_text, path: String::new(), errors: FieldErrors::new(), left: MOST_BOUND_BYTES };
    let bound = walk.bound(value);
    walk.errors.into_result().map(|()| bound)
}

struct Walk<F> {
    bind_text: F,
    path: String,
    errors: FieldErrors,
    /// Bytes that may still be filled in.
    left: usize,
}

impl<F: Fn(&str, &str) -> Result<Value, String>> Walk<F> {
    fn bound(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) if is_template(text) => self.bound_text(text),
            Value::Array(items) => {
                let items = items.iter().enumerate();
                Value::Array(items.map(|(index, item)| self.inside(&index.to_string(), item)).collect())
            }
            Value::Object(members) => {
                let members = members.iter().map(|(key, member)| (key.clone(), self.inside(key, member)));
                Value::Object(members.collect::<Map<_, _>>())
            }
            value => value.clone(),
        }
    }

    fn inside(&mut self, step: &str, value: &Value) -> Value {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(step);
        let bound = self.bound(value);
        self.path.truncate(length);
        bound
    }

    fn bound_text(&mut self, text: &str) -> Value {
        if self.left == 0 {
            return Value::Null;
        }
        let bound = (self.bind_text)(&self.path, text).unwrap_or_else(|fault| {
            self.errors.add(self.path.as_str(), fault);
            Value::Null
        });
        self.left = self.left.saturating_sub(bound.as_str().map_or(0, str::len));
        if self.left == 0 {
            self.errors.add(self.path.as_str(), too_long());
        }
        bound
    }
}

fn too_long() -> String {
    format!("what the templates are filled with has more than {MOST_BOUND_BYTES} bytes")
}

impl Bindings<'_> {
    /// A text that is one template and nothing else keeps the type of what it names; else the filled text.
    pub fn typed(&self, text: &str) -> Result<Value, String> {
        match self.whole(text)? {
            Some(value) => Ok(value),
            None => self.text(text).map(Value::from),
        }
    }

    /// The text with its templates filled in.
    pub fn text(&self, text: &str) -> Result<String, String> {
        self.fill(text, |_, value| value.to_owned())
    }

    /// What a text names that is one template and nothing else.
    pub fn whole(&self, text: &str) -> Result<Option<Value>, String> {
        let templates = parse(text)?;
        let [only] = templates.as_slice() else { return Ok(None) };
        if !text.starts_with("{{") || !text.ends_with("}}") {
            return Ok(None);
        }
        match self.value(only)? {
            Value::String(text) if is_template(&text) => Err(unsafe_value(only)),
            value => Ok(Some(value)),
        }
    }

    /// The text with its templates filled in. `written` says how a value is written after what stands before it.
    pub fn fill(&self, text: &str, written: impl Fn(&str, &str) -> String) -> Result<String, String> {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        for template in parse(text)? {
            let Some((before, after)) = rest.split_once("{{") else { break };
            filled.push_str(before);
            let value = match self.value(&template)? {
                Value::String(text) => text,
                value => value.to_string(),
            };
            let start = filled.len().saturating_sub(1);
            let value = written(&filled, &value);
            filled.push_str(&value);
            // A brace of the text before may meet one of the value.
            if filled.as_bytes()[start..].windows(2).any(|pair| pair == b"{{") {
                return Err(unsafe_value(&template));
            }
            if filled.len() > MOST_BOUND_BYTES {
                return Err(too_long());
            }
            rest = after.split_once("}}").map_or("", |(_, after)| after);
        }
        filled.push_str(rest);
        if is_template(&filled) { Err("braces meet where a template is filled in".to_owned()) } else { Ok(filled) }
    }

    fn value(&self, template: &Template<'_>) -> Result<Value, String> {
        let found = match template.root {
            Root::Entity => self.entity.and_then(|entity| of_entity(entity, &template.path)),
            Root::Task => self.task.and_then(|task| at(task, &template.path).cloned()),
        };
        match found {
            Some(value @ (Value::String(_) | Value::Number(_) | Value::Bool(_))) => Ok(value),
            Some(Value::Null) | None => Err(format!("template `{}` has nothing to be filled with", name(template))),
            Some(_) => Err(format!("template `{}` is a list or an object and cannot be filled in", name(template))),
        }
    }
}

fn of_entity(entity: &Value, path: &[&str]) -> Option<Value> {
    let data = entity.get("data").filter(|data| data.is_object());
    match path {
        ["id"] => {
            let reference = entity.get("ref").and_then(Value::as_str).and_then(|text| text.rsplit('/').next());
            let of_data = || data.and_then(|data| data.get("id")).or_else(|| entity.get("id"));
            reference.map(Value::from).or_else(|| of_data().cloned())
        }
        ["name" | "ref" | "data", ..] if at(entity, path).is_some() => at(entity, path).cloned(),
        path => data.and_then(|data| at(data, path)).or_else(|| at(entity, path)).cloned(),
    }
}

fn at<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, name| match value {
        Value::Object(members) => members.get(*name),
        Value::Array(items) => name.parse::<usize>().ok().and_then(|index| items.get(index)),
        _ => None,
    })
}

fn name(template: &Template<'_>) -> String {
    let root = if template.root == Root::Entity { "entity" } else { "task" };
    shortened(&format!("{{{{{root}.{}}}}}", template.path.join(".")), 200)
}

fn unsafe_value(template: &Template<'_>) -> String {
    format!("what template `{}` is filled with looks like a template itself", name(template))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn bound(value: &Value) -> Result<Value, String> {
        let entity = json!({"name": "Ann", "ref": "Patient/p1", "id": "ent_1",
            "data": {"id": "row", "low": 5, "list": [{"code": "c"}], "evil": "{{task.name}}", "brace": "{"}});
        let task = json!({"id": "task_1", "name": "Call", "task_item": {"n": 2}});
        bind(value, &Bindings { entity: Some(&entity), task: Some(&task) }).map_err(|faults| faults.to_string())
    }

    #[test]
    fn every_text_is_filled_and_a_whole_template_keeps_its_type() {
        let value = json!({"a": ["{{entity.name}} of {{entity.ref}}", "{{ entity.id }}"], "b": "{{entity.low}}",
            "c": "{{entity.low}}{{task.task_item.n}}", "d": "{{entity.list.0.code}}", "e": 1.5, "{{entity.id}}": null});
        let expected = json!({"a": ["Ann of Patient/p1", "p1"], "b": 5, "c": "52", "d": "c", "e": 1.5,
            "{{entity.id}}": null});
        assert_eq!(bound(&value), Ok(expected));
    }

    #[test]
    fn faults_are_told_together_by_path() {
        let value = json!({"a": [{"b": "{{entity.none}}"}, "{{task.task_item}}"], "c": "x {{entity.evil}}",
            "d": "{{entity.evil}}", "e": "{{entity.brace}}{{entity.brace}}", "f": "{{user.id}}"});
        let said = bound(&value).unwrap_err();
        for fault in [
            "a.0.b: template `{{entity.none}}` has nothing",
            "a.1: template `{{task.task_item}}` is a list",
            "c: what template `{{entity.evil}}` is filled with looks like",
            "d: what template `{{entity.evil}}` is filled with looks like",
            "e: what template `{{entity.brace}}` is filled with looks like",
            "f: template `{{user.id}}` must start",
        ] {
            assert!(said.contains(fault), "{fault}: {said}");
        }
    }

    #[test]
    fn one_value_named_again_and_again_does_not_fill_the_memory() {
        let long = json!({"data": {"text": "x".repeat(1 << 20)}});
        let bindings = Bindings { entity: Some(&long), task: None };
        let many = json!(vec!["{{entity.text}}"; 10_000]);
        assert!(bind(&many, &bindings).unwrap_err().to_string().contains("more than"));
        let one = json!("{{entity.text}}".repeat(10_000));
        assert!(bind(&one, &bindings).unwrap_err().to_string().contains("more than"));
        assert!(bind(&json!(vec!["{{entity.text}}"; 10]), &bindings).is_ok());
    }
}
