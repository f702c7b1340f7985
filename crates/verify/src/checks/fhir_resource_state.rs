//! Passes when the FHIR store holds a resource that the search finds and whose fields match.
//!
//! Reads the FHIR store, newest resource first. `search` takes FHIR search parameters, each with a value or a list of
//! values that must all hold; a field is named by `path` or by a `fhirpath` expression. The example: [`EXAMPLE`].
//! Evidence: `fieldResults[{path,expected,actual,passed}]`, `matched[]`.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use fhir::search::Query;
use fhir::{ResourceType, UnknownResourceType};
use model::reading::{LONGEST_NAME, shortened};
use model::simulator::SimulatorType;
use model::{FieldErrors, patch};
use serde::{Deserialize, Deserializer, de};
use serde_json::Value;
use world::{Hit, Page, Seq};

use crate::authored::{Authored, Notation};
use crate::bounds::MOST_LISTED;
use crate::budget::Budget;
use crate::checks::{Check, CheckInfo};
use crate::compare::Typing;
use crate::comparison::{Comparison, Op};
use crate::count::Count;
use crate::evidence::{Case, Evaluated};
use crate::judge::{FieldResult, MOST_CANDIDATES, Sheet, is_absence, judge, names};
use crate::limits::{self, LONGEST_LIST, LONGEST_PATH, LONGEST_TEXT};
use crate::matching::Match;
use crate::path::fhirpath::FhirPath;
use crate::path::json::JsonPath;

pub const EXAMPLE: &str = r#"{
  "assert": "fhir-resource-state",
  "resource_type": "Appointment",
  "search": {"patient": "Patient/{{entity.id}}", "status": "booked"},
  "fields": [
    {"path": "participant[actor.reference=Practitioner/7].status", "expected": "accepted"},
    {"path": "start", "op": "date", "expected": "2026-04-02"},
    {"fhirpath": "participant.count()", "op": "gte", "expected": 2}
  ],
  "match": "first",
  "count": 1
}"#;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FhirResourceState {
    pub resource_type: Authored<ResourceType>,
    #[serde(default)]
    pub search: BTreeMap<String, SearchValues>,
    #[serde(default)]
    pub fields: Vec<FhirFieldAssertion>,
    #[serde(rename = "match", default = "Match::first")]
    pub matching: Match,
    #[serde(default)]
    pub count: Option<Count>,
}

/// As `FieldAssertion`, with exactly one of `path` and `fhirpath`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FhirFieldAssertion {
    #[serde(default)]
    pub path: Option<Authored<JsonPath>>,
    #[serde(default)]
    pub fhirpath: Option<Authored<FhirPath>>,
    #[serde(default)]
    pub op: Op,
    /// `Some(null)` asserts absence; `None` was not written.
    #[serde(default, deserialize_with = "patch::value")]
    pub expected: Option<Value>,
    #[serde(default, deserialize_with = "patch::value")]
    pub tolerance: Option<Value>,
}

impl FhirFieldAssertion {
    pub fn comparison(&self) -> Result<Comparison<'_>, FieldErrors> {
        Comparison::read(self.op, self.expected.as_ref(), self.tolerance.as_ref())
    }

    fn check(&self, errors: &mut FieldErrors) {
        errors.merge(self.comparison().err().unwrap_or_default());
        match (&self.path, &self.fhirpath) {
            (None, None) => errors.add("path", "is required, or `fhirpath` in its place"),
            (Some(_), Some(_)) => errors.add("fhirpath", "must not be given beside `path`"),
            _ => {}
        }
    }
}

/// A misspelt type would be absent from every store.
impl Notation for ResourceType {
    const LONGEST: usize = 64;

    fn read(text: &str) -> Result<Self, String> {
        text.parse().map_err(|unknown: UnknownResourceType| match unknown.suggestion() {
            Some(meant) => format!("must be a resource type of FHIR R4: did you mean `{meant}`?"),
            None => "must be a resource type of FHIR R4, such as `Appointment`".to_owned(),
        })
    }
}

/// The values of one search parameter; all of them must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchValues(pub Vec<String>);

