//! Fills the templates of an assertion: see [`model::template`] for what they name.
//!
//! What is filled in is data wherever it stands: in a search value, a path, a glob, an expression or a pattern it is
//! escaped, so that it means itself. A text that is one template and nothing else keeps the type of its value under
//! `expected` and `value`; elsewhere it becomes text.

use model::template::Bindings;
use serde_json::{Map, Value};

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

/// The assertion without templates, or why one cannot be filled.
pub(crate) fn bind(assertion: &Value, bindings: &Bindings<'_>) -> Result<Value, String> {
    bind_member(assertion, bindings, Place::Plain, 0)
}

fn bind_member(value: &Value, bindings: &Bindings<'_>, place: Place, depth: usize) -> Result<Value, String> {
    match value {
        Value::String(text) if place == Place::Typed => bindings.typed(text),
        Value::String(text) => bindings.fill(text, |_, value| escaped(value, place)).map(Value::from),
        Value::Array(items) => items.iter().map(|item| bind_member(item, bindings, place, depth + 1)).collect(),
        Value::Object(members) => {
            let is_pattern = members.get("op").and_then(Value::as_str) == Some("matches");
            let bound = members.iter().map(|(key, member)| {
                let place = place_of(key, place, depth, is_pattern);
                Ok((key.clone(), bind_member(member, bindings, place, depth + 1)?))
            });
            bound.collect::<Result<Map<_, _>, String>>().map(Value::Object)
        }
        value => Ok(value.clone()),
    }
}

fn place_of(key: &str, around: Place, depth: usize, is_pattern: bool) -> Place {
    match (key, depth) {
        (_, 1) if around == Place::Search => Place::Search,
        _ if around != Place::Plain => around,
        ("search", 0) => Place::Search,
        ("path" | "glob" | "pattern" | "allow" | "require" | "order", 0) => Place::Glob,
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
        Place::Glob => with_backslashes(value, &['\\', '*', '?', '[', ']', '{', '}', ',', ':']),
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn bind(assertion: &Value) -> Result<Value, String> {
        let entity = json!({"name": "Ann", "ref": "Patient/p1", "id": "ent_1",
            "data": {"mrn": "a.b", "low": 5, "odd": "x,y|z", "null": null, "list": [{"code": "c"}], "evil": "{{task.name}}",
                     "brace": "{"}});
        let task = json!({"name": "Call", "task_item": {"n": 2}});
        super::bind(assertion, &Bindings { entity: Some(&entity), task: Some(&task) })
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
