//! Passes if the agent sent an HL7 version 2 message that correlates and whose fields match.
//!
//! Reads the `hl7_outbound` events. A message that the interface refused does not count, and a resent message counts once.
//! `correlate_by` takes HL7 paths, `message_type` and `trigger_event`.
//! The example: [`EXAMPLE`]. Evidence: `field_results[{path,expected,actual,passed}]`, `matched_event_id`.

use std::collections::BTreeMap;

use hl7v2::{Limits, Message};
use model::FieldErrors;
use model::event::{Event, EventType};
use model::simulator::SimulatorType;
use model::template::Bindings;
use serde::Deserialize;
use serde_json::Value;

use crate::authored::Authored;
use crate::candidates::{self, Candidate, unmet_fields};
use crate::checks::{Check, CheckInfo, ReadSimulators};
use crate::closed_world::{self, check_ignore};
use crate::compare::{Typing, nfc};
use crate::count::Count;
use crate::evidence::{EvaluationContext, EvaluationResult, hl7_text, is_hl7_sent};
use crate::field::{FieldAssertion, check_fields};
use crate::manual::{self, Parameter};
use crate::matching::Match;
use crate::path::check_correlation;
use crate::path::hl7::{Hl7Key, Hl7Path};
use crate::scoring::{CandidateResult, FieldResult, evaluate_fields, is_absence, score_candidates};
use crate::unmatchable::{self, UnmatchablePart};

pub const EXAMPLE: &str = r#"{
  "assert": "hl7-structural",
  "correlate_by": {"message_type": "ORU", "trigger_event": "R01", "PID.3.1": "{{entity.mrn}}"},
  "fields": [
    {"path": "OBX[3.1=718-7].5", "op": "between", "expected": [12, 16]},
    {"path": "OBR.25", "op": "one_of", "expected": ["F", "C"]}
  ],
  "count": {"min": 1}
}"#;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hl7Structural {
    #[serde(default)]
    pub correlate_by: BTreeMap<Hl7Key, String>,
    #[serde(default)]
    pub fields: Vec<FieldAssertion<Hl7Path>>,
    #[serde(rename = "match", default)]
    pub matching: Match,
    #[serde(default)]
    pub count: Option<Count>,
    /// Whether the message must contain nothing other than the asserted values.
    #[serde(default)]
    pub only: bool,
    /// Segments and fields that `only` ignores.
    #[serde(default)]
    pub ignore: Vec<Authored<Hl7Path>>,
}

impl Check for Hl7Structural {
    const INFO: CheckInfo = CheckInfo {
        name: "hl7-structural",
        summary: "The agent sent an HL7 version 2 message that correlates and whose fields match.",
        example: EXAMPLE,
        reads: ReadSimulators::Type(SimulatorType::Hl7),
        is_limit: false,
        parameters: &[
            Parameter::with_default(
                "correlate_by",
                "{}",
                "from an HL7 path, `message_type` or `trigger_event` to a text: selects the messages",
            ),
            Parameter::with_default("fields", "[]", "[fields](#fields-and-operators) with HL7 paths"),
            manual::MATCH_ANY,
            manual::COUNT,
            manual::ONLY,
            manual::IGNORE,
        ],
        description: "Reads the messages that the agent sent (`hl7_outbound` events). A message that the interface refused does not count, and a resent message counts once.",
        evidence: "`field_results[…]`, `matched_event_id`; [`count`, `candidates[]`](#evidence)",
    };

    fn validate(&self, errors: &mut FieldErrors) {
        check_correlation(&self.correlate_by, Hl7Key::to_string, errors);
        check_fields("fields", &self.fields, errors);
        check_ignore(self.only, self.ignore.len(), errors);
    }

    fn is_guard(&self) -> bool {
        is_absence(self.count)
    }

    fn evaluate(&self, context: &EvaluationContext<'_>) -> EvaluationResult {
        let mut candidate_results = Vec::new();
        let events = context.events(SimulatorType::Hl7, &[EventType::Hl7Outbound])?;
        for event in events.into_iter().filter(|event| is_hl7_sent(&event.payload)) {
            candidate_results.extend(self.evaluate_message(event, context)?);
        }
        let scored = score_candidates("message", candidate_results.len(), candidate_results, self.matching, self.count);
        let matched = scored.listed.first().map_or(Value::Null, |result| result.name.as_str().into());
        let results = scored.field_results();
        scored.outcome(self, context, [("field_results", results), ("matched_event_id", matched)])
    }

    fn unmet(&self) -> Vec<(&'static str, Value)> {
        vec![("field_results", unmet_fields(&self.fields, self.count))]
    }

    fn candidates(&self, context: &EvaluationContext<'_>) -> Result<Vec<Candidate>, String> {
        candidates::hl7::of(self, context)
    }

    fn unmatchable_parts(&self, _assertion: &Value, _bindings: &Bindings<'_>) -> Vec<UnmatchablePart> {
        unmatchable::hl7_segments(self)
    }
}