impl<'de> Deserialize<'de> for SearchValues {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let values = match Value::deserialize(deserializer)? {
            Value::Array(items) => items,
            value => vec![value],
        };
        let texts: Option<Vec<String>> = values.into_iter().map(search_text).collect();
        texts
            .filter(|texts| !texts.is_empty())
            .map(Self)
            .ok_or_else(|| de::Error::custom("must be a string, a number or a boolean, or a list of these"))
    }
}

fn search_text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(boolean) => Some(boolean.to_string()),
        _ => None,
    }
}

impl Check for FhirResourceState {
    const INFO: CheckInfo = CheckInfo {
        name: "fhir-resource-state",
        summary: "The FHIR store holds a resource that the search finds and whose fields match.",
        example: EXAMPLE,
    };

    fn validate(&self, errors: &mut FieldErrors) {
        errors.size("search", self.search.len(), LONGEST_LIST);
        for (parameter, values) in &self.search {
            let place = format!("search.{}", shortened(parameter, LONGEST_NAME));
            check_search(parameter, values).unwrap_or_else(|fault| errors.add(place, fault));
        }
        errors.each("fields", &self.fields, LONGEST_LIST, FhirFieldAssertion::check);
    }

    fn evaluate(&self, case: &Case<'_>) -> Evaluated {
        let resource_type = *self.resource_type.ready()?;
        let (query, is_sorted) = self.query(resource_type)?;
        let only_first = self.matching == Match::First && !is_absence(self.count);
        let page = Page { offset: 0, count: if only_first { MOST_LISTED } else { MOST_CANDIDATES + 1 } };
        let mut found = 0;
        let mut hits: Vec<Hit<'_>> = Vec::new();
        for sandbox in case.sandboxes(SimulatorType::Fhir)? {
            let part = sandbox.records.search(resource_type, &query, Seq::MAX, page);
            case.budget.spend(part.total)?;
            found += part.total;
            hits.extend(part.matches);
        }
        if !is_sorted {
            hits.sort_by_key(|hit| Reverse(hit.record.at));
        }
        if !only_first && found > MOST_CANDIDATES {
            return Err(format!("{found} resources found, more than can be looked at one by one: narrow the search"));
        }
        let references: Vec<String> = hits.iter().map(|hit| format!("{resource_type}/{}", hit.record.key)).collect();
        let considered = if only_first { 1 } else { hits.len() };
        let sheets = hits.iter().zip(&references).take(considered).map(|(hit, name)| {
            let resource = hit.record.json();
            case.budget.spend(hit.record.text().len())?;
            let fields = self.fields.iter().map(|field| field.hold(&resource, &case.budget)).collect();
            Ok(Sheet { name: name.clone(), fields, ..Sheet::default() })
        });
        let sheets = sheets.collect::<Result<Vec<_>, String>>()?;
        let judgement = judge(resource_type.as_str(), found, sheets, self.matching, self.count);
        let matched = if is_absence(self.count) { judgement.names() } else { names(references.iter().map(String::as_str)) };
        let results = judgement.field_results();
        judgement.outcome([("fieldResults", results), ("matched", matched)])
    }
}

impl FhirResourceState {
    /// The search, and whether the author says in which order. Newest first is the default.
    fn query(&self, resource_type: ResourceType) -> Result<(Query, bool), String> {
        let values = self.search.iter().flat_map(|(name, values)| values.0.iter().map(move |value| (name, value)));
        let mut pairs: Vec<(String, String)> = values.map(|(name, value)| (name.clone(), value.clone())).collect();
        let is_sorted = self.search.contains_key("_sort");
        if !is_sorted {
            pairs.push(("_sort".to_owned(), "-_lastUpdated".to_owned()));
        }
        let mut query = fhir::search::parse(resource_type, "", &pairs)
            .map_err(|fault| format!("search parameter `{}`: {}", fault.parameter, fault.reason))?;
        if let Some((parameter, reason)) = query.ignored.first() {
            return Err(format!("search parameter `{parameter}` is not understood: {reason}"));
        }
        query.includes.clear();
        Ok((query, is_sorted))
    }
}

