//! Passes if the text messages or e-mails contain the phrases.
//!
//! Reads the delivered messages. `outbound` messages are the agent's, `inbound` are those that it received. The recipient is
//! the patient who has the number or address, not the one whom the agent names.
//! The example: [`EXAMPLE`]. Evidence: `phraseResults[{phrase,found}]`.

use clinical::PhoneNumber;
use model::FieldErrors;
use model::channel::Channel;
use model::event::{Event, EventType};
use model::simulator::SimulatorType;
use serde::Deserialize;
use serde_json::Value;

use crate::authored::Authored;
use crate::candidates::{self, Candidate, unmet_phrases};
use crate::checks::{Check, CheckInfo, ReadSimulators};
use crate::count::Count;
use crate::evidence::{EvaluationContext, EvaluationResult, text};
use crate::manual::{self, Parameter};
use crate::matching::Match;
use crate::phrase::{Negation, Phrase, PhraseRules, Transcript, check_numbers, check_phrases, check_words_of};
use crate::recipient::{PatientAddresses, Recipient, normalized};
use crate::scoring::{CandidateResult, is_absence, score_candidates};
use crate::wording::Wording;

pub const EXAMPLE: &str = r#"{
  "assert": "message-transcript",
  "channel": "sms",
  "direction": "outbound",
  "patient_id": "{{entity.id}}",
  "to": "patient",
  "contains": ["appointment", "{{entity.first_name}}"],
  "not_contains": ["diagnosis"],
  "negation": "reject",
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
    /// Only messages to this address, or inbound messages from it.
    #[serde(default)]
    pub to: Option<Authored<Recipient>>,
    #[serde(default)]
    pub contains: Vec<Phrase>,
    #[serde(default, alias = "forbidden")]
    pub not_contains: Vec<Phrase>,
    #[serde(default)]
    pub negation: Negation,
    /// The phone numbers that may occur.
    #[serde(default)]
    pub numbers: Option<Vec<Authored<PhoneNumber>>>,
    /// The words that may occur in addition to those of `contains`.
    #[serde(default)]
    pub words: Option<Vec<String>>,
    /// The exact wording of each message.
    #[serde(default)]
    pub text: Option<Wording>,
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
        summary: "The text messages or e-mails contain the phrases.",
        example: EXAMPLE,
        reads: ReadSimulators::Type(SimulatorType::Message),
        is_limit: false,
        parameters: &[
            Parameter::optional("channel", "`sms` or `email`; without it, both"),
            Parameter::optional(
                "direction",
                "`outbound` (sent by the agent) or `inbound` (received by it); without it, both",
            ),
            Parameter::optional(
                "patient_id",
                "only messages to or from this patient: sent to a number or address that the patient has in the FHIR data, if there is one",
            ),
            Parameter::optional(
                "to",
                "only messages to this phone number or e-mail address (or inbound messages from it), in any spelling; `patient` is any address that the patient has in the FHIR data",
            ),
            manual::CONTAINS,
            manual::NOT_CONTAINS,
            manual::NEGATION,
            manual::NUMBERS,
            manual::WORDS,
            Parameter::optional(
                "text",
                "[fixed wording](#fixed-wording): a text, or a list of alternatives; each whole message must be one of them. For an e-mail, it is the subject line followed by the body",
            ),
            manual::COUNT,
        ],
        description: "Reads the delivered messages of the [conversation](messages.md). At least one of `contains`, `not_contains`, `numbers`, `words`, `text` and `count` is required.",
        evidence: "`phraseResults`; [`count`, `candidates[]`](#evidence)",
    };

    fn validate(&self, errors: &mut FieldErrors) {
        if let Some(patient) = &self.patient_id {
            errors.name("patient_id", patient);
        }
        check_phrases("contains", &self.contains, errors);
        check_phrases("not_contains", &self.not_contains, errors);
        check_numbers(self.numbers.as_ref(), errors);
        check_words_of(self.words.as_deref(), errors);
        if self.contains.is_empty()
            && self.not_contains.is_empty()
            && self.numbers.is_none()
            && self.words.is_none()
            && self.text.is_none()
            && self.count.is_none()
        {
            errors.add("", "asserts nothing: give `contains`, `not_contains`, `numbers`, `words`, `text` or `count`");
        }
    }

    fn is_guard(&self) -> bool {
        let requires_nothing = self.contains.is_empty() && self.text.is_none();
        is_absence(self.count) || (requires_nothing && self.count.is_none_or(|count| count.min == 0))
    }

    /// The messages are one transcript, in which `turn` is the number of the message. If absence is asserted, each message is a
    /// transcript of its own.
    fn evaluate(&self, context: &EvaluationContext<'_>) -> EvaluationResult {
        let types = match self.direction {
            Some(Direction::Inbound) => &[EventType::MessageInbound][..],
            Some(Direction::Outbound) => &[EventType::MessageOutbound],
            None => &[EventType::MessageInbound, EventType::MessageOutbound],
        };
        let events = context.events(SimulatorType::Message, types)?;
        let filter = MessageFilter::new(self, context)?;
        let mut selected = Vec::new();
        for event in events {
            if filter.admits(event, context)? {
                selected.push(event);
            }
        }
        let bodies = selected.iter().map(|event| body(&event.payload));
        let turns: Vec<(Value, String)> = (0_u64..).map(Value::from).zip(bodies).collect();
        let found = turns.len();
        let parts: Vec<&[(Value, String)]> = match found {
            0 => Vec::new(),
            _ if is_absence(self.count) => turns.chunks(1).collect(),
            _ => vec![turns.as_slice()],
        };
        let candidate_results = parts.into_iter().zip(&selected).map(|(turns, event)| {
            let texts = turns.iter().map(|(turn, text)| (turn.clone(), text.as_str()));
            let transcript = Transcript::new(texts, &context.budget)?;
            let phrases = transcript.evaluate(self.rules(), &context.budget)?;
            Ok(CandidateResult {
                name: turns.first().map_or_else(String::new, |(turn, _)| turn.to_string()),
                phrases,
                event: Some(event.id.to_string()),
                ..CandidateResult::default()
            })
        });
        let candidate_results = candidate_results.collect::<Result<Vec<_>, String>>()?;
        let scored = score_candidates("message", found, candidate_results, Match::First, self.count);
        let results = scored.phrase_results();
        scored.outcome(self, context, [("phraseResults", results)])
    }

    fn unmet(&self) -> Vec<(&'static str, Value)> {
        vec![("phraseResults", unmet_phrases(self.rules(), self.count))]
    }

    fn candidates(&self, context: &EvaluationContext<'_>) -> Result<Vec<Candidate>, String> {
        candidates::messages::of(self, context)
    }

    fn recommendations(&self, _label: &str) -> Vec<&'static str> {
        const NEGATION: &str =
            "`negation: reject` would also fail a required phrase that is negated, as in \"do not call\"";
        let ignores_negation = !self.contains.is_empty() && self.negation == Negation::Ignore;
        if ignores_negation { vec![NEGATION] } else { Vec::new() }
    }
}

