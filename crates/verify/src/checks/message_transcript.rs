//! Passes when the text messages or e-mails have the phrases.
//!
//! Reads the messages; `outbound` are the agent's, `inbound` those it received. The example: [`EXAMPLE`].
//! Evidence: `phraseResults[{phrase,found}]`.

use model::FieldErrors;
use model::channel::Channel;
use serde::Deserialize;

use crate::checks::{Check, CheckInfo};
use crate::count::Count;
use crate::phrase::{Phrase, check_phrases};

pub const EXAMPLE: &str = r#"{
  "assert": "message-transcript",
  "channel": "sms",
  "direction": "outbound",
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
    };

    fn validate(&self, errors: &mut FieldErrors) {
        check_phrases("contains", &self.contains, errors);
        check_phrases("not_contains", &self.not_contains, errors);
        if self.contains.is_empty() && self.not_contains.is_empty() && self.count.is_none() {
            errors.add("", "says nothing: give `contains`, `not_contains` or `count`");
        }
    }
}

#[cfg(test)]
mod tests {
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
}
