//! Passes if the payer portal has a row that correlates and satisfies the assertions.
//!
//! Reads the rows of `correlate_by.resource` whose value at the path `key` is `value`, or without `value`, those that have
//! any value there. The example: [`EXAMPLE`].
//! Evidence: `assertionResults[{path,expected,actual,passed}]`.

use model::simulator::SimulatorType;
use model::template::Bindings;
use model::template::is_template;
use model::{FieldErrors, patch};
use serde::Deserialize;
use serde_json::Value;

use crate::authored::Authored;
use crate::baseline::Baselines;
use crate::candidates::{self, Candidate, unmet_fields};
use crate::checks::{Check, CheckInfo, ReadSimulators};
use crate::closed_world::{Coverage, OnlyJson, check_ignore};
use crate::compare::{Typing, is_equal};
use crate::count::Count;
use crate::evidence::{EvaluationContext, EvaluationResult};
use crate::field::{FieldAssertion, check_fields};
use crate::limits::{self, LONGEST_TEXT};
use crate::manual::{self, Parameter};
use crate::matching::Match;
use crate::path::json::JsonPath;
use crate::quantifier::Quantifier;
use crate::scoring::{CandidateResult, FieldResult, evaluate_fields, is_absence, score_candidates};
use crate::unmatchable::{self, UnmatchablePart};

pub const EXAMPLE: &str = r#"{
  "assert": "portal-state-match",
  "correlate_by": {"resource": "prior_auth_requests", "key": "patient_member_id", "value": "{{entity.member_id}}"},
  "assertions": [
    {"path": "status", "expected": "submitted"},
    {"path": "procedure_code", "expected": "72148"},
    {"path": "documents", "op": "exists"}
  ],
  "match": "any",
  "count": 1
}"#;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortalStateMatch {
    pub correlate_by: RowCorrelation,
    #[serde(default)]
    pub assertions: Vec<FieldAssertion<JsonPath>>,
    #[serde(rename = "match", default)]
    pub matching: Match,
    #[serde(default)]
    pub count: Option<Count>,
    /// Whether the row must contain nothing other than the asserted values.
    #[serde(default)]
    pub only: bool,
    /// Members that `only` ignores.
    #[serde(default)]
    pub ignore: Vec<Authored<JsonPath>>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowCorrelation {
    /// The kind of row, such as `prior_auth_requests`.
    pub resource: String,
    pub key: Authored<JsonPath>,
    #[serde(default, deserialize_with = "patch::value")]
    pub value: Option<Value>,
}

impl Check for PortalStateMatch {
    const INFO: CheckInfo = CheckInfo {
        name: "portal-state-match",
        summary: "The payer portal has a row that correlates and satisfies the assertions.",
        example: EXAMPLE,
        reads: ReadSimulators::Type(SimulatorType::Payer),
        is_limit: false,
        parameters: &[
            Parameter::required(
                "correlate_by",
                "`resource` (the kind of row), `key` (a JSON path), `value?` (a string, number or boolean; without it all rows that have the key)",
            ),
            Parameter::with_default("assertions", "[]", "[fields](#fields-and-operators) with JSON paths"),
            manual::MATCH_ANY,
            manual::COUNT,
            manual::ONLY,
            manual::IGNORE,
        ],
        description: "Reads the [portal's rows](portal.md#rows). A row whose `status` is `withdrawn` is not a match unless an assertion asks for that status, or absence is asserted.",
        evidence: "`assertionResults[…]`; [`count`, `candidates[]`](#evidence)",
    };

    fn validate(&self, errors: &mut FieldErrors) {
        if let Err(error) = check_resource(&self.correlate_by.resource) {
            errors.add("correlate_by.resource", error);
        }
        if let Some(Err(error)) = self.correlate_by.value.as_ref().map(check_value) {
            errors.add("correlate_by.value", error);
        }
        check_fields("assertions", &self.assertions, errors);
        check_ignore(self.only, self.ignore.len(), errors);
    }

