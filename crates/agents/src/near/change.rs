//! What a value becomes when one thing is wrong with it.

use serde_json::{Number, Value, json};

use super::dates;
use super::kind::Kind;
use super::leaf::Leaf;
use super::role::{Role, role};

/// Instead of the value another one, or none; nothing when this cannot be wrong with it.
pub(super) fn changed(kind: Kind, leaf: &Leaf) -> Option<Option<Value>> {
    match &leaf.value {
        Value::Object(_) => (kind == Kind::ItemLeftOut && leaf.key != "coding").then_some(None),
        Value::Null => (kind == Kind::Invented && leaf.field.is_none()).then(|| Some(invented(&leaf.key))),
        Value::Number(number) => of_number(kind, number).map(|number| Some(number.into())),
        Value::String(text) => of_text(kind, leaf, text),
        Value::Bool(_) | Value::Array(_) => None,
    }
}

fn of_text(kind: Kind, leaf: &Leaf, text: &str) -> Option<Option<Value>> {
    let role = role(leaf, text);
    if kind == Kind::Missing {
        return (!matches!(role, Role::Free | Role::Status | Role::Intent | Role::Amount)).then_some(None);
    }
    let other = match (kind, role) {
        (Kind::WrongPatient, Role::Patient)
        | (Kind::WrongProvider, Role::Provider)
        | (Kind::WrongReference, Role::Reference)
        | (Kind::WrongNumber, Role::Number)
        | (Kind::WrongName, Role::Name) => other(text),
        (Kind::TenTimes | Kind::Tenth | Kind::OneMore, Role::Amount) => {
            of_number(kind, &text.parse().ok()?)?.to_string()
        }
        (Kind::DayLate, Role::Date) => dates::moved(text, 1)?,
        (Kind::DayEarly, Role::Date) => dates::moved(text, -1)?,
        (Kind::AnotherYear, Role::Date) => dates::another_year(text)?,
        (Kind::HourLate, Role::Date) => dates::hour_late(text)?,
        (Kind::WrongUnit, Role::Unit) => other_unit(text).to_owned(),
        (Kind::WrongCode, Role::Code) => other_code(text),
        (Kind::WrongSystem, Role::System) => other_system(text).to_owned(),
        (Kind::Draft, Role::Status) => unfinished(text).to_owned(),
        (Kind::Cancelled, Role::Status) => ended(text).to_owned(),
        (Kind::WrongIntent, Role::Intent) => if text == "plan" { "order" } else { "plan" }.to_owned(),
        (Kind::Opposite, Role::Status | Role::Code) => opposite(text).to_owned(),
        (Kind::WrongPriority, Role::Priority) => other_priority(text).to_owned(),
        _ => return None,
    };
    (other != text).then(|| Some(other.into()))
}

fn invented(key: &str) -> Value {
    if key.contains("amount") || key.contains("remaining") { json!(20) } else { json!("72") }
}

/// The last digit is another one; a text without digits gets a letter more.
pub(crate) fn other(text: &str) -> String {
    match text.rfind(|c: char| c.is_ascii_digit()) {
        Some(place) => {
            let digit = text.as_bytes().get(place).map_or(0, |byte| byte - b'0');
            format!("{}{}{}", &text[..place], (digit + 1) % 10, &text[place + 1..])
        }
        None => format!("{text}X"),
    }
}

fn of_number(kind: Kind, number: &Number) -> Option<Number> {
    let text = number.to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    if !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let written = match kind {
        Kind::TenTimes => {
            let (first, rest) = fraction.split_at(fraction.len().min(1));
            let first = if first.is_empty() { "0" } else { first };
            format!("{whole}{first}.{rest}")
        }
        Kind::Tenth => {
            let (before, last) = whole.split_at(whole.len() - 1);
            format!("{before}.{last}{fraction}")
        }
        Kind::OneMore => format!("{}.{fraction}", whole.parse::<u64>().ok()?.checked_add(1)?),
        _ => return None,
    };
    let (whole, fraction) = written.split_once('.').unwrap_or((&written, ""));
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    let whole = if whole.is_empty() { "0" } else { whole };
    let number: Number =
        if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }.parse().ok()?;
    // Ten times nothing is nothing.
    (text.bytes().any(|byte| matches!(byte, b'1'..=b'9')) || kind == Kind::OneMore).then_some(number)
}

