//! The authored config of a payer portal: its kind, its determinations, and its faults.

use model::FieldErrors;
use serde::{Deserialize, Serialize};

use crate::authored::{self, Authored};
use crate::rules::{self, Conditions};

use super::faults::Faults;
use super::formulary::FormularyEntry;
use super::questions::Question;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PayerConfig {
    #[serde(default)]
    pub portal: Portal,
    /// The first rule that matches applies.
    #[serde(default)]
    pub determinations: Vec<Rule>,
    /// Applies if no rule matches. Without it, such requests stay pending.
    pub default_determination: Option<Determination>,
    /// A session expires after this time without a request.
    pub session_seconds: Option<i64>,
    /// The clinical questions of a request. Default: the questions of the portal's kind.
    pub questions: Option<Vec<Question>>,
    /// The drugs that the plan covers.
    #[serde(default)]
    pub formulary: Vec<FormularyEntry>,
    /// Injected faults.
    #[serde(default)]
    pub faults: Faults,
}

const DEFAULT_SESSION_SECONDS: i64 = 900;

impl PayerConfig {
    /// Reads a sandbox's config, which was validated when it was written.
    pub fn of(config: &serde_json::Value) -> Self {
        authored::read(config).unwrap_or_default()
    }

    pub fn session_milliseconds(&self) -> i64 {
        self.session_seconds.unwrap_or(DEFAULT_SESSION_SECONDS).saturating_mul(1000)
    }
}

/// The portal's kind: imaging (`radmd`) or pharmacy (`covermymeds`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Portal {
    #[default]
    Radmd,
    Covermymeds,
}

/// A condition and its determination: `{match: {…}, determination: {…}}`. The members of either can also be written
/// directly in the rule.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    r#match: Option<Match>,
    procedure_code: Option<String>,
    patient_member_id: Option<String>,
    diagnosis: Option<String>,
    drug: Option<String>,
    determination: Option<Determination>,
    status: Option<DeterminationStatus>,
    reason: Option<String>,
    delay_seconds: Option<i64>,
    then: Option<Box<Determination>>,
}

/// All given members must equal those of the request.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Match {
    pub procedure_code: Option<String>,
    pub patient_member_id: Option<String>,
    pub diagnosis: Option<String>,
    pub drug: Option<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Determination {
    pub status: DeterminationStatus,
    pub reason: Option<String>,
    /// The request is `pending` until the delay is over.
    pub delay_seconds: Option<i64>,
    /// The determination after `need_more_info`, once information was added. Without it the request stays pending.
    pub then: Option<Box<Determination>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
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
            let matches: Vec<Match> = self.determinations.iter().map(Rule::condition).collect();
            let rules: Vec<Conditions<'_>> = matches.iter().map(Match::conditions).collect();
            rules::check_reachable(errors, "determinations", &rules);
        }
        if let Some(determination) = &self.default_determination {
            errors.inside("default_determination", |errors| determination.validate(errors));
        }
        if let Some(seconds) = self.session_seconds {
            errors.range("session_seconds", seconds, 60..=86_400);
        }
        if let Some(questions) = &self.questions {
            super::questions::validate(questions, errors);
        }
        super::formulary::validate(&self.formulary, errors);
        errors.inside("faults", |errors| self.faults.validate(errors));
    }
}

impl Rule {
    /// The condition under which the rule applies.
    pub fn condition(&self) -> Match {
        self.r#match.clone().unwrap_or_else(|| self.flat_match())
    }

    /// The rule's determination. None only in an invalid rule.
    pub fn determination(&self) -> Option<Determination> {
        self.determination.clone().or_else(|| self.flat_determination())
    }

    fn flat_match(&self) -> Match {
        let Self { procedure_code, patient_member_id, diagnosis, drug, .. } = self.clone();
        Match { procedure_code, patient_member_id, diagnosis, drug }
    }

    fn flat_determination(&self) -> Option<Determination> {
        let Self { status, reason, delay_seconds, then, .. } = self.clone();
        Some(Determination { status: status?, reason, delay_seconds, then })
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.validate_condition(errors);
        self.validate_determination(errors);
    }