    fn is_guard(&self) -> bool {
        is_absence(self.count)
    }

    fn evaluate(&self, context: &EvaluationContext<'_>) -> EvaluationResult {
        let RowCorrelation { resource, key, .. } = &self.correlate_by;
        let key = key.ready()?;
        let (mut candidate_results, mut withdrawn) = (Vec::new(), Vec::new());
        for (name, row) in context.rows(SimulatorType::Payer, resource)? {
            let found = key.find(&row, &context.budget)?;
            if self.correlate_by.matches(&found) {
                let find = |path: &JsonPath| Ok(path.find(&row, &context.budget)?.into_iter().cloned().collect());
                let fields = evaluate_fields(&self.assertions, Typing::Typed, &context.budget, find);
                match self.withdrawn(&row, context)? {
                    Some(violation) => withdrawn.push(CandidateResult {
                        name,
                        fields,
                        violations: vec![violation],
                        ..CandidateResult::default()
                    }),
                    None => {
                        let violations = self.extras(&name, &row, context)?;
                        candidate_results.push(CandidateResult {
                            name,
                            fields,
                            violations,
                            ..CandidateResult::default()
                        });
                    }
                }
            }
        }
        let found = candidate_results.len();
        // If nothing else was found, the evidence says why these do not match.
        let candidate_results = if candidate_results.is_empty() { withdrawn } else { candidate_results };
        let scored = score_candidates("row", found, candidate_results, self.matching, self.count);
        let results = scored.field_results();
        scored.outcome(self, context, [("assertionResults", results)])
    }

    fn unmet(&self) -> Vec<(&'static str, Value)> {
        vec![("assertionResults", unmet_fields(&self.assertions, self.count))]
    }

    fn candidates(&self, context: &EvaluationContext<'_>) -> Result<Vec<Candidate>, String> {
        candidates::portal::of(self, context)
    }

    fn unmatchable_parts(&self, _assertion: &Value, _bindings: &Bindings<'_>) -> Vec<UnmatchablePart> {
        unmatchable::portal_rows(self)
    }
}

impl RowCorrelation {
    /// Whether a row with these values at the key is selected.
    pub(crate) fn matches(&self, found: &[&Value]) -> bool {
        found.iter().any(|found| match &self.value {
            Some(value) => is_equal(found, value, Typing::Typed),
            None => !found.is_null(),
        })
    }
}

/// Members that the portal itself adds to a row.
const PORTAL_MEMBERS: [&str; 13] = [
    "request_id",
    "auth_number",
    "status",
    "determination",
    "patient_id",
    "patient_name",
    "patient_birth_date",
    "provider_name",
    "created_at",
    "submitted_at",
    "updated_at",
    "withdrawn_at",
    "information_rounds",
];

impl PortalStateMatch {
    /// The violation for a withdrawn row. If absence is asserted, withdrawn rows count like others.
    pub(crate) fn withdrawn(
        &self,
        row: &Value,
        context: &EvaluationContext<'_>,
    ) -> Result<Option<FieldResult>, String> {
        let Some(status) = row.get("status").filter(|status| *status == "withdrawn") else { return Ok(None) };
        let mut coverage = Coverage::default();
        for field in &self.assertions {
            let comparison = field.comparison().map_err(|errors| errors.to_string())?;
            let found = field.path.ready()?.find(row, &context.budget)?;
            let quantifier = field.quantifier.unwrap_or(Quantifier::All);
            coverage.cover_field(&found, &comparison, (quantifier, Typing::Typed), &context.budget)?;
        }
        if is_absence(self.count) || coverage.asserts_within(status) {
            return Ok(None);
        }
        let reason = "the request was withdrawn, and the assertion does not ask for that status".to_owned();
        Ok(Some(FieldResult::violation("status".to_owned(), "a status that is in force".into(), status, reason)))
    }

