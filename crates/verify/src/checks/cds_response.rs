//! Passes if a CDS service answered the hook with cards, or feedback was given, and the fields match.
//!
//! Reads hook invocations with their cards, and feedback (CDS Hooks 2.0). Without `hook`, it reads those of every hook.
//! The example: [`EXAMPLE`]. Evidence: `fieldResults[{path,expected,actual,passed}]`.

use model::FieldErrors;
use model::event::{Event, EventType};
use model::simulator::SimulatorType;
use serde::Deserialize;
use serde_json::Value;

use crate::authored::{Authored, Notation};
use crate::candidates::{self, Candidate, unmet_fields};
use crate::checks::{Check, CheckInfo, ReadSimulators};
use crate::closed_world::{OnlyJson, check_ignore};
use crate::compare::Typing;
use crate::count::Count;
use crate::evidence::{EvaluationContext, EvaluationResult, text};
use crate::field::{FieldAssertion, check_fields};
use crate::manual::{self, Parameter};
use crate::matching::Match;
use crate::path::json::JsonPath;
use crate::quantifier::Quantifier;
use crate::scoring::{CandidateResult, FieldResult, evaluate_fields, is_absence, score_candidates};

pub const EXAMPLE: &str = r#"{
  "assert": "cds-response",
  "hook": "order-sign",
  "fields": [
    {"path": "cards.*.indicator", "op": "one_of", "expected": ["warning", "critical"], "quantifier": "any"},
    {"path": "cards.0.summary", "op": "matches", "expected": "(?i)interaction"}
  ],
  "count": {"min": 1}
}"#;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CdsResponse {
    #[serde(default)]
    pub hook: Option<Authored<Hook>>,
    #[serde(default)]
    pub fields: Vec<FieldAssertion<JsonPath>>,
    #[serde(default)]
    pub count: Option<Count>,
    /// Whether the response must have no cards, suggestions, links and actions other than the asserted ones.
    #[serde(default)]
    pub only: bool,
    /// Members that `only` ignores.
    #[serde(default)]
    pub ignore: Vec<Authored<JsonPath>>,
}

/// The name of a hook. Names outside of the standard are allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook(pub String);

impl Notation for Hook {
    const LONGEST: usize = 100;

    fn read(text: &str) -> Result<Self, String> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if !text.chars().all(is_name) {
            return Err("must be the name of a hook, such as `patient-view`".to_owned());
        }
        Ok(Self(text.to_owned()))
    }
}

impl Check for CdsResponse {
    const INFO: CheckInfo = CheckInfo {
        name: "cds-response",
        summary: "A CDS service answered the hook with cards, or feedback was given, and the fields match.",
        example: EXAMPLE,
        reads: ReadSimulators::Type(SimulatorType::CdsHooks),
        is_limit: false,
        parameters: &[
            Parameter::optional("hook", "the name of the hook; without it, every hook"),
            Parameter::with_default("fields", "[]", "[fields](#fields-and-operators) with JSON paths"),
            manual::COUNT,
            manual::ONLY,
            manual::IGNORE,
        ],
        description: "Reads [answers](cds-hooks.md) (`{hook, service_id, answered_by, fired_by, context, cards, systemActions}`) and feedback (`{hook, service_id, card, outcome, acceptedSuggestions, overrideReason, applied}`); an invocation that is pending, failed, or got a response that was refused does not count. There is no `match`.",
        evidence: "`fieldResults`; [`count`, `candidates[]`](#evidence)",
    };

    fn validate(&self, errors: &mut FieldErrors) {
        check_fields("fields", &self.fields, errors);
        check_ignore(self.only, self.ignore.len(), errors);
    }

    fn is_guard(&self) -> bool {
        is_absence(self.count)
    }

    fn evaluate(&self, context: &EvaluationContext<'_>) -> EvaluationResult {
        let hook = self.hook.as_ref().map(|hook| hook.ready()).transpose()?;
        let events = context.events(SimulatorType::CdsHooks, &[EventType::CdsInvoke, EventType::CdsFeedback])?;
        let is_wanted = |event: &&&Event| {
            is_answer(event) && hook.is_none_or(|hook| text(&event.payload, "hook") == Some(hook.0.as_str()))
        };
        let wanted = events.iter().filter(is_wanted);
        let candidate_results = wanted.map(|event| {
            let find = |path: &JsonPath| Ok(path.find(&event.payload, &context.budget)?.into_iter().cloned().collect());
            let fields = evaluate_fields(&self.fields, Typing::Typed, &context.budget, find);
            let violations = self.extras(event, context)?;
            Ok(CandidateResult { name: event.id.to_string(), fields, violations, ..CandidateResult::default() })
        });
        let candidate_results = candidate_results.collect::<Result<Vec<CandidateResult>, String>>()?;
        let scored = score_candidates("answer", candidate_results.len(), candidate_results, Match::Any, self.count);
        let results = scored.field_results();
        scored.outcome(self, context, [("fieldResults", results)])
    }

    fn unmet(&self) -> Vec<(&'static str, Value)> {
        vec![("fieldResults", unmet_fields(&self.fields, self.count))]
    }

    fn candidates(&self, context: &EvaluationContext<'_>) -> Result<Vec<Candidate>, String> {
        candidates::cds::of(self, context)
    }
}