impl Hl7Structural {
    /// The result for a message. None if it does not correlate. An unreadable message is a candidate only if absence is asserted.
    fn evaluate_message(
        &self,
        event: &Event,
        context: &EvaluationContext<'_>,
    ) -> Result<Option<CandidateResult>, String> {
        let name = event.id.to_string();
        let text = hl7_text(&event.payload);
        context.budget.spend(text.map_or(0, |text| text.len() * (1 + self.fields.len() + self.correlate_by.len())))?;
        let message = text
            .ok_or_else(|| "the event has no message".to_owned())
            .and_then(|text| Message::parse_text(text, &Limits::default()).map_err(|error| error.to_string()));
        match message {
            Err(error) if is_absence(self.count) => {
                Ok(Some(CandidateResult { name, error: Some(error), ..CandidateResult::default() }))
            }
            Err(_) => Ok(None),
            Ok(message) if !self.correlates(&message) => Ok(None),
            Ok(message) => {
                let find = |path: &Hl7Path| Ok(path.find(&message).into_iter().map(Value::from).collect());
                let fields = evaluate_fields(&self.fields, Typing::Untyped, &context.budget, find);
                let violations = self.violations(&message, context)?;
                Ok(Some(CandidateResult { name, fields, violations, ..CandidateResult::default() }))
            }
        }
    }

    /// The parts of the message that are not asserted. Not used if absence is asserted.
    fn violations(&self, message: &Message, context: &EvaluationContext<'_>) -> Result<Vec<FieldResult>, String> {
        if !self.only || is_absence(self.count) {
            return Ok(Vec::new());
        }
        let correlated = self.correlate_by.keys().filter_map(|key| match key {
            Hl7Key::Path(path) => Some(path),
            Hl7Key::MessageType | Hl7Key::TriggerEvent => None,
        });
        closed_world::hl7::violations(message, correlated, &self.fields, &self.ignore, &context.budget)
    }

    fn correlates(&self, message: &Message) -> bool {
        self.correlate_by.iter().all(|(key, wanted)| key.matches(wanted, message))
    }
}

impl Hl7Key {
    /// Whether a message has the wanted value.
    pub(crate) fn matches(&self, wanted: &str, message: &Message) -> bool {
        match self {
            Hl7Key::MessageType => is_of_type(message, wanted),
            Hl7Key::TriggerEvent => message.trigger_event() == *wanted,
            Hl7Key::Path(path) => path.find(message).iter().any(|found| nfc(found) == nfc(wanted)),
        }
    }
}

/// `wanted` is a message type such as `ORM`, or one with a trigger event such as `ORM^O01`.
fn is_of_type(message: &Message, wanted: &str) -> bool {
    let (wanted, trigger) = wanted.split_once('^').map_or((wanted, None), |(wanted, trigger)| (wanted, Some(trigger)));
    message.message_type() == wanted && trigger.is_none_or(|trigger| message.trigger_event() == trigger)
}

#[cfg(test)]
mod tests {
    use crate::testing::{Playground, says, scores};
    use model::event::EventType;
    use model::simulator::SimulatorType;
    use serde_json::{Value, json};

    fn check(specification: Value, expected_errors: &[(&str, &str)]) {
        crate::testing::check("hl7-structural", specification, expected_errors);
    }

    #[test]
    fn valid_specifications() {
        check(json!({}), &[]);
        check(json!({"correlate_by": {"message_type": "ORM^O01"}, "count": {"max": 0}}), &[]);
        check(json!({"fields": [{"path": "ZPI", "op": "exists"}, {"path": "PID.5.1", "expected": "Smith"}]}), &[]);
        check(json!({"fields": [{"path": "OBX[3.1={{entity.code}}].5", "expected": 5}]}), &[]);
    }

    #[test]
    fn invalid_specifications() {
        check(
            json!({"correlate_by": {"mesage_type": "ORM", "PID.3": 5, "PID.x": "1", "{{entity.path}}": "1"}}),
            &[
                ("correlate_by.mesage_type", "or a path"),
                ("correlate_by.PID.3", "must be a string"),
                ("correlate_by.PID.x", "number"),
                ("correlate_by.{{entity.path}}", "a key must not"),
            ],
        );
        check(json!({"correlate_by": {"PID.3.1": " "}}), &[("correlate_by.PID.3.1", "empty")]);
        check(json!({"correlate_by": [["PID.3", "1"]]}), &[("correlate_by", "an object")]);
        check(json!({"fields": [{"path": "PID.3", "fhirpath": "x"}]}), &[("fields.0.fhirpath", "not a known field")]);
        check(json!({"fields": [{"path": "status", "expected": 1}]}), &[("fields.0.path", "segment name")]);
        check(json!({"count": -1, "match": "best"}), &[("count", "whole number"), ("match", "one of `first`")]);
    }

    const ORM: &str =
        "MSH|^~\\&|A|B|C|D|20260401||ORM^O01|7|P|2.5\rPID|||123^^^MRN~9||Smith^Ann\rOBX|1|NM|718-7^Hb||13.20|g/dL";

