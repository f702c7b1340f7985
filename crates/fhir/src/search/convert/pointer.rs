//! Converts references (<https://hl7.org/fhir/R4/search.html#reference>).

use serde_json::Value;

use super::concept::identifier;
use super::{member, text_of};
use crate::definitions::Targets;
use crate::search::{IndexedValue, Target};
use crate::{Reference, ResourceType, is_id};

pub(super) fn reference(value: &Value) -> Option<IndexedValue> {
    let target = member(value, "reference").map_or(Target::None, Target::of);
    let identifier = value.get("identifier").and_then(identifier);
    (target != Target::None || identifier.is_some()).then_some(IndexedValue::Reference { target, identifier })
}

pub(super) fn canonical(value: &Value) -> Option<IndexedValue> {
    Some(IndexedValue::Reference { target: Target::of(text_of(value)?), identifier: None })
}

/// A resource in place of a reference to it, if it is a target type of the parameter.
pub(super) fn resource(value: &Value, targets: &Targets) -> Option<IndexedValue> {
    let resource_type = ResourceType::named(member(value, "resourceType")?)?;
    let id = member(value, "id").filter(|id| is_id(id) && targets.allow(resource_type))?;
    Some(IndexedValue::Reference {
        target: Target::Local { resource_type, id: id.into(), version: None },
        identifier: None,
    })
}

impl Target {
    /// `Patient/1`, with or without a version, is local; anything else is kept as text.
    pub(in crate::search) fn of(text: &str) -> Self {
        match Reference::parse(text) {
            Reference::Resource(reference) if reference.is_relative() => Self::Local {
                resource_type: reference.resource_type(),
                id: reference.id().into(),
                version: reference.version().map(Box::from),
            },
            _ => Self::Other(text.into()),
        }
    }
}
