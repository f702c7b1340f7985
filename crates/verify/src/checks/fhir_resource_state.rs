//! Passes if the FHIR store has a resource that matches the search and whose fields match.
//!
//! Reads the FHIR store, newest resource first. `search` takes FHIR search parameters, each with a value or a list of
//! values that must all match. A field has a `path` or a `fhirpath` expression. The example: [`EXAMPLE`].
//! Evidence: `fieldResults[{path,expected,actual,passed}]`, `matched[]`.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use fhir::search::Query;
use fhir::{ResourceType, UnknownResourceType};
use model::reading::{LONGEST_NAME, shortened};
use model::simulator::SimulatorType;
use model::template::Bindings;
use model::template::is_template;
use model::{FieldErrors, patch};
use serde::{Deserialize, Deserializer, de};
use serde_json::Value;
use world::{Hit, Page, Records, Seq};

use crate::authored::{Authored, Notation};
use crate::bind::Escaping;
use crate::bounds::MOST_LISTED;
use crate::candidates::{self, Candidate};
use crate::checks::{Check, CheckInfo, ReadSimulators};
use crate::closed_world::check_ignore;
use crate::compare::Typing;
use crate::comparison::{Comparison, Op};
use crate::count::Count;
use crate::evidence::{EvaluationContext, EvaluationResult};
use crate::fhir_rules::{FhirRules, RuleResult};
use crate::limits::{self, LONGEST_LIST, LONGEST_PATH, LONGEST_TEXT};
use crate::manual::{self, Parameter};
use crate::matching::Match;
use crate::path::fhirpath::FhirPath;
use crate::path::json::JsonPath;
use crate::quantifier::Quantifier;
use crate::scoring::{
    CandidateResult, FieldExpectation, FieldResult, MOST_CANDIDATES, SelectedValues, is_absence, names,
    score_candidates,
};
use crate::unmatchable::{self, UnmatchablePart};

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
    /// Whether the record must contain nothing other than the asserted values.
    #[serde(default)]
    pub only: bool,
    /// Elements that `only` ignores.
    #[serde(default)]
    pub ignore: Vec<Authored<JsonPath>>,
    /// Codings as `system|code` that are allowed next to an asserted coding of the same system.
    #[serde(default)]
    pub equivalents: Vec<String>,
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
    /// `Some(null)` asserts absence. `None` means that the member is missing.
    #[serde(default, deserialize_with = "patch::value")]
    pub expected: Option<Value>,
    #[serde(default, deserialize_with = "patch::value")]
    pub tolerance: Option<Value>,
    /// How many of several values must satisfy the comparison. The default is all.
    #[serde(default)]
    pub quantifier: Option<Quantifier>,
}

impl FhirFieldAssertion {
    pub fn comparison(&self) -> Result<Comparison<'_>, FieldErrors> {
        Comparison::read(self.op, self.expected.as_ref(), self.tolerance.as_ref())
    }

    fn check(&self, errors: &mut FieldErrors) {
        errors.merge(self.comparison().err().unwrap_or_default());
        match (&self.path, &self.fhirpath) {
            (None, None) => errors.add("path", "is required unless `fhirpath` is given"),
            (Some(_), Some(_)) => errors.add("fhirpath", "cannot be combined with `path`"),
            _ => {}
        }
    }
}

/// Unknown types are errors, because no store has any of their resources.
impl Notation for ResourceType {
    const LONGEST: usize = 64;

    fn read(text: &str) -> Result<Self, String> {
        text.parse().map_err(|unknown: UnknownResourceType| match unknown.suggestion() {
            Some(meant) => format!("must be a resource type of FHIR R4: did you mean `{meant}`?"),
            None => "must be a resource type of FHIR R4, such as `Appointment`".to_owned(),
        })
    }
}

