//! Validates prior authorization requests. All errors are reported together.

use clinical::{InvalidNpi, PartialDateTime, Precision};
use model::FieldErrors;
use model::portal::{NewInformation, NewPriorAuth};
use serde_json::{Map, Value};

use super::documents::Upload;
use super::idempotency::IdempotencyKey;

/// A new request, as sent to the portal.
#[derive(Clone, Debug, Default)]
pub struct Submission {
    pub new: NewPriorAuth,
    pub uploads: Vec<Upload>,
    /// Repeated messages with the same key have no further effect.
    pub idempotency_key: Option<IdempotencyKey>,
}

/// Information that is added to a request.
#[derive(Clone, Debug, Default)]
pub struct Addition {
    pub information: NewInformation,
    pub uploads: Vec<Upload>,
    pub idempotency_key: Option<IdempotencyKey>,
}

pub const URGENCIES: [&str; 5] = ["standard", "routine", "urgent", "expedited", "emergent"];
pub const MAX_NOTES_CHARS: usize = 20_000;
const MAX_ANSWERS: usize = 100;
const MAX_ANSWER_CHARS: usize = 4000;

/// Validates the members. Whether member and provider exist is checked later.
pub fn check(new: &NewPriorAuth) -> FieldErrors {
    let mut errors = FieldErrors::new();
    errors.name("patient_member_id", &new.patient_member_id);
    match (&new.procedure_code, &new.drug) {
        (None, None) => errors.add("procedure_code", "is required unless `drug` is given"),
        (Some(_), Some(_)) => errors.add("drug", "cannot be combined with `procedure_code`"),
        (Some(code), None) => check_procedure(&mut errors, code),
        (None, Some(drug)) => errors.name("drug", drug),
    }
    if let Some(code) = &new.diagnosis_code {
        check_diagnosis(&mut errors, code);
    }
    if let Some(npi) = &new.provider_npi {
        check_npi(&mut errors, npi);
    }
    if let Some(urgency) = new.urgency.as_deref().filter(|urgency| !URGENCIES.contains(urgency)) {
        let urgency = model::reading::shortened(urgency, 60);
        errors.add("urgency", format!("must be one of {}, is `{urgency}`", URGENCIES.join(", ")));
    }
    if let Some(date) = &new.service_date {
        check_date(&mut errors, "service_date", date);
    }
    check_texts(&mut errors, new.clinical_notes.as_deref(), &new.answers);
    errors
}

pub fn check_addition(addition: &Addition) -> FieldErrors {
    let mut errors = FieldErrors::new();
    let NewInformation { clinical_notes, answers, .. } = &addition.information;
    check_texts(&mut errors, clinical_notes.as_deref(), answers);
    let is_blank = clinical_notes.as_deref().is_none_or(|notes| notes.trim().is_empty());
    if is_blank && answers.is_empty() && addition.uploads.is_empty() {
        errors.add("", "must have notes, answers or documents");
    }
    errors
}

fn check_texts(errors: &mut FieldErrors, notes: Option<&str>, answers: &Map<String, Value>) {
    if let Some(notes) = notes {
        errors.length("clinical_notes", notes, 0..=MAX_NOTES_CHARS);
    }
    errors.size("answers", answers.len(), MAX_ANSWERS);
    for (name, answer) in answers.iter().take(MAX_ANSWERS) {
        let field = format!("answers.{}", model::reading::shortened(name, 60));
        if name.is_empty() || name.chars().count() > 100 {
            errors.add(field.as_str(), "must have a name of 1 to 100 characters");
        }
        match answer {
            Value::String(text) => errors.length(&field, text, 0..=MAX_ANSWER_CHARS),
            Value::Number(_) | Value::Bool(_) | Value::Null => {}
            _ => errors.add(field, "must be a string, a number or a boolean"),
        }
    }
}

