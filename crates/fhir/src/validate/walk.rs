//! Walks through a resource beside the definition of its type.

use serde_json::{Map, Value};

use super::path::Path;
use super::{FaultKind, MAX_DEPTH, MAX_FAULTS, ValidationFault, primitive};
use crate::definitions::{Element, ElementType, Max, Primitive, Structure, StructureKind};
use crate::excerpt::Excerpt;
use crate::resource_type::ResourceType;

pub(super) fn faults(resource: &Value) -> Vec<ValidationFault> {
    let mut walk = Walk { faults: Vec::new() };
    let name = resource["resourceType"].as_str().and_then(|name| name.parse::<ResourceType>().ok());
    let root = Path::root(name.map_or("Resource", ResourceType::as_str));
    walk.resource(resource, &root, Owner::Resource { contained: false });
    walk.faults
}

struct Walk {
    faults: Vec<ValidationFault>,
}

/// What an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Resource { contained: bool },
    Element,
}

/// A value and, if it is primitive, the object beside it that holds its id and extensions.
#[derive(Debug, Clone, Copy)]
struct Slot<'a> {
    value: Option<&'a Value>,
    companion: Option<&'a Value>,
}

impl Walk {
    fn resource(&mut self, value: &Value, path: &Path<'_>, owner: Owner) {
        let Value::Object(object) = value else {
            return self.report(FaultKind::Structure, path, format!("must be a resource, not {}", shape(value)));
        };
        let resource_type = match object.get("resourceType") {
            Some(Value::String(name)) => name.parse::<ResourceType>().map_err(|unknown| unknown.to_string()),
            Some(other) => Err(format!("the resourceType must be a string, not {}", shape(other))),
            None => Err("a resource must have a resourceType".to_owned()),
        };
        match resource_type.map(Structure::of) {
            Ok(Some(structure)) => self.object(structure, object, path, owner),
            Ok(None) => self.report(FaultKind::Invalid, path, "has a type without definition"),
            Err(message) => self.report(FaultKind::Invalid, path, message),
        }
    }

    fn object(&mut self, structure: &Structure, object: &Map<String, Value>, path: &Path<'_>, owner: Owner) {
        if path.depth() > MAX_DEPTH {
            return self.report(FaultKind::TooCostly, path, format!("lies within more than {MAX_DEPTH} elements"));
        }
        if object.is_empty() {
            return self.report(FaultKind::Structure, path, "must not be empty");
        }
        let has_companions = object.keys().any(|key| key.starts_with('_'));
        let mut seen = Seen::default();
        for (key, value) in object {
            if self.is_full() {
                return;
            }
            if key == "resourceType" && owner != Owner::Element {
                continue;
            }
            let (name, is_companion) = key.strip_prefix('_').map_or((&**key, false), |name| (name, true));
            let Some((at, element, used)) = find(structure, name, is_companion) else {
                self.report(FaultKind::Structure, &path.child(key), "is an unknown element");
                continue;
            };
            let child = path.child(element.name());
            if let Err(other) = seen.add(at, element, name) {
                let message = format!("has more than one type: {other} and {name}");
                self.report(FaultKind::Structure, &child, message);
            }
            let slot = match is_companion {
                // Has been looked at with its value, or will be.
                true if object.contains_key(name) => continue,
                true => Slot { value: None, companion: Some(value) },
                false if has_companions => Slot { value: Some(value), companion: object.get(&format!("_{key}")) },
                false => Slot { value: Some(value), companion: None },
            };
            if element.path() == CONTAINED && owner == (Owner::Resource { contained: true }) {
                self.report(FaultKind::Structure, &child, "must not be in a resource that is contained itself");
            } else {
                self.element(element, used, slot, &child);
            }
        }
        self.missing(structure, &seen, path);
    }

    fn missing(&mut self, structure: &Structure, seen: &Seen<'_>, path: &Path<'_>) {
        for (at, element) in structure.elements().enumerate() {
            if element.is_required() && !seen.contains(at) {
                self.report(FaultKind::Required, &path.child(element.name()), "is missing");
            }
        }
    }

    fn element(&mut self, element: &Element, used: &ElementType, slot: Slot<'_>, path: &Path<'_>) {
        let both = [slot.value, slot.companion].into_iter().flatten();
        match element.max() {
            Max::Zero => self.report(FaultKind::Structure, path, "is not allowed here"),
            Max::One if both.clone().any(Value::is_array) => {
                self.report(FaultKind::Structure, path, "must be a single value, not an array");
            }
            Max::One => self.value(element, used, slot, path),
            Max::Many if !both.clone().all(Value::is_array) => {
                self.report(FaultKind::Structure, path, "must be an array");
            }
            Max::Many => self.items(element, used, slot, path),
        }
    }

