//! The FHIR data of the playground as the clearinghouse reads it: through the search index, a few resources at a time.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use fhir::{OwnAddresses, Reference, ResourceReference, ResourceType};
use model::simulator::SimulatorType;
use serde::Deserialize;
use serde_json::Value;
use world::{Page, Records, Seq, World};

/// All active FHIR sandboxes of the playground, except remote ones.
pub(super) struct Chart<'w> {
    records: Vec<&'w Records>,
    /// Ids of coverages by `subscriberId`, built on first use.
    by_subscriber_id: OnceCell<HashMap<String, Vec<String>>>,
    numbers_organizations: OnceCell<bool>,
}

/// The part of a Coverage that is needed to find it by `subscriberId`.
#[derive(Deserialize)]
struct SubscriberCoverage {
    id: String,
    #[serde(rename = "subscriberId")]
    number: Option<String>,
}

/// The maximum number of search results.
const MAX_FOUND: usize = 50;
/// How many coverages are read to find a `subscriberId`, for which FHIR R4 has no search parameter.
const MAX_COVERAGES_READ: usize = 5000;

impl<'w> Chart<'w> {
    pub(super) fn of(world: &'w World) -> Self {
        let is_local = |sandbox: &&world::Sandbox| {
            let is_remote = sandbox.config.get("remote").is_some_and(|remote| !remote.is_null());
            sandbox.kind == SimulatorType::Fhir && sandbox.is_active && !is_remote
        };
        let records = world.sandboxes.values().filter(is_local).map(|sandbox| &sandbox.records).collect();
        Self { records, by_subscriber_id: OnceCell::new(), numbers_organizations: OnceCell::new() }
    }

    /// Whether the playground has no FHIR sandbox.
    pub(super) fn is_absent(&self) -> bool {
        self.records.is_empty()
    }

    /// The resources that a FHIR search finds. An invalid search finds nothing.
    pub(super) fn find(&self, kind: &str, parameters: &[(&str, &str)]) -> Vec<Arc<Value>> {
        let Some(resource_type) = ResourceType::named(kind) else { return Vec::new() };
        let pairs: Vec<(String, String)> =
            parameters.iter().map(|(name, value)| ((*name).to_owned(), fhir::search::escape(value))).collect();
        let Ok(query) = fhir::search::parse(resource_type, "", &pairs) else { return Vec::new() };
        // An ignored parameter would match everything.
        if !query.ignored.is_empty() || query.clauses.len() != pairs.len() {
            return Vec::new();
        }
        let page = Page { offset: 0, count: MAX_FOUND };
        let found = self.records.iter().flat_map(|records| {
            records.search(resource_type, &query, Seq::MAX, page).matches.into_iter().map(|hit| hit.record.json())
        });
        found.take(MAX_FOUND).collect()
    }

    /// The resource that a relative reference such as `Patient/1` names, whatever its version.
    pub(super) fn get(&self, reference: &str) -> Option<Arc<Value>> {
        let reference = Reference::local(reference, OwnAddresses::default())?;
        let (kind, id) = (reference.resource_type().as_str(), reference.id());
        self.records.iter().find_map(|records| records.get(kind, id).live()).map(|record| record.json())
    }

    /// The resource that a FHIR Reference points to.
    pub(super) fn follow(&self, reference: &Value) -> Option<Arc<Value>> {
        self.get(text(reference, "reference")?)
    }

    /// The coverages with a member number: by identifier, else by the patient's identifier, else by `subscriberId`.
    pub(super) fn coverages_of_member(&self, member: &str) -> Vec<Arc<Value>> {
        if member.is_empty() {
            return Vec::new();
        }
        let mut found = self.find("Coverage", &[("identifier", member)]);
        if found.is_empty() {
            let patients = self.find("Patient", &[("identifier", member)]);
            found = patients.iter().flat_map(|patient| self.coverages_of_patient(patient)).collect();
        }
        if found.is_empty() {
            found = self.with_subscriber_id(member);
        }
        found
    }

    pub(super) fn coverages_of_patient(&self, patient: &Value) -> Vec<Arc<Value>> {
        match text(patient, "id") {
            Some(id) => self.find("Coverage", &[("beneficiary", &format!("Patient/{id}"))]),
            None => Vec::new(),
        }
    }

    fn with_subscriber_id(&self, member: &str) -> Vec<Arc<Value>> {
        let coverages = self.by_subscriber_id.get_or_init(|| self.index_subscriber_ids());
        let found = coverages.get(member).into_iter().flatten().take(MAX_FOUND);
        found.filter_map(|id| self.get(&format!("Coverage/{id}"))).collect()
    }

    fn index_subscriber_ids(&self) -> HashMap<String, Vec<String>> {
        let mut by_subscriber_id: HashMap<String, Vec<String>> = HashMap::new();
        let coverages = self.records.iter().flat_map(|records| records.live("Coverage", Seq::MAX));
        for record in coverages.take(MAX_COVERAGES_READ) {
            let Ok(SubscriberCoverage { id, number: Some(number) }) = serde_json::from_str(&record.text()) else {
                continue;
            };
            by_subscriber_id.entry(number).or_default().push(id);
        }
        by_subscriber_id
    }

    /// The organization with this identifier, or else with this name.
    pub(super) fn organization(&self, identifier: &str, name: &str) -> Option<Arc<Value>> {
        let by_identifier = self.find("Organization", &[("identifier", identifier)]).into_iter().next();
        by_identifier.or_else(|| {
            let is_named = |found: &Arc<Value>| text(found, "name").is_some_and(|known| is_same(known, name));
            self.find("Organization", &[("name", name)]).into_iter().find(is_named)
        })
    }

    /// Whether any organization has an identifier.
    pub(super) fn numbers_organizations(&self) -> bool {
        let search = || !self.find("Organization", &[("identifier:missing", "false")]).is_empty();
        *self.numbers_organizations.get_or_init(search)
    }
}

pub(super) fn text<'v>(value: &'v Value, member: &str) -> Option<&'v str> {
    value.get(member).and_then(Value::as_str)
}

/// The items of an array member, or nothing.
pub(super) fn items<'v>(value: &'v Value, member: &str) -> &'v [Value] {
    value.get(member).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The values of all identifiers of a resource.
pub(super) fn identifiers(resource: &Value) -> impl Iterator<Item = &str> {
    items(resource, "identifier").iter().filter_map(|identifier| text(identifier, "value"))
}

/// The codes of a CodeableConcept.
pub(super) fn codes(concept: &Value) -> impl Iterator<Item = &str> {
    items(concept, "coding").iter().filter_map(|coding| text(coding, "code"))
}

/// Whether two references name the same resource, of any version.
pub(super) fn is_same_reference(left: &str, right: &str) -> bool {
    match (ResourceReference::parse(left), ResourceReference::parse(right)) {
        (Some(left), Some(right)) => left.is_same_resource(&right, OwnAddresses::default()),
        _ => left == right,
    }
}

/// Compares texts ignoring case, accents and spacing.
pub(super) fn is_same(left: &str, right: &str) -> bool {
    fhir::search::fold(left) == fhir::search::fold(right)
}