/// CPT (`70551`, `0042T`) or HCPCS (`J0135`).
fn check_procedure(errors: &mut FieldErrors, code: &str) {
    let bytes = code.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let is_valid = bytes.len() == 5
        && (1..4).all(is_digit)
        && bytes.iter().all(u8::is_ascii_alphanumeric)
        && (is_digit(0) || is_digit(4));
    if !is_valid {
        errors.add("procedure_code", "must be a CPT or HCPCS code of five characters, such as 70551 or J0135");
    }
}

/// ICD-10-CM: `G43.909`, with or without the dot.
fn check_diagnosis(errors: &mut FieldErrors, code: &str) {
    let (category, rest) = code.split_at_checked(3).unwrap_or((code, ""));
    let bytes = category.as_bytes();
    let has_category = bytes.len() == 3
        && bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.get(1).is_some_and(u8::is_ascii_digit)
        && bytes.get(2).is_some_and(u8::is_ascii_alphanumeric);
    let rest = rest.strip_prefix('.').filter(|rest| !rest.is_empty()).unwrap_or(rest);
    let has_rest = rest.len() <= 4 && rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !has_category || !has_rest {
        errors.add("diagnosis_code", "must be an ICD-10-CM code, such as G43.909");
    }
}

/// The check digit is checked with the directory, which may list providers without a valid one.
fn check_npi(errors: &mut FieldErrors, npi: &str) {
    if npi.len() != 10 || !npi.bytes().all(|byte| byte.is_ascii_digit()) {
        errors.add("provider_npi", InvalidNpi.to_string());
    }
}

pub fn check_date(errors: &mut FieldErrors, field: &str, date: &str) {
    let date = PartialDateTime::parse_fhir(date);
    if date.is_none_or(|date| date.precision() != Precision::Day) {
        errors.add(field, "must be a date, such as 2026-04-23");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn error_fields(change: &Value) -> String {
        let mut body = json!({"patient_member_id": "M1", "procedure_code": "70551", "diagnosis_code": "G43.909",
            "provider_npi": "1234567893"});
        for (name, value) in change.as_object().unwrap() {
            body[name] = value.clone();
        }
        let new: NewPriorAuth = serde_json::from_value(body).unwrap();
        check(&new).iter().map(|(field, _)| field.to_owned()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn code_formats_are_checked() {
        for good in ["70551", "0042T", "J0135", "j0135"] {
            assert_eq!(error_fields(&json!({"procedure_code": good})), "", "{good}");
        }
        for bad in ["", "7055", "705511", "7O551", "AB123", "7055é", "70 51", "T0042T"] {
            assert_eq!(error_fields(&json!({"procedure_code": bad})), "procedure_code", "{bad}");
        }
        for good in ["G43.909", "G43909", "M54", "S72.001A", "c7a.1"] {
            assert_eq!(error_fields(&json!({"diagnosis_code": good})), "", "{good}");
        }
        for bad in ["", "G4", "943.9", "G43.", "G43.90999", "G43.9é", "é43.9", "G43.9 9"] {
            assert_eq!(error_fields(&json!({"diagnosis_code": bad})), "diagnosis_code", "{bad}");
        }
        for bad in ["", "123456789", "12345678901", "12345678９0", "123456789a"] {
            assert_eq!(error_fields(&json!({"provider_npi": bad})), "provider_npi", "{bad}");
        }
    }

    #[test]
    fn members_are_validated_together() {
        for (change, fields) in [
            (json!({"procedure_code": null}), "procedure_code"),
            (json!({"drug": "Adalimumab"}), "drug"),
            (json!({"procedure_code": null, "drug": "Adalimumab", "urgency": "urgent"}), ""),
            (json!({"urgency": "now", "service_date": "2026-02-30"}), "service_date urgency"),
            (json!({"service_date": "2026-04-23"}), ""),
            (json!({"diagnosis_code": null, "provider_npi": null}), ""),
            (json!({"answers": {"a": {}, "b": "x", "c": 1, "": true}}), "answers. answers.a"),
            (json!({"clinical_notes": "x".repeat(20_001)}), "clinical_notes"),
            (json!({"patient_member_id": " "}), "patient_member_id"),
        ] {
            assert_eq!(error_fields(&change), fields, "{change}");
        }
    }
}