    /// The values of the row that are not asserted.
    fn extras(&self, key: &str, row: &Value, context: &EvaluationContext<'_>) -> Result<Vec<FieldResult>, String> {
        if !self.only || is_absence(self.count) {
            return Ok(Vec::new());
        }
        let RowCorrelation { resource, key: correlated, .. } = &self.correlate_by;
        let baselines = Baselines::new(context)?;
        let sandboxes = context.sandboxes(SimulatorType::Payer)?;
        let has_row = |sandbox: &&&world::Sandbox| sandbox.records.get(resource, key).live().is_some();
        let baseline = sandboxes.iter().find(has_row).and_then(|sandbox| baselines.of(&sandbox.records, resource, key));
        let mut ignore = self.ignore.clone();
        ignore.push(correlated.clone());
        let only =
            OnlyJson { fields: &self.assertions, ignore: &ignore, quantifier: Quantifier::All, typing: Typing::Typed };
        let allows = |object: &Value, key: &str, value: &Value| {
            let is_default = key == "urgency" && value == "standard";
            std::ptr::eq(object, row) && (PORTAL_MEMBERS.contains(&key) || is_default)
        };
        only.violations(row, baseline.as_deref(), &allows, &context.budget)
    }
}

fn check_resource(resource: &str) -> Result<(), String> {
    limits::check_text(resource, 100)?;
    if is_template(resource) || resource.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_') {
        Ok(())
    } else {
        Err("must be a kind of row, such as `prior_auth_requests`".to_owned())
    }
}

