//! Search clauses with resolved chains, which can be evaluated on one resource alone.

use std::collections::HashSet;
use std::sync::Arc;

use fhir::ResourceType;
use fhir::definitions::SearchParameter;
use fhir::search::{Clause, Condition, IndexedValue, Span, Target, extract};
use serde_json::Value;

use super::Identities;
use crate::{Record, Records, Seq};

/// A condition on one resource.
pub(crate) enum ResolvedClause<'q> {
    Simple(&'q Condition),
    /// The parameter must reference one of these resources.
    References(&'q SearchParameter, Identities),
    /// The resource must have one of these ids.
    IdIn(HashSet<String>),
}

impl<'q> ResolvedClause<'q> {
    pub(crate) fn resolve(
        records: &Records,
        resource_type: ResourceType,
        clause: &'q Clause,
        as_of: Seq,
    ) -> ResolvedClause<'q> {
        match clause {
            Clause::Simple(condition) => ResolvedClause::Simple(condition),
            Clause::Chain { parameter, targets } => {
                let matching = targets.iter().flat_map(|(target, clause)| {
                    records.matching(*target, std::slice::from_ref(clause), as_of).into_iter().map(|hit| hit.identity())
                });
                ResolvedClause::References(parameter, matching.collect())
            }
            Clause::ReverseChain { source, parameter, clause } => {
                let sources = records.matching(*source, std::slice::from_ref(clause), as_of);
                let targets = sources.iter().flat_map(|hit| local_targets(parameter, &hit.record.json()));
                let here = targets.filter(|(target, _)| *target == resource_type).map(|(_, id)| id);
                ResolvedClause::IdIn(here.collect())
            }
        }
    }

    /// Whether it reads the JSON of the resource.
    fn needs_json(&self) -> bool {
        match self {
            ResolvedClause::Simple(condition) => condition.parameter.code() != LAST_UPDATED,
            ResolvedClause::References(..) => true,
            ResolvedClause::IdIn(_) => false,
        }
    }

    /// Whether the resource matches. `json` is the record's JSON if [`needs_json`](Self::needs_json).
    fn matches(&self, record: &Record<'_>, json: &Value) -> bool {
        match self {
            ResolvedClause::Simple(condition) => condition.holds(&indexed_values(&condition.parameter, record, json)),
            ResolvedClause::References(parameter, targets) => {
                local_targets(parameter, json).any(|target| targets.contains(&target))
            }
            ResolvedClause::IdIn(ids) => ids.contains(record.key),
        }
    }
}

/// Whether the resource matches all clauses. Parses it only if one of them needs the JSON.
pub(crate) fn all_match<'q>(
    clauses: impl Iterator<Item = &'q ResolvedClause<'q>> + Clone,
    record: &Record<'_>,
) -> bool {
    let needs_json = clauses.clone().any(ResolvedClause::needs_json);
    let json = if needs_json { record.json() } else { Arc::default() };
    clauses.into_iter().all(|clause| clause.matches(record, &json))
}

pub(crate) const LAST_UPDATED: &str = "_lastUpdated";

/// The values of a parameter. `_lastUpdated` comes from the record, because the resource may not contain it.
pub(crate) fn indexed_values(parameter: &SearchParameter, record: &Record<'_>, json: &Value) -> Vec<IndexedValue> {
    let at = record.at.milliseconds();
    match parameter.code() {
        LAST_UPDATED => vec![IndexedValue::Date(Span { first: at, last: at })],
        _ => extract(parameter, json),
    }
}

/// The local resources that a reference parameter refers to.
pub(crate) fn local_targets(
    parameter: &SearchParameter,
    json: &Value,
) -> impl Iterator<Item = (ResourceType, String)> + use<> {
    extract(parameter, json).into_iter().filter_map(|value| match value {
        IndexedValue::Reference { target: Target::Local { resource_type, id, .. }, .. } => {
            Some((resource_type, id.into()))
        }
        _ => None,
    })
}
