//! How the templates of a scenario are filled. What is filled in is data wherever it stands: in an HL7 message and in
//! the criteria of a FHIR search it is escaped, so that it means itself. In FHIR resources and portal rows a text that is
//! one template and nothing else keeps the type of its value; elsewhere it becomes text.

use hl7v2::Delimiters;
use model::FieldErrors;
use model::template::{Bindings, bind_with};
use serde_json::Value;

use crate::fhir::address;

/// The scenario without templates; faults are named like `steps.2.content`.
pub(super) fn bound(scenario: &Value, bindings: &Bindings<'_>) -> Result<Value, FieldErrors> {
    bind_with(scenario, |path, text| match Place::of(path) {
        Place::Text => bindings.text(text).map(Value::from),
        Place::Typed => bindings.typed(text),
        Place::Address => bindings.fill(text, in_address).map(Value::from),
        Place::Criteria => bindings.fill(text, |_, value| in_criteria(value)).map(Value::from),
        Place::Reference => bindings.fill(text, in_reference).map(Value::from),
        Place::Hl7 => in_hl7(bindings, text).map(Value::from),
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Text,
    Typed,
    /// Of an entry's request.
    Address,
    Criteria,
    Reference,
    Hl7,
}

impl Place {
    /// Of a path such as `steps.2.bundle.entry.0.request.url`.
    fn of(path: &str) -> Self {
        let names: Vec<&str> = path.split('.').collect();
        match names.as_slice() {
            ["steps", _, "message"] => Self::Hl7,
            ["steps", _, "bundle", "entry", _, "request", "url"] => Self::Address,
            ["steps", _, "bundle", "entry", _, "request", "ifNoneExist"] => Self::Criteria,
            ["steps", _, "bundle", .., "reference"] => Self::Reference,
            ["steps", _, "bundle" | "row", ..] => Self::Typed,
            _ => Self::Text,
        }
    }
}

/// A reference such as `Patient/1` may be filled in before the criteria start.
fn in_address(before: &str, value: &str) -> String {
    if before.contains('?') { in_criteria(value) } else { address::encoded(value) }
}

fn in_reference(before: &str, value: &str) -> String {
    if before.contains('?') { in_criteria(value) } else { value.to_owned() }
}

fn in_criteria(value: &str) -> String {
    address::encoded(&fhir::search::escape(value))
}

/// A message that is one template and nothing else is taken as it is: it brings its own delimiters.
fn in_hl7(bindings: &Bindings<'_>, text: &str) -> Result<String, String> {
    match delimiters(text) {
        Some(delimiters) => bindings.fill(text, |_, value| hl7v2::escape(value, &delimiters).into_owned()),
        None => bindings.text(text),
    }
}

fn delimiters(message: &str) -> Option<Delimiters> {
    let rest = message.strip_prefix("MSH")?;
    let separator = rest.chars().next()?;
    let (encoding_characters, _) = rest[separator.len_utf8()..].split_once(separator)?;
    Delimiters::new(separator, encoding_characters).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn filled(step: &Value) -> Result<Value, String> {
        let entity = json!({"name": "Ada", "ref": "Patient/p1",
            "data": {"mrn": "1|2^3\r&", "odd": "a,b&c=d", "low": 6.1, "hl7": "MSH|^~\\&|A", "evil": "{{task.name}}"}});
        let task = json!({"name": "Call"});
        let bindings = Bindings { entity: Some(&entity), task: Some(&task) };
        bound(&json!({"steps": [step]}), &bindings)
            .map(|bound| bound["steps"][0].clone())
            .map_err(|faults| faults.to_string())
    }

    #[test]
    fn values_are_written_as_their_place_needs_it() {
        for (step, expected) in [
            (json!({"content": "{{entity.low}}"}), json!({"content": "6.1"})),
            (json!({"row": {"low": "{{entity.low}}"}}), json!({"row": {"low": 6.1}})),
            (json!({"message": "{{entity.hl7}}"}), json!({"message": "MSH|^~\\&|A"})),
            (
                json!({"message": "MSH|^~\\&|A\rPID|{{entity.mrn}}"}),
                json!({"message": "MSH|^~\\&|A\rPID|1\\F\\2\\S\\3\\X0D\\\\T\\"}),
            ),
            (
                json!({"bundle": {"entry": [{
                    "resource": {"v": "{{entity.low}}", "r": {"reference": "{{entity.ref}}"},
                        "s": {"reference": "Patient?identifier={{entity.odd}}"}},
                    "request": {"url": "{{entity.ref}}", "ifNoneExist": "identifier={{entity.odd}}"},
                }]}}),
                json!({"bundle": {"entry": [{
                    "resource": {"v": 6.1, "r": {"reference": "Patient/p1"},
                        "s": {"reference": "Patient?identifier=a%5C,b%26c%3Dd"}},
                    "request": {"url": "Patient/p1", "ifNoneExist": "identifier=a%5C,b%26c%3Dd"},
                }]}}),
            ),
        ] {
            assert_eq!(filled(&step), Ok(expected), "{step}");
        }
    }

    #[test]
    fn data_is_not_read_as_a_template() {
        for place in ["content", "message", "path"] {
            let fault = filled(&json!({ place: "{{entity.evil}}" })).unwrap_err();
            assert!(fault.starts_with(&format!("steps.0.{place}: what template `{{{{entity.evil}}}}`")), "{fault}");
        }
    }
}