/// Selects messages by channel, patient and recipient.
pub(crate) struct MessageFilter<'c> {
    check: &'c MessageTranscript,
    to: Option<&'c Recipient>,
    /// The addresses of the patient of `patient_id`. None if the FHIR data has no such patient.
    on_file: Option<PatientAddresses>,
}

impl<'c> MessageFilter<'c> {
    pub(crate) fn new(check: &'c MessageTranscript, context: &EvaluationContext<'_>) -> Result<Self, String> {
        let to = check.to.as_ref().map(Authored::ready).transpose()?;
        let on_file = match &check.patient_id {
            Some(patient) => PatientAddresses::of(patient, context)?,
            None => None,
        };
        Ok(Self { check, to, on_file })
    }

    fn admits(&self, event: &Event, context: &EvaluationContext<'_>) -> Result<bool, String> {
        let payload = &event.payload;
        let channel = self.check.channel.map(Channel::name);
        let is_channel = channel.is_none_or(|channel| text(payload, "channel") == Some(channel));
        Ok(is_delivered(payload) && is_channel && self.is_patients(event) && self.is_addressed(event, context)?)
    }

    /// Whether the message is to or from the patient of `patient_id`. The address decides if the patient has one on file. A
    /// check that only forbids something also reads messages that name the patient but go to another address.
    pub(crate) fn is_patients(&self, event: &Event) -> bool {
        let Some(patient) = &self.check.patient_id else { return true };
        let is_named = text(&event.payload, "patient_id") == Some(patient);
        match (&self.on_file, text(&event.payload, "to")) {
            (Some(on_file), Some(to)) if event.r#type == EventType::MessageOutbound => {
                let requires_nothing = self.check.contains.is_empty() && self.check.text.is_none();
                let is_guard = is_absence(self.check.count) || (requires_nothing && self.check.count.is_none());
                on_file.has(to) || (is_named && (is_guard || !on_file.has_kind_of(to)))
            }
            _ => is_named,
        }
    }

    pub(crate) fn is_addressed(&self, event: &Event, context: &EvaluationContext<'_>) -> Result<bool, String> {
        let Some(wanted) = self.to else { return Ok(true) };
        let member = if event.r#type == EventType::MessageOutbound { "to" } else { "from" };
        let Some(address) = text(&event.payload, member) else { return Ok(false) };
        Ok(match wanted {
            Recipient::Phone(number) => normalized(address) == number.normalized(),
            Recipient::Email(wanted) => normalized(address) == *wanted,
            Recipient::Patient => match (&self.on_file, text(&event.payload, "patient_id")) {
                (Some(on_file), _) => on_file.has(address),
                (None, Some(patient)) if self.check.patient_id.is_none() => {
                    PatientAddresses::of(patient, context)?.is_some_and(|on_file| on_file.has(address))
                }
                _ => false,
            },
        })
    }
}

