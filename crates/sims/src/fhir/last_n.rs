//! Observation `$lastn` (<https://hl7.org/fhir/R4/observation-operation-lastn.html>): the newest observations of each
//! code.

use std::collections::HashMap;

use fhir::ResourceType;
use fhir::definitions::SearchParameter;
use fhir::search::{IndexedValue, extract};
use serde_json::Value;
use world::{Page, Record};

use super::bundle_writer::BundleWriter;
use super::interaction_context::InteractionContext;
use super::outcome::{FhirError, Issue, excerpt, operation_outcome};
use super::paging::{self, Cursor, MAX_COUNT, PAGE};
use super::reply::Reply;
use super::scopes::Permission;
use super::subset::Subset;
use super::{search, stored_parameters};

const MAX: &str = "max";

pub(crate) fn last_n(context: &InteractionContext<'_>) -> Result<Reply, FhirError> {
    let observation: ResourceType = "Observation".parse().map_err(|_| FhirError::not_found("Observation"))?;
    context.require(Permission::Search, observation)?;
    let per_code = count_per_code(context)?;
    let cursor = Cursor::of(context)?;
    let is_criterion = |name: &str| ![MAX, PAGE, "_count"].contains(&name);
    let pairs: Vec<_> = context.parameters.iter().filter(|(name, _)| is_criterion(name)).cloned().collect();
    let stored = context.stored_parameters(cursor.as_of);
    let stored = |resource_type, code: &str| stored.find(resource_type, code);
    let parsed = fhir::search::parse_for(observation, context.own_addresses(), &stored, &pairs);
    let mut query = parsed.map_err(|error| search::search_error(&error))?;
    stored_parameters::check_work(context, &[(observation, &query)])?;
    let issues: Vec<Issue> = query.ignored.iter().map(search::ignored_issue).collect();
    if context.prefer.strict && !issues.is_empty() {
        let issues = issues.into_iter().map(|issue| Issue { severity: "error", ..issue }).collect();
        return Err(FhirError { status: 400, issues, headers: Vec::new() });
    }
    query.clauses = search::restrict_clauses(context, std::mem::take(&mut query.clauses))?;
    query.includes.clear();
    let all = Page { offset: 0, count: usize::MAX };
    let found = context.records.search(observation, &query, cursor.as_of, all);
    let newest = newest(found.matches.into_iter().map(|hit| hit.record).collect(), per_code);
    let count = paging::count(context, MAX_COUNT)?;
    let links = paging::links(context, "Observation/$lastn", &context.parameters, cursor, (count, newest.len()), None);
    let mut bundle = BundleWriter::new(context, "searchset", Some(newest.len()), &links);
    for record in newest.iter().skip(cursor.offset).take(count) {
        bundle.add_result(context, record, &Subset::of_query(&query), "match");
    }
    if !issues.is_empty() {
        bundle.add_outcome(&operation_outcome(&issues));
    }
    Ok(bundle.reply())
}

/// The number of observations of each code. Default: 1.
fn count_per_code(context: &InteractionContext<'_>) -> Result<usize, FhirError> {
    match context.parameter(MAX) {
        None | Some("") => Ok(1),
        Some(text) => text.parse().ok().filter(|count| *count > 0).ok_or_else(|| {
            FhirError::bad("value", format!("max must be a positive whole number, got `{}`", excerpt(text)))
        }),
    }
}

/// Groups observations that share a coding or text, and returns the newest ones of each group, ordered by the newest
/// observation of the groups.
fn newest(records: Vec<Record<'_>>, per_code: usize) -> Vec<Record<'_>> {
    let mut dated: Vec<(i64, Record<'_>, Vec<String>)> = records
        .into_iter()
        .map(|record| {
            let json = record.json();
            (effective_at(&json), record, codes(&json))
        })
        .collect();
    // The sort is stable: observations of the same time stay ordered by id.
    dated.sort_by_key(|(at, ..)| std::cmp::Reverse(*at));
    let mut groups = CodeGroups::default();
    let group_of: Vec<usize> = dated.iter().map(|(_, _, codes)| groups.join(codes)).collect();
    let mut selected: Vec<(usize, Record<'_>)> = Vec::new();
    let mut counts: HashMap<usize, usize> = HashMap::new();
    let mut order: Vec<usize> = Vec::new();
    for ((_, record, _), group) in dated.into_iter().zip(group_of) {
        let group = groups.root(group);
        let count = counts.entry(group).or_insert_with(|| {
            order.push(group);
            0
        });
        *count += 1;
        if *count <= per_code {
            selected.push((group, record));
        }
    }
    let rank: HashMap<usize, usize> = order.into_iter().enumerate().map(|(at, group)| (group, at)).collect();
    selected.sort_by_key(|(group, _)| rank.get(group).copied());
    selected.into_iter().map(|(_, record)| record).collect()
}

/// Disjoint sets of codes.
#[derive(Default)]
struct CodeGroups {
    by_code: HashMap<String, usize>,
    parents: Vec<usize>,
}

impl CodeGroups {
    fn join(&mut self, codes: &[String]) -> usize {
        let known: Vec<usize> = codes.iter().filter_map(|code| self.by_code.get(code).copied()).collect::<Vec<_>>();
        let group = match known.first() {
            Some(first) => self.root(*first),
            None => {
                self.parents.push(self.parents.len());
                self.parents.len() - 1
            }
        };
        for other in known {
            let other = self.root(other);
            self.parents[other] = group;
        }
        for code in codes {
            self.by_code.insert(code.clone(), group);
        }
        group
    }

    fn root(&self, mut group: usize) -> usize {
        while self.parents[group] != group {
            group = self.parents[group];
        }
        group
    }
}

fn codes(observation: &Value) -> Vec<String> {
    let code = &observation["code"];
    let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let codings = code["coding"].as_array().into_iter().flatten();
    let mut codes: Vec<String> =
        codings.map(|coding| format!("{}|{}", text(coding, "system"), text(coding, "code"))).collect();
    if codes.is_empty() {
        codes.push(text(code, "text"));
    }
    codes
}

/// The end of the effective time, by the search parameter `date`, or the minimum if there is none.
fn effective_at(observation: &Value) -> i64 {
    let date = "Observation".parse().ok().and_then(|observation| SearchParameter::find(observation, "date"));
    let found = date.map(|date| extract(date, observation)).unwrap_or_default();
    let ends = found.iter().filter_map(|found| match found {
        // An open period counts by its start.
        IndexedValue::Date(span) => Some(if span.last == i64::MAX { span.first } else { span.last }),
        _ => None,
    });
    ends.max().unwrap_or(i64::MIN)
}
