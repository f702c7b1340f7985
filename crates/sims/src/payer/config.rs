//! What an author may configure of a payer portal: its looks, and how it decides.

use model::FieldErrors;
use serde::Deserialize;

use crate::authored::{self, Authored};
use crate::first_match::{self, Conditions};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PayerConfig {
    #[serde(default)]
    pub portal: Portal,
    /// The first that matches decides.
    #[serde(default)]
    pub determinations: Vec<Rule>,
    /// Decides where none matches; a request stays pending without it.
    pub default_determination: Option<Determination>,
    /// How long a login lasts without a request.
    pub session_seconds: Option<i64>,
}

/// The portal's kind: imaging (`radmd`) or pharmacy (`covermymeds`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Portal {
    #[default]
    Radmd,
    Covermymeds,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub r#match: Match,
    pub determination: Determination,
}

/// All that is given must be equal in the request.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Match {
    pub procedure_code: Option<String>,
    pub patient_member_id: Option<String>,
    pub diagnosis: Option<String>,
    pub drug: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Determination {
    pub status: DeterminationStatus,
    pub reason: Option<String>,
    /// The request shows `pending` until then.
    pub delay_seconds: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeterminationStatus {
    Approved,
    Denied,
    Pending,
    NeedMoreInfo,
}

impl Authored for PayerConfig {
    fn validate(&self, errors: &mut FieldErrors) {
        errors.each("determinations", &self.determinations, 1000, |rule, errors| {
            rule.validate(errors);
        });
        if errors.is_empty() {
            let rules: Vec<Conditions<'_>> = self.determinations.iter().map(|rule| rule.r#match.conditions()).collect();
            first_match::refuse_unused(errors, "determinations", &rules);
        }
        if let Some(determination) = &self.default_determination {
            errors.inside("default_determination", |errors| determination.validate(errors));
        }
        if let Some(seconds) = self.session_seconds {
            errors.range("session_seconds", seconds, 60..=86_400);
        }
    }
}

impl Rule {
    fn validate(&self, errors: &mut FieldErrors) {
        let conditions = self.r#match.conditions();
        if conditions.is_empty() {
            errors.add("match", "must not be empty: what decides all other requests is `default_determination`");
        }
        errors.inside("match", |errors| {
            first_match::check_conditions(errors, &conditions);
        });
        errors.inside("determination", |errors| self.determination.validate(errors));
    }
}

impl Match {
    fn conditions(&self) -> Conditions<'_> {
        first_match::conditions(&[
            ("procedure_code", &self.procedure_code),
            ("patient_member_id", &self.patient_member_id),
            ("diagnosis", &self.diagnosis),
            ("drug", &self.drug),
        ])
    }
}

impl Determination {
    fn validate(&self, errors: &mut FieldErrors) {
        authored::optional_text(errors, "reason", self.reason.as_ref(), 2000);
        authored::delay(errors, "delay_seconds", self.delay_seconds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn faults_are_named_together() {
        let approved = json!({"status": "approved"});
        for (config, places) in [
            (json!({"portal": "covermymeds", "default_determination": approved}), ""),
            (json!({"portal": "RadMD"}), "portal"),
            (json!({"portal": 3, "session_seconds": 5}), "portal"),
            (json!({"session_seconds": 59}), "session_seconds"),
            (json!({"session_seconds": 86_401}), "session_seconds"),
            (json!({"default_determination": {"status": "maybe"}}), "default_determination.status"),
            (json!({"default_determination": {"status": "denied", "reason": " "}}), "default_determination.reason"),
            (json!({"determinations": [{"match": {}, "determination": approved}]}), "determinations.0.match"),
            (
                json!({"determinations": [
                    {"match": {"procedure": "1"}, "determination": approved},
                    {"match": {"drug": "x"}, "determination": {"status": "denied", "delay_seconds": -1}},
                ], "colour": "red"}),
                "colour determinations.0.match determinations.0.match.procedure \
                 determinations.1.determination.delay_seconds",
            ),
            (
                json!({"determinations": [{"match": {"drug": "x"}}, {"determination": approved}, 7]}),
                "determinations.0.determination determinations.1.match determinations.2",
            ),
            (
                json!({"determinations": [
                    {"match": {"drug": "x"}, "determination": approved},
                    {"match": {"drug": "x", "diagnosis": "y"}, "determination": approved},
                ]}),
                "determinations.1",
            ),
        ] {
            let errors = authored::check::<PayerConfig>(&config).err().unwrap_or_default();
            let found: Vec<&str> = errors.iter().map(|(place, _)| place).collect();
            assert_eq!(found.join(" "), places, "{errors}");
        }
    }
}
