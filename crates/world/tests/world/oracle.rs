//! Searches by loops over everything that is live.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use fhir::ResourceType;
use fhir::definitions::{SearchParameter, SearchType};
use fhir::search::{
    Clause, Condition, Include, IncludeTarget, IndexedValue, Query, Sort, SortKey, Span, Target, extract,
};

use crate::plain::Live;

pub(crate) type Identity = (ResourceType, String);

struct Resource<'a> {
    identity: Identity,
    live: &'a Live,
}

/// Everything at one moment.
pub(crate) struct Oracle<'a>(Vec<Resource<'a>>);

impl<'a> Oracle<'a> {
    pub(crate) fn new(live: &'a [Live]) -> Self {
        let resource = |live: &'a Live| {
            let resource_type = live.collection.parse().ok()?;
            Some(Resource { identity: (resource_type, live.key.clone()), live })
        };
        Self(live.iter().filter_map(resource).collect())
    }

    /// The ids of all that match, in order.
    pub(crate) fn matches(&self, resource_type: ResourceType, query: &Query) -> Vec<String> {
        let of_type = self.0.iter().filter(|resource| resource.identity.0 == resource_type);
        let mut found: Vec<&Resource<'_>> =
            of_type.filter(|resource| query.clauses.iter().all(|clause| self.answers(resource, clause))).collect();
        found.sort_by(|left, right| left.identity.1.cmp(&right.identity.1));
        found.sort_by(|left, right| order(&query.sort, left, right));
        found.into_iter().map(|resource| resource.identity.1.clone()).collect()
    }

    /// What the includes add to some matches.
    pub(crate) fn included(&self, matches: &BTreeSet<Identity>, includes: &[Include]) -> BTreeSet<Identity> {
        let mut all = matches.clone();
        let mut round = matches.clone();
        let mut includes: Vec<&Include> = includes.iter().collect();
        while !round.is_empty() {
            let from = self.0.iter().filter(|resource| round.contains(&resource.identity));
            let reached = from.flat_map(|resource| includes.iter().flat_map(|include| self.reached(resource, include)));
            round = reached.filter(|identity| !all.contains(identity)).collect();
            all.extend(round.iter().cloned());
            includes.retain(|include| include.iterate);
        }
        &all - matches
    }

    fn answers(&self, resource: &Resource<'_>, clause: &Clause) -> bool {
        match clause {
            Clause::Simple(condition) => holds(resource, condition),
            Clause::Chain { parameter, targets } => {
                let pointed_to = pointers(resource, parameter);
                self.0.iter().filter(|other| pointed_to.contains(&other.identity)).any(|other| {
                    let of_type = targets.iter().filter(|(target, _)| *target == other.identity.0);
                    of_type.into_iter().any(|(_, clause)| self.answers(other, clause))
                })
            }
            Clause::ReverseChain { source, parameter, clause } => self.0.iter().any(|other| {
                other.identity.0 == *source
                    && pointers(other, parameter).contains(&resource.identity)
                    && self.answers(other, clause)
            }),
        }
    }

    fn reached(&self, resource: &Resource<'_>, include: &Include) -> Vec<Identity> {
        let points = |from: &Resource<'_>, to: &Identity| {
            from.identity.0 == include.source
                && (include.target == IncludeTarget::Any || include.target == IncludeTarget::Only(to.0))
                && parameters(include).any(|parameter| pointers(from, parameter).contains(to))
        };
        let is_reached = |other: &&Resource<'_>| match include.reverse {
            true => points(other, &resource.identity),
            false => points(resource, &other.identity),
        };
        self.0.iter().filter(is_reached).map(|other| other.identity.clone()).collect()
    }
}

fn parameters(include: &Include) -> impl Iterator<Item = &'static SearchParameter> {
    SearchParameter::of(include.source)
        .filter(|parameter| parameter.search_type() == SearchType::Reference)
        .filter(|parameter| include.parameter.as_ref().is_none_or(|only| only.code() == parameter.code()))
}

fn pointers(resource: &Resource<'_>, parameter: &SearchParameter) -> Vec<Identity> {
    let local = |found| match found {
        IndexedValue::Reference { target: Target::Local { resource_type, id, .. }, .. } => {
            Some((resource_type, id.into_string()))
        }
        _ => None,
    };
    extract(parameter, &resource.live.json).into_iter().filter_map(local).collect()
}

/// When a record was updated is asked of the record, not of its text.
fn found(resource: &Resource<'_>, parameter: &SearchParameter) -> Vec<IndexedValue> {
    let at = resource.live.at.milliseconds();
    match parameter.code() {
        "_lastUpdated" => vec![IndexedValue::Date(Span { first: at, last: at })],
        _ => extract(parameter, &resource.live.json),
    }
}

fn holds(resource: &Resource<'_>, condition: &Condition) -> bool {
    condition.holds(&found(resource, &condition.parameter))
}

fn order(by: &[Sort], left: &Resource<'_>, right: &Resource<'_>) -> Ordering {
    for sort in by {
        let key = |resource: &Resource<'_>| -> Option<SortKey> { sort.key(&found(resource, &sort.parameter)) };
        let order = match (key(left), key(right)) {
            (Some(left), Some(right)) if sort.descending => right.cmp(&left),
            (Some(left), Some(right)) => left.cmp(&right),
            (left, right) => left.is_none().cmp(&right.is_none()),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    Ordering::Equal
}
