//! Mutates single values.

use clinical::Npi;
use serde_json::{Number, Value, json};

use super::dates;
use super::leaf::Leaf;
use super::mutation_kind::MutationKind;
use super::role::{Role, role};

/// The mutated value, or `Some(None)` to remove it. `None` when the kind does not apply to the value.
pub(super) fn mutated_value(kind: MutationKind, leaf: &Leaf) -> Option<Option<Value>> {
    match &leaf.value {
        Value::Object(_) => (kind == MutationKind::ItemOmitted && leaf.key != "coding").then_some(None),
        Value::Null => {
            (kind == MutationKind::InventedValue && leaf.field.is_none()).then(|| Some(invented_value(&leaf.key)))
        }
        Value::Number(number) => mutated_number(kind, number).map(|number| Some(number.into())),
        Value::String(text) => mutated_text(kind, leaf, text),
        Value::Bool(_) | Value::Array(_) => None,
    }
}

fn mutated_text(kind: MutationKind, leaf: &Leaf, text: &str) -> Option<Option<Value>> {
    let role = role(leaf, text);
    if kind == MutationKind::MissingValue {
        return (!matches!(role, Role::Free | Role::Status | Role::Intent | Role::Amount)).then_some(None);
    }
    let mutated = match (kind, role) {
        (MutationKind::WrongProvider, Role::Provider) if is_portal_npi(leaf) => other_npi(text),
        (MutationKind::WrongPatient, Role::Patient)
        | (MutationKind::WrongProvider, Role::Provider)
        | (MutationKind::WrongReference, Role::Reference)
        | (MutationKind::WrongNumber, Role::Number)
        | (MutationKind::WrongName, Role::Name) => different_text(text),
        (MutationKind::TenTimes | MutationKind::Tenth | MutationKind::OneMore, Role::Amount) => {
            mutated_number(kind, &text.parse().ok()?)?.to_string()
        }
        (MutationKind::DayLate, Role::Date) => dates::shifted(text, 1)?,
        (MutationKind::DayEarly, Role::Date) => dates::shifted(text, -1)?,
        (MutationKind::AnotherYear, Role::Date) => dates::year_before(text)?,
        (MutationKind::HourLate, Role::Date) => dates::hour_later(text)?,
        (MutationKind::WrongUnit, Role::Unit) => other_unit(text).to_owned(),
        (MutationKind::WrongCode, Role::Code) => other_code(text),
        (MutationKind::WrongSystem, Role::System) => other_system(text).to_owned(),
        (MutationKind::Draft, Role::Status) => draft_status(text).to_owned(),
        (MutationKind::Cancelled, Role::Status) => cancelled_status(text).to_owned(),
        (MutationKind::WrongIntent, Role::Intent) => if text == "plan" { "order" } else { "plan" }.to_owned(),
        (MutationKind::OppositeOutcome, Role::Status | Role::Code) => opposite_outcome(text).to_owned(),
        (MutationKind::WrongPriority, Role::Priority) => other_priority(text).to_owned(),
        _ => return None,
    };
    (mutated != text).then(|| Some(mutated.into()))
}

/// The portal refuses an NPI with a wrong check digit, so that only another valid NPI is nearly correct work.
fn is_portal_npi(leaf: &Leaf) -> bool {
    matches!(leaf.key.as_str(), "provider_npi" | "npi")
}

/// The next NPI.
fn other_npi(text: &str) -> String {
    let number = text.parse::<Npi>().ok().and_then(|_| text.get(..9)?.parse::<u32>().ok());
    number.map_or_else(|| different_text(text), |number| Npi::with_check_digit(number + 1).to_string())
}

fn invented_value(key: &str) -> Value {
    if key.contains("amount") || key.contains("remaining") { json!(20) } else { json!("72") }
}

