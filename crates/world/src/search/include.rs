//! `_include` and `_revinclude`: what is shown beside the matches.

use fhir::ResourceType;
use fhir::definitions::{SearchParameter, SearchType};
use fhir::search::{Include, IncludeTarget};

use super::clause::local_targets;
use super::{Hit, Identities};
use crate::{Records, Seq};

/// Everything that the includes add to the matches, once each, at most so many.
pub(crate) fn included<'a>(
    records: &'a Records,
    matches: &[Hit<'a>],
    includes: &[Include],
    as_of: Seq,
    most: usize,
) -> Vec<Hit<'a>> {
    let mut seen: Identities = matches.iter().map(Hit::identity).collect();
    let mut found = Vec::new();
    let mut round: Vec<Hit<'a>> = matches.to_vec();
    let mut first = true;
    while !round.is_empty() && found.len() < most {
        let mut next = Vec::new();
        for include in includes.iter().filter(|include| first || include.iterate) {
            for hit in &round {
                let reached = reached(records, hit, include, as_of);
                next.extend(reached.into_iter().filter(|hit| seen.insert(hit.identity())));
            }
        }
        found.extend(next.iter().cloned());
        (round, first) = (next, false);
    }
    found.truncate(most);
    found
}

fn reached<'a>(records: &'a Records, hit: &Hit<'a>, include: &Include, as_of: Seq) -> Vec<Hit<'a>> {
    if include.reverse { pointing_here(records, hit, include, as_of) } else { pointed_to(records, hit, include, as_of) }
}

fn pointed_to<'a>(records: &'a Records, hit: &Hit<'a>, include: &Include, as_of: Seq) -> Vec<Hit<'a>> {
    if hit.resource_type != include.source {
        return Vec::new();
    }
    let json = hit.record.json();
    let targets = parameters(include).flat_map(|parameter| local_targets(parameter, &json));
    targets
        .filter(|(target, _)| wanted(include.target, *target))
        .filter_map(|(target, id)| records.target(target, &id, as_of))
        .collect()
}

fn pointing_here<'a>(records: &'a Records, hit: &Hit<'a>, include: &Include, as_of: Seq) -> Vec<Hit<'a>> {
    if !wanted(include.target, hit.resource_type) {
        return Vec::new();
    }
    let sources = parameters(include)
        .flat_map(|parameter| records.referring(include.source, parameter, hit.resource_type, hit.record.key, as_of));
    sources.collect()
}

fn wanted(target: IncludeTarget, resource_type: ResourceType) -> bool {
    match target {
        IncludeTarget::Any => true,
        IncludeTarget::Only(only) => only == resource_type,
    }
}

fn parameters(include: &Include) -> Box<dyn Iterator<Item = &'static SearchParameter>> {
    match include.parameter {
        Some(parameter) => Box::new(std::iter::once(parameter)),
        None => Box::new(reference_parameters(include.source)),
    }
}

pub(crate) fn reference_parameters(resource_type: ResourceType) -> impl Iterator<Item = &'static SearchParameter> {
    SearchParameter::of(resource_type).filter(|parameter| parameter.search_type() == SearchType::Reference)
}

impl Records {
    /// The live resources of a type whose parameter points to another one.
    pub fn referring(
        &self,
        source: ResourceType,
        parameter: &'static SearchParameter,
        target: ResourceType,
        id: &str,
        as_of: Seq,
    ) -> Vec<Hit<'_>> {
        let collection = source.as_str();
        let mut hits = Vec::new();
        for (at, layer) in self.layers.iter().enumerate() {
            let docs = layer.referring(source, parameter, target, id).into_iter();
            let records = docs.filter_map(|doc| self.visible(at, doc, as_of));
            hits.extend(records.map(|record| Hit { resource_type: source, record }));
        }
        let points =
            |json: &serde_json::Value| local_targets(parameter, json).any(|(to, there)| to == target && there == id);
        let own = self.own_live(collection, as_of).filter(|record| points(&record.json()));
        hits.extend(own.map(|record| Hit { resource_type: source, record }));
        hits
    }
}
