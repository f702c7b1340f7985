//! The authored config of a clearinghouse. Its rules take precedence over the FHIR data.

use model::FieldErrors;
use model::dataset::{FILE_PATH_RULE, is_file_path};
use model::reading::described;
use serde::Deserialize;
use serde_json::Value;

use crate::authored::{self, Authored};
use crate::rules::{self, Conditions};

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClearinghouseConfig {
    /// The first that matches is used; an empty match matches every request.
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// Reads interchanges from files of the playground's Files sandbox and writes the responses as files.
    pub batch: Option<Batch>,
}

/// Folders, as paths of the Files sandbox.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    /// Files written below this folder are processed.
    pub take_from: String,
    pub answer_to: String,
}

impl ClearinghouseConfig {
    /// Reads a sandbox's config, which was validated when it was written.
    pub fn of(config: &Value) -> Self {
        authored::read(config).unwrap_or_default()
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub r#match: Match,
    #[serde(default)]
    pub benefits: Vec<Benefit>,
    pub status: Option<Status>,
    /// Rejects the request with this reject reason code (AAA03).
    pub aaa: Option<String>,
    /// Until the delay is over, the response is "pending".
    pub delay_seconds: Option<i64>,
    /// Payment and adjustments of claims (837) that the rule pays or denies.
    pub payment: Option<Payment>,
}

/// Adjustments (CAS) and amounts of an 835.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Payment {
    /// The allowed share of each charge, from 0 to 1 as a number or string. Default: the whole charge.
    pub percent: Option<Value>,
    /// The patient's copay: adjustment `PR` 3.
    pub copay: Option<Value>,
    /// For the part that is not allowed: adjustment group `CO`, `PR`, `OA` or `PI`, and claim adjustment reason code.
    pub group: Option<String>,
    pub reason: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Match {
    /// The subscriber's member number (NM109).
    pub member: Option<String>,
    /// Service type code (EQ01).
    pub service_type: Option<String>,
    /// Procedure code (SV1, EQ02, SV2).
    pub procedure: Option<String>,
    /// The payer's identifier (NM109 of the information source).
    pub payer: Option<String>,
}

/// `active` and `inactive` are for eligibility (271), the others for prior authorization (278) and claim status (277).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Active,
    Inactive,
    Approved,
    Denied,
    Pending,
    NeedMoreInfo,
    Paid,
}

impl Status {
    /// The name in the config.
    pub fn name(self) -> &'static str {
        match self {
            Status::Active => "active",
            Status::Inactive => "inactive",
            Status::Approved => "approved",
            Status::Denied => "denied",
            Status::Pending => "pending",
            Status::NeedMoreInfo => "need_more_info",
            Status::Paid => "paid",
        }
    }
}

/// One EB segment of a 271.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Benefit {
    /// EB01, such as `1` active coverage, `A` co-insurance, `B` co-payment, `C` deductible.
    pub code: String,
    /// EB02, such as `IND`, `FAM`.
    pub coverage_level: Option<String>,
    /// EB03.
    pub service_type: Option<String>,
    /// EB06, such as `23` calendar year, `29` remaining.
    pub period: Option<String>,
    /// EB07, as a number or string.
    pub amount: Option<Value>,
    /// EB08, from 0 to 1 as a number or string.
    pub percent: Option<Value>,
    /// EB11.
    pub authorization_required: Option<bool>,
    /// EB12.
    pub in_network: Option<bool>,
    /// MSG01.
    pub message: Option<String>,
}

impl Authored for ClearinghouseConfig {
    fn validate(&self, errors: &mut FieldErrors) {
        errors.each("rules", &self.rules, 1000, |rule, errors| rule.validate(errors));
        if errors.is_empty() {
            let rules: Vec<Conditions<'_>> = self.rules.iter().map(|rule| rule.r#match.conditions()).collect();
            rules::check_reachable(errors, "rules", &rules);
        }
        if let Some(batch) = &self.batch {
            errors.inside("batch", |errors| batch.validate(errors));
        }
    }
}

