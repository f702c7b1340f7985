//! Candidates of `fhir-resource-state`: resources that the agent wrote, then those that miss one search parameter.

use std::collections::{BTreeSet, HashSet};

use fhir::ResourceType;
use fhir::search::{Clause, Condition, Query, select};
use model::simulator::SimulatorType;
use serde_json::Value;
use world::{Page, Records, Seq, TypeSearch};

use super::{Candidate, MOST_EXAMINED, MOST_LISTED};
use crate::baseline::Baselines;
use crate::checks::fhir_resource_state::FhirResourceState;
use crate::evidence::EvaluationContext;
use crate::fhir_rules::FhirRules;
use crate::scoring::{is_absence, to_json};

/// Search parameters that are left out one at a time.
const MOST_DROPPED: usize = 8;
const FIRST: Page = Page { offset: 0, count: MOST_LISTED };

/// One value of a search parameter, as a search of its own.
struct Parameter {
    name: String,
    value: String,
    query: Query,
}

pub(crate) fn of(check: &FhirResourceState, context: &EvaluationContext<'_>) -> Result<Vec<Candidate>, String> {
    let resource_type = *check.resource_type.ready()?;
    let query = check.query(resource_type)?.0;
    let rules = FhirRules::new(check, &query, resource_type, context)?;
    let parameters = parameters(check, resource_type)?;
    let mut candidates = Vec::new();
    for sandbox in context.sandboxes(SimulatorType::Fhir)? {
        let records = &sandbox.records;
        let near = Near { resource_type, query: &query, parameters: &parameters, records, context };
        let keys = near.keys()?;
        let met = near.met(&keys)?;
        for (key, is_given) in keys {
            let Some(record) = records.get(resource_type.as_str(), &key).live() else { continue };
            context.budget.spend(record.text().len())?;
            let resource = record.json();
            let mut candidate = Candidate::new(format!("{resource_type}/{key}"), "").given(is_given);
            let missed: Vec<&Parameter> =
                parameters.iter().zip(&met).filter(|(_, met)| !met.contains(&key)).map(|(missed, _)| missed).collect();
            context.budget.spend(record.text().len() * missed.len())?;
            for parameter in &missed {
                let actual = actual(&parameter.query, &resource);
                candidate.differs(format!("search.{}", parameter.name), parameter.value.as_str(), actual);
            }
            if missed.is_empty()
                && !is_absence(check.count)
                && let Some(violation) = rules.apply(records, &key, &resource)?.withdrawn
            {
                let entry = violation.json(None);
                let reason = "the record's status takes it back, and the assertion does not ask for that status";
                candidate.differs_because(violation.path(), entry["expected"].clone(), entry["actual"].clone(), reason);
            }
            candidates.push(candidate);
        }
    }
    Ok(candidates)
}

fn parameters(check: &FhirResourceState, resource_type: ResourceType) -> Result<Vec<Parameter>, String> {
    let pairs = check.search.iter().flat_map(|(name, values)| values.0.iter().map(move |value| (name, value)));
    let parsed = pairs.map(|(name, value)| {
        let pair = [(name.clone(), value.clone())];
        let query = fhir::search::parse(resource_type, "", &pair).map_err(|error| error.reason)?;
        Ok(Parameter { name: name.clone(), value: value.clone(), query })
    });
    let parsed: Vec<Parameter> = parsed.collect::<Result<_, String>>()?;
    Ok(parsed.into_iter().filter(|parameter| !parameter.query.clauses.is_empty()).collect())
}

/// The values of a resource that the parameter indexes.
fn actual(query: &Query, resource: &Value) -> Value {
    let Some(Clause::Simple(Condition { parameter, .. }) | Clause::Chain { parameter, .. }) = query.clauses.first()
    else {
        return Value::Null;
    };
    to_json(select(parameter, resource).into_iter().map(|selected| selected.element.clone()).collect())
}

/// Finds the resources of one store that nearly match the search.
struct Near<'a> {
    resource_type: ResourceType,
    query: &'a Query,
    parameters: &'a [Parameter],
    records: &'a Records,
    context: &'a EvaluationContext<'a>,
}

impl Near<'_> {
    /// Ids of resources, each with whether the resource comes from the dataset or the scenario.
    fn keys(&self) -> Result<Vec<(String, bool)>, String> {
        let collection = self.resource_type.as_str();
        let baselines = Baselines::new(self.context)?;
        let written = self.records.written(collection);
        self.context.budget.spend(written.len())?;
        let mut seen = BTreeSet::new();
        let own = written.iter().map(|revision| revision.key).filter(|key| {
            baselines.is_changed(self.records, collection, key) && self.records.get(collection, key).live().is_some()
        });
        let own = own.filter(|key| seen.insert((*key).to_owned())).take(MOST_EXAMINED);
        let mut keys: Vec<(String, bool)> = own.map(|key| (key.to_owned(), false)).collect();
        let mut add = |found: Vec<String>| {
            let given = found.into_iter().filter(|key| seen.insert(key.clone()));
            keys.extend(given.map(|key| (key, true)));
        };
        add(self.search(self.query.clauses.clone())?);
        for left_out in 0..self.query.clauses.len().min(MOST_DROPPED) {
            let mut clauses = self.query.clauses.clone();
            clauses.remove(left_out);
            // Without any clause, all resources of the type are equally near.
            let is_all = clauses.is_empty();
            let live = || self.records.live(collection, Seq::MAX).take(MOST_LISTED);
            add(if is_all { live().map(|record| record.key.to_owned()).collect() } else { self.search(clauses)? });
        }
        Ok(keys)
    }

    fn search(&self, clauses: Vec<Clause>) -> Result<Vec<String>, String> {
        let query = Query { clauses, ..Query::default() };
        let found = self.records.search(self.resource_type, &query, Seq::MAX, FIRST);
        self.context.budget.spend(found.total)?;
        Ok(found.matches.iter().map(|hit| hit.record.key.to_owned()).collect())
    }

    /// For each parameter, the ids among `keys` that match it.
    fn met(&self, keys: &[(String, bool)]) -> Result<Vec<BTreeSet<String>>, String> {
        let among: HashSet<String> = keys.iter().map(|(key, _)| key.clone()).collect();
        let page = Page { offset: 0, count: among.len() };
        let mut met = Vec::new();
        for parameter in self.parameters {
            let among = Some(among.clone());
            let search = TypeSearch { resource_type: self.resource_type, query: &parameter.query, among };
            self.context.budget.spend(page.count)?;
            let found = self.records.search_types(&[search], Seq::MAX, page, 0);
            met.push(found.matches.iter().map(|hit| hit.record.key.to_owned()).collect());
        }
        Ok(met)
    }
}
