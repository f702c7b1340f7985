//! References between the entries of a transaction (<https://hl7.org/fhir/R4/http.html#trules>), found by the types of
//! the elements.

use std::collections::{BTreeSet, HashMap};

use fhir::definitions::{Element, Primitive, Structure, StructureKind};
use fhir::{OwnAddresses, ResourceType};
use serde_json::Value;

use crate::fhir::outcome::{FhirError, excerpt};

/// Maps `urn:uuid:…`, other fullUrls and conditional references to `Type/id`.
pub(super) type ReferenceMap = HashMap<String, String>;

/// Replaces references by those of the map. `full_url` is that of the resource.
pub(super) fn rewrite(resource: &mut Value, names: &ReferenceMap, full_url: Option<&str>) -> Result<(), FhirError> {
    let base = full_url.and_then(base_of);
    let mut rewrite = |element: &Element, text: &mut String| -> Result<(), FhirError> {
        let is_reference = element.path() == REFERENCE;
        let is_name = text.starts_with("urn:uuid:") || text.starts_with("urn:oid:");
        if !is_reference && !is_name {
            // The url of a profile can be the fullUrl of its entry, and is not replaced.
            return Ok(());
        }
        let absolute = base.map(|base| format!("{base}{text}"));
        match names.get(text.as_str()).or_else(|| absolute.and_then(|absolute| names.get(&absolute))) {
            Some(known) => known.clone_into(text),
            None if is_reference && is_name => {
                let message = format!("no entry of the Bundle has the fullUrl {}", excerpt(text));
                return Err(FhirError::bad("not-found", message));
            }
            None => {}
        }
        Ok(())
    };
    walk_resource(resource, &mut rewrite)
}

/// Makes references to the server's own addresses relative, so that searches and checks treat both forms alike. Bundles are
/// not changed: their references are resolved by the `fullUrl` of their entries.
pub(crate) fn make_local(resource: &mut Value, own: OwnAddresses<'_>) {
    if resource["resourceType"] == "Bundle" || !has_absolute_reference(resource) {
        return;
    }
    let mut visit = |element: &Element, text: &mut String| {
        if element.path() == REFERENCE
            && let Some(relative) = own.relative(text)
        {
            *text = relative.to_owned();
        }
        Ok(())
    };
    // This visitor never fails.
    let _ = walk_resource(resource, &mut visit);
}

/// Whether any reference is absolute. Most resources have none, so they need no further work.
fn has_absolute_reference(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_absolute_reference),
        Value::Object(fields) => fields.iter().any(|(key, value)| match value {
            Value::String(text) => key == "reference" && text.contains("://"),
            other => has_absolute_reference(other),
        }),
        _ => false,
    }
}

/// The conditional references of a resource: `Patient?identifier=…`.
pub(crate) fn criteria(resource: &mut Value, found: &mut BTreeSet<String>) -> Result<(), FhirError> {
    walk_resource(resource, &mut |element, text| {
        if element.path() == REFERENCE && split_criteria(text).is_some() {
            found.insert(text.clone());
        }
        Ok(())
    })
}

/// The type and the criteria of a conditional reference.
pub(crate) fn split_criteria(reference: &str) -> Option<(ResourceType, &str)> {
    let (name, criteria) = reference.split_once('?')?;
    Some((name.parse().ok()?, criteria))
}

const REFERENCE: &str = "Reference.reference";

/// `http://example.org/fhir/` of `http://example.org/fhir/Patient/1`
fn base_of(full_url: &str) -> Option<&str> {
    let (rest, _) = full_url.rsplit_once('/')?;
    let (base, name) = rest.rsplit_once('/')?;
    (full_url.starts_with("http") && name.parse::<ResourceType>().is_ok()).then(|| &full_url[..=base.len()])
}

type Visitor<'v> = dyn FnMut(&Element, &mut String) -> Result<(), FhirError> + 'v;

fn walk_resource(resource: &mut Value, visit: &mut Visitor<'_>) -> Result<(), FhirError> {
    let resource_type = resource["resourceType"].as_str().and_then(|name| name.parse::<ResourceType>().ok());
    match resource_type.and_then(Structure::of) {
        Some(structure) => walk(structure, resource, visit),
        None => Ok(()),
    }
}