impl Batch {
    /// The folders must not overlap, otherwise responses would be processed as requests.
    fn validate(&self, errors: &mut FieldErrors) {
        for (field, folder) in [("take_from", &self.take_from), ("answer_to", &self.answer_to)] {
            if !is_file_path(folder) {
                errors.add(field, FILE_PATH_RULE);
            }
        }
        let is_within = |inner: &str, outer: &str| format!("{inner}/").starts_with(&format!("{outer}/"));
        if is_within(&self.answer_to, &self.take_from) || is_within(&self.take_from, &self.answer_to) {
            errors.add("answer_to", "must not overlap with `take_from`");
        }
    }
}

impl Payment {
    fn validate(&self, errors: &mut FieldErrors) {
        check_percent(errors, self.percent.as_ref());
        check_amount(errors, "copay", self.copay.as_ref());
        if self.group.as_deref().is_some_and(|group| !["CO", "PR", "OA", "PI"].contains(&group)) {
            errors.add("group", "must be one of `CO`, `PR`, `OA`, `PI`");
        }
        check_code(errors, "reason", self.reason.as_ref(), 1..=5);
    }
}

impl Match {
    fn conditions(&self) -> Conditions<'_> {
        rules::conditions(&[
            ("member", &self.member),
            ("service_type", &self.service_type),
            ("procedure", &self.procedure),
            ("payer", &self.payer),
        ])
    }
}

