//! Referential integrity, if the author asks for it: no reference to a resource that is not there, and no deletion of one
//! that others refer to.

use fhir::definitions::{SearchParameter, SearchType, Targets};
use fhir::{Reference, ResourceType};
use serde_json::Value;
use world::{Change, Records, Seq, Write};

use super::call::Call;
use super::outcome::{Issue, Refusal};

/// So many broken references are told.
const MOST_ISSUES: usize = 50;

/// Refuses the changes of an interaction that would leave references without their targets.
pub(crate) fn check(call: &Call<'_>, changes: &[Change]) -> Result<(), Refusal> {
    if !call.rules.referential_integrity || changes.is_empty() {
        return Ok(());
    }
    let mut after = call.world.clone();
    for change in changes {
        after.apply(call.world.seq + 1, change);
    }
    let records = after.sandboxes.get(&call.sandbox.id).map_or(call.records, |sandbox| &sandbox.records);
    let mut issues = Vec::new();
    for change in changes {
        if let Some(text) = &change.text {
            // Only JSON is ever kept.
            let resource: Value = serde_json::from_str(text).unwrap_or_default();
            let place = format!("{}/{}", change.collection, change.key);
            dangling(records, &resource, &mut |reference| {
                let message = format!("{place} refers to {reference}, which does not exist");
                issues.push(Issue::error("not-found", message).at(change.collection.to_string()));
            });
        }
    }
    if !issues.is_empty() {
        issues.truncate(MOST_ISSUES);
        return Err(Refusal { status: 422, issues, headers: Vec::new() });
    }
    for change in changes.iter().filter(|change| change.write == Write::Delete) {
        if let Some(referring) = referring(records, &change.collection, &change.key) {
            let message = format!("{}/{} cannot be deleted: {referring} refers to it", change.collection, change.key);
            return Err(Refusal::new(409, "conflict", message));
        }
    }
    Ok(())
}

/// Every relative reference whose target is not there.
fn dangling(records: &Records, value: &Value, found: &mut dyn FnMut(&str)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| dangling(records, item, found)),
        Value::Object(fields) if fields.get("resourceType").is_some_and(|name| name == "Bundle") => {}
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(text) if key == "reference" => {
                        let current = text.split_once("/_history/").map_or(text.as_str(), |(current, _)| current);
                        let is_gone = Reference::parse(current).is_ok_and(|reference| {
                            records.get(reference.resource_type().as_str(), reference.id()).live().is_none()
                        });
                        if is_gone {
                            found(text);
                        }
                    }
                    other => dangling(records, other, found),
                }
            }
        }
        _ => {}
    }
}

/// A live resource that refers to this one by a search parameter.
fn referring(records: &Records, collection: &str, id: &str) -> Option<String> {
    let target: ResourceType = collection.parse().ok()?;
    let is_reference = |parameter: &SearchParameter| {
        let may_point = match parameter.targets() {
            Targets::Any => true,
            Targets::Only(types) => types.contains(&target),
        };
        parameter.search_type() == SearchType::Reference && may_point
    };
    ResourceType::all().find_map(|source| {
        SearchParameter::of(source).filter(|parameter| is_reference(parameter)).find_map(|parameter| {
            let hits = records.referring(source, parameter, target, id, Seq::MAX);
            let other = hits.iter().find(|hit| (hit.resource_type, hit.record.key) != (target, id))?;
            Some(format!("{source}/{}", other.record.key))
        })
    })
}
