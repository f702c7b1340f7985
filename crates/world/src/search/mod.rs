//! FHIR search over layers and overlay: the layers' indexes propose, what was written here is read one by one, and any
//! point of the log can be asked.

mod clause;
mod include;
mod layers;

use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;

use fhir::ResourceType;
use fhir::search::{Clause, Query, Sort, SortKey};

use crate::{Record, Records, Seq};
use clause::{LAST_UPDATED, Question, all_hold, found};

/// A part of the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    pub offset: usize,
    pub count: usize,
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct Found<'a> {
    /// All that match, on every page.
    pub total: usize,
    /// Those of the page, in order.
    pub matches: Vec<Hit<'a>>,
    /// What `_include` and `_revinclude` add to the page.
    pub included: Vec<Hit<'a>>,
}

#[derive(Clone, Debug)]
pub struct Hit<'a> {
    pub resource_type: ResourceType,
    pub record: Record<'a>,
}

impl Hit<'_> {
    fn identity(&self) -> Identity {
        (self.resource_type, self.record.key.to_owned())
    }
}

/// More included resources than this are left out: a page must not be the whole store.
const MOST_INCLUDED: usize = 1000;

impl Records {
    /// Searches one type as it was after the entry `as_of` of the log.
    pub fn search(&self, resource_type: ResourceType, query: &Query, as_of: Seq, page: Page) -> Found<'_> {
        let mut hits = self.matching(resource_type, &query.clauses, as_of);
        sort(&mut hits, &query.sort);
        let total = hits.len();
        let matches: Vec<Hit<'_>> = hits.into_iter().skip(page.offset).take(page.count).collect();
        let included = include::included(self, &matches, &query.includes, as_of, MOST_INCLUDED);
        Found { total, matches, included }
    }

    /// Every resource of the type that answers all clauses, by id.
    pub(crate) fn matching(&self, resource_type: ResourceType, clauses: &[Clause], as_of: Seq) -> Vec<Hit<'_>> {
        let questions: Vec<Question<'_>> =
            clauses.iter().map(|clause| Question::resolve(self, resource_type, clause, as_of)).collect();
        let mut hits = self.matching_in_layers(resource_type, &questions, as_of);
        let own = self.own_live(resource_type.as_str(), as_of).filter(|record| all_hold(questions.iter(), record));
        hits.extend(own.map(|record| Hit { resource_type, record }));
        hits.sort_by(|left, right| left.record.key.cmp(right.record.key));
        hits
    }

    /// The live resource that a local reference points to.
    pub(crate) fn target(&self, resource_type: ResourceType, id: &str, as_of: Seq) -> Option<Hit<'_>> {
        let collection = resource_type.as_str();
        // The record borrows its key from the store, not from the caller.
        let record = self.stored_key(collection, id).and_then(|key| self.at(collection, key, as_of).live())?;
        Some(Hit { resource_type, record })
    }
}

/// Stable, so that equal keys stay in the order of their ids.
fn sort(hits: &mut [Hit<'_>], by: &[Sort]) {
    if by.is_empty() {
        return;
    }
    let reads_text = by.iter().any(|sort| sort.parameter.code() != LAST_UPDATED);
    hits.sort_by_cached_key(|Hit { record, .. }| {
        let json = if reads_text { record.json() } else { Arc::default() };
        let key = |sort: &Sort| Place::new(sort, sort.key(&found(sort.parameter, record, &json)));
        by.iter().map(key).collect::<Vec<Place>>()
    });
}

/// Where one sort key puts a resource; without a value it comes last, whichever way.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Ascending(SortKey),
    Descending(Reverse<SortKey>),
    Last,
}

impl Place {
    fn new(sort: &Sort, key: Option<SortKey>) -> Self {
        match key {
            None => Place::Last,
            Some(key) if sort.descending => Place::Descending(Reverse(key)),
            Some(key) => Place::Ascending(key),
        }
    }
}

/// A type and an id.
pub(crate) type Identity = (ResourceType, String);
pub(crate) type Identities = HashSet<Identity>;
