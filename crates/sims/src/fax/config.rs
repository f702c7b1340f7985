//! What an author may configure of a fax line: what becomes of a fax that is sent.

use model::FieldErrors;
use model::phone;
use serde::Deserialize;

use crate::authored::{self, Authored};
use crate::contact;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaxConfig {
    /// By the number that is called.
    #[serde(default)]
    pub outcomes: Vec<NumberOutcome>,
    /// For all other numbers; sent at once without it.
    pub default_outcome: Option<Outcome>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NumberOutcome {
    pub number: String,
    pub status: OutcomeStatus,
    pub reason: Option<String>,
    pub delay_seconds: Option<i64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    pub status: OutcomeStatus,
    /// Why it failed.
    pub reason: Option<String>,
    /// The fax is `queued` until then.
    pub delay_seconds: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeStatus {
    Sent,
    Failed,
}

impl Authored for FaxConfig {
    fn validate(&self, errors: &mut FieldErrors) {
        errors.each("outcomes", &self.outcomes, 1000, |outcome, errors| {
            contact::check_phone_number(errors, "number", &outcome.number);
            check_outcome(errors, outcome.status, outcome.reason.as_ref(), outcome.delay_seconds);
        });
        let keys = self.outcomes.iter().map(|outcome| phone::digits(&outcome.number));
        authored::refuse_repeats(errors, "outcomes", "number", keys);
        if let Some(outcome) = &self.default_outcome {
            errors.inside("default_outcome", |errors| {
                check_outcome(errors, outcome.status, outcome.reason.as_ref(), outcome.delay_seconds);
            });
        }
    }
}

fn check_outcome(errors: &mut FieldErrors, status: OutcomeStatus, reason: Option<&String>, delay_seconds: Option<i64>) {
    authored::optional_text(errors, "reason", reason, 200);
    if status == OutcomeStatus::Sent && reason.is_some() {
        errors.add("reason", "only a failed fax has a reason");
    }
    authored::delay(errors, "delay_seconds", delay_seconds);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn faults_are_named() {
        for (config, expected) in [
            (json!({"outcomes": [{"number": "555-0100", "status": "sent"}]}), ""),
            (json!({"outcomes": {"5550100": "sent"}}), "outcomes: must be a list, is an object"),
            (json!({"outcomes": [{"number": "x", "status": "sent"}]}), "outcomes.0.number: must be a phone number"),
            (json!({"outcomes": [{"number": "5550100"}]}), "outcomes.0.status: is required"),
            (
                json!({"outcomes": [{"number": "5550100", "status": "lost"}]}),
                "outcomes.0.status: must be `sent` or `failed`",
            ),
            (
                json!({"outcomes": [{"number": "555-0100", "status": "sent"},
                    {"number": "5550100", "status": "failed"}]}),
                "outcomes.1.number: is the same as in outcomes.0",
            ),
            (
                json!({"default_outcome": {"status": "sent", "reason": "x"}}),
                "default_outcome.reason: only a failed fax",
            ),
            (
                json!({"default_outcome": {"status": "failed", "delay_seconds": 604_801}}),
                "default_outcome.delay_seconds: must be from 0",
            ),
            (
                json!({"default_outcome": {"number": "5550100", "status": "sent"}}),
                "default_outcome.number: is not a known field",
            ),
        ] {
            let errors = authored::check::<FaxConfig>(&config).err().unwrap_or_default().to_string();
            assert_eq!(errors.is_empty(), expected.is_empty(), "{config}: {errors}");
            assert!(errors.starts_with(expected), "{config}: {errors}");
        }
    }
}
