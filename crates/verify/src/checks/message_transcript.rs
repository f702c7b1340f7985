//! Passes when the text messages or e-mails have the phrases.
//!
//! Reads the messages; `outbound` are the agent's, `inbound` those it received. The example: [`EXAMPLE`].
//! Evidence: `phraseResults[{phrase,found}]`.

use model::FieldErrors;
use model::channel::Channel;
use model::event::EventType;
use model::simulator::SimulatorType;
use serde::Deserialize;
use serde_json::Value;

use crate::checks::{Check, CheckInfo};
use crate::count::Count;
use crate::evidence::{Case, Evaluated, text};
use crate::judge::{Sheet, is_absence, judge};
use crate::matching::Match;
use crate::phrase::{Phrase, Transcript, check_phrases};
use crate::manual::{self, Member};

pub const EXAMPLE: &str = r#"{
  "assert": "message-transcript",
  "channel": "sms",
  "direction": "outbound",
  "patient_id": "{{entity.id}}",
  "contains": ["appointment", "{{entity.first_name}}"],
  "not_contains": ["diagnosis"],
  "count": {"min": 1, "max": 3}
}"#;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MessageTranscript {
    #[serde(default)]
    pub channel: Option<Channel>,
    #[serde(default)]
    pub direction: Option<Direction>,
    /// Only messages to or from this patient.
    #[serde(default)]
    pub patient_id: Option<String>,
    #[serde(default)]
    pub contains: Vec<Phrase>,
    #[serde(default, alias = "forbidden")]
    pub not_contains: Vec<Phrase>,
    #[serde(default)]
    pub count: Option<Count>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    Inbound,
    Outbound,
}

impl Check for MessageTranscript {
    const INFO: CheckInfo = CheckInfo {
        name: "message-transcript",
        summary: "The text messages or e-mails have the phrases.",
        example: EXAMPLE,
        members: &[
            Member::optional("channel", "`sms` or `email`; both without it"),
            Member::optional("direction", "`outbound` are the agent's, `inbound` those it received; both without it"),
            Member::optional("patient_id", "only messages to or from this patient"),
            manual::CONTAINS,
            manual::NOT_CONTAINS,
            manual::COUNT,
        ],
        told: "Reads the [conversation](messages.md). One of the last three is needed.",
        evidence: "`phraseResults`",
    };

    fn validate(&self, errors: &mut FieldErrors) {
        if let Some(patient) = &self.patient_id {
            errors.name("patient_id", patient);
        }
        check_phrases("contains", &self.contains, errors);
        check_phrases("not_contains", &self.not_contains, errors);
        if self.contains.is_empty() && self.not_contains.is_empty() && self.count.is_none() {
            errors.add("", "says nothing: give `contains`, `not_contains` or `count`");
        }
    }

    fn is_guard(&self) -> bool {
        is_absence(self.count) || (self.contains.is_empty() && self.count.is_none_or(|count| count.min == 0))
    }

    /// The messages are one transcript; `turn` is the message's number in it. Where absence is asserted, each message is
    /// judged by itself.
    fn evaluate(&self, case: &Case<'_>) -> Evaluated {
        let types = match self.direction {
            Some(Direction::Inbound) => &[EventType::MessageInbound][..],
            Some(Direction::Outbound) => &[EventType::MessageOutbound],
            None => &[EventType::MessageInbound, EventType::MessageOutbound],
        };
        let events = case.events(SimulatorType::Message, types)?;
        let channel = self.channel.map(Channel::name);
        // What was not delivered was not said to anyone.
        let is_said = |payload: &Value| !matches!(text(payload, "status"), Some("undelivered" | "refused"));
        let is = |payload: &Value, name: &str, wanted: Option<&str>| {
            wanted.is_none_or(|wanted| text(payload, name) == Some(wanted))
        };
        let is_meant = |payload: &&Value| {
            is(payload, "channel", channel) && is(payload, "patient_id", self.patient_id.as_deref()) && is_said(payload)
        };
        let bodies = events.iter().map(|event| &event.payload).filter(is_meant).map(body);
        let turns: Vec<(Value, String)> = (0_u64..).map(Value::from).zip(bodies).collect();
        let found = turns.len();
        let parts: Vec<&[(Value, String)]> = match found {
            0 => Vec::new(),
            _ if is_absence(self.count) => turns.chunks(1).collect(),
            _ => vec![turns.as_slice()],
        };
        let sheets = parts.into_iter().map(|turns| {
            let texts = turns.iter().map(|(turn, text)| (turn.clone(), text.as_str()));
            let transcript = Transcript::new(texts, &case.budget)?;
            let phrases = transcript.hold(&self.contains, &self.not_contains, false, &case.budget)?;
            Ok(Sheet { name: turns.first().map_or_else(String::new, |(turn, _)| turn.to_string()), phrases, ..Sheet::default() })
        });
        let sheets = sheets.collect::<Result<Vec<_>, String>>()?;
        let judgement = judge("message", found, sheets, Match::First, self.count);
        let results = judgement.phrase_results();
        judgement.outcome([("phraseResults", results)])
    }
}

