//! Referential integrity, if the author asks for it: no reference to a resource that is not there, and no deletion of one
//! that others refer to.

use std::collections::{BTreeSet, HashMap};

use fhir::definitions::{SearchParameter, SearchType};
use fhir::{Reference, ResourceType};
use serde_json::Value;
use world::{Change, Records, Seq, Write};

use super::call::Call;
use super::outcome::{Issue, Refusal};

/// So many broken references are told.
const MOST_ISSUES: usize = 50;

/// What the written resources of the sandbox refer to, so that deletions need not read them all each time.
#[derive(Default)]
pub(crate) struct Referrers {
    is_gathered: bool,
    /// By what is referred to.
    by_target: HashMap<Identity, BTreeSet<Identity>>,
    by_source: HashMap<Identity, BTreeSet<Identity>>,
}

/// A type and an id.
type Identity = (ResourceType, String);

/// Refuses the changes of an interaction that would leave references without their targets.
pub(crate) fn check(call: &Call<'_>, changes: &[Change]) -> Result<(), Refusal> {
    check_with(call, changes, &mut Referrers::default())
}

/// The same for one of several interactions that follow each other, each of which sees what those before it did.
pub(crate) fn check_with(call: &Call<'_>, changes: &[Change], referrers: &mut Referrers) -> Result<(), Refusal> {
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
        let place = format!("{}/{}", change.collection, change.key);
        for (reference, (target, id)) in references(&content(change)) {
            if records.get(target.as_str(), &id).live().is_none() && issues.len() < MOST_ISSUES {
                let message = format!("{place} refers to {reference}, which does not exist");
                issues.push(Issue::error("not-found", message).at(change.collection.to_string()));
            }
        }
    }
    if !issues.is_empty() {
        return Err(Refusal { status: 422, issues, headers: Vec::new() });
    }
    let deleted: Vec<_> = changes.iter().filter(|change| change.write == Write::Delete).collect();
    if !deleted.is_empty() && !referrers.is_gathered {
        *referrers = Referrers::gather(call.records);
    }
    let before: Vec<_> = changes.iter().map(|change| referrers.apply(change)).collect();
    for change in deleted {
        if let Some(referring) = referring(records, referrers, &change.collection, &change.key) {
            // Nothing of this interaction happens, so nothing of it may be remembered.
            before.into_iter().rev().for_each(|undo| referrers.undo(undo));
            let message = format!("{}/{} cannot be deleted: {referring} refers to it", change.collection, change.key);
            return Err(Refusal::new(409, "conflict", message));
        }
    }
    Ok(())
}

impl Referrers {
    fn gather(records: &Records) -> Self {
        let mut gathered = Self { is_gathered: true, ..Self::default() };
        let names: Vec<ResourceType> = records.written_collections().filter_map(|name| name.parse().ok()).collect();
        for source in names {
            for record in records.own(source.as_str()) {
                let targets = references(&record.json()).into_iter().map(|(_, target)| target).collect();
                gathered.set(&(source, record.key.to_owned()), targets);
            }
        }
        gathered
    }

    /// Replaces what a resource refers to, and answers what it was.
    fn set(&mut self, source: &Identity, targets: BTreeSet<Identity>) -> BTreeSet<Identity> {
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

    fn apply(&mut self, change: &Change) -> Option<(Identity, BTreeSet<Identity>)> {
        let source = (change.collection.parse().ok().filter(|_| self.is_gathered)?, change.key.to_string());
        let targets = references(&content(change)).into_iter().map(|(_, target)| target).collect();
        let before = self.set(&source, targets);
        Some((source, before))
    }

    fn undo(&mut self, before: Option<(Identity, BTreeSet<Identity>)>) {
        if let Some((source, targets)) = before {
            self.set(&source, targets);
        }
    }
}

/// Every relative reference of a resource, as it is written and without its version.
fn references(resource: &Value) -> Vec<(String, Identity)> {
    let mut found = Vec::new();
    collect(resource, &mut found);
    found
}

/// Null for a deletion.
fn content(change: &Change) -> Value {
    // Only JSON is ever kept.
    change.text.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// Bundles that are kept as resources stay as they are.
fn collect(value: &Value, found: &mut Vec<(String, Identity)>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(fields) if fields.get("resourceType").is_some_and(|name| name == "Bundle") => {}
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(text) if key == "reference" => {
                        let current = text.split_once("/_history/").map_or(text.as_str(), |(current, _)| current);
                        let target = Reference::parse(current).ok();
                        let target = target.map(|target| (target.resource_type(), target.id().to_owned()));
                        found.extend(target.map(|target| (text.clone(), target)));
                    }
                    other => collect(other, found),
                }
            }
        }
        _ => {}
    }
}

/// A live resource that refers to this one: any that was written here, or one of the dataset by a search parameter.
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
    fn many_references_of_one_resource_take_time_in_proportion() {
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