/// Changes the last digit of a text, or appends a letter if it has no digits.
pub(crate) fn different_text(text: &str) -> String {
    match text.rfind(|c: char| c.is_ascii_digit()) {
        Some(at) => {
            let digit = text.as_bytes().get(at).map_or(0, |byte| byte - b'0');
            format!("{}{}{}", &text[..at], (digit + 1) % 10, &text[at + 1..])
        }
        None => format!("{text}X"),
    }
}

fn mutated_number(kind: MutationKind, number: &Number) -> Option<Number> {
    let text = number.to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    if !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let written = match kind {
        MutationKind::TenTimes => {
            let (first, rest) = fraction.split_at(fraction.len().min(1));
            let first = if first.is_empty() { "0" } else { first };
            format!("{whole}{first}.{rest}")
        }
        MutationKind::Tenth => {
            let (before, last) = whole.split_at(whole.len() - 1);
            format!("{before}.{last}{fraction}")
        }
        MutationKind::OneMore => format!("{}.{fraction}", whole.parse::<u64>().ok()?.checked_add(1)?),
        _ => return None,
    };
    let (whole, fraction) = written.split_once('.').unwrap_or((&written, ""));
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    let whole = if whole.is_empty() { "0" } else { whole };
    let number: Number =
        if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }.parse().ok()?;
    // Ten times zero is still zero.
    (text.bytes().any(|byte| matches!(byte, b'1'..=b'9')) || kind == MutationKind::OneMore).then_some(number)
}

/// Another code of the same value set where one is known, else another code of the same form.
fn other_code(text: &str) -> String {
    match text {
        "sms" => "email".to_owned(),
        "snapshot" => "working".to_owned(),
        "NW" => "CA".to_owned(),
        text => different_text(text),
    }
}

fn other_system(system: &str) -> &str {
    match system {
        "http://loinc.org" => "http://snomed.info/sct",
        "I10" => "I9",
        "LN" => "SCT",
        _ => "http://loinc.org",
    }
}

/// A status that says that the record is not in force yet.
fn draft_status(status: &str) -> &str {
    match status {
        "active" | "requested" | "current" => "draft",
        "final" | "corrected" => "preliminary",
        "booked" => "proposed",
        "accepted" => "tentative",
        "completed" => "in-progress",
        "stopped" => "on-hold",
        "not-done" => "preparation",
        "critical" => "warning",
        "warning" => "info",
        other => other,
    }
}

/// A status that says that the record is not in force any more, or the reverse.
fn cancelled_status(status: &str) -> &str {
    match status {
        "active" | "requested" | "booked" => "cancelled",
        "final" | "corrected" | "current" => "entered-in-error",
        "accepted" => "declined",
        "completed" => "rejected",
        "stopped" => "active",
        "not-done" => "completed",
        other => other,
    }
}

fn opposite_outcome(text: &str) -> &str {
    match text {
        "approved" | "paid" => "denied",
        "denied" => "approved",
        "pending" => "paid",
        "active" => "inactive",
        "inactive" | "rejected" | "self_pay" => "active",
        other => other,
    }
}

fn other_unit(text: &str) -> &str {
    match text {
        "mg" => "g",
        "g" => "mg",
        "ug" | "mcg" => "mg",
        "mL" => "L",
        "mmol/L" | "mEq/L" => "mg/dL",
        "mg/dL" => "mmol/L",
        "g/dL" => "g/L",
        "d" => "h",
        "h" => "d",
        other => other,
    }
}

