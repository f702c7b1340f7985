//! The scenario step `hl7_inbound`: a message that arrives in the inbox (HL7 v2, chapter 2).

use model::FieldErrors;
use serde::Deserialize;
use serde_json::json;

use crate::authored::{self, Authored};
use crate::registry::StepInfo;

pub(crate) const HL7_INBOUND: StepInfo = StepInfo {
    name: "hl7_inbound",
    summary: "Delivers an HL7 v2 message to the inbox",
    example: || {
        json!({"do": "hl7_inbound", "after_seconds": 120, "message":
            "MSH|^~\\&|LAB|HOSP|EHR|CLINIC|20260401120000||ORU^R01|LAB0001|P|2.5.1\r\
             PID|1||{{entity.data.mrn}}\rOBR|1|||2823-3^Potassium^LN\r\
             OBX|1|NM|2823-3^Potassium^LN||6.1|mmol/L|3.5-5.1|HH|||F"})
    },
    check: authored::check::<Hl7Inbound>,
};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hl7Inbound {
    /// Segments end with a carriage return; line feeds are taken for it.
    pub message: String,
}

impl Authored for Hl7Inbound {
    fn validate(&self, errors: &mut FieldErrors) {
        if !self.message.starts_with("{{") && !has_message_header(&self.message) {
            errors.add("message", "must be an HL7 message: `MSH`, the field separator and the encoding characters");
        }
        if self.message.contains('\0') {
            errors.add("message", "must not contain NUL characters");
        }
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
    use serde_json::json;

    #[test]
    fn messages_start_with_their_header() {
        for (message, good) in [
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
            assert_eq!(result.is_ok(), good, "{message}");
        }
        assert!(authored::check::<Hl7Inbound>(&json!({})).is_err());
    }
}