    fn interface() -> Playground {
        let sent = |playground: Playground, payload: Value| {
            playground.event(SimulatorType::Hl7, EventType::Hl7Outbound, payload)
        };
        let playground = sent(Playground::new(&[]), json!({"payload": ORM.replace("123", "777")}));
        let playground = sent(playground, json!({"payload": ORM}));
        playground.with_entity(json!({"data": {"mrn": "123"}}))
    }

    fn assertion(specification: Value) -> Value {
        let mut assertion = specification;
        assertion["assert"] = json!("hl7-structural");
        assertion
    }

    #[test]
    fn messages_are_correlated_and_compared() {
        let specification = json!({
            "correlate_by": {"message_type": "ORM^O01", "PID.3.1": "{{entity.mrn}}"},
            "fields": [
                {"path": "OBX[3.1=718-7].5", "op": "between", "expected": [12, 16]},
                {"path": "OBX.5", "expected": 13.2},
                {"path": "PID.5.1", "expected": "Smyth"},
                {"path": "MSH.1", "expected": "|"},
            ],
        });
        scores(
            &interface(),
            &assertion(specification),
            "3/4",
            &json!({
                "field_results": [
                    {"path": "OBX[3.1=718-7].5", "op": "between", "expected": [12, 16], "actual": "13.20", "passed": true},
                    {"path": "OBX.5", "expected": 13.2, "actual": "13.20", "passed": true},
                    {"path": "PID.5.1", "expected": "Smyth", "actual": "Smith", "passed": false},
                    {"path": "MSH.1", "expected": "|", "actual": "|", "passed": true},
                ],
                "matched_event_id": "evt_00000000000000000000000002",
            }),
        );
    }

    #[test]
    fn absence_and_unreadable_messages() {
        let none_sent = json!({"correlate_by": {"message_type": "ORM"}, "count": {"max": 0}});
        says(&interface(), &assertion(none_sent.clone()), "0/1", "2 message");
        says(&Playground::new(&[]), &assertion(none_sent.clone()), "1/1", "as expected");
        says(&Playground::empty(), &assertion(none_sent.clone()), "0/1", "no Hl7 sandbox");
        says(&Playground::new(&[]), &assertion(json!({})), "0/1", "no message found");
        for payload in
            [json!(null), json!({}), json!({"payload": 5}), json!({"payload": "garbage"}), json!({"payload": ""})]
        {
            let odd = Playground::new(&[]).event(SimulatorType::Hl7, EventType::Hl7Outbound, payload);
            says(&odd, &assertion(json!({})), "0/1", "no message found");
            says(&odd, &assertion(none_sent.clone()), "0/1", "1 message");
        }
        for payload in [
            json!({"payload": ORM, "accepted": false}),
            json!({"resend_of": "evt_1"}),
            json!({"payload": "x", "accepted": false}),
        ] {
            let refused = Playground::new(&[]).event(SimulatorType::Hl7, EventType::Hl7Outbound, payload);
            says(&refused, &assertion(json!({})), "0/1", "no message found");
            says(&refused, &assertion(none_sent.clone()), "1/1", "as expected");
        }
        let other = json!({"correlate_by": {"message_type": "ORM^O02"}});
        says(&interface(), &assertion(other), "0/1", "no message found");
        says(&interface(), &assertion(json!({"count": 2, "match": "all"})), "1/1", "2 of 2");
    }

    #[test]
    fn repetitions_and_further_groups_can_be_asserted() {
        let sent = |message: &str| {
            Playground::new(&[]).event(SimulatorType::Hl7, EventType::Hl7Outbound, json!({"payload": message}))
        };
        let two = format!("{ORM}\rORC|NW\rORC|CA");
        for (fields, more, score) in [
            (json!([{"path": "ORC.1", "expected": "NW"}]), json!({}), "1/1"),
            (json!([{"path": "ORC.1", "expected": "CA"}]), json!({}), "0/1"),
            (json!([{"path": "ORC.1", "expected": "CA", "quantifier": "any"}]), json!({}), "1/1"),
            (json!([{"path": "ORC.1", "expected": "NW", "quantifier": "all"}]), json!({}), "0/1"),
            (json!([{"path": "PID.3.1", "expected": "123", "quantifier": "all"}]), json!({}), "0/1"),
            (json!([{"path": "ORC.1", "expected": "NW"}]), json!({"only": true, "ignore": ["PID", "OBX"]}), "0/1"),
            (
                json!([{"path": "ORC.1", "expected": "NW"}]),
                json!({"only": true, "ignore": ["PID", "OBX", "ORC[2]"]}),
                "1/1",
            ),
        ] {
            let mut specification = json!({"correlate_by": {"message_type": "ORM"}, "fields": fields});
            more.as_object().expect("members").iter().for_each(|(key, value)| specification[key] = value.clone());
            says(&sent(&two), &assertion(specification), score, "");
        }
    }
}
