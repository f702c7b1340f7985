//! What an author may configure of the messages: the people at the other end and what they answer.

use model::FieldErrors;
use serde::Deserialize;

use super::opt_out::digits;
use crate::authored::{self, Authored};
use crate::contact_points;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MessageConfig {
    #[serde(default)]
    pub personas: Vec<Persona>,
    /// Numbers and addresses at which nothing arrives.
    #[serde(default)]
    pub unreachable: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Persona {
    pub name: String,
    /// The patient whom the persona plays; every patient without a persona of their own when absent.
    pub patient_id: Option<String>,
    /// The first whose phrase stands in the message is used.
    #[serde(default)]
    pub replies: Vec<Reply>,
    /// Where none is used; silence without it.
    pub default_reply: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// Any of them, in any case.
    pub phrases: Vec<String>,
    pub reply: String,
    pub delay_seconds: Option<i64>,
}

const MOST_PERSONAS: usize = 200;

impl Authored for MessageConfig {
    fn validate(&self, errors: &mut FieldErrors) {
        errors.each("personas", &self.personas, MOST_PERSONAS, |persona, errors| {
            persona.validate(errors);
        });
        errors.each("unreachable", &self.unreachable, MOST_PERSONAS, |address, errors| {
            if address.contains('@') {
                contact_points::check_email_address(errors, "", address);
            } else {
                contact_points::check_phone_number(errors, "", address);
            }
        });
        let keys = self.personas.iter().map(|persona| &persona.patient_id);
        authored::refuse_repeats(errors, "personas", "patient_id", keys);
    }
}

impl MessageConfig {
    pub(super) fn is_unreachable(&self, address: &str) -> bool {
        let is_number = !address.contains('@');
        self.unreachable.iter().any(|known| {
            known.eq_ignore_ascii_case(address)
                || (is_number && !known.contains('@') && digits(known) == digits(address))
        })
    }
}

impl Persona {
    fn validate(&self, errors: &mut FieldErrors) {
        errors.name("name", &self.name);
        if let Some(patient) = &self.patient_id {
            errors.name("patient_id", patient);
        }
        errors.each("replies", &self.replies, 200, |reply, errors| {
            if reply.phrases.is_empty() {
                errors.add("phrases", "must not be empty: what answers all other messages is `default_reply`");
            }
            errors.each("phrases", &reply.phrases, 50, |phrase, errors| {
                authored::text(errors, "", phrase, 200);
            });
            authored::text(errors, "reply", &reply.reply, 10_000);
            authored::delay(errors, "delay_seconds", reply.delay_seconds);
        });
        authored::optional_text(errors, "default_reply", self.default_reply.as_ref(), 10_000);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn faults_are_named() {
        for (config, place) in [
            (json!({"personas": [{"name": "Ada"}]}), ""),
            (json!({"personas": [{}]}), "personas.0.name"),
            (json!({"personas": [{"name": "\n"}]}), "personas.0.name"),
            (json!({"personas": [{"name": "a"}, {"name": "b"}]}), "personas.1.patient_id"),
            (json!({"personas": [{"name": "a", "replies": [{"reply": "x"}]}]}), "personas.0.replies.0.phrases"),
            (
                json!({"personas": [{"name": "a", "replies": [{"phrases": [], "reply": "x"}]}]}),
                "personas.0.replies.0.phrases",
            ),
            (
                json!({"personas": [{"name": "a", "replies": [{"phrases": ["x", " "], "reply": "x"}]}]}),
                "personas.0.replies.0.phrases.1",
            ),
            (
                json!({"personas": [{"name": "a", "replies": [{"phrases": ["x"], "reply": ""}]}]}),
                "personas.0.replies.0.reply",
            ),
            (json!({"unreachable": ["a@example.org", "+15550100123"]}), ""),
            (json!({"unreachable": ["nobody"]}), "unreachable.0"),
            (json!({"personas": vec![json!({"name": "a"}); 201]}), "personas"),
        ] {
            let errors = authored::check::<MessageConfig>(&config).err().unwrap_or_default();
            assert_eq!(errors.iter().next().map_or("", |(place, _)| place), place, "{errors}");
        }
    }
}
