//! The scenario step `message_inbound`: a text message or e-mail that arrives.

use model::FieldErrors;
use model::channel::Channel;
use model::event::EventType;
use model::template::is_template;
use serde::Deserialize;
use serde_json::json;

use super::rows::InboundMessage;
use super::send;
use crate::authored::{self, Authored};
use crate::contact_points;
use crate::registry::StepInfo;
use crate::scenario::step::{Arrival, ScenarioStep, StepContext, StepOutput, object};

pub(crate) const MESSAGE_INBOUND: StepInfo =
    StepInfo::of::<MessageInbound>("message_inbound", "Delivers a text message or e-mail", || {
        json!({"do": "message_inbound", "channel": "sms", "from": "+15550100123", "patient_id": "{{entity.data.id}}",
            "body": "Can I move my appointment to Friday?"})
    });

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MessageInbound {
    pub channel: Channel,
    /// A phone number (`sms`) or an e-mail address (`email`).
    pub from: String,
    pub patient_id: Option<String>,
    /// For `email` only.
    pub subject: Option<String>,
    pub body: String,
}

impl Authored for MessageInbound {
    fn validate(&self, errors: &mut FieldErrors) {
        match self.channel {
            _ if is_template(&self.from) => {}
            Channel::Sms => contact_points::check_phone_number(errors, "from", &self.from),
            Channel::Email => contact_points::check_email_address(errors, "from", &self.from),
        }
        if let Some(patient) = &self.patient_id {
            errors.name("patient_id", patient);
        }
        if let Some(subject) = &self.subject {
            errors.name("subject", subject);
            if self.channel == Channel::Sms {
                errors.add("subject", "is only allowed for `email`");
            }
        }
        authored::text(errors, "body", &self.body, send::max_length(self.channel));
    }
}

/// Rows are `{id, direction, channel, from, patient_id, subject, body, received_at, read}`.
pub(crate) const MESSAGES: &str = "messages";

impl ScenarioStep for MessageInbound {
    fn execute(&self, context: &StepContext<'_>) -> Result<StepOutput, FieldErrors> {
        let id = context.new_id("msg");
        let channel = self.channel.name();
        let inbound = InboundMessage {
            id: &id,
            channel: self.channel,
            from: Some(&self.from),
            patient_id: self.patient_id.as_deref(),
            subject: self.subject.as_deref(),
            body: &self.body,
            at: context.due_at,
        };
        let summary = format!("{channel} from {} arrived", self.from);
        Ok(StepOutput {
            details: object([("id", id.as_str().into()), ("channel", channel.into())]),
            changes: vec![context.put(MESSAGES, &id, &inbound.row())],
            arrivals: vec![Arrival {
                r#type: EventType::MessageInbound,
                summary: summary.clone(),
                payload: inbound.members(),
            }],
            summary,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_valid_for_their_channel() {
        for (step, field) in [
            (json!({"channel": "email", "from": "a@example.org", "subject": "Hi", "body": "x"}), ""),
            (json!({"channel": "sms", "from": "{{entity.data.phone}}", "body": "x"}), ""),
            (json!({"channel": "fax", "from": "5550100", "body": "x"}), "channel"),
            (json!({"channel": "sms", "from": "a@example.org", "body": "x"}), "from"),
            (json!({"channel": "email", "from": "5550100", "body": "x"}), "from"),
            (json!({"channel": "sms", "from": "5550100", "subject": "Hi", "body": "x"}), "subject"),
            (json!({"channel": "sms", "from": "5550100", "body": " "}), "body"),
            (json!({"channel": "sms", "from": "5550100", "body": "x".repeat(1601)}), "body"),
            (json!({"channel": "sms", "from": "5550100"}), "body"),
        ] {
            let errors = authored::check::<MessageInbound>(&step).err().unwrap_or_default();
            assert_eq!(errors.iter().next().map_or("", |(field, _)| field), field, "{errors}");
        }
    }
}
