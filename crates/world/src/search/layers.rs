//! The part of a search that uses the indexes of the layers.

use fhir::ResourceType;
use fhir::layer::{Candidates, DocId, Layer};

use super::Hit;
use super::resolved_clause::{LAST_UPDATED, ResolvedClause, all_match};
use crate::{Records, Seq};

/// Below this number of candidates, reading the resources is cheaper than using the index again.
const FEW: usize = 64;

impl Records {
    pub(crate) fn matching_in_layers(
        &self,
        resource_type: ResourceType,
        clauses: &[ResolvedClause<'_>],
        as_of: Seq,
    ) -> Vec<Hit<'_>> {
        let mut hits = Vec::new();
        for (at, layer) in self.layers.iter().enumerate() {
            let docs = self.candidates(layer, resource_type, clauses).into_iter();
            let records = docs.filter_map(|doc| self.visible(at, doc, as_of));
            hits.extend(records.map(|record| Hit { resource_type, record }));
        }
        hits
    }

    /// The documents of a layer that match all clauses, including those that the overlay replaces.
    fn candidates(&self, layer: &Layer, resource_type: ResourceType, clauses: &[ResolvedClause<'_>]) -> Vec<DocId> {
        let mut sorted: Vec<&ResolvedClause<'_>> = clauses.iter().collect();
        sorted.sort_by_key(|clause| estimate(layer, resource_type, clause));
        let mut docs: Option<Vec<DocId>> = None;
        let mut unresolved = Vec::new();
        for clause in sorted {
            let few = docs.as_ref().is_some_and(|docs| docs.len() <= FEW);
            match if few { None } else { candidates_for(layer, resource_type, clause) } {
                Some(Candidates { docs: candidates, exact }) => {
                    docs = Some(match docs {
                        Some(docs) => intersection(&docs, &candidates),
                        None => candidates,
                    });
                    if !exact {
                        unresolved.push(clause);
                    }
                }
                None => unresolved.push(clause),
            }
        }
        let docs = docs.unwrap_or_else(|| layer.of_type(resource_type).map(DocId::new).collect());
        if unresolved.is_empty() {
            return docs;
        }
        let matches_all = |doc: &DocId| {
            self.of_layer(layer, *doc).is_some_and(|record| all_match(unresolved.iter().copied(), &record))
        };
        docs.into_iter().filter(matches_all).collect()
    }
}

/// Estimates how many documents match a clause.
fn estimate(layer: &Layer, resource_type: ResourceType, clause: &ResolvedClause<'_>) -> usize {
    match clause {
        ResolvedClause::Simple(condition) if condition.parameter.code() == LAST_UPDATED => usize::MAX,
        ResolvedClause::Simple(condition) => layer.estimate(resource_type, condition),
        ResolvedClause::References(parameter, _) if parameter.is_stored() => usize::MAX,
        ResolvedClause::References(_, targets) => targets.len(),
        ResolvedClause::IdIn(ids) => ids.len(),
    }
}

/// The candidates from the index; `None` if only the resources themselves can decide.
fn candidates_for(layer: &Layer, resource_type: ResourceType, clause: &ResolvedClause<'_>) -> Option<Candidates> {
    match clause {
        ResolvedClause::Simple(condition) if condition.parameter.code() == LAST_UPDATED => None,
        ResolvedClause::Simple(condition) => Some(layer.candidates(resource_type, condition)),
        ResolvedClause::References(parameter, _) if parameter.is_stored() => None,
        ResolvedClause::References(parameter, targets) => {
            let docs = targets.iter().flat_map(|(target, id)| layer.referring(resource_type, parameter, *target, id));
            Some(Candidates { docs: sort_and_dedup(docs.collect()), exact: true })
        }
        ResolvedClause::IdIn(ids) => {
            let docs = ids.iter().filter_map(|id| layer.get(resource_type, id));
            Some(Candidates { docs: sort_and_dedup(docs.collect()), exact: true })
        }
    }
}

fn sort_and_dedup(mut docs: Vec<DocId>) -> Vec<DocId> {
    docs.sort_unstable();
    docs.dedup();
    docs
}

/// The intersection of two sorted lists: looks up each item of the shorter list in the longer one.
fn intersection(left: &[DocId], right: &[DocId]) -> Vec<DocId> {
    let (short, long) = if left.len() <= right.len() { (left, right) } else { (right, left) };
    short.iter().copied().filter(|doc| long.binary_search(doc).is_ok()).collect()
}