/// The members that an agent writes in a response and in feedback. The others are about the invocation.
const RESPONSE_MEMBERS: [&str; 6] =
    ["cards", "systemActions", "outcome", "acceptedSuggestions", "overrideReason", "extension"];

impl CdsResponse {
    /// The values of the response that are not asserted.
    fn extras(&self, event: &Event, context: &EvaluationContext<'_>) -> Result<Vec<FieldResult>, String> {
        if !self.only || is_absence(self.count) {
            return Ok(Vec::new());
        }
        let only =
            OnlyJson { fields: &self.fields, ignore: &self.ignore, quantifier: Quantifier::All, typing: Typing::Typed };
        let allows = |object: &Value, key: &str, _: &Value| {
            // Every card has a source and may have an id.
            let is_in_card = matches!(key, "uuid" | "source") && !std::ptr::eq(object, &event.payload);
            is_in_card || (std::ptr::eq(object, &event.payload) && !RESPONSE_MEMBERS.contains(&key))
        };
        only.violations(&event.payload, None, &allows, &context.budget)
    }
}

/// Whether an event is feedback, or an invocation with a valid response. Other invocations have no cards.
pub(crate) fn is_answer(event: &Event) -> bool {
    match event.r#type {
        EventType::CdsInvoke => event.payload.get("cards").is_some_and(Value::is_array),
        _ => event.payload.is_object(),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Playground, says, scores};
    use model::event::EventType;
    use model::simulator::SimulatorType;
    use serde_json::{Value, json};

    fn check(specification: Value, expected_errors: &[(&str, &str)]) {
        crate::testing::check("cds-response", specification, expected_errors);
    }

    #[test]
    fn valid_specifications() {
        check(json!({}), &[]);
        check(json!({"hook": "com.example.discharge", "count": {"max": 0}}), &[]);
        check(json!({"hook": "{{task.hook}}", "fields": [{"path": "cards", "expected": null}]}), &[]);
    }

    #[test]
    fn invalid_specifications() {
        check(json!({"hook": "patient view"}), &[("hook", "name of a hook")]);
        check(json!({"hook": ""}), &[("hook", "empty")]);
        check(json!({"hook": "order-sign", "match": "all"}), &[("match", "not a known field")]);
        check(json!({"fields": [{"path": "cards[", "expected": 1}]}), &[("fields.0.path", "without `]`")]);
    }

    #[test]
    fn answers_are_compared() {
        let payload = json!({"hook": "order-sign", "cards": [{"indicator": "info"}, {"indicator": "warning"}]});
        let playground = Playground::new(&[]).event(SimulatorType::CdsHooks, EventType::CdsInvoke, payload);
        let assertion = |specification: Value| {
            let mut assertion = specification;
            assertion["assert"] = json!("cds-response");
            assertion
        };
        scores(
            &playground,
            &assertion(json!({"hook": "order-sign", "fields": [{"path": "cards.*.indicator", "expected": "warning"}]})),
            "0/1",
            &json!({"fieldResults": [
                {"path": "cards.*.indicator", "expected": "warning", "actual": ["info", "warning"], "passed": false}]}),
        );
        let any = json!([{"path": "cards.*.indicator", "expected": "warning", "quantifier": "any"}]);
        scores(
            &playground,
            &assertion(json!({"hook": "order-sign", "fields": any})),
            "1/1",
            &json!({"fieldResults": [{"path": "cards.*.indicator", "quantifier": "any", "expected": "warning",
                "actual": ["info", "warning"], "passed": true}]}),
        );
        let only = json!({"hook": "order-sign", "fields": any, "only": true});
        says(&playground, &assertion(only.clone()), "0/1", "cards.0: is not asserted");
        let one = json!({"hook": "order-sign", "service_id": "x", "cards": [{"indicator": "warning", "uuid": "u",
            "source": {"label": "s"}}]});
        let answered =
            |payload: Value| Playground::new(&[]).event(SimulatorType::CdsHooks, EventType::CdsInvoke, payload);
        says(&answered(one.clone()), &assertion(only.clone()), "1/1", "1 of 1");
        let mut acting = one;
        acting["systemActions"] = json!([{"type": "delete"}]);
        says(&answered(acting), &assertion(only), "0/1", "systemActions: is not asserted");
        says(&playground, &assertion(json!({"hook": "patient-view"})), "0/1", "no answer");
        says(&playground, &assertion(json!({"hook": "order-sign", "count": 0})), "0/1", "1 answer");
        for unanswered in [
            json!(null),
            json!({"hook": "order-sign", "status": "pending"}),
            json!({"hook": "order-sign", "status": "failed", "error": {"message": "no JSON"}}),
            json!({"hook": "order-sign", "status": "refused", "error": {"cards": ["is required"]}}),
        ] {
            let odd = Playground::new(&[]).event(SimulatorType::CdsHooks, EventType::CdsInvoke, unanswered);
            says(&odd, &assertion(json!({"fields": [{"path": "cards", "expected": null}]})), "0/1", "no answer");
        }
        let feedback = json!({"hook": "order-sign", "card": "a", "outcome": "overridden"});
        let playground = Playground::new(&[]).event(SimulatorType::CdsHooks, EventType::CdsFeedback, feedback);
        let field = json!([{"path": "outcome", "expected": "overridden"}]);
        says(&playground, &assertion(json!({"hook": "order-sign", "fields": field})), "1/1", "");
    }
}
