//! FHIR search over layers and overlay, as of any log position. The indexes of the layers return candidates; overlay
//! records are read one by one.

mod include;
mod layers;
mod resolved_clause;
mod stored_parameters;

pub use stored_parameters::{SearchCache, StoredParameters};

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use fhir::ResourceType;
use fhir::search::{Clause, Include, Query, Sort, SortKey};

use crate::{Record, Records, Seq};
use resolved_clause::{LAST_UPDATED, ResolvedClause, all_match, indexed_values};

/// A page of the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    pub offset: usize,
    pub count: usize,
}

/// A search of one type, optionally limited to some of its resources.
#[derive(Clone, Debug)]
pub struct TypeSearch<'q> {
    pub resource_type: ResourceType,
    pub query: &'q Query,
    /// The ids to search; `None` for all.
    pub among: Option<HashSet<String>>,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct SearchResult<'a> {
    /// The number of matches on all pages.
    pub total: usize,
    /// The matches of the page, in order.
    pub matches: Vec<Hit<'a>>,
    /// The resources that `_include` and `_revinclude` add to the page, at most [`MOST_INCLUDED`] at a time.
    pub included: Vec<Hit<'a>>,
    /// Whether there are more included resources.
    pub has_more_included: bool,
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

/// The most included resources of a page, so that it cannot contain the whole store.
pub const MOST_INCLUDED: usize = 1000;

impl Records {
    /// Searches one type as of log entry `as_of`.
    pub fn search(&self, resource_type: ResourceType, query: &Query, as_of: Seq, page: Page) -> SearchResult<'_> {
        self.search_types(&[TypeSearch { resource_type, query, among: None }], as_of, page, 0)
    }

    /// Searches several types at once. Without `_sort`, results are ordered by type, then by id. `included_before` is
    /// the number of included resources on earlier pages.
    pub fn search_types(
        &self,
        searches: &[TypeSearch<'_>],
        as_of: Seq,
        page: Page,
        included_before: usize,
    ) -> SearchResult<'_> {
        let mut hits = Vec::new();
        for TypeSearch { resource_type, query, among } in searches {
            hits.extend(self.matching_among(*resource_type, &query.clauses, among.as_ref(), as_of));
        }
        sort(&mut hits, searches);
        let total = hits.len();
        let matches: Vec<Hit<'_>> = hits.into_iter().skip(page.offset).take(page.count).collect();
        let includes = distinct_includes(searches.iter().map(|search| search.query));
        let end = included_before.saturating_add(MOST_INCLUDED);
        let mut included = include::find_included(self, &matches, &includes, as_of, end.saturating_add(1));
        let has_more_included = included.len() > end;
        included.truncate(end);
        included.drain(..included_before.min(included.len()));
        SearchResult { total, matches, included, has_more_included }
    }

    /// All resources of the type that match all clauses, by id.
    pub(crate) fn matching(&self, resource_type: ResourceType, clauses: &[Clause], as_of: Seq) -> Vec<Hit<'_>> {
        self.matching_among(resource_type, clauses, None, as_of)
    }

    fn matching_among(
        &self,
        resource_type: ResourceType,
        clauses: &[Clause],
        among: Option<&HashSet<String>>,
        as_of: Seq,
    ) -> Vec<Hit<'_>> {
        let clauses: Vec<ResolvedClause<'_>> = clauses
            .iter()
            .map(|clause| ResolvedClause::resolve(self, resource_type, clause, as_of))
            .chain(among.map(|ids| ResolvedClause::IdIn(ids.clone())))
            .collect();
        let mut hits = self.matching_in_layers(resource_type, &clauses, as_of);
        let own = self.own_live(resource_type.as_str(), as_of).filter(|record| all_match(clauses.iter(), record));
        hits.extend(own.map(|record| Hit { resource_type, record }));
        hits.sort_by(|left, right| left.record.key.cmp(right.record.key));
        hits
    }

    /// The live resource that a local reference refers to.
    pub(crate) fn target(&self, resource_type: ResourceType, id: &str, as_of: Seq) -> Option<Hit<'_>> {
        let collection = resource_type.as_str();
        // The record borrows its key from the records, not from the caller.
        let record = self.stored_key(collection, id).and_then(|key| self.at(collection, key, as_of).live())?;
        Some(Hit { resource_type, record })
    }
}

/// The includes of all searches, without duplicates.
fn distinct_includes<'q>(queries: impl Iterator<Item = &'q Query>) -> Vec<Include> {
    let mut seen = HashSet::new();
    let is_new = |include: &&Include| {
        let Include { reverse, iterate, source, parameter, target } = include;
        let code = parameter.as_ref().map(|parameter| parameter.code().to_owned());
        seen.insert((*reverse, *iterate, *source, code, target.clone()))
    };
    queries.flat_map(|query| &query.includes).filter(is_new).cloned().collect()
}

/// A stable sort keeps the order of ids for equal keys.
fn sort(hits: &mut [Hit<'_>], searches: &[TypeSearch<'_>]) {
    if searches.iter().all(|search| search.query.sort.is_empty()) {
        return;
    }
    let by_type: HashMap<ResourceType, &[Sort]> =
        searches.iter().map(|search| (search.resource_type, search.query.sort.as_slice())).collect();
    hits.sort_by_cached_key(|Hit { record, resource_type }| {
        let by = by_type.get(resource_type).copied().unwrap_or_default();
        let needs_json = by.iter().any(|sort| sort.parameter.code() != LAST_UPDATED);
        let json = if needs_json { record.json() } else { Arc::default() };
        let key = |sort: &Sort| SortPosition::new(sort, sort.key(&indexed_values(&sort.parameter, record, &json)));
        by.iter().map(key).collect::<Vec<SortPosition>>()
    });
}

/// The position by one sort key. Resources without a value come last in both orders.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum SortPosition {
    Ascending(SortKey),
    Descending(Reverse<SortKey>),
    Last,
}

impl SortPosition {
    fn new(sort: &Sort, key: Option<SortKey>) -> Self {
        match key {
            None => SortPosition::Last,
            Some(key) if sort.descending => SortPosition::Descending(Reverse(key)),
            Some(key) => SortPosition::Ascending(key),
        }
    }
}

/// A resource type and an id.
pub(crate) type Identity = (ResourceType, String);
pub(crate) type Identities = HashSet<Identity>;