fn walk(structure: &Structure, value: &mut Value, visit: &mut Visitor<'_>) -> Result<(), FhirError> {
    let Value::Object(fields) = value else { return Ok(()) };
    for (key, value) in fields.iter_mut() {
        let name = key.strip_prefix('_').unwrap_or(key);
        if let Some((_, element, used)) = structure.element(name) {
            each(value, &mut |value| step(element, used.content(), value, visit))?;
        }
    }
    Ok(())
}

fn each(value: &mut Value, visit: &mut dyn FnMut(&mut Value) -> Result<(), FhirError>) -> Result<(), FhirError> {
    match value {
        Value::Array(items) => items.iter_mut().try_for_each(visit),
        other => visit(other),
    }
}

fn step(element: &Element, content: &Structure, value: &mut Value, visit: &mut Visitor<'_>) -> Result<(), FhirError> {
    match (content.kind(), value) {
        (StructureKind::Resource | StructureKind::AbstractResource, value) => walk_resource(value, visit),
        (StructureKind::Primitive(primitive), Value::String(text)) if is_address(element, primitive) => {
            visit(element, text)
        }
        // For a primitive, the `_name` object with its extensions.
        (_, value @ Value::Object(_)) => walk(content, value, visit),
        _ => Ok(()),
    }
}

fn is_address(element: &Element, primitive: Primitive) -> bool {
    let is_typed =
        matches!(primitive, Primitive::Uri | Primitive::Url | Primitive::Canonical | Primitive::Oid | Primitive::Uuid);
    is_typed || element.path() == REFERENCE
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_are_replaced_by_type_of_element() {
        let names: ReferenceMap = [("urn:uuid:1", "Patient/a"), ("http://x.org/fhir/Patient/7", "Patient/b")]
            .into_iter()
            .map(|(name, known)| (name.to_owned(), known.to_owned()))
            .collect();
        let mut resource = json!({
            "resourceType": "Observation",
            "identifier": [{"system": "urn:ietf:rfc:3986", "value": "urn:uuid:1"}],
            "subject": {"reference": "urn:uuid:1", "display": "urn:uuid:1"},
            "performer": [{"reference": "Patient/7"}, {"reference": "http://x.org/fhir/Patient/7"}],
            "instantiatesUri": "http://x.org/fhir/Patient/7",
            "contained": [{"resourceType": "Provenance", "target": [{"reference": "urn:uuid:1"}]}],
            "extension": [{"url": "http://e", "valueUri": "urn:uuid:1"}],
            "_status": {"extension": [{"url": "http://e", "valueReference": {"reference": "urn:uuid:1"}}]},
        });
        rewrite(&mut resource, &names, Some("http://x.org/fhir/Observation/8")).unwrap();
        assert_eq!(resource["identifier"][0]["value"], "urn:uuid:1");
        assert_eq!(resource["subject"], json!({"reference": "Patient/a", "display": "urn:uuid:1"}));
        assert_eq!(resource["performer"], json!([{"reference": "Patient/b"}, {"reference": "Patient/b"}]));
        assert_eq!(resource["instantiatesUri"], "http://x.org/fhir/Patient/7");
        assert_eq!(resource["contained"][0]["target"][0]["reference"], "Patient/a");
        assert_eq!(resource["extension"][0]["valueUri"], "Patient/a");
        assert_eq!(resource["_status"]["extension"][0]["valueReference"]["reference"], "Patient/a");
    }

    #[test]
    fn unresolved_references_are_rejected() {
        let mut resource = json!({"resourceType": "Observation", "subject": {"reference": "urn:uuid:2"}});
        assert_eq!(rewrite(&mut resource, &ReferenceMap::new(), None).unwrap_err().status, 400);
        let mut system = json!({"resourceType": "Patient", "identifier": [{"system": "urn:oid:1.2.3"}]});
        assert!(rewrite(&mut system, &ReferenceMap::new(), None).is_ok());
    }
}