/// The values of one search parameter. All of them must match.
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
        summary: "The FHIR store has a resource that matches the search and whose fields match.",
        example: EXAMPLE,
        reads: ReadSimulators::Type(SimulatorType::Fhir),
        is_limit: false,
        parameters: &[
            Parameter::required("resource_type", "a resource type of FHIR R4"),
            Parameter::with_default(
                "search",
                "{}",
                "[FHIR search](fhir-search.md) parameters, each with a value or a list of values that must all match",
            )
            .escaped(Escaping::Search),
            Parameter::with_default(
                "fields",
                "[]",
                "[fields](#fields-and-operators), each with a JSON `path` or a [`fhirpath`](fhirpath.md), not both",
            ),
            manual::MATCH_FIRST,
            manual::COUNT,
            manual::ONLY,
            manual::IGNORE,
            Parameter::with_default(
                "equivalents",
                "[]",
                "codings as `system|code` that are allowed next to an asserted code of the same system, see [concepts](#what-always-holds-for-fhir-records)",
            ),
        ],
        description: "Reads the FHIR store, newest resource first. [What always holds for FHIR records](#what-always-holds-for-fhir-records) applies unless absence is asserted.",
        evidence: "`fieldResults[{path,expected,actual,passed}]`, `matched[]`; [`count`, `candidates[]`](#evidence)",
    };

    fn validate(&self, errors: &mut FieldErrors) {
        errors.size("search", self.search.len(), LONGEST_LIST);
        for (parameter, values) in &self.search {
            let path = format!("search.{}", shortened(parameter, LONGEST_NAME));
            check_search(parameter, values).unwrap_or_else(|error| errors.add(path, error));
        }
        errors.each("fields", &self.fields, LONGEST_LIST, FhirFieldAssertion::check);
        check_ignore(self.only, self.ignore.len(), errors);
        errors.each("equivalents", &self.equivalents, LONGEST_LIST, |coding, errors| {
            let is_coding = coding.split_once('|').is_some_and(|(_, code)| !code.trim().is_empty());
            if !is_coding && !is_template(coding) {
                errors.add("", "must be `system|code`, such as `http://loinc.org|718-7`");
            }
        });
    }

    fn is_guard(&self) -> bool {
        is_absence(self.count)
    }

    fn evaluate(&self, context: &EvaluationContext<'_>) -> EvaluationResult {
        let resource_type = *self.resource_type.ready()?;
        let (query, is_sorted) = self.query(resource_type)?;
        let is_absence = is_absence(self.count);
        let first_only = self.matching == Match::First && !is_absence;
        let few = first_only && self.count.is_none();
        let page = Page { offset: 0, count: if few { MOST_LISTED } else { MOST_CANDIDATES + 1 } };
        let mut found = 0;
        let mut hits: Vec<(&Records, Hit<'_>)> = Vec::new();
        for sandbox in context.sandboxes(SimulatorType::Fhir)? {
            let part = sandbox.records.search(resource_type, &query, Seq::MAX, page);
            context.budget.spend(part.total)?;
            found += part.total;
            hits.extend(part.matches.into_iter().map(|hit| (&sandbox.records, hit)));
        }
        if !is_sorted {
            hits.sort_by_key(|(_, hit)| Reverse(hit.record.at));
        }
        if !first_only && found > MOST_CANDIDATES {
            return Err(format!("{found} resources found, more than can be compared: narrow the search"));
        }
        let rules = FhirRules::new(self, &query, resource_type, context)?;
        let compared = self.compare_resources(&hits, (!is_absence).then_some(&rules), first_only, context)?;
        let ComparedResources { candidate_results, withdrawn, references } = compared;
        let found = found - withdrawn.len();
        // If nothing else was found, the evidence says why these do not match.
        let candidate_results = if candidate_results.is_empty() { withdrawn } else { candidate_results };
        let scored = score_candidates(resource_type.as_str(), found, candidate_results, self.matching, self.count);
        let matched = if is_absence { scored.names() } else { names(references.iter().map(String::as_str)) };
        let results = scored.field_results();
        scored.outcome(self, context, [("fieldResults", results), ("matched", matched)])
    }

    fn unmet(&self) -> Vec<(&'static str, Value)> {
        let fields = self.fields.iter().filter(|_| !is_absence(self.count));
        vec![("fieldResults", fields.map(|field| FieldResult::unmet(field.expectation()).json(None)).collect())]
    }

    fn candidates(&self, context: &EvaluationContext<'_>) -> Result<Vec<Candidate>, String> {
        candidates::fhir::of(self, context)
    }

    fn unmatchable_parts(&self, assertion: &Value, bindings: &Bindings<'_>) -> Vec<UnmatchablePart> {
        unmatchable::fhir_parts(self, assertion, bindings)
    }

    fn recommendations(&self, _label: &str) -> Vec<&'static str> {
        const ONLY: &str = "`only: true` also fails records with values that are not asserted; see `ignore`";
        if self.only || is_absence(self.count) { Vec::new() } else { vec![ONLY] }
    }
}