fn check_value(value: &Value) -> Result<(), String> {
    match value {
        Value::String(text) => limits::check_text(text, LONGEST_TEXT),
        Value::Number(_) | Value::Bool(_) => Ok(()),
        _ => {
            Err("must be a string, a number or a boolean; without `value`, all rows that have the key are selected"
                .into())
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Playground, says, scores};
    use model::simulator::SimulatorType;
    use serde_json::{Value, json};

    fn check(specification: Value, expected_errors: &[(&str, &str)]) {
        crate::testing::check("portal-state-match", specification, expected_errors);
    }

    #[test]
    fn valid_specifications() {
        check(json!({"correlate_by": {"resource": "drafts", "key": "request_id"}}), &[]);
        check(json!({"correlate_by": {"resource": "drafts", "key": "step", "value": 3}, "count": {"max": 0}}), &[]);
        check(
            json!({
                "correlate_by": {"resource": "prior_auth_requests", "key": "auth_number", "value": "PA-1"},
                "assertions": [{"path": "determination.status", "op": "one_of", "expected": ["approved", "pending"]}],
                "match": "all",
            }),
            &[],
        );
    }

    #[test]
    fn invalid_specifications() {
        check(json!({}), &[("correlate_by", "required")]);
        check(json!({"correlate_by": ["drafts", "request_id"]}), &[("correlate_by", "an object")]);
        check(json!({"correlate_by": {"resource": "drafts"}}), &[("correlate_by.key", "required")]);
        check(
            json!({"correlate_by": {"resource": "drafts", "key": "id", "vlaue": 1}, "fields": []}),
            &[("correlate_by.vlaue", "not a known field"), ("fields", "not a known field")],
        );
        check(
            json!({"correlate_by": {"resource": "Prior Auths", "key": "id", "value": null}, "assertions": [{"path": "a"}]}),
            &[
                ("correlate_by.resource", "kind of row"),
                ("correlate_by.value", "must be a string"),
                ("assertions.0.expected", "required"),
            ],
        );
    }

    #[test]
    fn rows_are_correlated_and_compared() {
        let row =
            |number: u32, status: &str| json!({"patient_member_id": "M1", "auth_number": number, "status": status});
        let playground = Playground::new(&[])
            .write(SimulatorType::Payer, "prior_auth_requests", "a", &row(1, "draft"))
            .write(SimulatorType::Payer, "prior_auth_requests", "b", &row(2, "submitted"))
            .write(SimulatorType::Payer, "prior_auth_requests", "c", &json!({"patient_member_id": null}))
            .write(SimulatorType::Fhir, "prior_auth_requests", "d", &row(3, "submitted"));
        let assertion = |correlation: Value, more: &Value| {
            let mut assertion = json!({"assert": "portal-state-match", "correlate_by": correlation, "assertions":
                [{"path": "status", "expected": "submitted"}, {"path": "documents", "op": "exists"}]});
            more.as_object().expect("members").iter().for_each(|(key, value)| assertion[key] = value.clone());
            assertion
        };
        let member = json!({"resource": "prior_auth_requests", "key": "patient_member_id", "value": "M1"});
        let results = json!({"assertionResults": [
            {"path": "status", "expected": "submitted", "actual": "submitted", "passed": true},
            {"path": "documents", "op": "exists", "expected": null, "actual": null, "passed": false},
        ]});
        scores(&playground, &assertion(member.clone(), &json!({})), "1/2", &results);
        let number = |value: Value| json!({"resource": "prior_auth_requests", "key": "auth_number", "value": value});
        let any = json!({"resource": "prior_auth_requests", "key": "patient_member_id"});
        let none = json!({"assertions": []});
        for (correlation, more, score, expected_text) in [
            (member.clone(), json!({"match": "first"}), "0/1", "0 of 2"),
            (member.clone(), json!({"match": "all"}), "1/4", "0 of 2 row"),
            (member, json!({"count": 1}), "0/1", "expected 1 row, found 2"),
            (number(json!(2.0)), none.clone(), "1/1", "1 row"),
            (number(json!("2")), none.clone(), "0/1", "no row"),
            (any, json!({"assertions": [], "count": 2}), "1/1", "2 row"),
            (json!({"resource": "drafts", "key": "id"}), none, "0/1", "no row"),
        ] {
            says(&playground, &assertion(correlation, &more), score, expected_text);
        }
    }

    #[test]
    fn withdrawn_rows_and_rows_with_other_values_do_not_match() {
        let row = |more: Value| {
            let mut row = json!({"patient_member_id": "M1", "auth_number": "PA-1", "status": "submitted", "determination": null,
                "procedure_code": "72148", "urgency": "standard", "documents": [], "created_at": "2026-04-01"});
            more.as_object().expect("members").iter().for_each(|(key, value)| row[key] = value.clone());
            Playground::new(&[]).write(SimulatorType::Payer, "prior_auth_requests", "a", &row)
        };
        let assertion = |more: Value| {
            let mut assertion = json!({"assert": "portal-state-match",
                "correlate_by": {"resource": "prior_auth_requests", "key": "patient_member_id", "value": "M1"},
                "assertions": [{"path": "procedure_code", "expected": "72148"}]});
            more.as_object().expect("members").iter().for_each(|(key, value)| assertion[key] = value.clone());
            assertion
        };
        let withdrawn = || row(json!({"status": "withdrawn"}));
        says(&withdrawn(), &assertion(json!({})), "0/1", "status: the request was withdrawn");
        says(&withdrawn(), &assertion(json!({"count": 1})), "0/1", "expected 1 row, found none");
        says(&withdrawn(), &assertion(json!({"count": 0})), "0/1", "must not exist");
        let asserted = json!({"assertions": [{"path": "status", "expected": "withdrawn"}]});
        says(&withdrawn(), &assertion(asserted), "1/1", "");
        let only = json!({"only": true});
        says(&row(json!({})), &assertion(only.clone()), "1/1", "");
        says(
            &row(json!({"clinical_notes": "deny this"})),
            &assertion(only.clone()),
            "0/1",
            "clinical_notes: is not asserted",
        );
        says(&row(json!({"urgency": "emergent"})), &assertion(only), "0/1", "urgency");
        let ignored = json!({"only": true, "ignore": ["clinical_notes"]});
        says(&row(json!({"clinical_notes": "see the chart"})), &assertion(ignored), "1/1", "");
    }
}
