//! The configuration of a fax line: its number, and what happens to the faxes that the agent sends.

use clinical::{PhoneNumber, normalized_phone_number};
use model::FieldErrors;
use serde::Deserialize;

use crate::authored::{self, Authored};
use crate::contact_points;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaxConfig {
    /// The line's own number. Without it, each sandbox gets a number of its own.
    pub fax_number: Option<String>,
    /// Outcomes for particular numbers.
    #[serde(default)]
    pub outcomes: Vec<NumberOutcome>,
    /// The outcome for all other numbers. Without it, faxes are sent at once.
    pub default_outcome: Option<Outcome>,
    /// How often failed calls are repeated. Without it, they are not.
    pub retries: Option<Retries>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retries {
    pub count: i64,
    /// Defaults to 60.
    pub after_seconds: Option<i64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NumberOutcome {
    pub number: String,
    pub status: OutcomeStatus,
    pub reason: Option<String>,
    pub delay_seconds: Option<i64>,
    pub failing_attempts: Option<i64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    pub status: OutcomeStatus,
    /// Why the calls fail.
    pub reason: Option<String>,
    /// How long a call takes. Until then the fax is `queued`.
    pub delay_seconds: Option<i64>,
    /// How many calls fail before the fax is sent.
    pub failing_attempts: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeStatus {
    Sent,
    Failed,
}

impl Authored for FaxConfig {
    fn validate(&self, errors: &mut FieldErrors) {
        let retries = self.retries.as_ref().map_or(0, |retries| retries.count);
        errors.each("outcomes", &self.outcomes, 1000, |outcome, errors| {
            contact_points::check_phone_number(errors, "number", &outcome.number);
            let reason = outcome.reason.as_ref();
            check_outcome(errors, (outcome.status, outcome.failing_attempts), reason, outcome.delay_seconds);
            check_failing_attempts(errors, outcome.status, outcome.failing_attempts, retries);
        });
        let keys = self.outcomes.iter().map(|outcome| normalized_phone_number(&outcome.number));
        authored::check_unique(errors, "outcomes", "number", keys);
        if let Some(outcome) = &self.default_outcome {
            errors.inside("default_outcome", |errors| {
                let reason = outcome.reason.as_ref();
                check_outcome(errors, (outcome.status, outcome.failing_attempts), reason, outcome.delay_seconds);
                check_failing_attempts(errors, outcome.status, outcome.failing_attempts, retries);
            });
        }
        if let Some(retries) = &self.retries {
            errors.range("retries.count", retries.count, 0..=MAX_RETRIES);
            authored::delay(errors, "retries.after_seconds", retries.after_seconds);
        }
        if let Some(number) = &self.fax_number
            && number.parse::<PhoneNumber>().ok().and_then(|number| number.international()).is_none()
        {
            errors.add("fax_number", "must be a phone number with its country code, such as +1 555 010 0100");
        }
    }
}

const MAX_RETRIES: i64 = 10;

fn check_failing_attempts(errors: &mut FieldErrors, status: OutcomeStatus, failing: Option<i64>, retries: i64) {
    let Some(failing) = failing else { return };
    if status == OutcomeStatus::Failed {
        errors.add("failing_attempts", "is only allowed for the status `sent`");
    } else if !(1..=retries).contains(&failing) {
        errors.add("failing_attempts", format!("must be from 1 to the number of `retries`, which is {retries}"));
    }
}

fn check_outcome(
    errors: &mut FieldErrors,
    (status, failing): (OutcomeStatus, Option<i64>),
    reason: Option<&String>,
    delay_seconds: Option<i64>,
) {
    authored::optional_text(errors, "reason", reason, 200);
    if status == OutcomeStatus::Sent && failing.is_none() && reason.is_some() {
        errors.add("reason", "is only allowed if calls fail");
    }
    authored::delay(errors, "delay_seconds", delay_seconds);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn errors_name_their_field() {
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
                "default_outcome.reason: is only allowed if calls fail",
            ),
            (
                json!({"default_outcome": {"status": "failed", "delay_seconds": 604_801}}),
                "default_outcome.delay_seconds: must be from 0",
            ),
            (json!({"fax_number": "555-0100"}), "fax_number: must be a phone number with its country code"),
            (json!({"retries": {"count": 11}}), "retries.count: must be from 0"),
            (
                json!({"outcomes": [{"number": "5550100", "status": "sent", "failing_attempts": 1}]}),
                "outcomes.0.failing_attempts: must be from 1 to the number of `retries`, which is 0",
            ),
            (
                json!({"retries": {"count": 1}, "default_outcome": {"status": "failed", "failing_attempts": 1}}),
                "default_outcome.failing_attempts: is only allowed for the status",
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