/// The resources that the search found, compared with the fields.
#[derive(Default)]
struct ComparedResources {
    candidate_results: Vec<CandidateResult>,
    /// Resources whose status withdraws them.
    withdrawn: Vec<CandidateResult>,
    /// The names of the resources that count. It may be incomplete beyond the number that is listed.
    references: Vec<String>,
}

impl FhirResourceState {
    /// Compares resources with the fields: all of them, or only the first that counts. Without rules, every resource counts.
    fn compare_resources(
        &self,
        hits: &[(&Records, Hit<'_>)],
        rules: Option<&FhirRules<'_>>,
        first_only: bool,
        context: &EvaluationContext<'_>,
    ) -> Result<ComparedResources, String> {
        let mut compared = ComparedResources::default();
        for (records, hit) in hits {
            let name = format!("{}/{}", hit.resource_type, hit.record.key);
            let is_compared = !first_only || compared.candidate_results.is_empty();
            if !is_compared && self.count.is_none() {
                compared.references.push(name);
                continue;
            }
            context.budget.spend(hit.record.text().len())?;
            let resource = hit.record.json();
            let rule_result = rules
                .map_or_else(|| Ok(RuleResult::default()), |rules| rules.apply(records, hit.record.key, &resource))?;
            // With `match: all`, a record that the agent withdrew fails instead of being left out.
            let is_left_out = self.matching != Match::All || !rule_result.is_changed;
            let violations = rule_result.withdrawn.iter().cloned().chain(rule_result.violations).collect();
            if rule_result.withdrawn.is_some() && is_left_out {
                // The evidence lists the first one only.
                let listed = self.fields.iter().filter(|_| compared.withdrawn.is_empty());
                let fields = listed.map(|field| field.evaluate(&resource, records, context)).collect();
                compared.withdrawn.push(CandidateResult { name, fields, violations, ..CandidateResult::default() });
                continue;
            }
            compared.references.push(name.clone());
            if is_compared {
                let fields = self.fields.iter().map(|field| field.evaluate(&resource, records, context)).collect();
                compared.candidate_results.push(CandidateResult {
                    name,
                    fields,
                    violations,
                    ..CandidateResult::default()
                });
            }
        }
        Ok(compared)
    }

    /// The search, and whether the author gave the order. The default order is newest first.
    pub(crate) fn query(&self, resource_type: ResourceType) -> Result<(Query, bool), String> {
        let values = self.search.iter().flat_map(|(name, values)| values.0.iter().map(move |value| (name, value)));
        let mut pairs: Vec<(String, String)> = values.map(|(name, value)| (name.clone(), value.clone())).collect();
        let is_sorted = self.search.contains_key("_sort");
        if !is_sorted {
            pairs.push(("_sort".to_owned(), "-_lastUpdated".to_owned()));
        }
        let mut query = fhir::search::parse(resource_type, "", &pairs)
            .map_err(|error| format!("search parameter `{}`: {}", error.parameter, error.reason))?;
        if let Some((parameter, reason)) = query.ignored.first() {
            return Err(format!("search parameter `{parameter}` is not supported: {reason}"));
        }
        query.includes.clear();
        Ok((query, is_sorted))
    }
}

impl FhirFieldAssertion {
    fn evaluate(&self, resource: &Value, records: &Records, context: &EvaluationContext<'_>) -> FieldResult {
        let select = || {
            let values = self.find(resource, records, context)?;
            let comparison = self.comparison().map_err(|errors| errors.to_string())?;
            Ok(SelectedValues { comparison, quantifier: Quantifier::All, values, typing: Typing::Typed })
        };
        FieldResult::new(self.expectation(), select(), &context.budget)
    }

    fn expectation(&self) -> FieldExpectation<'_> {
        let (expected, quantifier) = (self.expected.as_ref(), self.quantifier);
        FieldExpectation { path: self.path_text(), op: self.op, expected, quantifier }
    }

    fn path_text(&self) -> String {
        match (&self.path, &self.fhirpath) {
            (Some(path), _) => path.to_string(),
            (None, Some(expression)) => expression.to_string(),
            (None, None) => String::new(),
        }
    }

    fn find(&self, resource: &Value, records: &Records, context: &EvaluationContext<'_>) -> Result<Vec<Value>, String> {
        match (&self.path, &self.fhirpath) {
            (Some(path), _) => Ok(path.ready()?.find(resource, &context.budget)?.into_iter().cloned().collect()),
            (None, Some(expression)) => expression.ready()?.find(resource, records, context),
            (None, None) => Err("has neither `path` nor `fhirpath`".to_owned()),
        }
    }
}

fn check_search(parameter: &str, values: &SearchValues) -> Result<(), String> {
    limits::check_text(parameter, LONGEST_PATH)?;
    if parameter.contains(|c: char| c.is_whitespace() || c.is_control() || "=&?/{}".contains(c)) {
        return Err("must be the name of a search parameter, such as `patient` or `date`".to_owned());
    }
    // Servers ignore empty parameters, so the search would match more than the author intended.
    values.0.iter().try_for_each(|value| limits::check_text(value, LONGEST_TEXT))
}

#[cfg(test)]
mod tests {
    use crate::testing::{Playground, says, scores};
    use model::simulator::SimulatorType;
    use serde_json::{Value, json};

