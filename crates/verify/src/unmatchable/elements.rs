//! Finds paths of fields to elements that the resource type does not have.

use fhir::definitions::Structure;
use fhir::{ResourceType, nearest};
use serde_json::Value;

/// Unknown elements: the path in the assertion, and a message.
pub(super) fn unknown_paths(assertion: &Value, resource_type: ResourceType) -> Vec<(String, String)> {
    let Some(structure) = Structure::of(resource_type) else { return Vec::new() };
    let fields = assertion["fields"].as_array().into_iter().flatten().enumerate();
    let found = fields.filter_map(|(index, field)| {
        let (member, path) = ["path", "fhirpath"].iter().find_map(|name| Some((name, field[*name].as_str()?)))?;
        Some((format!("fields.{index}.{member}"), unknown(structure, resource_type, path)?))
    });
    found.collect()
}

/// Follows the path as long as it has plain names only. The result of a function is not known.
fn unknown(structure: &'static Structure, resource_type: ResourceType, path: &str) -> Option<String> {
    let plain = path.strip_prefix(&format!("{}.", resource_type.as_str())).unwrap_or(path);
    let mut structure = structure;
    // `0` is an index as well as `[0]`.
    let is_name = |segment: &&str| !segment.bytes().all(|byte| byte.is_ascii_digit());
    for segment in plain.split('.').filter(is_name) {
        let name = segment.split('[').next().unwrap_or_default();
        let is_plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let is_index = segment[name.len()..].bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'[' | b']'));
        // `_birthDate` has the extensions of `birthDate`, and every resource has a `resourceType`.
        let is_anywhere = matches!(name, "extension" | "modifierExtension" | "contained" | "resourceType");
        if !is_plain || !is_index || is_anywhere || name.starts_with('_') {
            return None;
        }
        match structure.element(name) {
            Some((_, _, used)) => structure = used.content(),
            // `value` stands for a choice such as `valueQuantity`, whose type is not known.
            None if structure.elements().any(|element| element.name() == name) => return None,
            None => {
                let known = structure.elements().map(|element| element.name());
                let meant = nearest(name, known).map(|meant| format!(": did you mean `{meant}`?")).unwrap_or_default();
                return Some(format!("{} has no element `{name}`{meant}", structure.path()));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn unknown_elements_are_reported() {
        let message_for = |path: &str| {
            let found =
                unknown_paths(&json!({"fields": [{"path": path}]}), ResourceType::named("Observation").unwrap());
            found.into_iter().map(|(_, words)| words).next().unwrap_or_default()
        };
        for path in [
            "status",
            "Observation.status",
            "code.coding.code",
            "code.coding[0].code",
            "code.coding.0.code",
            "valueQuantity.value",
            "value.unit",
            "code.coding.where(system = 'x').cod",
            "subject.reference",
            "component.code.text",
            "extension.value",
            "_issued.extension.valueString",
            "resourceType",
        ] {
            assert_eq!(message_for(path), "", "{path}");
        }
        assert_eq!(message_for("stats"), "Observation has no element `stats`: did you mean `status`?");
        assert!(
            message_for("code.codings.code")
                .contains("CodeableConcept has no element `codings`: did you mean `coding`?")
        );
        assert!(message_for("birthDate").starts_with("Observation has no element `birthDate`"));
    }
}
