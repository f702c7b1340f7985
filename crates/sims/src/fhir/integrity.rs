//! Referential integrity, if it is configured: references to missing resources and deletions of referenced resources are
//! rejected.

use std::collections::{BTreeSet, HashMap};

use fhir::definitions::{SearchParameter, SearchType};
use fhir::{OwnAddresses, Reference, ResourceType};
use serde_json::Value;
use world::{Change, Records, Seq, Write};

use super::interaction_context::InteractionContext;
use super::outcome::{FhirError, Issue};

/// The maximum number of broken references that are reported.
const MAX_ISSUES: usize = 50;

/// The references of the written resources of the sandbox, so that each deletion does not have to read them all.
#[derive(Default)]
pub(crate) struct Referrers {
    is_collected: bool,
    /// Sources by target.
    by_target: HashMap<ResourceKey, BTreeSet<ResourceKey>>,
    by_source: HashMap<ResourceKey, BTreeSet<ResourceKey>>,
}

/// A type and an id.
type ResourceKey = (ResourceType, String);

/// Rejects the changes of an interaction if references would be broken.
pub(crate) fn check(context: &InteractionContext<'_>, changes: &[Change]) -> Result<(), FhirError> {
    check_with(context, changes, &mut Referrers::default())
}

/// Like [`check`], for one of several consecutive interactions that share `referrers`.
pub(crate) fn check_with(
    context: &InteractionContext<'_>,
    changes: &[Change],
    referrers: &mut Referrers,
) -> Result<(), FhirError> {
    if !context.rules.referential_integrity || changes.is_empty() {
        return Ok(());
    }
    let mut after = context.world.clone();
    for change in changes {
        after.apply(context.world.seq + 1, change);
    }
    let records = after.sandboxes.get(&context.sandbox.id).map_or(context.records, |sandbox| &sandbox.records);
    let mut issues = Vec::new();
    for change in changes {
        let source = format!("{}/{}", change.collection, change.key);
        for (reference, (target, id)) in references(&content(change)) {
            if records.get(target.as_str(), &id).live().is_none() && issues.len() < MAX_ISSUES {
                let message = format!("{source} refers to {reference}, which does not exist");
                issues.push(Issue::error("not-found", message).at(change.collection.to_string()));
            }
        }
    }
    if !issues.is_empty() {
        return Err(FhirError { status: 422, issues, headers: Vec::new() });
    }
    let deleted: Vec<_> = changes.iter().filter(|change| change.write == Write::Delete).collect();
    if !deleted.is_empty() && !referrers.is_collected {
        *referrers = Referrers::collect(context.records);
    }
    let before: Vec<_> = changes.iter().map(|change| referrers.apply(change)).collect();
    for change in deleted {
        if let Some(referring) = referring(records, referrers, &change.collection, &change.key) {
            // The interaction fails, so its references are removed again.
            before.into_iter().rev().for_each(|undo| referrers.undo(undo));
            let message = format!("{}/{} cannot be deleted: {referring} refers to it", change.collection, change.key);
            return Err(FhirError::new(409, "conflict", message));
        }
    }
    Ok(())
}

impl Referrers {
    fn collect(records: &Records) -> Self {
        let mut referrers = Self { is_collected: true, ..Self::default() };
        let names: Vec<ResourceType> = records.written_collections().filter_map(|name| name.parse().ok()).collect();
        for source in names {
            for record in records.own(source.as_str()) {
                let targets = references(&record.json()).into_iter().map(|(_, target)| target).collect();
                referrers.set(&(source, record.key.to_owned()), targets);
            }
        }
        referrers
    }

    /// Replaces the targets of a resource and returns the previous ones.
    fn set(&mut self, source: &ResourceKey, targets: BTreeSet<ResourceKey>) -> BTreeSet<ResourceKey> {
        let before = self.by_source.remove(source).unwrap_or_default();
        for target in targets.difference(&before) {
            self.by_target.entry(target.clone()).or_default().insert(source.clone());
        }
        for target in before.difference(&targets) {
            if let Some(sources) = self.by_target.get_mut(target) {
                sources.remove(source);
            }
        }
        if !targets.is_empty() {
            self.by_source.insert(source.clone(), targets);
        }
        before
    }

    fn apply(&mut self, change: &Change) -> Option<(ResourceKey, BTreeSet<ResourceKey>)> {
        let source = (change.collection.parse().ok().filter(|_| self.is_collected)?, change.key.to_string());
        let targets = references(&content(change)).into_iter().map(|(_, target)| target).collect();
        let before = self.set(&source, targets);
        Some((source, before))
    }

    fn undo(&mut self, before: Option<(ResourceKey, BTreeSet<ResourceKey>)>) {
        if let Some((source, targets)) = before {
            self.set(&source, targets);
        }
    }
}

/// All relative references of a resource: the text and the target without its version.
fn references(resource: &Value) -> Vec<(String, ResourceKey)> {
    let mut found = Vec::new();
    collect_references(resource, &mut found);
    found
}

/// The resource of a change, or null for a deletion.
fn content(change: &Change) -> Value {
    // Stored resources are always valid JSON.
    change.text.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// Collects references. Bundles that are stored as resources are skipped.
fn collect_references(value: &Value, found: &mut Vec<(String, ResourceKey)>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, found)),
        Value::Object(fields) if fields.get("resourceType").is_some_and(|name| name == "Bundle") => {}
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(text) if key == "reference" => {
                        let target = Reference::local(text, OwnAddresses::default());
                        let target = target.map(|target| (target.resource_type(), target.id().to_owned()));
                        found.extend(target.map(|target| (text.clone(), target)));
                    }
                    other => collect_references(other, found),
                }
            }
        }
        _ => {}
    }
}

/// A live resource that refers to this one: written ones by any reference, those of the dataset by search parameters.
fn referring(records: &Records, referrers: &Referrers, collection: &str, id: &str) -> Option<String> {
    let target: ResourceType = collection.parse().ok()?;
    let is_other = |source: ResourceType, key: &str| (source, key) != (target, id);
    let written = referrers.by_target.get(&(target, id.to_owned())).into_iter().flatten();
    if let Some((source, key)) = written.into_iter().find(|(source, key)| is_other(*source, key)) {
        return Some(format!("{source}/{key}"));
    }
    ResourceType::all().find_map(|source| {
        let parameters =
            SearchParameter::of(source).filter(|parameter| parameter.search_type() == SearchType::Reference);
        parameters.filter(|parameter| parameter.targets().allow(target)).find_map(|parameter| {
            let mut hits = records.referring_in_layers(source, parameter, target, id, Seq::MAX);
            hits.find(|hit| is_other(source, hit.record.key)).map(|hit| format!("{source}/{}", hit.record.key))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_linear_in_the_number_of_references() {
        let identity = |name: &str, number: usize| (name.parse().unwrap(), number.to_string());
        let members = |from: usize| (from..from + 50_000).map(|number| identity("Patient", number)).collect();
        let mut referrers = Referrers::default();
        let group = identity("Group", 1);
        let start = std::time::Instant::now();
        referrers.set(&group, members(0));
        assert_eq!(referrers.set(&group, members(1)).len(), 50_000);
        assert!(start.elapsed().as_secs() < 15, "{:?}", start.elapsed());
        let referring = |number: usize| referrers.by_target.get(&identity("Patient", number)).map_or(0, BTreeSet::len);
        assert_eq!([0, 1, 50_000].map(referring), [0, 1, 1]);
    }
}
