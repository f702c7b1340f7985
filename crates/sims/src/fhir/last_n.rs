//! Observation `$lastn` (<https://hl7.org/fhir/R4/observation-operation-lastn.html>): the newest observations of each
//! code.

use std::collections::HashMap;

use fhir::ResourceType;
use fhir::definitions::SearchParameter;
use fhir::search::{IndexedValue, extract};
use serde_json::Value;
use world::{Page, Record};

use super::call::Call;
use super::listing::Listing;
use super::outcome::{Issue, Refusal, excerpt, operation_outcome};
use super::paging::{self, Cursor, MOST_COUNT, PAGE};
use super::reply::Reply;
use super::scopes::Permission;
use super::subset::Subset;
use super::{search, stored_parameters};

const MAX: &str = "max";

pub(crate) fn last_n(call: &Call<'_>) -> Result<Reply, Refusal> {
    let observation: ResourceType = "Observation".parse().map_err(|_| Refusal::not_found("Observation"))?;
    call.require(Permission::Search, observation)?;
    let most = most(call)?;
    let cursor = Cursor::of(call)?;
    let is_criterion = |name: &str| ![MAX, PAGE, "_count"].contains(&name);
    let pairs: Vec<_> = call.parameters.iter().filter(|(name, _)| is_criterion(name)).cloned().collect();
    let stored = call.stored_parameters(cursor.as_of);
    let stored = |resource_type, code: &str| stored.find(resource_type, code);
    let parsed = fhir::search::parse_for(observation, call.own_addresses(), &stored, &pairs);
    let mut query = parsed.map_err(|fault| search::refused(&fault))?;
    stored_parameters::check_work(call, &[(observation, &query)])?;
    let issues: Vec<Issue> = query.ignored.iter().map(search::ignored_issue).collect();
    if call.prefer.strict && !issues.is_empty() {
        let issues = issues.into_iter().map(|issue| Issue { severity: "error", ..issue }).collect();
        return Err(Refusal { status: 400, issues, headers: Vec::new() });
    }
    query.clauses = search::permitted(call, std::mem::take(&mut query.clauses))?;
    query.includes.clear();
    let all = Page { offset: 0, count: usize::MAX };
    let found = call.records.search(observation, &query, cursor.as_of, all);
    let newest = newest(found.matches.into_iter().map(|hit| hit.record).collect(), most);
    let count = paging::count(call, MOST_COUNT)?;
    let links = paging::links(call, "Observation/$lastn", &call.parameters, cursor, (count, newest.len()), None);
    let mut listing = Listing::new(call, "searchset", Some(newest.len()), &links);
    for record in newest.iter().skip(cursor.offset).take(count) {
        listing.found(call, record, &Subset::of_query(&query), "match");
    }
    if !issues.is_empty() {
        listing.outcome(&operation_outcome(&issues));
    }
    Ok(listing.reply())
}

/// How many of each code; 1 unless the client says otherwise.
fn most(call: &Call<'_>) -> Result<usize, Refusal> {
    match call.parameter(MAX) {
        None | Some("") => Ok(1),
        Some(text) => {
            text.parse().ok().filter(|most| *most > 0).ok_or_else(|| {
                Refusal::bad("value", format!("max is a whole number from 1 on, not `{}`", excerpt(text)))
            })
        }
    }
}

/// Observations with a coding or a text in common are of one group. Groups are in the order of their newest observation.
fn newest(records: Vec<Record<'_>>, most: usize) -> Vec<Record<'_>> {
    let mut dated: Vec<(i64, Record<'_>, Vec<String>)> = records
        .into_iter()
        .map(|record| {
            let json = record.json();
            (taken_at(&json), record, codes(&json))
        })
        .collect();
    // Stable: of the same time, the order of ids stays.
    dated.sort_by_key(|(at, ..)| std::cmp::Reverse(*at));
    let mut groups = Groups::default();
    let placed: Vec<usize> = dated.iter().map(|(_, _, codes)| groups.join(codes)).collect();
    let mut shown: Vec<(usize, Record<'_>)> = Vec::new();
    let mut counts: HashMap<usize, usize> = HashMap::new();
    let mut order: Vec<usize> = Vec::new();
    for ((_, record, _), group) in dated.into_iter().zip(placed) {
        let group = groups.root(group);
        let count = counts.entry(group).or_insert_with(|| {
            order.push(group);
            0
        });
        *count += 1;
        if *count <= most {
            shown.push((group, record));
        }
    }
    let rank: HashMap<usize, usize> = order.into_iter().enumerate().map(|(at, group)| (group, at)).collect();
    shown.sort_by_key(|(group, _)| rank.get(group).copied());
    shown.into_iter().map(|(_, record)| record).collect()
}

/// Disjoint sets of codes.
#[derive(Default)]
struct Groups {
    by_code: HashMap<String, usize>,
    parents: Vec<usize>,
}

impl Groups {
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

/// The end of the effective time, as the search parameter `date` reads it; without one the least time there is.
fn taken_at(observation: &Value) -> i64 {
    let date = "Observation".parse().ok().and_then(|observation| SearchParameter::find(observation, "date"));
    let found = date.map(|date| extract(date, observation)).unwrap_or_default();
    let ends = found.iter().filter_map(|found| match found {
        // A period that goes on is as new as its start says.
        IndexedValue::Date(span) => Some(if span.last == i64::MAX { span.first } else { span.last }),
        _ => None,
    });
    ends.max().unwrap_or(i64::MIN)
}
