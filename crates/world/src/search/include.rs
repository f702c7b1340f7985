//! Finds the resources of `_include` and `_revinclude`.

use std::cell::OnceCell;
use std::collections::HashMap;

use fhir::ResourceType;
use fhir::definitions::{Parameter, SearchParameter, SearchType};
use fhir::search::Include;
use serde_json::Value;

use super::resolved_clause::local_targets;
use super::{Hit, Identities, Identity};
use crate::{Record, Records, Seq};

/// All resources that the includes add to the matches, without duplicates, at most `most`.
pub(crate) fn find_included<'a>(
    records: &'a Records,
    matches: &[Hit<'a>],
    includes: &[Include],
    as_of: Seq,
    most: usize,
) -> Vec<Hit<'a>> {
    // `*` stands for every type, and most types have no resources.
    let sources = includes.iter().filter(|include| records.has_any(include.source));
    let mut steps: Vec<IncludeStep<'a, '_>> =
        sources.map(|include| IncludeStep::new(records, include, as_of)).collect();
    let mut seen: Identities = matches.iter().map(Hit::identity).collect();
    let mut found: Vec<Hit<'a>> = Vec::new();
    let mut round: Vec<Hit<'a>> = matches.to_vec();
    while !round.is_empty() {
        let start = found.len();
        for (step, hit) in steps.iter().flat_map(|step| round.iter().map(move |hit| (step, hit))) {
            let new = step.included(hit).filter(|hit| seen.insert(hit.identity()));
            found.extend(new.take(most - found.len()));
            if found.len() == most {
                return found;
            }
        }
        round = found[start..].to_vec();
        steps.retain(|step| step.include.iterate);
    }
    found
}

/// One `_include` or `_revinclude`.
struct IncludeStep<'a, 'q> {
    records: &'a Records,
    include: &'q Include,
    parameters: Vec<Parameter>,
    as_of: Seq,
    /// For `_revinclude`: overlay records by what they reference; for stored parameters, which have no index, all
    /// records. Collected once, not for each referenced resource.
    overlay_by_target: OnceCell<HashMap<Identity, Vec<Hit<'a>>>>,
}

impl<'a, 'q> IncludeStep<'a, 'q> {
    fn new(records: &'a Records, include: &'q Include, as_of: Seq) -> Self {
        let parameters: Vec<Parameter> = match &include.parameter {
            Some(parameter) => vec![parameter.clone()],
            None => reference_parameters(include.source).map(Parameter::from).collect(),
        };
        IncludeStep { records, include, parameters, as_of, overlay_by_target: OnceCell::new() }
    }

    fn included<'s>(&'s self, hit: &'s Hit<'a>) -> Box<dyn Iterator<Item = Hit<'a>> + 's> {
        if self.include.reverse { Box::new(self.referring(hit)) } else { Box::new(self.referenced(hit)) }
    }

    fn referenced<'s>(&'s self, hit: &'s Hit<'a>) -> impl Iterator<Item = Hit<'a>> + 's {
        let json = (hit.resource_type == self.include.source).then(|| hit.record.json());
        let targets = json.into_iter().flat_map(|json| self.targets(&json));
        targets
            .filter(|(target, _)| self.include.target.allows(*target))
            .filter_map(|(target, id)| self.records.target(target, &id, self.as_of))
    }

    fn referring<'s>(&'s self, hit: &'s Hit<'a>) -> impl Iterator<Item = Hit<'a>> + 's {
        let referenced = Some(hit).filter(|hit| self.include.target.allows(hit.resource_type)).into_iter();
        referenced.flat_map(|hit| {
            let indexed = self.parameters.iter().filter_map(|parameter| match parameter {
                Parameter::Standard(parameter) => Some(*parameter),
                Parameter::Stored(_) => None,
            });
            let in_layers = indexed.flat_map(|parameter| {
                let Hit { resource_type, record } = hit;
                self.records.referring_in_layers(self.include.source, parameter, *resource_type, record.key, self.as_of)
            });
            in_layers.chain(self.overlay_by_target().get(&hit.identity()).into_iter().flatten().cloned())
        })
    }

    fn overlay_by_target(&self) -> &HashMap<Identity, Vec<Hit<'a>>> {
        self.overlay_by_target.get_or_init(|| {
            let resource_type = self.include.source;
            let mut by_target: HashMap<Identity, Vec<Hit<'a>>> = HashMap::new();
            let is_stored = self.parameters.iter().any(|parameter| parameter.is_stored());
            let records: Box<dyn Iterator<Item = Record<'a>>> = if is_stored {
                Box::new(self.records.live(resource_type.as_str(), self.as_of))
            } else {
                Box::new(self.records.own_live(resource_type.as_str(), self.as_of))
            };
            for record in records {
                for target in self.targets(&record.json()) {
                    let hit = Hit { resource_type, record: record.clone() };
                    by_target.entry(target).or_default().push(hit);
                }
            }
            by_target
        })
    }

    /// The resources that the parameters of the include reference.
    fn targets(&self, json: &Value) -> Vec<Identity> {
        self.parameters.iter().flat_map(|parameter| local_targets(parameter, json)).collect()
    }
}

fn reference_parameters(resource_type: ResourceType) -> impl Iterator<Item = &'static SearchParameter> {
    SearchParameter::of(resource_type).filter(|parameter| parameter.search_type() == SearchType::Reference)
}

impl Records {
    /// Whether the type has resources, or had some.
    fn has_any(&self, resource_type: ResourceType) -> bool {
        let is_in_layers = self.layers.iter().any(|layer| !layer.of_type(resource_type).is_empty());
        is_in_layers || self.overlay.contains_key(resource_type.as_str())
    }

    /// The live resources of a type that reference another resource with a standard parameter.
    pub fn referring(
        &self,
        source: ResourceType,
        parameter: &'static SearchParameter,
        target: ResourceType,
        id: &str,
        as_of: Seq,
    ) -> Vec<Hit<'_>> {
        let mut hits: Vec<Hit<'_>> = self.referring_in_layers(source, parameter, target, id, as_of).collect();
        let refers = |json: &Value| local_targets(parameter, json).any(|(to, there)| to == target && there == id);
        let written = self.own_live(source.as_str(), as_of).filter(|record| refers(&record.json()));
        hits.extend(written.map(|record| Hit { resource_type: source, record }));
        hits
    }

    /// The same, only for records of the layers that the overlay does not replace.
    pub fn referring_in_layers(
        &self,
        source: ResourceType,
        parameter: &'static SearchParameter,
        target: ResourceType,
        id: &str,
        as_of: Seq,
    ) -> impl Iterator<Item = Hit<'_>> + use<'_> {
        let layers = self.layers.iter().enumerate();
        let docs: Vec<_> = layers.map(|(at, layer)| (at, layer.referring(source, parameter, target, id))).collect();
        let docs = docs.into_iter().flat_map(|(at, docs)| docs.into_iter().map(move |doc| (at, doc)));
        let records = docs.filter_map(move |(at, doc)| self.visible(at, doc, as_of));
        records.map(move |record| Hit { resource_type: source, record })
    }
}