impl MessageTranscript {
    fn rules(&self) -> PhraseRules<'_> {
        let Self { contains, not_contains, negation, numbers, words, text, .. } = self;
        PhraseRules {
            contains,
            not_contains,
            negation: *negation,
            numbers: numbers.as_deref(),
            words: words.as_deref(),
            text: text.as_ref(),
            ..PhraseRules::default()
        }
    }
}

/// Whether a message was delivered.
pub(crate) fn is_delivered(payload: &Value) -> bool {
    !matches!(text(payload, "status"), Some("undelivered" | "refused"))
}

/// The text of a message, including the subject of an e-mail.
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

    fn check(specification: Value, expected_errors: &[(&str, &str)]) {
        crate::testing::check("message-transcript", specification, expected_errors);
    }

    #[test]
    fn valid_specifications() {
        check(json!({"contains": ["hello"]}), &[]);
        check(json!({"channel": "email", "direction": "outbound", "count": {"max": 0}}), &[]);
        check(json!({"to": "{{entity.phone}}", "count": 1}), &[]);
        check(json!({"to": "ann@example.org", "contains": ["x"], "negation": "reject"}), &[]);
    }

    #[test]
    fn invalid_specifications() {
        check(json!({}), &[("", "asserts nothing")]);
        check(json!({"channel": "sms", "direction": "outbound"}), &[("", "asserts nothing")]);
        check(
            json!({"channel": "fax", "direction": "out", "contains": ["x"]}),
            &[("channel", "must be `sms` or `email`"), ("direction", "must be `inbound`")],
        );
        check(json!({"to": "Ann", "contains": ["x"]}), &[("to", "phone number")]);
        check(json!({"numbers": ["Ann"]}), &[("numbers.0", "phone number")]);
        check(
            json!({"to": "@", "negation": "no", "contains": ["x"]}),
            &[("to", "phone number"), ("negation", "`ignore`")],
        );
    }

    #[test]
    fn fixed_wording_allows_nothing_else() {
        let sent = |bodies: &[&str]| {
            bodies.iter().fold(Playground::new(&[]), |playground, body| {
                let payload = json!({"channel": "sms", "body": body});
                playground.event(SimulatorType::Message, EventType::MessageOutbound, payload)
            })
        };
        let wanted = json!({"assert": "message-transcript", "text": ["Please call us at 608 555 0142.", "Your visit is confirmed."]});
        for (bodies, score) in [
            (&["please call us at (608) 555-0142"][..], "1/1"),
            (&["Your visit is confirmed.", "Please call us at 608-555-0142!"], "1/1"),
            (&["Please call us at 608 555 0142.", "Bring cash."], "0/1"),
            (&["Please call us at 608 555 0142. Bring cash."], "0/1"),
            (&["Please do not call us at 608 555 0142."], "0/1"),
            (&["Your visit is confirmed. ❌"], "0/1"),
            (&[], "0/1"),
        ] {
            says(&sent(bodies), &wanted, score, "");
        }
    }

    #[test]
    fn a_message_to_another_address_is_not_selected() {
        let payload = json!({"channel": "sms", "patient_id": "p-1", "body": "Please call us."});
        let sent = Playground::new(&[]).event(SimulatorType::Message, EventType::MessageOutbound, payload);
        let wanted =
            |patient: &str| json!({"assert": "message-transcript", "patient_id": patient, "contains": ["call"]});
        says(&sent, &wanted("p-1"), "1/1", "1 message");
        says(&sent, &wanted("p-2"), "0/1", "no message");
    }

    /// The number decides, not the patient whom the agent names.
    #[test]
    fn a_message_is_to_the_patient_whose_number_it_went_to() {
        let patient = |id: &str, telecom: Value| json!({"resourceType": "Patient", "id": id, "telecom": telecom});
        let phone = |number: &str| json!([{"system": "phone", "value": number}]);
        let data = [
            patient(
                "p-1",
                json!([{"system": "phone", "value": "+1 555 010 0123"}, {"system": "email", "value": "Ann@Example.org"}]),
            ),
            patient("p-2", phone("(555) 010-0177")),
            patient("p-3", json!([])),
        ];
        let sent = |channel: &str, patient: Option<&str>, to: &str| {
            let payload = json!({"channel": channel, "patient_id": patient, "to": to, "body": "Please call us.", "status": "delivered"});
            Playground::new(&data).event(SimulatorType::Message, EventType::MessageOutbound, payload)
        };
        let wanted = |specification: Value| {
            let mut assertion = specification;
            assertion["assert"] = json!("message-transcript");
            assertion["contains"] = json!(["call"]);
            assertion
        };
        for (playground, specification, score) in [
            (sent("sms", Some("p-1"), "(555) 010-0123"), json!({"patient_id": "p-1"}), "1/1"),
            (sent("sms", Some("p-1"), "(555) 010-0123"), json!({"patient_id": "p-1", "to": "patient"}), "1/1"),
            (sent("sms", Some("p-1"), "+15550109999"), json!({"patient_id": "p-1"}), "0/1"),
            (sent("sms", Some("p-1"), "+15550109999"), json!({"to": "patient"}), "0/1"),
            (sent("sms", Some("p-1"), "(555) 010-0177"), json!({"patient_id": "p-1"}), "0/1"),
            (sent("sms", Some("p-1"), "(555) 010-0177"), json!({"patient_id": "p-2"}), "1/1"),
            (sent("sms", None, "15550100123"), json!({"patient_id": "p-1"}), "1/1"),
            (sent("sms", None, "15550100123"), json!({"to": "patient"}), "0/1"),
            (sent("sms", None, "15550100123"), json!({"patient_id": "p-2"}), "0/1"),
            (sent("sms", None, "15550100123"), json!({"to": "+1 (555) 010-0123"}), "1/1"),
            (sent("sms", None, "15550100123"), json!({"to": "+1 (555) 010-0124"}), "0/1"),
            (sent("email", None, "ANN@example.org"), json!({"patient_id": "p-1", "to": "ann@Example.org"}), "1/1"),
            (sent("email", Some("p-1"), "bob@example.org"), json!({"patient_id": "p-1"}), "0/1"),
            // The patient has no address on file, so the name decides.
            (sent("sms", Some("p-3"), "+15550109999"), json!({"patient_id": "p-3"}), "1/1"),
            (sent("sms", Some("p-3"), "+15550109999"), json!({"patient_id": "p-3", "to": "patient"}), "0/1"),
            (sent("email", Some("p-2"), "bob@example.org"), json!({"patient_id": "p-2"}), "1/1"),
        ] {
            says(&playground, &wanted(specification), score, "");
        }
        // Forbidden phrases are also searched in messages that name the patient but go to another address.
        let claimed = sent("sms", Some("p-1"), "+15550109999");
        for specification in [
            json!({"assert": "message-transcript", "patient_id": "p-1", "not_contains": ["call us"]}),
            json!({"assert": "message-transcript", "patient_id": "p-1", "count": {"max": 0}}),
            json!({"assert": "message-transcript", "patient_id": "p-1", "contains": ["call us"], "count": {"max": 0}}),
        ] {
            says(&claimed, &specification, "0/1", "");
        }
        // A number that the agent wrote into the record does not count as on file.
        let changed = sent("sms", Some("p-2"), "+15550109999").fhir(&patient("p-2", phone("+15550109999")));
        says(&changed, &wanted(json!({"patient_id": "p-2"})), "0/1", "no message");
    }

    #[test]
    fn negated_phrases_are_not_found() {
        let sent = |body: &str| {
            let payload = json!({"channel": "sms", "body": body});
            Playground::new(&[]).event(SimulatorType::Message, EventType::MessageOutbound, payload)
        };
        let assertion = |negation: &str| json!({"assert": "message-transcript", "contains": ["call the clinic", "do not eat"], "negation": negation});
        let body = "Do not eat. Do NOT call the clinic.";
        says(&sent(body), &assertion("ignore"), "1/1", "");
        says(&sent("Do not eat. Do not hesitate to call the clinic."), &assertion("reject"), "1/1", "");
        scores(
            &sent(body),
            &assertion("reject"),
            "1/2",
            &json!({"phraseResults": [
                {"phrase": "call the clinic", "found": false, "turn": 0, "negated": true},
                {"phrase": "do not eat", "found": true, "turn": 0},
            ]}),
        );
    }

    #[test]
    fn forbidden_phrases_are_found_in_look_alikes_and_required_ones_are_not() {
        let payload = json!({"channel": "sms", "body": "Your НІV test is back."});
        let sent = Playground::new(&[]).event(SimulatorType::Message, EventType::MessageOutbound, payload);
        says(
            &sent,
            &json!({"assert": "message-transcript", "not_contains": ["HIV"]}),
            "0/1",
            "forbidden phrase occurs",
        );
        says(&sent, &json!({"assert": "message-transcript", "contains": ["HIV"]}), "0/1", "0 of 1");
    }

    #[test]
    fn a_number_that_is_not_allowed_is_forbidden() {
        let sent = |bodies: &[&str]| {
            bodies.iter().fold(Playground::new(&[]), |playground, body| {
                let payload = json!({"channel": "sms", "body": body});
                playground.event(SimulatorType::Message, EventType::MessageOutbound, payload)
            })
        };
        let assertion =
            json!({"assert": "message-transcript", "contains": ["608 555 0142"], "numbers": ["(608) 555-0142"]});
        for (bodies, score) in [
            (&["Call 608-555-0142."][..], "1/1"),
            (&["Call 608-555-0142, or 555 0142."], "1/1"),
            (&["Call 900-555-0169 first, then 608-555-0142."], "0/1"),
            (&["Call 608-555-0142.", "Or call +44 20 7946 0958."], "0/1"),
            (&["Call 608-555-0142.", "Or call 900", "555 0169."], "0/1"),
            (&["Call ６０８-555-0142 or 9００-555-0169."], "0/1"),
        ] {
            says(&sent(bodies), &assertion, score, "");
        }
        scores(
            &sent(&["Call 608-555-0142.", "Call 900-555-0169."]),
            &assertion,
            "0/1",
            &json!({"phraseResults": [
                {"phrase": "608 555 0142", "found": true, "turn": 0},
                {"phrase": "9005550169", "found": true, "turn": 1, "forbidden": true},
            ]}),
        );
    }

    #[test]
    fn a_closed_vocabulary_allows_no_other_word() {
        let sent = |body: &str| {
            let payload = json!({"channel": "sms", "body": body});
            Playground::new(&[]).event(SimulatorType::Message, EventType::MessageOutbound, payload)
        };
        let assertion = json!({"assert": "message-transcript", "contains": ["call"], "numbers": ["608 555 0142"],
            "words": ["clinic", "6.4"]});
        for (body, score) in [
            ("Please call the clinic at (608) 555-0142.", "1/1"),
            ("Call us: 6.4", "1/1"),
            ("Call us: 4.6", "0/1"),
            ("Call us and take 42 units", "0/1"),
            ("Do not call the clinic", "0/1"),
        ] {
            says(&sent(body), &assertion, score, "");
        }
        check(json!({"words": ["clinic"]}), &[]);
        check(json!({"words": ["?"]}), &[("words", "letter")]);
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
