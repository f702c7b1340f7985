//! The scenario steps `voicemail` and `inbound_call`.

use model::FieldErrors;
use model::event::EventType;
use model::template::is_template;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::authored::{Authored, optional_text, text};
use crate::contact_points;
use crate::registry::StepInfo;
use crate::scenario::step::{Arrival, ScenarioStep, StepContext, StepOutput, object};

pub(crate) const VOICEMAIL: StepInfo = StepInfo::of::<LeftVoicemail>("voicemail", "Leaves a voicemail", || {
    json!({"do": "voicemail", "from_number": "+15550100123", "caller_name": "{{entity.data.name}}",
            "text": "Please call me back about my referral."})
});

pub(crate) const INBOUND_CALL: StepInfo =
    StepInfo::of::<InboundCall>("inbound_call", "Calls the agent; the caller speaks by script", || {
        json!({"do": "inbound_call", "after_seconds": 30, "from_number": "+15550100123", "caller_name": "Ada Stone",
            "opening": "Hello, I would like to move my appointment.",
            "answers": [{"phrases": ["date of birth"], "answer": "{{entity.data.birth_date}}"}],
            "fallback": "I did not understand that."})
    });

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftVoicemail {
    /// Without it, the number is withheld.
    pub from_number: Option<String>,
    pub caller_name: Option<String>,
    /// The message.
    pub text: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InboundCall {
    /// Without it, the number is withheld.
    pub from_number: Option<String>,
    pub caller_name: Option<String>,
    /// What the caller says first.
    pub opening: String,
    /// The first answer with a phrase that the agent says is used.
    #[serde(default)]
    pub answers: Vec<CallerAnswer>,
    /// What the caller says if no answer matches.
    pub fallback: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallerAnswer {
    pub phrases: Vec<String>,
    pub answer: String,
}

const MAX_TEXT_LENGTH: usize = 10_000;

impl Authored for LeftVoicemail {
    fn validate(&self, errors: &mut FieldErrors) {
        check_caller(errors, self.from_number.as_deref(), self.caller_name.as_deref());
        text(errors, "text", &self.text, MAX_TEXT_LENGTH);
    }
}

impl Authored for InboundCall {
    fn validate(&self, errors: &mut FieldErrors) {
        check_caller(errors, self.from_number.as_deref(), self.caller_name.as_deref());
        text(errors, "opening", &self.opening, MAX_TEXT_LENGTH);
        errors.each("answers", &self.answers, 200, |answer, errors| {
            if answer.phrases.is_empty() {
                errors.add("phrases", "must not be empty; use `fallback` for everything else");
            }
            errors.each("phrases", &answer.phrases, 50, |phrase, errors| {
                text(errors, "", phrase, 200);
            });
            text(errors, "answer", &answer.answer, MAX_TEXT_LENGTH);
        });
        optional_text(errors, "fallback", self.fallback.as_ref(), MAX_TEXT_LENGTH);
    }
}

fn check_caller(errors: &mut FieldErrors, from_number: Option<&str>, caller_name: Option<&str>) {
    if let Some(number) = from_number.filter(|number| !is_template(number)) {
        contact_points::check_phone_number(errors, "from_number", number);
    }
    if let Some(name) = caller_name {
        errors.name("caller_name", name);
    }
}

/// Rows are `{id, from_number, caller_name, text, received_at, heard}`.
pub(crate) const VOICEMAILS: &str = "voicemails";
/// Rows are `{id, direction, from_number, caller_name, status, started_at, …}`; the agent answers a ringing
/// call explicitly or with its first turn.
pub(crate) const CALLS: &str = "calls";
/// Scripts of callers, by call id: `{opening, answers, fallback}`. They are not visible to agents.
pub(crate) const CALL_SCRIPTS: &str = "call_scripts";

impl ScenarioStep for LeftVoicemail {
    fn execute(&self, context: &StepContext<'_>) -> Result<StepOutput, FieldErrors> {
        let id = context.new_id("vm");
        let row = json!({
            "id": id,
            "from_number": self.from_number,
            "caller_name": self.caller_name,
            "text": self.text,
            "received_at": context.due_at,
            "heard": false,
        });
        let summary =
            format!("a voicemail from {}", caller_label(self.from_number.as_deref(), self.caller_name.as_deref()));
        Ok(StepOutput {
            details: object([("id", id.as_str().into())]),
            changes: vec![context.put(VOICEMAILS, &id, &row)],
            arrivals: vec![Arrival {
                r#type: EventType::VoiceTurn,
                summary: summary.clone(),
                payload: voicemail_event(context, &self.text, &id),
            }],
            summary,
        })
    }
}

impl ScenarioStep for InboundCall {
    fn execute(&self, context: &StepContext<'_>) -> Result<StepOutput, FieldErrors> {
        let id = context.new_id("call");
        let row = json!({
            "id": id,
            "direction": "inbound",
            "from_number": self.from_number,
            "caller_name": self.caller_name,
            "status": "ringing",
            "started_at": context.due_at,
        });
        let script = json!({"opening": self.opening, "answers": self.answers, "fallback": self.fallback});
        let summary = format!("a call from {}", caller_label(self.from_number.as_deref(), self.caller_name.as_deref()));
        let ring_event = object([
            ("call_id", id.as_str().into()),
            ("action", "ring".into()),
            ("from_number", self.from_number.clone().into()),
            ("caller_name", self.caller_name.clone().into()),
        ]);
        Ok(StepOutput {
            details: object([("id", id.as_str().into())]),
            changes: vec![context.put(CALLS, &id, &row), context.put(CALL_SCRIPTS, &id, &script)],
            arrivals: vec![Arrival { r#type: EventType::VoiceTurn, summary: summary.clone(), payload: ring_event }],
            summary,
        })
    }
}

/// The event of a voicemail: the only turn of a call.
fn voicemail_event(context: &StepContext<'_>, text: &str, id: &str) -> Map<String, Value> {
    object([
        ("call_id", id.into()),
        ("index", 0.into()),
        ("speaker", "caller".into()),
        ("text", text.into()),
        ("at", context.due_at.to_string().into()),
    ])
}

fn caller_label<'a>(from_number: Option<&'a str>, caller_name: Option<&'a str>) -> &'a str {
    caller_name.or(from_number).unwrap_or("a withheld number")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authored;

    #[test]
    fn voicemails_need_text() {
        for (step, field) in [
            (json!({"text": "Hello"}), ""),
            (json!({"text": "Hello", "from_number": "{{entity.data.phone}}"}), ""),
            (json!({}), "text"),
            (json!({"text": " "}), "text"),
            (json!({"text": "x", "from_number": "home"}), "from_number"),
            (json!({"text": "x", "caller_name": ""}), "caller_name"),
            (json!({"text": "x", "opening": "y"}), "opening"),
        ] {
            let errors = authored::check::<LeftVoicemail>(&step).err().unwrap_or_default();
            assert_eq!(errors.iter().next().map_or("", |(field, _)| field), field, "{errors}");
        }
    }

    #[test]
    fn callers_need_a_script() {
        for (step, field) in [
            (json!({"opening": "Hello"}), ""),
            (json!({"opening": ""}), "opening"),
            (json!({"opening": "x", "answers": ["y"]}), "answers.0"),
            (json!({"opening": "x", "answers": [{"answer": "y"}]}), "answers.0.phrases"),
            (json!({"opening": "x", "answers": [{"phrases": [], "answer": "y"}]}), "answers.0.phrases"),
            (json!({"opening": "x", "answers": [{"phrases": ["y"], "answer": ""}]}), "answers.0.answer"),
            (json!({"opening": "x", "fallback": ""}), "fallback"),
        ] {
            let errors = authored::check::<InboundCall>(&step).err().unwrap_or_default();
            assert_eq!(errors.iter().next().map_or("", |(field, _)| field), field, "{errors}");
        }
    }
}
