//! The playground's health record as a payer's system looks into it: through the search index, a few resources at a time.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use fhir::ResourceType;
use model::simulator::SimulatorType;
use serde::Deserialize;
use serde_json::Value;
use world::{Page, Records, Seq, World};

/// Every FHIR sandbox of the playground that is kept here.
pub(super) struct Chart<'w> {
    records: Vec<&'w Records>,
    /// Coverages by `subscriberId`, once somebody was looked for by it.
    cards: OnceCell<HashMap<String, Vec<String>>>,
    numbers_organizations: OnceCell<bool>,
}

/// What is read of a coverage to find it by the number on the card.
#[derive(Deserialize)]
struct Card {
    id: String,
    #[serde(rename = "subscriberId")]
    number: Option<String>,
}

/// A search never gives more: whoever has as many namesakes is not told from them.
const MOST_FOUND: usize = 50;
/// Member numbers in `Coverage.subscriberId`, for which FHIR has no search parameter, are looked for in as many coverages.
const MOST_LOOKED_THROUGH: usize = 5000;

impl<'w> Chart<'w> {
    pub(super) fn of(world: &'w World) -> Self {
        let is_here = |sandbox: &&world::Sandbox| {
            let is_remote = sandbox.config.get("remote").is_some_and(|remote| !remote.is_null());
            sandbox.kind == SimulatorType::Fhir && sandbox.is_active && !is_remote
        };
        let records = world.sandboxes.values().filter(is_here).map(|sandbox| &sandbox.records).collect();
        Self { records, cards: OnceCell::new(), numbers_organizations: OnceCell::new() }
    }

    /// Whether there is no record that could know anybody.
    pub(super) fn is_absent(&self) -> bool {
        self.records.is_empty()
    }

    /// Resources that a FHIR search finds, by id. A search that cannot be asked finds nothing.
    pub(super) fn find(&self, kind: &str, parameters: &[(&str, &str)]) -> Vec<Arc<Value>> {
        let Some(resource_type) = ResourceType::named(kind) else { return Vec::new() };
        let pairs: Vec<(String, String)> =
            parameters.iter().map(|(name, value)| ((*name).to_owned(), fhir::search::escape(value))).collect();
        let Ok(query) = fhir::search::parse(resource_type, "", &pairs) else { return Vec::new() };
        // What the search would leave out would be found everywhere.
        if !query.ignored.is_empty() || query.clauses.len() != pairs.len() {
            return Vec::new();
        }
        let page = Page { offset: 0, count: MOST_FOUND };
        let found = self.records.iter().flat_map(|records| {
            records.search(resource_type, &query, Seq::MAX, page).matches.into_iter().map(|hit| hit.record.json())
        });
        found.take(MOST_FOUND).collect()
    }

    /// The resource that a reference such as `Patient/1` names.
    pub(super) fn get(&self, reference: &str) -> Option<Arc<Value>> {
        let (kind, id) = reference.split_once('/')?;
        self.records.iter().find_map(|records| records.get(kind, id).live()).map(|record| record.json())
    }

    /// The resource that a member of another one refers to.
    pub(super) fn follow(&self, reference: &Value) -> Option<Arc<Value>> {
        self.get(text(reference, "reference")?)
    }

    /// Coverages under a member number: by identifier, by the patient's identifier, else by `subscriberId`.
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
        let cards = self.cards.get_or_init(|| self.read_cards());
        let found = cards.get(member).into_iter().flatten().take(MOST_FOUND);
        found.filter_map(|id| self.get(&format!("Coverage/{id}"))).collect()
    }

    fn read_cards(&self) -> HashMap<String, Vec<String>> {
        let mut cards: HashMap<String, Vec<String>> = HashMap::new();
        let coverages = self.records.iter().flat_map(|records| records.live("Coverage", Seq::MAX));
        for record in coverages.take(MOST_LOOKED_THROUGH) {
            let Ok(Card { id, number: Some(number) }) = serde_json::from_str(&record.text()) else { continue };
            cards.entry(number).or_default().push(id);
        }
        cards
    }

    /// The organization with this identifier, else with exactly this name.
    pub(super) fn organization(&self, identifier: &str, name: &str) -> Option<Arc<Value>> {
        let by_identifier = self.find("Organization", &[("identifier", identifier)]).into_iter().next();
        by_identifier.or_else(|| {
            let is_named = |found: &Arc<Value>| text(found, "name").is_some_and(|known| is_same(known, name));
            self.find("Organization", &[("name", name)]).into_iter().find(is_named)
        })
    }

    /// Whether organizations here are known by numbers at all.
    pub(super) fn numbers_organizations(&self) -> bool {
        let ask = || !self.find("Organization", &[("identifier:missing", "false")]).is_empty();
        *self.numbers_organizations.get_or_init(ask)
    }
}

pub(super) fn text<'v>(value: &'v Value, member: &str) -> Option<&'v str> {
    value.get(member).and_then(Value::as_str)
}

/// The items of a list; none where there is no list.
pub(super) fn items<'v>(value: &'v Value, member: &str) -> &'v [Value] {
    value.get(member).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The values of all identifiers.
pub(super) fn identifiers(resource: &Value) -> impl Iterator<Item = &str> {
    items(resource, "identifier").iter().filter_map(|identifier| text(identifier, "value"))
}

/// The codes of a concept.
pub(super) fn codes(concept: &Value) -> impl Iterator<Item = &str> {
    items(concept, "coding").iter().filter_map(|coding| text(coding, "code"))
}

/// Without case, accents and spacing.
pub(super) fn is_same(left: &str, right: &str) -> bool {
    fhir::search::fold(left) == fhir::search::fold(right)
}