impl Rule {
    fn validate(&self, errors: &mut FieldErrors) {
        errors.inside("match", |errors| {
            rules::check_conditions(errors, &self.r#match.conditions());
        });
        let has_answer = self.status.is_some() || !self.benefits.is_empty();
        if self.aaa.is_some() && has_answer {
            errors.add("aaa", "rejects the request: cannot be combined with `status` or `benefits`");
        }
        if self.aaa.is_none() && !has_answer && self.delay_seconds.is_none() {
            errors.add("", "must have `status`, `benefits`, `aaa` or `delay_seconds`");
        }
        check_code(errors, "aaa", self.aaa.as_ref(), 2..=2);
        authored::delay(errors, "delay_seconds", self.delay_seconds);
        if let Some(payment) = &self.payment {
            errors.inside("payment", |errors| payment.validate(errors));
        }
        errors.each("benefits", &self.benefits, 200, |benefit, errors| {
            benefit.validate(errors);
        });
    }
}

impl Benefit {
    fn validate(&self, errors: &mut FieldErrors) {
        check_code(errors, "code", Some(&self.code), 1..=2);
        check_code(errors, "coverage_level", self.coverage_level.as_ref(), 3..=3);
        check_code(errors, "service_type", self.service_type.as_ref(), 1..=2);
        check_code(errors, "period", self.period.as_ref(), 1..=2);
        check_amount(errors, "amount", self.amount.as_ref());
        check_percent(errors, self.percent.as_ref());
        authored::optional_text(errors, "message", self.message.as_ref(), 264);
    }
}

fn check_amount(errors: &mut FieldErrors, field: &str, amount: Option<&Value>) {
    if let Some(amount) = amount.filter(|amount| decimal(amount).is_none()) {
        errors.add(field, format!("must be a decimal such as 25.00, is {}", described(amount)));
    }
}

fn check_percent(errors: &mut FieldErrors, percent: Option<&Value>) {
    if let Some(percent) = percent.filter(|percent| !decimal(percent).is_some_and(|percent| percent <= 1.0)) {
        errors.add("percent", format!("must be a decimal from 0 to 1, is {}", described(percent)));
    }
}

fn check_code(errors: &mut FieldErrors, field: &str, code: Option<&String>, lengths: std::ops::RangeInclusive<usize>) {
    let is_code = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit();
    if code.is_some_and(|code| !lengths.contains(&code.len()) || !code.chars().all(is_code)) {
        errors.add(
            field,
            format!("must be a code of {} to {} capital letters or digits", lengths.start(), lengths.end()),
        );
    }
}

/// Parses an X12 decimal (type R) without sign or exponent, up to 18 digits.
fn decimal(value: &Value) -> Option<f64> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, "0"));
    let digits = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || whole.len() + fraction.len() > 18 {
        return None;
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn validation_errors_name_the_field() {
        for (rule, field) in [
            (json!({"match": {}, "status": "active"}), ""),
            (json!({"match": {"member": "1"}, "delay_seconds": 5}), ""),
            (json!({"match": {"member": "1"}, "benefits": [{"code": "C", "amount": 500}]}), ""),
            (json!({"status": "active"}), "rules.0.match"),
            (json!({"match": {"member": "1"}}), "rules.0"),
            (json!({"match": {"member": ""}, "aaa": "75"}), "rules.0.match.member"),
            (json!({"match": {"member": 1}, "aaa": "75"}), "rules.0.match.member"),
            (json!({"match": {"name": "x"}, "aaa": "75"}), "rules.0.match.name"),
            (json!({"match": ["1"], "aaa": "75"}), "rules.0.match"),
            (json!({"match": {}, "aaa": "7"}), "rules.0.aaa"),
            (json!({"match": {}, "aaa": "75", "status": "active"}), "rules.0.aaa"),
            (json!({"match": {}, "status": "Active"}), "rules.0.status"),
            (json!({"match": {}, "delay_seconds": -1}), "rules.0.delay_seconds"),
            (json!({"match": {}, "benefits": [{}]}), "rules.0.benefits.0.code"),
            (json!({"match": {}, "benefits": [{"code": "abc"}]}), "rules.0.benefits.0.code"),
            (json!({"match": {}, "benefits": [{"code": "B", "amount": -5}]}), "rules.0.benefits.0.amount"),
            (json!({"match": {}, "benefits": [{"code": "B", "amount": "1e5"}]}), "rules.0.benefits.0.amount"),
            (json!({"match": {}, "benefits": [{"code": "B", "amount": []}]}), "rules.0.benefits.0.amount"),
            (json!({"match": {}, "benefits": [{"code": "A", "percent": "1.5"}]}), "rules.0.benefits.0.percent"),
            (json!({"match": {}, "status": "paid", "payment": {"percent": "0.8", "copay": 10}}), ""),
            (json!({"match": {}, "status": "paid", "payment": {"percent": 2}}), "rules.0.payment.percent"),
            (json!({"match": {}, "status": "paid", "payment": {"group": "XX"}}), "rules.0.payment.group"),
        ] {
            let errors = authored::check::<ClearinghouseConfig>(&json!({"rules": [rule]})).err().unwrap_or_default();
            assert_eq!(errors.iter().next().map_or("", |(field, _)| field), field, "{errors}");
        }
    }

    #[test]
    fn batch_folders_must_not_overlap() {
        for (take_from, answer_to, is_valid) in [
            ("edi/out", "edi/in", true),
            ("edi", "edi-answers", true),
            ("edi", "edi", false),
            ("edi", "edi/answers", false),
            ("edi/out", "edi", false),
            ("../etc", "edi", false),
            ("", "edi", false),
        ] {
            let config = json!({"batch": {"take_from": take_from, "answer_to": answer_to}});
            assert_eq!(authored::check::<ClearinghouseConfig>(&config).is_ok(), is_valid, "{config}");
        }
    }

    #[test]
    fn unreachable_rules_are_rejected() {
        let config = json!({"rules": [{"match": {}, "status": "active"}, {"match": {"member": "1"}, "aaa": "75"}]});
        let errors = authored::check::<ClearinghouseConfig>(&config).unwrap_err();
        assert_eq!(errors.to_string(), "rules.1: is never used: rules.0 matches everything that this rule matches");
        let many = json!({"rules": vec![json!({"match": {"member": "1"}, "aaa": "75"}); 1001]});
        let errors = authored::check::<ClearinghouseConfig>(&many).unwrap_err();
        assert_eq!(errors.to_string(), "rules: must have at most 1000 items, has 1001");
    }
}