    fn items(&mut self, element: &Element, used: &ElementType, slot: Slot<'_>, path: &Path<'_>) {
        let (values, companions) = match (array(slot.value), array(slot.companion)) {
            (Some(values), Some(companions)) if values.len() != companions.len() => {
                let message = format!("has {} values, but {} in its _ array", values.len(), companions.len());
                return self.report(FaultKind::Structure, path, message);
            }
            (values, companions) => (values.unwrap_or_default(), companions.unwrap_or_default()),
        };
        let count = values.len().max(companions.len());
        if count == 0 {
            return self.report(FaultKind::Structure, path, "must not be empty");
        }
        let is_primitive = matches!(used.content().kind(), StructureKind::Primitive(_));
        for index in 0..count {
            if self.is_full() {
                return;
            }
            // Where one of the two arrays has nothing to say, it says null.
            let has_other = |others: &[Value]| is_primitive && others.get(index).is_some_and(|other| !other.is_null());
            let value = values.get(index).filter(|value| !(value.is_null() && has_other(companions)));
            let companion = companions.get(index).filter(|companion| !(companion.is_null() && has_other(values)));
            self.value(element, used, Slot { value, companion }, &path.item(index));
        }
    }

    fn value(&mut self, element: &Element, used: &ElementType, slot: Slot<'_>, path: &Path<'_>) {
        let content = used.content();
        match (content.kind(), slot.value) {
            (StructureKind::Primitive(primitive), _) => self.primitive(element, (primitive, content), slot, path),
            (_, None) => {}
            (StructureKind::Complex, Some(Value::Object(object))) => self.object(content, object, path, Owner::Element),
            (StructureKind::Complex, Some(other)) => {
                let message = format!("must be an object ({}), not {}", used.name(), shape(other));
                self.report(FaultKind::Structure, path, message);
            }
            (StructureKind::Resource | StructureKind::AbstractResource, Some(value)) => {
                let contained = element.path() == CONTAINED;
                self.resource(value, path, Owner::Resource { contained });
            }
        }
    }

    fn primitive(&mut self, element: &Element, of: (Primitive, &Structure), slot: Slot<'_>, path: &Path<'_>) {
        let (primitive, content) = of;
        match slot.value.map(|value| (value, primitive::check(primitive, value))) {
            None => {}
            Some((_, Err(flaw))) => self.report(flaw.kind, path, flaw.message),
            Some((value, Ok(()))) => self.code(element, primitive, value, path),
        }
        match slot.companion {
            None => {}
            Some(Value::Object(object)) => self.object(content, object, path, Owner::Element),
            Some(Value::Null) if slot.value.is_some_and(Value::is_null) => {}
            Some(other) => {
                let message = format!("has {} where an object with id or extension is due", shape(other));
                self.report(FaultKind::Structure, path, message);
            }
        }
    }

    fn code(&mut self, element: &Element, primitive: Primitive, value: &Value, path: &Path<'_>) {
        if let (Primitive::Code, Some(codes), Some(code)) = (primitive, element.codes(), value.as_str())
            && !codes.allows(code)
        {
            let message = format!("the code {} is not in the value set {}", Excerpt::of(code), codes.name());
            self.report(FaultKind::CodeInvalid, path, message);
        }
    }

    fn report(&mut self, kind: FaultKind, path: &Path<'_>, message: impl Into<String>) {
        if !self.is_full() {
            self.faults.push(ValidationFault { path: path.to_string(), kind, message: message.into() });
        }
    }

    fn is_full(&self) -> bool {
        self.faults.len() >= MAX_FAULTS
    }
}

const CONTAINED: &str = "DomainResource.contained";

fn array(value: Option<&Value>) -> Option<&[Value]> {
    value.and_then(Value::as_array).map(Vec::as_slice)
}

/// The element of a JSON key; only primitive ones have a companion.
fn find(
    structure: &Structure,
    name: &str,
    is_companion: bool,
) -> Option<(usize, &'static Element, &'static ElementType)> {
    let may_have_companion = |used: &ElementType| matches!(used.content().kind(), StructureKind::Primitive(_));
    structure.element(name).filter(|(_, _, used)| !is_companion || may_have_companion(used))
}

/// Which elements an object has, by their place in its structure, of which there are at most 64.
#[derive(Default)]
struct Seen<'a> {
    places: u64,
    choices: Vec<(usize, &'a str)>,
}

impl<'a> Seen<'a> {
    /// An error is the other key by which a choice has been made already.
    fn add(&mut self, at: usize, element: &Element, name: &'a str) -> Result<(), &'a str> {
        self.places |= 1 << at;
        if !element.is_choice() {
            return Ok(());
        }
        match self.choices.iter().find(|(other, _)| *other == at) {
            Some((_, other)) if *other != name => Err(other),
            Some(_) => Ok(()),
            None => {
                self.choices.push((at, name));
                Ok(())
            }
        }
    }

    fn contains(&self, at: usize) -> bool {
        self.places & (1 << at) != 0
    }
}

/// What a JSON value is called.
pub(super) fn shape(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
