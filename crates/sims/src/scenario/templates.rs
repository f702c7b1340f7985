//! Fills in the templates of a scenario. Values are always inserted as data: they are escaped inside HL7 messages and
//! FHIR search criteria. In FHIR resources and portal rows a string that consists of a single template keeps the type of
//! its value; everywhere else the value becomes text.

use hl7v2::Delimiters;
use model::FieldErrors;
use model::template::{Bindings, bind_with};
use serde_json::Value;

use crate::fhir::address;

/// The scenario with its templates filled in. Errors are named like `steps.2.content`.
pub(super) fn fill(scenario: &Value, bindings: &Bindings<'_>) -> Result<Value, FieldErrors> {
    bind_with(scenario, |path, text| match Encoding::of(path) {
        Encoding::Text => bindings.text(text).map(Value::from),
        Encoding::Typed => bindings.typed(text),
        Encoding::Address => bindings.fill(text, in_address).map(Value::from),
        Encoding::Criteria => bindings.fill(text, |_, value| in_criteria(value)).map(Value::from),
        Encoding::Reference => bindings.fill(text, in_reference).map(Value::from),
        Encoding::Hl7 => in_hl7(bindings, text).map(Value::from),
    })
}

/// How a value is encoded when it is inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Text,
    /// JSON. The value keeps its type.
    Typed,
    /// The URL of a bundle entry's request.
    Address,
    /// FHIR search criteria.
    Criteria,
    /// A FHIR reference, which may be conditional.
    Reference,
    Hl7,
}

impl Encoding {
    /// The encoding for a path such as `steps.2.bundle.entry.0.request.url`.
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

/// Before the criteria, a value may be a whole reference such as `Patient/1`.
fn in_address(before: &str, value: &str) -> String {
    if before.contains('?') { in_criteria(value) } else { address::encoded(value) }
}

fn in_reference(before: &str, value: &str) -> String {
    if before.contains('?') { in_criteria(value) } else { value.to_owned() }
}

fn in_criteria(value: &str) -> String {
    address::encoded(&fhir::search::escape(value))
}

/// A message that does not start with `MSH` and delimiters is a single template. Its value is a whole message, which is
/// inserted without escaping.
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
        fill(&json!({"steps": [step]}), &bindings)
            .map(|scenario| scenario["steps"][0].clone())
            .map_err(|errors| errors.to_string())
    }

    #[test]
    fn values_are_encoded_for_their_position() {
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
    fn templates_inside_values_are_rejected() {
        for member in ["content", "message", "path"] {
            let error = filled(&json!({ member: "{{entity.evil}}" })).unwrap_err();
            assert!(error.starts_with(&format!("steps.0.{member}: what template `{{{{entity.evil}}}}`")), "{error}");
        }
    }
}