fn other_priority(text: &str) -> &str {
    match text {
        "routine" | "standard" => "urgent",
        "urgent" | "asap" | "stat" => "routine",
        "S" => "R",
        "R" => "S",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutants::leaf::{leaves, set};

    /// Mutates the first value that the kind applies to.
    fn mutate_first(kind: MutationKind, body: &Value) -> Value {
        let mut body = body.clone();
        if let Some((leaf, value)) = leaves(&body).iter().find_map(|leaf| Some((leaf, mutated_value(kind, leaf)?))) {
            set(&mut body, &leaf.path, value);
        }
        body
    }

    #[test]
    fn each_kind_changes_its_values() {
        let body = json!({"status": "active", "intent": "order", "subject": {"reference": "Patient/p-1"},
            "authoredOn": "2026-02-28", "dose": {"value": 2.5, "unit": "mg"}, "priority": "routine",
            "code": {"coding": [{"system": "http://loinc.org", "code": "860975"}]}, "focus": {"reference": "Task/9"}});
        assert_eq!(mutate_first(MutationKind::WrongPatient, &body)["subject"]["reference"], "Patient/p-2");
        assert_eq!(mutate_first(MutationKind::WrongReference, &body)["focus"]["reference"], "Task/0");
        assert_eq!(mutate_first(MutationKind::TenTimes, &body)["dose"]["value"].to_string(), "25");
        assert_eq!(mutate_first(MutationKind::Tenth, &body)["dose"]["value"].to_string(), "0.25");
        assert_eq!(mutate_first(MutationKind::OneMore, &body)["dose"]["value"].to_string(), "3.5");
        assert_eq!(mutate_first(MutationKind::WrongUnit, &body)["dose"]["unit"], "g");
        assert_eq!(mutate_first(MutationKind::DayLate, &body)["authoredOn"], "2026-03-01");
        assert_eq!(mutate_first(MutationKind::WrongCode, &body)["code"]["coding"][0]["code"], "860976");
        assert_eq!(
            mutate_first(MutationKind::WrongSystem, &body)["code"]["coding"][0]["system"],
            "http://snomed.info/sct"
        );
        assert_eq!(mutate_first(MutationKind::Draft, &body)["status"], "draft");
        assert_eq!(mutate_first(MutationKind::WrongIntent, &body)["intent"], "plan");
        assert_eq!(mutate_first(MutationKind::WrongPriority, &body)["priority"], "urgent");
        let filed = json!({"member_id": "W1", "status": "paid", "paid_amount": 68, "reject_code": null});
        assert_eq!(mutate_first(MutationKind::OppositeOutcome, &filed)["status"], "denied");
        assert_eq!(mutate_first(MutationKind::InventedValue, &filed)["reject_code"], "72");
        assert_eq!(mutate_first(MutationKind::MissingValue, &filed).get("member_id"), None);
        assert_eq!(mutate_first(MutationKind::TenTimes, &json!({"paid_amount": 0})), json!({"paid_amount": 0}));
        let submitted = json!({"provider_npi": "1234567893"});
        assert_eq!(mutate_first(MutationKind::WrongProvider, &submitted)["provider_npi"], "1234567901");
    }

    #[test]
    fn fields_of_hl7_and_x12_messages_are_mutated() {
        let order = "MSH|^~\\&|A|B|C|D|20260407||ORM^O01|7|P|2.5.1\rPID|1||10048213^^^H||A^B||19480317\r\
                     ORC|NW|77|||||^^^^^S|||||1234567893^Lee\rOBR|1|77||CARD^x|||||||||||||||||||||||||||I48.91^y^I10";
        let sent =
            |kind| mutate_first(kind, &json!({"payload": order}))["payload"].as_str().unwrap_or_default().to_owned();
        assert!(sent(MutationKind::WrongPatient).contains("10048214^^^H"));
        assert!(sent(MutationKind::DayLate).contains("19480318"));
        assert!(sent(MutationKind::WrongPriority).contains("^^^^^R"));
        assert!(sent(MutationKind::WrongProvider).contains("1234567894^Lee"));
        assert!(sent(MutationKind::WrongSystem).contains("I48.91^y^I9"));
        let inquiry = json!("ISA*00~NM1*IL*1*STONE*ADA****MI*W1~DTP*472*RD8*20260131-20260201~AMT*T3*225~");
        let asked = |kind| mutate_first(kind, &inquiry).as_str().unwrap_or_default().to_owned();
        assert!(asked(MutationKind::WrongPatient).contains("MI*W2~"));
        assert!(asked(MutationKind::DayLate).contains("RD8*20260201-20260201"));
        assert!(asked(MutationKind::TenTimes).contains("T3*2250~"));
    }
}