/// An e-mail's subject belongs to what it says.
fn body(payload: &Value) -> String {
    let parts = [text(payload, "subject"), text(payload, "body")];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use crate::testing::{Playground, says, scores};
    use model::event::EventType;
    use model::simulator::SimulatorType;
    use serde_json::{Value, json};

    fn check(specification: Value, faults: &[(&str, &str)]) {
        crate::testing::check("message-transcript", specification, faults);
    }

    #[test]
    fn sound_specifications() {
        check(json!({"contains": ["hello"]}), &[]);
        check(json!({"channel": "email", "direction": "outbound", "count": {"max": 0}}), &[]);
    }

    #[test]
    fn faulty_specifications() {
        check(json!({}), &[("", "says nothing")]);
        check(json!({"channel": "sms", "direction": "outbound"}), &[("", "says nothing")]);
        check(
            json!({"channel": "fax", "direction": "out", "contains": ["x"]}),
            &[("channel", "must be `sms` or `email`"), ("direction", "must be `inbound`")],
        );
    }

    #[test]
    fn a_message_to_somebody_else_is_not_meant() {
        let payload = json!({"channel": "sms", "patient_id": "p-1", "body": "Please call us."});
        let sent = Playground::new(&[]).event(SimulatorType::Message, EventType::MessageOutbound, payload);
        let wanted = |patient: &str| json!({"assert": "message-transcript", "patient_id": patient, "contains": ["call"]});
        says(&sent, &wanted("p-1"), "1/1", "1 message");
        says(&sent, &wanted("p-2"), "0/1", "no message");
    }

    #[test]
    fn messages_are_one_transcript() {
        let sent = |playground: Playground, channel: &str, body: &str| {
            let payload = json!({"channel": channel, "body": body});
            playground.event(SimulatorType::Message, EventType::MessageOutbound, payload)
        };
        let playground = sent(Playground::new(&[]), "sms", "Hello Ann");
        let playground = sent(playground, "email", "your diagnosis");
        let playground = sent(playground, "sms", "your appointment is at 9");
        let assertion = |specification: Value| {
            let mut assertion = specification;
            assertion["assert"] = json!("message-transcript");
            assertion
        };
        scores(
            &playground,
            &assertion(json!({"channel": "sms", "contains": ["Ann", "appointment"], "not_contains": ["diagnosis"]})),
            "1/1",
            &json!({"phraseResults": [
                {"phrase": "Ann", "found": true, "turn": 0},
                {"phrase": "appointment", "found": true, "turn": 1},
                {"phrase": "diagnosis", "found": false, "turn": null, "forbidden": true},
            ]}),
        );
        for (specification, score) in [
            (json!({"count": 3}), "1/1"),
            (json!({"count": 2}), "0/1"),
            (json!({"not_contains": ["diagnosis"]}), "0/1"),
            (json!({"direction": "inbound", "not_contains": ["diagnosis"]}), "0/1"),
            (json!({"contains": ["diagnosis"], "count": 0}), "0/1"),
            (json!({"channel": "sms", "contains": ["diagnosis"], "count": 0}), "1/1"),
        ] {
            says(&playground, &assertion(specification), score, "");
        }
    }
}
