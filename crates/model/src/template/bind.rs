//! Replaces templates with values of the entity and the task.
//!
//! Inserted values are data: they are never read as templates again, and a caller whose text has its own notation (a
//! path, a pattern, a message) decides how a value is escaped there. Missing values, null, lists and objects cannot be
//! inserted.

use serde_json::{Map, Value};

use super::{Root, Template, is_template, parse};
use crate::FieldErrors;
use crate::reading::shortened;

/// Limit on the total size of inserted values, because a few templates can insert one long value many times.
const MAX_BOUND_BYTES: usize = 16 << 20;

/// The values for templates.
#[derive(Clone, Copy, Debug)]
pub struct Bindings<'a> {
    /// `{name, ref, data}`.
    pub entity: Option<&'a Value>,
    /// `{id, name, task_item}`.
    pub task: Option<&'a Value>,
}

/// Replaces all templates in a value; errors are reported by dotted path. A text that consists of a single template
/// gets the type of the inserted value.
pub fn bind(value: &Value, bindings: &Bindings<'_>) -> Result<Value, FieldErrors> {
    bind_with(value, |_, text| bindings.typed(text))
}

/// Like [`bind`], with a custom function for texts: `bind_text` gets the dotted path and the text of each string with a
/// template.
pub fn bind_with(value: &Value, bind_text: impl Fn(&str, &str) -> Result<Value, String>) -> Result<Value, FieldErrors> {
    let mut binder = Binder { bind_text, path: String::new(), errors: FieldErrors::new(), bytes_left: MAX_BOUND_BYTES };
    let bound = binder.bind(value);
    binder.errors.into_result().map(|()| bound)
}

struct Binder<F> {
    bind_text: F,
    path: String,
    errors: FieldErrors,
    /// The number of bytes that may still be inserted.
    bytes_left: usize,
}

impl<F: Fn(&str, &str) -> Result<Value, String>> Binder<F> {
    fn bind(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) if is_template(text) => self.bind_string(text),
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
        let bound = self.bind(value);
        self.path.truncate(length);
        bound
    }

    fn bind_string(&mut self, text: &str) -> Value {
        if self.bytes_left == 0 {
            return Value::Null;
        }
        let bound = (self.bind_text)(&self.path, text).unwrap_or_else(|error| {
            self.errors.add(self.path.as_str(), error);
            Value::Null
        });
        self.bytes_left = self.bytes_left.saturating_sub(bound.as_str().map_or(0, str::len));
        if self.bytes_left == 0 {
            self.errors.add(self.path.as_str(), too_long());
        }
        bound
    }
}

fn too_long() -> String {
    format!("the inserted template values have more than {MAX_BOUND_BYTES} bytes")
}

impl Bindings<'_> {
    /// Binds a text. A text that consists of a single template gets the type of the inserted value.
    pub fn typed(&self, text: &str) -> Result<Value, String> {
        match self.whole(text)? {
            Some(value) => Ok(value),
            None => self.text(text).map(Value::from),
        }
    }

    /// Replaces the templates of a text.
    pub fn text(&self, text: &str) -> Result<String, String> {
        self.fill(text, |_, value| value.to_owned())
    }

    /// The value of a text that consists of a single template; `None` for other texts.
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

    /// Replaces the templates of a text. `format_value` gets the text before a value and the value, and returns the
    /// value as it should be inserted.
    pub fn fill(&self, text: &str, format_value: impl Fn(&str, &str) -> String) -> Result<String, String> {
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
            let value = format_value(&filled, &value);
            filled.push_str(&value);
            // A brace of the text before the value and one of the value could form a new template.
            if filled.as_bytes()[start..].windows(2).any(|pair| pair == b"{{") {
                return Err(unsafe_value(&template));
            }
            if filled.len() > MAX_BOUND_BYTES {
                return Err(too_long());
            }
            rest = after.split_once("}}").map_or("", |(_, after)| after);
        }
        filled.push_str(rest);
        if is_template(&filled) {
            Err("an inserted value and the text around it form a new template".to_owned())
        } else {
            Ok(filled)
        }
    }

    fn value(&self, template: &Template<'_>) -> Result<Value, String> {
        let value = match template.root {
            Root::Entity => self.entity.and_then(|entity| entity_value(entity, &template.path)),
            Root::Task => self.task.and_then(|task| at(task, &template.path).cloned()),
        };
        match value {
            Some(value @ (Value::String(_) | Value::Number(_) | Value::Bool(_))) => Ok(value),
            Some(Value::Null) | None => Err(format!("template `{}` has no value", name(template))),
            Some(_) => Err(format!("template `{}` is a list or an object and cannot be inserted", name(template))),
        }
    }
}

fn entity_value(entity: &Value, path: &[&str]) -> Option<Value> {
    let data = entity.get("data").filter(|data| data.is_object());
    match path {
        ["id"] => {
            let reference = entity.get("ref").and_then(Value::as_str).and_then(|text| text.rsplit('/').next());
            let data_id = || data.and_then(|data| data.get("id")).or_else(|| entity.get("id"));
            reference.map(Value::from).or_else(|| data_id().cloned())
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
        bind(value, &Bindings { entity: Some(&entity), task: Some(&task) }).map_err(|errors| errors.to_string())
    }

    #[test]
    fn texts_are_bound_and_a_single_template_keeps_its_type() {
        let value = json!({"a": ["{{entity.name}} of {{entity.ref}}", "{{ entity.id }}"], "b": "{{entity.low}}",
            "c": "{{entity.low}}{{task.task_item.n}}", "d": "{{entity.list.0.code}}", "e": 1.5, "{{entity.id}}": null});
        let expected = json!({"a": ["Ann of Patient/p1", "p1"], "b": 5, "c": "52", "d": "c", "e": 1.5,
            "{{entity.id}}": null});
        assert_eq!(bound(&value), Ok(expected));
    }

    #[test]
    fn all_errors_are_reported_by_path() {
        let value = json!({"a": [{"b": "{{entity.none}}"}, "{{task.task_item}}"], "c": "x {{entity.evil}}",
            "d": "{{entity.evil}}", "e": "{{entity.brace}}{{entity.brace}}", "f": "{{user.id}}"});
        let errors = bound(&value).unwrap_err();
        for error in [
            "a.0.b: template `{{entity.none}}` has no value",
            "a.1: template `{{task.task_item}}` is a list",
            "c: what template `{{entity.evil}}` is filled with looks like",
            "d: what template `{{entity.evil}}` is filled with looks like",
            "e: what template `{{entity.brace}}` is filled with looks like",
            "f: template `{{user.id}}` must start",
        ] {
            assert!(errors.contains(error), "{error}: {errors}");
        }
    }

    #[test]
    fn the_size_of_inserted_values_is_limited() {
        let long = json!({"data": {"text": "x".repeat(1 << 20)}});
        let bindings = Bindings { entity: Some(&long), task: None };
        let many = json!(vec!["{{entity.text}}"; 10_000]);
        assert!(bind(&many, &bindings).unwrap_err().to_string().contains("more than"));
        let one = json!("{{entity.text}}".repeat(10_000));
        assert!(bind(&one, &bindings).unwrap_err().to_string().contains("more than"));
        assert!(bind(&json!(vec!["{{entity.text}}"; 10]), &bindings).is_ok());
    }
}
