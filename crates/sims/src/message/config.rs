//! The configuration of the Message simulator: the people whom the agent writes to, and what they reply.

use clinical::is_same_phone_number;
use model::FieldErrors;
use serde::Deserialize;

use crate::authored::{self, Authored};
use crate::contact_points;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MessageConfig {
    #[serde(default)]
    pub personas: Vec<Persona>,
    /// Phone numbers and e-mail addresses to which nothing can be delivered.
    #[serde(default)]
    pub unreachable: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Persona {
    pub name: String,
    /// The patient whom the persona plays. Without it, the persona plays every patient that has no other persona.
    pub patient_id: Option<String>,
    /// The first reply with a phrase that the message contains is used.
    #[serde(default)]
    pub replies: Vec<Reply>,
    /// The reply to all other messages. Without it, they get no reply.
    pub default_reply: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// One of them must occur in the message. Case is ignored.
    pub phrases: Vec<String>,
    pub reply: String,
    pub delay_seconds: Option<i64>,
}

const MAX_PERSONAS: usize = 200;

impl Authored for MessageConfig {
    fn validate(&self, errors: &mut FieldErrors) {
        errors.each("personas", &self.personas, MAX_PERSONAS, |persona, errors| {
            persona.validate(errors);
        });
        errors.each("unreachable", &self.unreachable, MAX_PERSONAS, |address, errors| {
            if address.contains('@') {
                contact_points::check_email_address(errors, "", address);
            } else {
                contact_points::check_phone_number(errors, "", address);
            }
        });
        let keys = self.personas.iter().map(|persona| &persona.patient_id);
        authored::check_unique(errors, "personas", "patient_id", keys);
    }
}

impl MessageConfig {
    pub(super) fn is_unreachable(&self, address: &str) -> bool {
        let is_number = !address.contains('@');
        self.unreachable.iter().any(|known| {
            known.eq_ignore_ascii_case(address)
                || (is_number && !known.contains('@') && is_same_phone_number(known, address))
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
                errors.add("phrases", "must not be empty; use `default_reply` to reply to all other messages");
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
    fn errors_name_their_field() {
        for (config, field) in [
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
            assert_eq!(errors.iter().next().map_or("", |(field, _)| field), field, "{errors}");
        }
    }
}
