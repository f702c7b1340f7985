//! FHIR search over layers and overlay: the layers' indexes propose, what was written here is read one by one, and any
//! point of the log can be asked.

mod clause;
mod include;
mod layers;

use std::cmp::Ordering;
use std::collections::HashSet;

use fhir::ResourceType;
use fhir::search::{Clause, Query, Sort, SortKey, extract};

use crate::{Record, Records, Seq};
use clause::Question;

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
    fn identity(&self) -> (ResourceType, String) {
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
        let own = self.own_live(resource_type.as_str(), as_of).filter(|record| {
            let json = record.json();
            questions.iter().all(|question| question.holds(record, &json))
        });
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
    let keys = |hit: &Hit<'_>| -> Vec<Option<SortKey>> {
        let json = hit.record.json();
        by.iter().map(|sort| sort.key(&extract(sort.parameter, &json))).collect()
    };
    hits.sort_by_cached_key(|hit| Keys {
        keys: keys(hit),
        descending: by.iter().map(|sort| sort.descending).collect(),
    });
}

/// The sort keys of one resource; those without a value come last, whichever way.
#[derive(PartialEq, Eq)]
struct Keys {
    keys: Vec<Option<SortKey>>,
    descending: Vec<bool>,
}

impl Ord for Keys {
    fn cmp(&self, other: &Self) -> Ordering {
        let pairs = self.keys.iter().zip(&other.keys).zip(&self.descending);
        let mut orders = pairs.map(|((left, right), descending)| match (left, right) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(left), Some(right)) if *descending => right.cmp(left),
            (Some(left), Some(right)) => left.cmp(right),
        });
        orders.find(|order| *order != Ordering::Equal).unwrap_or(Ordering::Equal)
    }
}

impl PartialOrd for Keys {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Types and ids.
pub(crate) type Identities = HashSet<(ResourceType, String)>;