    fn check(specification: Value, expected_errors: &[(&str, &str)]) {
        crate::testing::check("fhir-resource-state", specification, expected_errors);
    }

    #[test]
    fn valid_specifications() {
        check(json!({"resource_type": "Patient"}), &[]);
        check(json!({"resource_type": "{{entity.resourceType}}", "count": {"max": 0}}), &[]);
        check(
            json!({"resource_type": "Slot", "search": {"start": ["ge2026-01-01", "lt2026-02-01"], "_count": 5}}),
            &[],
        );
        check(json!({"resource_type": "Task", "fields": [{"fhirpath": "for.exists()", "expected": true}]}), &[]);
        check(json!({"resource_type": "Task", "fields": [{"path": "owner", "expected": null}], "match": "all"}), &[]);
    }

    #[test]
    fn invalid_specifications() {
        check(json!({}), &[("resource_type", "required")]);
        check(json!({"resource_type": "Apointment"}), &[("resource_type", "did you mean `Appointment`")]);
        check(json!({"resource_type": 7}), &[("resource_type", "string")]);
        check(json!({"resource_type": "Task", "fields": {}}), &[("fields", "a list")]);
        check(json!({"resource_type": "Task", "fields": [["status", "equals", "x"]]}), &[("fields.0", "an object")]);
        check(json!({"resource_type": "Task", "fields": [{"expected": 1}]}), &[("fields.0.path", "required")]);
        check(
            json!({"resource_type": "Task", "fields": [{"path": "a", "fhirpath": "status", "expected": 1}]}),
            &[("fields.0.fhirpath", "cannot be combined")],
        );
        check(
            json!({"resource_type": "Task", "fields": [{"path": "a..b"}, {"fhirpath": " "}, {"path": "a", "value": 1}]}),
            &[
                ("fields.0.path", "empty segment"),
                ("fields.1.fhirpath", "empty"),
                ("fields.2.value", "not a known field"),
            ],
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

    fn clinic() -> Playground {
        Playground::new(&[
            json!({"resourceType": "Patient", "id": "p1", "name": [{"family": "Müller"}], "birthDate": "1980-02-29"}),
            json!({"resourceType": "Appointment", "id": "old", "status": "booked", "participant":
                [{"actor": {"reference": "Patient/p1"}, "status": "accepted"}]}),
        ])
        .fhir(&json!({"resourceType": "Appointment", "id": "new", "status": "booked", "minutesDuration": 30,
            "start": "2026-04-02T09:30:00+02:00", "participant": [
                {"actor": {"reference": "Patient/p1"}, "status": "accepted"},
                {"actor": {"reference": "Practitioner/7"}, "status": "tentative"}]}))
        .with_entity(json!({"ref": "Patient/p1", "name": "Ann", "data": {"minutes": 30}}))
    }

    fn assertion(fields: &Value, more: &Value) -> Value {
        let mut assertion = json!({"assert": "fhir-resource-state", "resource_type": "Appointment",
            "search": {"patient": "Patient/{{entity.id}}"}, "fields": fields});
        more.as_object().expect("members").iter().for_each(|(key, value)| assertion[key] = value.clone());
        assertion
    }

    #[test]
    fn the_newest_resource_is_compared() {
        let fields = json!([
            {"path": "status", "expected": "booked"},
            {"path": "minutesDuration", "expected": "{{entity.minutes}}"},
            {"path": "start", "op": "date", "expected": "2026-04-02"},
            {"path": "participant[actor.reference=Practitioner/7].status", "expected": "accepted"},
            {"path": "cancelationReason", "expected": null},
        ]);
        scores(
            &clinic(),
            &assertion(&fields, &json!({})),
            "4/5",
            &json!({
                "fieldResults": [
                    {"path": "status", "expected": "booked", "actual": "booked", "passed": true},
                    {"path": "minutesDuration", "expected": 30, "actual": 30, "passed": true},
                    {"path": "start", "op": "date", "expected": "2026-04-02", "actual": "2026-04-02T09:30:00+02:00",
                     "passed": true},
                    {"path": "participant[actor.reference=Practitioner/7].status", "expected": "accepted",
                     "actual": "tentative", "passed": false},
                    {"path": "cancelationReason", "expected": null, "actual": null, "passed": true},
                ],
                "matched": ["Appointment/new", "Appointment/old"],
            }),
        );
    }

    #[test]
    fn candidates_and_counts() {
        let minutes = json!([{"path": "minutesDuration", "expected": 30}]);
        let none = json!([]);
        for (fields, more, score, expected_text) in [
            (&none, json!({}), "1/1", "2 Appointments found"),
            (&minutes, json!({"match": "first"}), "1/1", "1 of 1"),
            (&minutes, json!({"match": "any"}), "1/1", "1 of 1"),
            (&minutes, json!({"match": "all"}), "1/2", "1 of 2 Appointments found meets"),
            (&none, json!({"count": 2}), "1/1", "2 Appointments found"),
            (&none, json!({"count": 1}), "0/1", "expected 1 Appointment, found 2"),
            (&none, json!({"count": {"min": 3}}), "0/1", "expected at least 3 Appointments, found 2"),
            (&none, json!({"count": {"max": 0}}), "0/1", "2 Appointments found that must not exist"),
            (&minutes, json!({"count": {"max": 0}}), "0/1", "1 Appointment found that must not exist"),
            (&json!([{"path": "status", "expected": "cancelled"}]), json!({"count": {"max": 0}}), "1/1", "as expected"),
            (&none, json!({"search": {"status": "cancelled"}}), "0/1", "no Appointment found"),
            (&none, json!({"search": {"status": "cancelled"}, "count": {"max": 2}}), "0/1", "no Appointment found"),
            (&none, json!({"search": {"sttus": "booked"}}), "0/1", "`sttus` is not supported"),
            (&none, json!({"search": {"sttus": "booked"}, "count": {"max": 0}}), "0/1", "`sttus` is not supported"),
            (&none, json!({"search": {"date": "tomorrow"}}), "0/1", "search parameter `date`"),
            (&none, json!({"search": {"patient": "Patient/{{entity.mrn}}"}}), "0/1", "has no value"),
            (&none, json!({"search": {"patient": "Patient/{{entity.mrn}}"}, "count": 0}), "0/1", "has no value"),
            (&none, json!({"resource_type": "{{entity.name}}"}), "0/1", "resource type"),
        ] {
            says(&clinic(), &assertion(fields, &more), score, expected_text);
        }
    }

    #[test]
    fn expressions_of_fhirpath() {
        for (expression, expected, score) in [
            ("participant.count()", json!(2), "1/1"),
            ("participant.actor.resolve().ofType(Patient).birthDate", json!("1980-02-29"), "1/1"),
            ("status = 'booked'", json!(true), "1/1"),
            ("participant.where(status = 'declined').exists()", json!(true), "0/1"),
            ("participant.status.single()", json!("accepted"), "0/1"),
        ] {
            let fields = json!([{"fhirpath": expression, "expected": expected}]);
            let outcome = clinic().evaluate(&assertion(&fields, &json!({})));
            assert_eq!(outcome.score.to_string(), score, "{expression}: {outcome:?}");
        }
    }

    #[test]
    fn deleted_resources_are_not_found() {
        let deleted = clinic().write(SimulatorType::Fhir, "Appointment", "new", &Value::Null);
        let deleted = deleted.write(SimulatorType::Fhir, "Appointment", "old", &Value::Null);
        says(&deleted, &assertion(&json!([]), &json!({})), "0/1", "no Appointment found");
        says(&deleted, &assertion(&json!([]), &json!({"count": 0})), "1/1", "as expected");
        says(
            &Playground::empty(),
            &assertion(&json!([]), &json!({"search": {}, "count": 0})),
            "0/1",
            "no Fhir sandbox",
        );
    }

    const LOINC: &str = "http://loinc.org";

    fn order() -> Value {
        json!({"resourceType": "ServiceRequest", "id": "o", "status": "active", "intent": "order",
            "subject": {"reference": "Patient/p1"}, "code": {"coding": [{"system": LOINC, "code": "36643-5"}]}})
    }

    /// The order with some members added or replaced.
    fn order_with(more: &Value) -> Value {
        let mut order = order();
        more.as_object().expect("members").iter().for_each(|(key, value)| order[key] = value.clone());
        order
    }

    fn ordered(more: &Value) -> Value {
        let mut assertion = json!({"assert": "fhir-resource-state", "resource_type": "ServiceRequest",
            "search": {"subject": "Patient/p1", "code": format!("{LOINC}|36643-5")},
            "fields": [{"path": "intent", "expected": "order"}]});
        more.as_object().expect("members").iter().for_each(|(key, value)| assertion[key] = value.clone());
        assertion
    }

    fn hospital() -> Playground {
        let coded = |id: &str, code: &str, display: &str| {
            json!({"resourceType": "Observation", "id": id, "status": "final",
                "code": {"coding": [{"system": LOINC, "code": code, "display": display}]}})
        };
        Playground::new(&[
            json!({"resourceType": "Patient", "id": "p1", "name": [{"family": "Stone", "given": ["Ada"]}]}),
            coded("x", "36643-5", "Chest X-ray"),
            coded("k", "2823-3", "Potassium"),
        ])
    }

    #[test]
    fn contradicting_records_do_not_match() {
        let both =
            |code: &str| json!({"coding": [{"system": LOINC, "code": "36643-5"}, {"system": LOINC, "code": code}]});
        let shown = |display: &str| json!({"coding": [{"system": LOINC, "code": "36643-5", "display": display}]});
        let quantity =
            |unit: &str| json!({"value": 2, "unit": unit, "system": "http://unitsofmeasure.org", "code": "mg"});
        for (change, score, expected_text) in [
            (json!({}), "1/1", "1 of 1"),
            (json!({"doNotPerform": false}), "1/1", ""),
            (json!({"doNotPerform": true}), "0/1", "doNotPerform: this element changes"),
            (json!({"status": "revoked"}), "0/1", "status: the record's status takes it back"),
            (json!({"status": "on-hold"}), "0/1", "not a match"),
            (json!({"modifierExtension": [{"url": "x", "valueBoolean": true}]}), "0/1", "modifierExtension.0"),
            (json!({"code": both("2823-3")}), "0/1", "code.coding.1.code: the concept has another code"),
            (json!({"code": shown("CHEST X-RAY")}), "1/1", ""),
            (json!({"code": shown("X-ray of the chest")}), "1/1", ""),
            (json!({"code": shown("potassium")}), "0/1", "it belongs to `2823-3`"),
            (json!({"quantityQuantity": quantity("mg")}), "1/1", ""),
            (json!({"quantityQuantity": quantity("g")}), "0/1", "quantityQuantity.unit: the unit contradicts"),
        ] {
            says(&hospital().fhir(&order_with(&change)), &ordered(&json!({})), score, expected_text);
        }
        let listed = json!({"equivalents": [format!("{LOINC}|2823-3")]});
        says(&hospital().fhir(&order_with(&json!({"code": both("2823-3")}))), &ordered(&listed), "1/1", "");
        let asserted =
            json!({"fields": [{"path": "doNotPerform", "expected": true}, {"path": "status", "expected": "revoked"}]});
        says(
            &hospital().fhir(&order_with(&json!({"doNotPerform": true, "status": "revoked"}))),
            &ordered(&asserted),
            "1/1",
            "",
        );
        let not_asked = json!({"fields": [{"path": "status", "op": "not_equals", "expected": "active"}]});
        says(
            &hospital().fhir(&order_with(&json!({"status": "revoked"}))),
            &ordered(&not_asked),
            "0/1",
            "takes it back",
        );
        let absent = json!({"count": 0});
        says(
            &hospital().fhir(&order_with(&json!({"doNotPerform": true, "status": "revoked"}))),
            &ordered(&absent),
            "0/1",
            "must not exist",
        );
    }

    #[test]
    fn withdrawn_records_are_left_out() {
        let other = order_with(&json!({"id": "n", "status": "entered-in-error", "intent": "plan"}));
        let playground = hospital().fhir(&order()).fhir(&other);
        says(&playground, &ordered(&json!({"count": 1})), "1/1", "1 ServiceRequest found; 1 of 1");
        says(&playground, &ordered(&json!({"count": 2})), "0/1", "expected 2 ServiceRequests, found 1");
        says(&playground, &ordered(&json!({"match": "all"})), "1/2", "1 of 2");
        let matched = playground.evaluate(&ordered(&json!({}))).evidence;
        assert_eq!(matched["matched"], json!(["ServiceRequest/o"]));
        let alone = hospital().fhir(&other);
        let outcome = alone.evaluate(&ordered(&json!({})));
        let reason = "the record's status takes it back, and the assertion does not ask for that status";
        let (expected, actual) = ("a status that is in force", "entered-in-error");
        assert_eq!(
            outcome.evidence,
            json!({"fieldResults": [
                {"path": "intent", "expected": "order", "actual": "plan", "passed": false},
                {"path": "status", "expected": expected, "actual": actual, "passed": false, "reason": reason}],
                "matched": [],
                "candidates": [{"candidate": "ServiceRequest/n", "mismatches": [
                    {"parameter": "status", "expected": expected, "actual": actual, "reason": reason}]}]})
        );
        assert!(outcome.details.ends_with(reason), "{}", outcome.details);
    }

    #[test]
    fn only_allows_nothing_else() {
        let fields =
            json!([{"path": "status", "expected": "active"}, {"fhirpath": "intent = 'order'", "expected": true}]);
        let only = |ignore: Value| ordered(&json!({"fields": fields, "only": true, "ignore": ignore}));
        for (change, score, expected_text) in [
            (json!({}), "1/1", "2 of 2"),
            (json!({"meta": {"tag": []}, "text": {"status": "generated", "div": "<div/>"}}), "1/1", ""),
            (json!({"text": {"status": "additional", "div": "<div>not this</div>"}}), "0/1", "text: is not asserted"),
            (
                json!({"text": {"status": "generated", "div": "<div>X-ray: cancelled</div>"}}),
                "0/1",
                "text: is not asserted",
            ),
            (
                json!({"meta": {"tag": [{"system": "http://terminology.hl7.org/CodeSystem/v3-ActReason", "code": "HTEST"}]}}),
                "0/1",
                "meta: is not asserted",
            ),
            (
                json!({"code": {"text": "Do NOT perform", "coding": [{"system": LOINC, "code": "36643-5"}]}}),
                "0/1",
                "code.text: is not asserted",
            ),
            (json!({"note": [{"text": "cancel this"}]}), "0/1", "note: is not asserted"),
            (json!({"contained": [order()]}), "0/1", "contained: is not asserted"),
            (json!({"contained": [{"resourceType": "Medication", "id": "m"}]}), "0/1", "contained: is not asserted"),
            (json!({"occurrencePeriod": {"end": "2020"}}), "0/1", "occurrencePeriod"),
            (json!({"subject": {"reference": "Patient/p1", "display": "Ada Stone", "type": "Patient"}}), "1/1", ""),
            (json!({"subject": {"reference": "Patient/p1", "display": "Ben Wells"}}), "0/1", "subject.display"),
            (json!({"subject": {"reference": "Patient/p1", "type": "Group"}}), "0/1", "subject.type"),
            (
                json!({"code": {"text": "Chest film", "coding": [{"system": LOINC, "code": "36643-5", "display": "Chest X-ray"}]}}),
                "1/1",
                "",
            ),
            (
                json!({"code": {"coding": [{"system": LOINC, "code": "36643-5"}, {"system": "x", "code": "1"}]}}),
                "0/1",
                "code.coding.1",
            ),
        ] {
            says(&hospital().fhir(&order_with(&change)), &only(json!([])), score, expected_text);
        }
        let noted = hospital().fhir(&order_with(&json!({"note": [{"text": "x"}], "authoredOn": "2026"})));
        says(&noted, &only(json!(["note", "authoredOn"])), "1/1", "");
        check(json!({"resource_type": "Task", "ignore": ["note"]}), &[("ignore", "without `only: true`")]);
        check(json!({"resource_type": "Task", "only": 1}), &[("only", "")]);
        check(json!({"resource_type": "Task", "equivalents": ["x"]}), &[("equivalents.0", "system|code")]);
        check(
            json!({"resource_type": "Task", "fields": [{"path": "a", "expected": 1, "quantifier": "most"}]}),
            &[("fields.0.quantifier", "one of `all`")],
        );
    }

    #[test]
    fn an_update_may_keep_earlier_values() {
        let before = json!({"resourceType": "Task", "id": "t", "status": "requested", "intent": "order", "priority": "urgent",
            "note": [{"text": "call first"}]});
        let done = json!({"assert": "fhir-resource-state", "resource_type": "Task",
            "fields": [{"path": "status", "expected": "completed"}], "only": true});
        let after = |change: &dyn Fn(&mut Value)| {
            let mut task = before.clone();
            task["status"] = json!("completed");
            change(&mut task);
            Playground::new(std::slice::from_ref(&before)).fhir(&task)
        };
        says(&after(&|_| {}), &done, "1/1", "1 of 1");
        says(&after(&|task| task["priority"] = json!("routine")), &done, "0/1", "priority: is not asserted");
        says(&after(&|task| drop(task["note"].as_array_mut().map(Vec::pop))), &done, "0/1", "note.0: was there before");
        says(&after(&|task| task["note"] = json!([{"text": "never"}, {"text": "call first"}])), &done, "0/1", "note.0");
    }
}
