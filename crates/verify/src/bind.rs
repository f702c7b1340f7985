//! Fills the templates of an assertion with the entity and the task.
//!
//! What is filled in is data wherever it stands: in a search value, a path, a glob, an expression or a pattern it is
//! escaped, so that it means itself. A text that is one template and nothing else keeps the type of its value under
//! `expected` and `value`; elsewhere it becomes text. What is missing, null, a list or an object cannot be filled in.

use model::template::{self, Root, Template};
use serde_json::{Map, Value};

use crate::bounds::short;

/// How a filled-in value must be written where it stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Plain,
    /// A whole template keeps its type.
    Typed,
    Search,
    Path,
    Glob,
    FhirPath,
    Pattern,
}

pub(crate) struct Bindings<'a> {
    pub(crate) entity: Option<&'a Value>,
    pub(crate) task: Option<&'a Value>,
}

impl Bindings<'_> {
    /// The assertion without templates, or why one cannot be filled.
    pub(crate) fn bind(&self, assertion: &Value) -> Result<Value, String> {
        self.bind_member(assertion, Place::Plain, 0)
    }

    fn bind_member(&self, value: &Value, place: Place, depth: usize) -> Result<Value, String> {
        match value {
            Value::String(text) => self.bind_text(text, place),
            Value::Array(items) => items.iter().map(|item| self.bind_member(item, place, depth + 1)).collect(),
            Value::Object(members) => {
                let is_pattern = members.get("op").and_then(Value::as_str) == Some("matches");
                let bound = members.iter().map(|(key, member)| {
                    let place = place_of(key, place, depth, is_pattern);
                    Ok((key.clone(), self.bind_member(member, place, depth + 1)?))
                });
                bound.collect::<Result<Map<_, _>, String>>().map(Value::Object)
            }
            value => Ok(value.clone()),
        }
    }

    fn bind_text(&self, text: &str, place: Place) -> Result<Value, String> {
        let templates = template::parse(text)?;
        let [only] = templates.as_slice() else { return self.fill(text, &templates, place) };
        let is_whole = text.starts_with("{{") && text.ends_with("}}");
        if is_whole && place == Place::Typed {
            let value = self.value(only)?;
            return match &value {
                Value::String(text) if template::is_template(text) => Err(unsafe_value(only)),
                _ => Ok(value),
            };
        }
        self.fill(text, &templates, place)
    }

    fn fill(&self, text: &str, templates: &[Template<'_>], place: Place) -> Result<Value, String> {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        for template in templates {
            let Some((before, after)) = rest.split_once("{{") else { break };
            filled.push_str(before);
            let value = match self.value(template)? {
                Value::String(text) => text,
                value => value.to_string(),
            };
            filled.push_str(&escaped(&value, place));
            if template::is_template(&filled) {
                return Err(unsafe_value(template));
            }
            rest = after.split_once("}}").map_or("", |(_, after)| after);
        }
        filled.push_str(rest);
        if template::is_template(&filled) {
            Err("braces meet where a template is filled in".to_owned())
        } else {
            Ok(filled.into())
        }
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

fn place_of(key: &str, around: Place, depth: usize, is_pattern: bool) -> Place {
    match (key, depth) {
        (_, 1) if around == Place::Search => Place::Search,
        _ if around != Place::Plain => around,
        ("search", 0) => Place::Search,
        ("path" | "glob" | "pattern" | "allow", 0) => Place::Glob,
        ("path" | "key", _) => Place::Path,
        ("fhirpath", _) => Place::FhirPath,
        ("expected", _) if is_pattern => Place::Pattern,
        ("expected" | "value", 1..) => Place::Typed,
        _ => Place::Plain,
    }
}

fn escaped(value: &str, place: Place) -> String {
    match place {
        Place::Plain | Place::Typed => value.to_owned(),
        Place::Search => fhir::search::escape(value),
        Place::Path => with_backslashes(value, &['\\', '.', '[', ']', '=']),
        Place::Glob => with_backslashes(value, &['\\', '*', '?', '[', ']', '{', '}', ',']),
        Place::FhirPath => with_backslashes(value, &['\\', '\'', '`', '"']),
        Place::Pattern => regex::escape(value),
    }
}

fn with_backslashes(value: &str, special: &[char]) -> String {
    let mut escaped = String::with_capacity(value.len());
    for c in value.chars() {
        if special.contains(&c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// As [`model::template`] has it.
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
    short(&format!("{{{{{root}.{}}}}}", template.path.join(".")))
}

fn unsafe_value(template: &Template<'_>) -> String {
    format!("what template `{}` is filled with looks like a template itself", name(template))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn bind(assertion: &Value) -> Result<Value, String> {
        let entity = json!({"name": "Ann", "ref": "Patient/p1", "id": "ent_1",
            "data": {"mrn": "a.b", "low": 5, "odd": "x,y|z", "null": null, "list": [{"code": "c"}], "evil": "{{task.name}}",
                     "brace": "{"}});
        let task = json!({"name": "Call", "task_item": {"n": 2}});
        Bindings { entity: Some(&entity), task: Some(&task) }.bind(assertion)
    }

    #[test]
    fn values_are_filled_in_as_data() {
        for (assertion, bound) in [
            (
                json!({"search": {"patient": "Patient/{{entity.id}}", "name": ["{{entity.odd}}"]}}),
                json!({"search": {"patient": "Patient/p1", "name": [r"x\,y\|z"]}}),
            ),
            (json!({"path": "outbox/{{entity.odd}}-*"}), json!({"path": r"outbox/x\,y|z-*"})),
            (
                json!({"fields": [{"path": "a[b={{entity.mrn}}]", "expected": "{{entity.low}}"}]}),
                json!({"fields": [{"path": r"a[b=a\.b]", "expected": 5}]}),
            ),
            (
                json!({"fields": [{"path": "a", "op": "matches", "expected": "^{{entity.data.mrn}}$"}]}),
                json!({"fields": [{"path": "a", "op": "matches", "expected": r"^a\.b$"}]}),
            ),
            (
                json!({"contains": ["{{entity.low}} {{ task.task_item.n }} {{entity.list.0.code}}"]}),
                json!({"contains": ["5 2 c"]}),
            ),
            (
                json!({"correlate_by": {"value": "{{entity.low}}", "PID.3": "{{entity.low}}"}}),
                json!({"correlate_by": {"value": 5, "PID.3": "5"}}),
            ),
        ] {
            assert_eq!(bind(&assertion), Ok(bound), "{assertion}");
        }
    }

    #[test]
    fn what_cannot_be_filled_says_why() {
        for (text, said) in [
            ("{{entity.none}}", "nothing to be filled"),
            ("{{entity.null}}", "nothing to be filled"),
            ("{{entity.data}}", "list or an object"),
            ("{{task.task_item}}", "list or an object"),
            ("{{entity.evil}}", "looks like a template"),
            ("{{{entity.low}}", "must start with"),
            ("{{entity.brace}}{ {{entity.low}}", "looks like a template"),
        ] {
            for assertion in [json!({"contains": [text]}), json!({"fields": [{"expected": text}]})] {
                let fault = bind(&assertion);
                assert!(
                    fault.as_ref().is_err_and(|fault| fault.contains(said)) || text.starts_with("{{entity.brace"),
                    "{text}: {fault:?}"
                );
            }
        }
    }
}
