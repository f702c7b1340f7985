//! Clauses after their chains were followed: questions that one resource can be asked by itself.

use std::collections::HashSet;
use std::sync::Arc;

use fhir::ResourceType;
use fhir::definitions::SearchParameter;
use fhir::search::{Clause, Condition, Found, Span, Target, extract};
use serde_json::Value;

use super::Identities;
use crate::{Record, Records, Seq};

/// What is asked of one resource.
pub(crate) enum Question<'q> {
    Own(&'q Condition),
    /// The parameter must point to one of these.
    PointsTo(&'q SearchParameter, Identities),
    /// The resource must be one of these ids.
    IsOneOf(HashSet<String>),
}

impl<'q> Question<'q> {
    pub(crate) fn resolve(
        records: &Records,
        resource_type: ResourceType,
        clause: &'q Clause,
        as_of: Seq,
    ) -> Question<'q> {
        match clause {
            Clause::Own(condition) => Question::Own(condition),
            Clause::Forward { parameter, targets } => {
                let found = targets.iter().flat_map(|(target, clause)| {
                    records.matching(*target, std::slice::from_ref(clause), as_of).into_iter().map(|hit| hit.identity())
                });
                Question::PointsTo(parameter, found.collect())
            }
            Clause::Reverse { source, parameter, then } => {
                let sources = records.matching(*source, std::slice::from_ref(then), as_of);
                let targets = sources.iter().flat_map(|hit| local_targets(parameter, &hit.record.json()));
                let here = targets.filter(|(target, _)| *target == resource_type).map(|(_, id)| id);
                Question::IsOneOf(here.collect())
            }
        }
    }

    /// Whether it must read the resource itself.
    fn reads_text(&self) -> bool {
        match self {
            Question::Own(condition) => condition.parameter.code() != LAST_UPDATED,
            Question::PointsTo(..) => true,
            Question::IsOneOf(_) => false,
        }
    }

    /// Whether the resource answers it. `json` is the record's, if the question reads it.
    fn holds(&self, record: &Record<'_>, json: &Value) -> bool {
        match self {
            Question::Own(condition) => condition.holds(&found(&condition.parameter, record, json)),
            Question::PointsTo(parameter, targets) => {
                local_targets(parameter, json).any(|target| targets.contains(&target))
            }
            Question::IsOneOf(ids) => ids.contains(record.key),
        }
    }
}

/// Whether the resource answers every question. It is read only if one of them must.
pub(crate) fn all_hold<'q>(questions: impl Iterator<Item = &'q Question<'q>> + Clone, record: &Record<'_>) -> bool {
    let reads_text = questions.clone().any(Question::reads_text);
    let json = if reads_text { record.json() } else { Arc::default() };
    questions.into_iter().all(|question| question.holds(record, &json))
}

pub(crate) const LAST_UPDATED: &str = "_lastUpdated";

/// What a parameter finds. When a resource was last updated is asked of the record and not of its text, which may leave
/// it out.
pub(crate) fn found(parameter: &SearchParameter, record: &Record<'_>, json: &Value) -> Vec<Found> {
    let at = record.at.milliseconds();
    match parameter.code() {
        LAST_UPDATED => vec![Found::Date(Span { first: at, last: at })],
        _ => extract(parameter, json),
    }
}

/// Where a reference parameter points to inside this server.
pub(crate) fn local_targets(
    parameter: &SearchParameter,
    json: &Value,
) -> impl Iterator<Item = (ResourceType, String)> + use<> {
    extract(parameter, json).into_iter().filter_map(|found| match found {
        Found::Reference { target: Target::Local { resource_type, id, .. }, .. } => Some((resource_type, id.into())),
        _ => None,
    })
}
