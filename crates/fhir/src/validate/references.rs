//! Whether references can lead anywhere (<https://hl7.org/fhir/R4/references.html>): their form, the type that they name,
//! and contained resources. Whether another resource exists is not a question to this one.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::path::Path;
use super::{FaultKind, MAX_FAULTS, ValidationFault};
use crate::definitions::{ElementType, Structure, StructureKind};
use crate::excerpt::Excerpt;
use crate::{Reference, ReferenceError, ResourceReference, ResourceType};

/// The references of a resource that cannot be right. The resource is one that [`super::validate`] accepts. Bundles are
/// not looked into: their references are resolved by the `fullUrl` of their entries.
pub fn impossible_references(resource: &Value) -> Vec<ValidationFault> {
    let mut walk = Walk { faults: Vec::new() };
    let name = resource["resourceType"].as_str().and_then(|name| name.parse::<ResourceType>().ok());
    if let Some(name) = name.filter(|name| name.as_str() != "Bundle") {
        walk.resource(resource, None, &Path::root(name.as_str()));
    }
    walk.faults
}

/// A resource with the contained ones that `#` references mean.
struct Container<'v> {
    resource_type: Option<&'v str>,
    /// Their types by their ids.
    contained: HashMap<&'v str, &'v str>,
}

impl<'v> Container<'v> {
    fn of(resource: &'v Value) -> Self {
        let mut contained = HashMap::new();
        for inner in resource["contained"].as_array().into_iter().flatten() {
            if let (Some(id), Some(resource_type)) = (inner["id"].as_str(), inner["resourceType"].as_str()) {
                contained.entry(id).or_insert(resource_type);
            }
        }
        Self { resource_type: resource["resourceType"].as_str(), contained }
    }

    fn contained_type(&self, id: &str) -> Result<&'v str, Flaw> {
        let found = self.contained.get(id).copied();
        found.ok_or_else(|| (FaultKind::Value, format!("no contained resource has the id {}", Excerpt::of(id))))
    }
}

struct Walk {
    faults: Vec<ValidationFault>,
}

impl Walk {
    /// Without a container the resource is one itself.
    fn resource(&mut self, value: &Value, container: Option<&Container<'_>>, path: &Path<'_>) {
        let structure = value["resourceType"].as_str().and_then(Structure::find);
        if let (Some(structure), Some(object)) = (structure, value.as_object())
            && structure.path() != "Bundle"
        {
            match container {
                Some(container) => self.object(structure, object, container, path),
                None => self.object(structure, object, &Container::of(value), path),
            }
        }
    }

    fn object(
        &mut self,
        structure: &Structure,
        object: &Map<String, Value>,
        container: &Container<'_>,
        path: &Path<'_>,
    ) {
        for (key, value) in object {
            let name = key.strip_prefix('_').unwrap_or(key);
            let Some((_, element, used)) = structure.element(name) else { continue };
            let child = path.child(element.name());
            let is_contained = element.path() == "DomainResource.contained";
            match value {
                Value::Array(items) => {
                    for (index, item) in items.iter().enumerate() {
                        self.value(used, item, container, is_contained, &child.item(index));
                    }
                }
                single => self.value(used, single, container, is_contained, &child),
            }
        }
    }

    fn value(
        &mut self,
        used: &ElementType,
        value: &Value,
        container: &Container<'_>,
        is_contained: bool,
        path: &Path<'_>,
    ) {
        if self.faults.len() >= MAX_FAULTS {
            return;
        }
        match (used.content().kind(), value) {
            (StructureKind::Resource | StructureKind::AbstractResource, value) => {
                self.resource(value, is_contained.then_some(container), path);
            }
            (_, Value::Object(object)) => {
                if used.name() == "Reference"
                    && let Err((kind, message)) = check(object, used.targets(), container)
                {
                    let path = path.child("reference").to_string();
                    self.faults.push(ValidationFault { path, kind, message });
                }
                self.object(used.content(), object, container, path);
            }
            _ => {}
        }
    }
}

type Flaw = (FaultKind, String);

fn check(reference: &Map<String, Value>, targets: &[&str], container: &Container<'_>) -> Result<(), Flaw> {
    let Some(text) = reference.get("reference").and_then(Value::as_str) else { return Ok(()) };
    let target = match text.strip_prefix('#') {
        Some("") => container.resource_type,
        Some(id) => Some(container.contained_type(id)?),
        None => named_type(text)?,
    };
    let Some(target) = target else { return Ok(()) };
    if !targets.is_empty() && !targets.contains(&"Resource") && !targets.contains(&target) {
        let message = format!("{} points to {target}, but the element takes {}", Excerpt::of(text), targets.join(", "));
        return Err((FaultKind::Value, message));
    }
    match reference.get("type").and_then(Value::as_str) {
        Some(stated) if stated.parse::<ResourceType>().is_ok() && stated != target => {
            Err((FaultKind::Value, format!("{} does not match the type {stated} of the reference", Excerpt::of(text))))
        }
        _ => Ok(()),
    }
}