    fn validate_condition(&self, errors: &mut FieldErrors) {
        let (flat, condition) = (self.flat_match(), self.condition());
        let conditions = condition.conditions();
        match &self.r#match {
            None if conditions.is_empty() => errors.add("match", "is required"),
            Some(_) if conditions.is_empty() => {
                errors.add("match", "must not be empty: use `default_determination` for all other requests");
            }
            Some(_) => errors.inside("match", |errors| rules::check_conditions(errors, &conditions)),
            None => rules::check_conditions(errors, &conditions),
        }
        if self.r#match.is_some() {
            for (name, _) in flat.conditions() {
                errors.add(name, "cannot be combined with `match`: write it inside");
            }
        }
    }

    fn validate_determination(&self, errors: &mut FieldErrors) {
        let flat = [
            ("status", self.status.is_some()),
            ("reason", self.reason.is_some()),
            ("delay_seconds", self.delay_seconds.is_some()),
            ("then", self.then.is_some()),
        ];
        match (&self.determination, self.flat_determination()) {
            (Some(determination), _) => {
                errors.inside("determination", |errors| determination.validate(errors));
                for (name, _) in flat.into_iter().filter(|(_, is_given)| *is_given) {
                    errors.add(name, "cannot be combined with `determination`: write it inside");
                }
            }
            (None, Some(determination)) => determination.validate(errors),
            (None, None) => errors.add("determination", "is required"),
        }
    }
}

impl Match {
    fn conditions(&self) -> Conditions<'_> {
        rules::conditions(&[
            ("procedure_code", &self.procedure_code),
            ("patient_member_id", &self.patient_member_id),
            ("diagnosis", &self.diagnosis),
            ("drug", &self.drug),
        ])
    }
}

/// How often a request can need more information in a row.
const MAX_ROUNDS: usize = 5;

impl Determination {
    fn validate(&self, errors: &mut FieldErrors) {
        self.validate_round(errors, MAX_ROUNDS);
    }

    fn validate_round(&self, errors: &mut FieldErrors, rounds: usize) {
        authored::optional_text(errors, "reason", self.reason.as_ref(), 2000);
        authored::delay(errors, "delay_seconds", self.delay_seconds);
        match &self.then {
            None => {}
            Some(_) if self.status != DeterminationStatus::NeedMoreInfo => {
                errors.add("then", "is never used: only `need_more_info` has a next determination");
            }
            Some(_) if rounds == 0 => errors.add("then", format!("must be nested at most {MAX_ROUNDS} deep")),
            Some(then) => errors.inside("then", |errors| then.validate_round(errors, rounds - 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn validation_reports_all_errors() {
        let approved = json!({"status": "approved"});
        for (config, fields) in [
            (json!({"portal": "covermymeds", "default_determination": approved}), ""),
            (json!({"portal": "RadMD"}), "portal"),
            (json!({"portal": 3, "session_seconds": 5}), "portal"),
            (json!({"session_seconds": 59}), "session_seconds"),
            (json!({"session_seconds": 86_401}), "session_seconds"),
            (json!({"determinations": [{"procedure_code": "72148", "status": "approved"}]}), ""),
            (json!({"determinations": [{"drug": "x", "determination": approved}]}), ""),
            (json!({"determinations": [{"match": {"drug": "x"}, "status": "denied", "reason": "No"}]}), ""),
            (json!({"determinations": [{"status": "approved"}]}), "determinations.0.match"),
            (json!({"determinations": [7]}), "determinations.0"),
            (json!({"determinations": [{"drug": "x", "reason": "No"}]}), "determinations.0.determination"),
            (
                json!({"determinations": [{"match": {"drug": "x"}, "drug": "y", "determination": approved, "status": "denied"}]}),
                "determinations.0.drug determinations.0.status",
            ),
            (
                json!({"determinations": [{"drug": "x", "status": "approved"}, {"match": {"drug": "x"}, "determination": approved}]}),
                "determinations.1",
            ),
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
                json!({"default_determination": {"status": "need_more_info", "then": {"status": "approved", "then": approved}}}),
                "default_determination.then.then",
            ),
            (
                json!({"determinations": [{"match": {"drug": "x"}}, {"determination": approved}]}),
                "determinations.0.determination determinations.1.match",
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
            let found: Vec<&str> = errors.iter().map(|(field, _)| field).collect();
            assert_eq!(found.join(" "), fields, "{errors}");
        }
    }
}