/// Another of the same list where there is one, else another of the same form.
fn other_code(text: &str) -> String {
    match text {
        "sms" => "email".to_owned(),
        "snapshot" => "working".to_owned(),
        "NW" => "CA".to_owned(),
        text => other(text),
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

fn unfinished(status: &str) -> &str {
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

fn ended(status: &str) -> &str {
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

fn opposite(text: &str) -> &str {
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
    use crate::near::leaf::{leaves, set};

    /// What the kind makes of the first value that it can be wrong with.
    fn one(kind: Kind, body: &Value) -> Value {
        let mut body = body.clone();
        if let Some((leaf, value)) = leaves(&body).iter().find_map(|leaf| Some((leaf, changed(kind, leaf)?))) {
            set(&mut body, &leaf.address, value);
        }
        body
    }

    #[test]
    fn each_kind_changes_what_it_says() {
        let body = json!({"status": "active", "intent": "order", "subject": {"reference": "Patient/p-1"},
            "authoredOn": "2026-02-28", "dose": {"value": 2.5, "unit": "mg"}, "priority": "routine",
            "code": {"coding": [{"system": "http://loinc.org", "code": "860975"}]}, "focus": {"reference": "Task/9"}});
        assert_eq!(one(Kind::WrongPatient, &body)["subject"]["reference"], "Patient/p-2");
        assert_eq!(one(Kind::WrongReference, &body)["focus"]["reference"], "Task/0");
        assert_eq!(one(Kind::TenTimes, &body)["dose"]["value"].to_string(), "25");
        assert_eq!(one(Kind::Tenth, &body)["dose"]["value"].to_string(), "0.25");
        assert_eq!(one(Kind::OneMore, &body)["dose"]["value"].to_string(), "3.5");
        assert_eq!(one(Kind::WrongUnit, &body)["dose"]["unit"], "g");
        assert_eq!(one(Kind::DayLate, &body)["authoredOn"], "2026-03-01");
        assert_eq!(one(Kind::WrongCode, &body)["code"]["coding"][0]["code"], "860976");
        assert_eq!(one(Kind::WrongSystem, &body)["code"]["coding"][0]["system"], "http://snomed.info/sct");
        assert_eq!(one(Kind::Draft, &body)["status"], "draft");
        assert_eq!(one(Kind::WrongIntent, &body)["intent"], "plan");
        assert_eq!(one(Kind::WrongPriority, &body)["priority"], "urgent");
        let filed = json!({"member_id": "W1", "status": "paid", "paid_amount": 68, "reject_code": null});
        assert_eq!(one(Kind::Opposite, &filed)["status"], "denied");
        assert_eq!(one(Kind::Invented, &filed)["reject_code"], "72");
        assert_eq!(one(Kind::Missing, &filed).get("member_id"), None);
        assert_eq!(one(Kind::TenTimes, &json!({"paid_amount": 0})), json!({"paid_amount": 0}));
    }

    #[test]
    fn fields_of_messages_change_alike() {
        let order = "MSH|^~\\&|A|B|C|D|20260407||ORM^O01|7|P|2.5.1\rPID|1||10048213^^^H||A^B||19480317\r\
                     ORC|NW|77|||||^^^^^S|||||1234567893^Lee\rOBR|1|77||CARD^x|||||||||||||||||||||||||||I48.91^y^I10";
        let sent = |kind| one(kind, &json!({"payload": order}))["payload"].as_str().unwrap_or_default().to_owned();
        assert!(sent(Kind::WrongPatient).contains("10048214^^^H"));
        assert!(sent(Kind::DayLate).contains("19480318"));
        assert!(sent(Kind::WrongPriority).contains("^^^^^R"));
        assert!(sent(Kind::WrongProvider).contains("1234567894^Lee"));
        assert!(sent(Kind::WrongSystem).contains("I48.91^y^I9"));
        let question = json!("ISA*00~NM1*IL*1*STONE*ADA****MI*W1~DTP*472*RD8*20260131-20260201~AMT*T3*225~");
        let asked = |kind| one(kind, &question).as_str().unwrap_or_default().to_owned();
        assert!(asked(Kind::WrongPatient).contains("MI*W2~"));
        assert!(asked(Kind::DayLate).contains("RD8*20260201-20260201"));
        assert!(asked(Kind::TenTimes).contains("T3*2250~"));
    }
}