impl FhirFieldAssertion {
    fn hold(&self, resource: &Value, budget: &Budget) -> FieldResult {
        let compared = || {
            let found = self.find(resource, budget)?;
            let comparison = self.comparison().map_err(|faults| faults.to_string())?;
            Ok((comparison, found, Typing::Typed))
        };
        FieldResult::new(self.named(), self.op, self.expected.as_ref(), compared(), budget)
    }

    fn named(&self) -> String {
        match (&self.path, &self.fhirpath) {
            (Some(path), _) => path.to_string(),
            (None, Some(expression)) => expression.to_string(),
            (None, None) => String::new(),
        }
    }

    fn find(&self, resource: &Value, budget: &Budget) -> Result<Vec<Value>, String> {
        match (&self.path, &self.fhirpath) {
            (Some(path), _) => Ok(path.ready()?.find(resource, budget)?.into_iter().cloned().collect()),
            (None, Some(expression)) => expression.ready()?.find(resource, budget),
            (None, None) => Err("has neither `path` nor `fhirpath`".to_owned()),
        }
    }
}

fn check_search(parameter: &str, values: &SearchValues) -> Result<(), String> {
    limits::check_text(parameter, LONGEST_PATH)?;
    if parameter.contains(|c: char| c.is_whitespace() || c.is_control() || "=&?/{}".contains(c)) {
        return Err("must be the name of a search parameter, such as `patient` or `date`".to_owned());
    }
    // A server ignores an empty parameter, so the search would find more than the author meant.
    values.0.iter().try_for_each(|value| limits::check_text(value, LONGEST_TEXT))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    fn check(specification: Value, faults: &[(&str, &str)]) {
        crate::testing::check("fhir-resource-state", specification, faults);
    }

    #[test]
    fn sound_specifications() {
        check(json!({"resource_type": "Patient"}), &[]);
        check(json!({"resource_type": "{{entity.resourceType}}", "count": {"max": 0}}), &[]);
        check(json!({"resource_type": "Slot", "search": {"start": ["ge2026-01-01", "lt2026-02-01"], "_count": 5}}), &[]);
        check(json!({"resource_type": "Task", "fields": [{"fhirpath": "for.exists()", "expected": true}]}), &[]);
        check(json!({"resource_type": "Task", "fields": [{"path": "owner", "expected": null}], "match": "all"}), &[]);
    }

    #[test]
    fn faulty_specifications() {
        check(json!({}), &[("resource_type", "required")]);
        check(json!({"resource_type": "Apointment"}), &[("resource_type", "did you mean `Appointment`")]);
        check(json!({"resource_type": 7}), &[("resource_type", "string")]);
        check(json!({"resource_type": "Task", "fields": {}}), &[("fields", "a list")]);
        check(json!({"resource_type": "Task", "fields": [["status", "equals", "x"]]}), &[("fields.0", "an object")]);
        check(json!({"resource_type": "Task", "fields": [{"expected": 1}]}), &[("fields.0.path", "required")]);
        check(
            json!({"resource_type": "Task", "fields": [{"path": "a", "fhirpath": "a", "expected": 1}]}),
            &[("fields.0.fhirpath", "beside")],
        );
        check(
            json!({"resource_type": "Task", "fields": [{"path": "a..b"}, {"fhirpath": " "}, {"path": "a", "value": 1}]}),
            &[("fields.0.path", "empty step"), ("fields.1.fhirpath", "empty"), ("fields.2.value", "not a known field")],
        );
        check(
            json!({"resource_type": "Task", "search": {"a b": "x", "status": "", "for": null, "code": []}}),
            &[("search.for", "must be a string"), ("search.code", "must be a string")],
        );
        check(
            json!({"resource_type": "Task", "search": {"a b": "x", "status": "", "owner": "o".repeat(1025)}}),
            &[("search.a b", "search parameter"), ("search.status", "empty"), ("search.owner", "at most 1024")],
        );
        check(json!({"resource_type": "Task", "search": "status=booked"}), &[("search", "an object")]);
        let many = vec![json!({"path": "a", "expected": 1}); 201];
        check(json!({"resource_type": "Task", "fields": many}), &[("fields", "at most 200")]);
        let path = "a".repeat(513);
        check(
            json!({"resource_type": "Task", "fields": [{"path": path, "expected": 1}]}),
            &[("fields.0.path", "at most 512")],
        );
    }
}
