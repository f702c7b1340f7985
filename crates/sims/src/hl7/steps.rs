//! The scenario step `hl7_inbound`: delivers a message to the inbox (HL7 v2, chapter 2).

use model::FieldErrors;
use model::event::EventType;
use model::template::is_template;
use serde::Deserialize;
use serde_json::{Value, json};

use super::config::parse_authored;
use super::inbox::INBOX;
use super::text::type_of;
use crate::authored::Authored;
use crate::registry::StepInfo;
use crate::scenario::step::{Arrival, ScenarioStep, StepContext, StepOutput, object};

pub(crate) const HL7_INBOUND: StepInfo =
    StepInfo::of::<Hl7Inbound>("hl7_inbound", "Delivers an HL7 v2 message to the inbox", || {
        json!({"do": "hl7_inbound", "after_seconds": 120, "message":
            "MSH|^~\\&|LAB|HOSP|EHR|CLINIC|20260401120000||ORU^R01|LAB0001|P|2.5.1\r\
             PID|1||{{entity.data.mrn}}\rOBR|1|||2823-3^Potassium^LN\r\
             OBX|1|NM|2823-3^Potassium^LN||6.1|mmol/L|3.5-5.1|HH|||F"})
    });

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hl7Inbound {
    /// Line feeds are converted to carriage returns.
    pub message: String,
}

impl Authored for Hl7Inbound {
    fn validate(&self, errors: &mut FieldErrors) {
        if !self.message.starts_with("{{") && !has_message_header(&self.message) {
            errors.add("message", "must be an HL7 message: `MSH`, the field separator and the encoding characters");
        } else if !is_template(&self.message)
            && let Err(error) = parse_authored(&self.message)
        {
            errors.add("message", error);
        }
        if self.message.contains('\0') {
            errors.add("message", "must not contain NUL characters");
        }
    }
}

impl ScenarioStep for Hl7Inbound {
    fn execute(&self, context: &StepContext<'_>) -> Result<StepOutput, FieldErrors> {
        let message = parse_authored(&self.message).map_err(|error| FieldErrors::one("message", error))?;
        let (id, message_type) = (context.new_id("hl7"), type_of(&message));
        let control_id = message.control_id().into_owned();
        let mut row = object([
            ("id", id.as_str().into()),
            ("message_type", message_type.as_str().into()),
            ("control_id", control_id.as_str().into()),
            ("received_at", context.due_at.to_string().into()),
            ("payload", message.text().into()),
        ]);
        let arrival = row.clone();
        row.insert("read".to_owned(), false.into());
        let summary = format!("{message_type} {control_id} arrived in the inbox");
        Ok(StepOutput {
            details: object([("id", id.as_str().into()), ("message_type", message_type.into())]),
            changes: vec![context.put(INBOX, &id, &Value::Object(row))],
            arrivals: vec![Arrival { r#type: EventType::Hl7Inbound, summary: summary.clone(), payload: arrival }],
            summary,
        })
    }
}

/// `MSH`, MSH-1 (one character), MSH-2 (its encoding characters) and the end of MSH-2.
fn has_message_header(message: &str) -> bool {
    let is_delimiter = |c: char| c.is_ascii_punctuation();
    let Some(rest) = message.strip_prefix("MSH") else {
        return false;
    };
    let mut characters = rest.chars();
    let Some(separator) = characters.next().filter(|c| is_delimiter(*c)) else {
        return false;
    };
    let Some((encoding, _)) = characters.as_str().split_once(separator) else {
        return false;
    };
    (1..=5).contains(&encoding.len()) && encoding.chars().all(is_delimiter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authored;

    #[test]
    fn messages_start_with_their_header() {
        for (message, is_valid) in [
            ("MSH|^~\\&|A|B", true),
            ("MSH|^~\\&#|A|B", true),
            ("MSH$%~\\&$A", true),
            ("{{entity.data.message}}", true),
            ("", false),
            ("MSH", false),
            ("MSH|", false),
            ("MSH|^~\\&", false),
            ("MSHA^~\\&|A", false),
            ("MSH||A", false),
            ("MSH|ADT|A01|x", false),
            (" MSH|^~\\&|A", false),
            ("msh|^~\\&|A", false),
            ("PID|1\rMSH|^~\\&|A", false),
            ("MSH|^~\\&|A\0", false),
        ] {
            let result = authored::check::<Hl7Inbound>(&json!({ "message": message }));
            assert_eq!(result.is_ok(), is_valid, "{message}");
        }
        assert!(authored::check::<Hl7Inbound>(&json!({})).is_err());
    }
}