/// The type that a literal reference names; none if it is an absolute address that does not tell.
fn named_type(text: &str) -> Result<Option<&'static str>, Flaw> {
    match Reference::parse(text) {
        Reference::Resource(reference) => Ok(Some(reference.resource_type().as_str())),
        Reference::Conditional(resource_type) => {
            let message = format!("a conditional reference to {resource_type} can only be used in a transaction");
            Err((FaultKind::Value, message))
        }
        Reference::Urn(_) => Ok(None),
        Reference::Contained(_) | Reference::Other(_) => {
            if text.split_once(':').is_some_and(|(scheme, _)| is_scheme(scheme)) {
                return Ok(None);
            }
            match ResourceReference::parse_relative(text.split_once("/_history/").map_or(text, |(current, _)| current))
            {
                Err(ReferenceError::Type(unknown)) => Err((FaultKind::Value, unknown.to_string())),
                _ => Err(impossible(text)),
            }
        }
    }
}

fn is_scheme(text: &str) -> bool {
    let starts_well = text.starts_with(|first: char| first.is_ascii_alphabetic());
    starts_well && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

fn impossible(text: &str) -> Flaw {
    let message = format!("{} is not a reference: write Type/id, an absolute address or #id", Excerpt::of(text));
    (FaultKind::Value, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn faults(members: Value) -> Vec<String> {
        let mut resource = json!({"resourceType": "Observation", "status": "final", "code": {"text": "x"}});
        if let (Some(object), Value::Object(members)) = (resource.as_object_mut(), members) {
            object.extend(members);
        }
        impossible_references(&resource).iter().map(|fault| format!("{} {}", fault.path, fault.message)).collect()
    }

    #[test]
    fn references_that_can_be_right_pass() {
        for reference in [
            "Patient/1",
            "Patient/1/_history/2",
            "http://example.org/fhir/Patient/1",
            "https://example.org/anything",
            "urn:uuid:c757873d-ec9a-4326-a141-556f43239520",
            "urn:oid:1.2.3",
            "#p",
        ] {
            let contained = json!([{"resourceType": "Patient", "id": "p"}]);
            let found = faults(json!({"subject": {"reference": reference}, "contained": contained}));
            assert!(found.is_empty(), "{reference}: {found:?}");
        }
        assert!(faults(json!({"focus": [{"reference": "Medication/1"}], "subject": {"display": "x"}})).is_empty());
    }

    #[test]
    fn many_contained_resources_are_found_fast() {
        let contained: Vec<Value> =
            (0..20_000).map(|id| json!({"resourceType": "Patient", "id": format!("p{id}")})).collect();
        let focus: Vec<Value> = (0..20_000).map(|id| json!({"reference": format!("#p{id}")})).collect();
        let start = std::time::Instant::now();
        assert!(faults(json!({"contained": contained, "focus": focus})).is_empty());
        assert!(start.elapsed() < std::time::Duration::from_secs(3));
    }

    #[test]
    fn impossible_references_are_reported() {
        for (reference, why) in [
            ("p1", "is not a reference"),
            ("Patient", "is not a reference"),
            ("Patient/", "is not a reference"),
            ("Patient/a b", "is not a reference"),
            ("/Patient/1", "is not a reference"),
            ("Pateint/1", "unknown resource type"),
            ("Medication/1", "the element takes Patient, Group, Device, Location"),
            ("http://example.org/fhir/Medication/1", "the element takes"),
            ("#q", "no contained resource"),
            ("#m", "points to Medication"),
            ("#", "points to Observation"),
            ("Patient?identifier=1", "only be used in a transaction"),
        ] {
            let contained = json!([{"resourceType": "Medication", "id": "m"}]);
            let found = faults(json!({"subject": {"reference": reference}, "contained": contained}));
            assert_eq!(found.len(), 1, "{reference}");
            assert!(found[0].starts_with("Observation.subject.reference") && found[0].contains(why), "{found:?}");
        }
        let typed = faults(json!({"subject": {"reference": "Patient/1", "type": "Group"}}));
        assert!(typed[0].contains("does not match the type Group"), "{typed:?}");
        let inside =
            faults(json!({"contained": [{"resourceType": "Patient", "managingOrganization": {"reference": "x"}}],
            "extension": [{"url": "http://e", "valueReference": {"reference": "#gone"}}],
            "_status": {"extension": [{"url": "http://e", "valueReference": {"reference": "y"}}]}}));
        assert_eq!(inside.len(), 3, "{inside:?}");
    }
}
