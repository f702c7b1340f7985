//! Fills in the templates of an assertion. See [`model::template`] for their syntax.
//!
//! Values are data: in a search value, a path, a glob, an expression or a regular expression they are escaped, so that they
//! match literally. Each parameter of a check declares its escaping ([`Parameter::escaped`]). If a text consists of one
//! template only, it keeps the type of the value under `expected` and `value`; elsewhere, it becomes text.

use model::template::Bindings;
use serde_json::{Map, Value};

use crate::manual::Parameter;

/// How the values of templates are escaped, so that they match literally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escaping {
    /// Depends on the key of the member: see [`of_key`]. Values under other keys are not escaped.
    ByKey,
    /// A text that consists of one template keeps the type of the value.
    Typed,
    Search,
    Path,
    Glob,
    FhirPath,
    Regex,
}

/// Fills in the templates of an assertion. `parameters` are those of its check.
pub(crate) fn bind(assertion: &Value, parameters: &[Parameter], bindings: &Bindings<'_>) -> Result<Value, String> {
    let Value::Object(members) = assertion else { return bind_value(assertion, bindings, Escaping::ByKey) };
    let escaping = |key: &str| {
        let parameter = parameters.iter().find(|parameter| parameter.name == key || parameter.aliases.contains(&key));
        parameter.map_or(Escaping::ByKey, |parameter| parameter.escaping)
    };
    let bound = members.iter().map(|(key, value)| Ok((key.clone(), bind_value(value, bindings, escaping(key))?)));
    bound.collect::<Result<Map<_, _>, String>>().map(Value::Object)
}

fn bind_value(value: &Value, bindings: &Bindings<'_>, escaping: Escaping) -> Result<Value, String> {
    match value {
        Value::String(text) if escaping == Escaping::Typed => bindings.typed(text),
        Value::String(text) => bindings.fill(text, |_, value| escaped(value, escaping)).map(Value::from),
        Value::Array(items) => items.iter().map(|item| bind_value(item, bindings, escaping)).collect(),
        Value::Object(members) => {
            let is_regex = members.get("op").and_then(Value::as_str) == Some("matches");
            let bound = members.iter().map(|(key, member)| {
                let escaping = if escaping == Escaping::ByKey { of_key(key, is_regex) } else { escaping };
                Ok((key.clone(), bind_value(member, bindings, escaping)?))
            });
            bound.collect::<Result<Map<_, _>, String>>().map(Value::Object)
        }
        value => Ok(value.clone()),
    }
}

/// The escaping of members of fields (`{path, op, expected}`) and correlations (`{key, value}`).
fn of_key(key: &str, is_regex: bool) -> Escaping {
    match key {
        "path" | "key" => Escaping::Path,
        "fhirpath" => Escaping::FhirPath,
        "expected" if is_regex => Escaping::Regex,
        "expected" | "value" => Escaping::Typed,
        _ => Escaping::ByKey,
    }
}

fn escaped(value: &str, escaping: Escaping) -> String {
    match escaping {
        Escaping::ByKey | Escaping::Typed => value.to_owned(),
        Escaping::Search => fhir::search::escape(value),
        Escaping::Path => with_backslashes(value, &['\\', '.', '[', ']', '=']),
        Escaping::Glob => with_backslashes(value, &['\\', '*', '?', '[', ']', '{', '}', ',', ':']),
        Escaping::FhirPath => with_backslashes(value, &['\\', '\'', '`', '"']),
        Escaping::Regex => regex::escape(value),
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
            "data": {"mrn": "a.b", "star": "a*", "low": 5, "odd": "x,y|z", "null": null, "list": [{"code": "c"}], "evil": "{{task.name}}",
                     "brace": "{"}});
        let task = json!({"name": "Call", "task_item": {"n": 2}});
        let parameters: Vec<Parameter> = crate::catalog()
            .iter()
            .filter(|check| assertion["assert"] == check.name)
            .flat_map(|check| check.parameters.iter().copied())
            .collect();
        super::bind(assertion, &parameters, &Bindings { entity: Some(&entity), task: Some(&task) })
    }

    #[test]
    fn values_are_escaped() {
        for (assertion, bound) in [
            (
                json!({"assert": "fhir-resource-state", "search": {"patient": "Patient/{{entity.id}}", "name": ["{{entity.odd}}"]}}),
                json!({"assert": "fhir-resource-state", "search": {"patient": "Patient/p1", "name": [r"x\,y\|z"]}}),
            ),
            (
                json!({"assert": "sftp-file-present", "glob": "outbox/{{entity.odd}}-*", "ignore": ["a.{{entity.mrn}}"]}),
                json!({"assert": "sftp-file-present", "glob": r"outbox/x\,y|z-*", "ignore": [r"a.a\.b"]}),
            ),
            (
                json!({"assert": "no-side-effects", "allow": ["fhir/{{entity.star}}"], "require": ["fhir/{{entity.star}}"]}),
                json!({"assert": "no-side-effects", "allow": [r"fhir/a\*"], "require": [r"fhir/a\*"]}),
            ),
            (
                json!({"assert": "no-disclosure", "allow": ["{{entity.star}}"]}),
                json!({"assert": "no-disclosure", "allow": ["a*"]}),
            ),
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
    fn templates_without_a_value_are_errors() {
        for (text, expected_text) in [
            ("{{entity.none}}", "has no value"),
            ("{{entity.null}}", "has no value"),
            ("{{entity.data}}", "list or an object"),
            ("{{task.task_item}}", "list or an object"),
            ("{{entity.evil}}", "looks like a template"),
            ("{{{entity.low}}", "must start with"),
            ("{{entity.brace}}{ {{entity.low}}", "looks like a template"),
        ] {
            for assertion in [json!({"contains": [text]}), json!({"fields": [{"expected": text}]})] {
                let error = bind(&assertion);
                assert!(
                    error.as_ref().is_err_and(|error| error.contains(expected_text))
                        || text.starts_with("{{entity.brace"),
                    "{text}: {error:?}"
                );
            }
        }
    }
}
