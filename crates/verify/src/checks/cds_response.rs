//! Passes when a CDS service answered the hook with cards, or feedback was given, whose fields match.
//!
//! Reads the hook invocations with their cards and feedback (CDS Hooks 2.0); without `hook`, those of every hook.
//! The example: [`EXAMPLE`]. Evidence: `fieldResults[{path,expected,actual,passed}]`.

use model::FieldErrors;
use model::event::{Event, EventType};
use model::simulator::SimulatorType;
use serde::Deserialize;
use serde_json::Value;

use crate::authored::{Authored, Notation};
use crate::candidates::{self, Candidate, unmet_fields};
use crate::checks::{Check, CheckInfo, Reads};
use crate::closed_world::{OnlyJson, check_ignore};
use crate::compare::Typing;
use crate::count::Count;
use crate::evidence::{Case, Evaluated, text};
use crate::field::{FieldAssertion, check_fields};
use crate::judge::{FieldResult, Sheet, hold_fields, is_absence, judge};
use crate::manual::{self, Member};
use crate::matching::Match;
use crate::path::json::JsonPath;
use crate::quantifier::Quantifier;

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
    /// Whether the answer must have no cards, suggestions, links and actions beyond what the assertion looks at.
    #[serde(default)]
    pub only: bool,
    /// Members that `only` does not look at.
    #[serde(default)]
    pub ignore: Vec<Authored<JsonPath>>,
}

/// The name of a hook; anyone may define more than the standard does.
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
        summary: "A CDS service answered the hook with cards, or feedback was given, whose fields match.",
        example: EXAMPLE,
        reads: Reads::Type(SimulatorType::CdsHooks),
        is_limit: false,
        members: &[
            Member::optional("hook", "the hook's name; every hook without it"),
            Member::new("fields", "[]", "[fields](#fields-and-operators) with JSON paths"),
            manual::COUNT,
            manual::ONLY,
            manual::IGNORE,
        ],
        description: "Reads [answers](cds-hooks.md) (`{hook, service_id, answered_by, fired_by, context, cards, systemActions}`) and feedback (`{hook, service_id, card, outcome, acceptedSuggestions, overrideReason, applied}`); a hook that waits, failed, or got an answer that was refused is none. It takes no `match`.",
        evidence: "`fieldResults`; [`count`, `candidates[]`](#evidence)",
    };

    fn validate(&self, errors: &mut FieldErrors) {
        check_fields("fields", &self.fields, errors);
        check_ignore(self.only, self.ignore.len(), errors);
    }

    fn is_guard(&self) -> bool {
        is_absence(self.count)
    }

    fn evaluate(&self, case: &Case<'_>) -> Evaluated {
        let hook = self.hook.as_ref().map(|hook| hook.ready()).transpose()?;
        let events = case.events(SimulatorType::CdsHooks, &[EventType::CdsInvoke, EventType::CdsFeedback])?;
        let is_meant = |event: &&&Event| {
            is_answer(event) && hook.is_none_or(|hook| text(&event.payload, "hook") == Some(hook.0.as_str()))
        };
        let meant = events.iter().filter(is_meant);
        let sheets = meant.map(|event| {
            let find = |path: &JsonPath| Ok(path.find(&event.payload, &case.budget)?.into_iter().cloned().collect());
            let fields = hold_fields(&self.fields, Typing::Typed, &case.budget, find);
            let violations = self.extras(event, case)?;
            Ok(Sheet { name: event.id.to_string(), fields, violations, ..Sheet::default() })
        });
        let sheets = sheets.collect::<Result<Vec<Sheet>, String>>()?;
        let judgement = judge("answer", sheets.len(), sheets, Match::Any, self.count);
        let results = judgement.field_results();
        judgement.outcome(self, case, [("fieldResults", results)])
    }

    fn unmet(&self) -> Vec<(&'static str, Value)> {
        vec![("fieldResults", unmet_fields(&self.fields, self.count))]
    }

    fn candidates(&self, case: &Case<'_>) -> Result<Vec<Candidate>, String> {
        candidates::cds::of(self, case)
    }
}

/// What the agent says in an answer and in feedback; the rest tells who was asked and when.
const ANSWERED: [&str; 6] = ["cards", "systemActions", "outcome", "acceptedSuggestions", "overrideReason", "extension"];

impl CdsResponse {
    /// What the answer has beyond what is asserted.
    fn extras(&self, event: &Event, case: &Case<'_>) -> Result<Vec<FieldResult>, String> {
        if !self.only || is_absence(self.count) {
            return Ok(Vec::new());
        }
        let only =
            OnlyJson { fields: &self.fields, ignore: &self.ignore, quantifier: Quantifier::All, typing: Typing::Typed };
        let allows = |object: &Value, key: &str, _: &Value| {
            // Every card has a source and may have a name of its own.
            let is_in_card = matches!(key, "uuid" | "source") && !std::ptr::eq(object, &event.payload);
            is_in_card || (std::ptr::eq(object, &event.payload) && !ANSWERED.contains(&key))
        };
        only.violations(&event.payload, None, &allows, &case.budget)
    }
}

/// A hook that waits for its answer, got none, or got one that was refused has no cards.
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

    fn check(specification: Value, faults: &[(&str, &str)]) {
        crate::testing::check("cds-response", specification, faults);
    }

    #[test]
    fn sound_specifications() {
        check(json!({}), &[]);
        check(json!({"hook": "com.example.discharge", "count": {"max": 0}}), &[]);
        check(json!({"hook": "{{task.hook}}", "fields": [{"path": "cards", "expected": null}]}), &[]);
    }

    #[test]
    fn faulty_specifications() {
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
        let told = Playground::new(&[]).event(SimulatorType::CdsHooks, EventType::CdsFeedback, feedback);
        let field = json!([{"path": "outcome", "expected": "overridden"}]);
        says(&told, &assertion(json!({"hook": "order-sign", "fields": field})), "1/1", "");
    }
}
