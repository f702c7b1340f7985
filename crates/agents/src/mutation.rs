//! Near misses of the reference agents: the right work with one thing wrong in what is sent, as a hurried or confused agent
//! would have it; and other ways of doing the same that must count the same.

mod message;

use serde_json::{Map, Value};

use crate::Manner;

/// One thing that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// A digit of every patient, member and record number is another.
    WrongPatient,
    /// Amounts are ten times what they should be.
    TenTimes,
    /// `mg` is `g`, `mL` is `L`, and so on.
    WrongUnit,
    /// Dates are a day late.
    DayLate,
    /// Codes are another code of the same form.
    WrongCode,
    /// Codes are left out.
    MissingCode,
    /// What is active is a draft.
    Draft,
    /// What went well is said to have gone badly, and the reverse.
    Opposite,
    /// It is by another provider.
    WrongProvider,
    /// What is urgent is routine, and the reverse.
    WrongPriority,
    /// Something that nobody spoke of is deleted as well.
    Deletion,
    /// Everything is sent twice.
    Twice,
    /// Nothing of it is sent.
    LeftOut,
}

/// Another way that is as good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Members of objects in another order, and reading more than needed.
    Reordered,
    /// Texts with a harmless note of the sender's own, where there is a place for it.
    Annotated,
}

impl Mutation {
    pub const ALL: [Mutation; 13] = [
        Self::WrongPatient,
        Self::TenTimes,
        Self::WrongUnit,
        Self::DayLate,
        Self::WrongCode,
        Self::MissingCode,
        Self::Draft,
        Self::Opposite,
        Self::WrongProvider,
        Self::WrongPriority,
        Self::Deletion,
        Self::Twice,
        Self::LeftOut,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::WrongPatient => "wrong patient",
            Self::TenTimes => "ten times",
            Self::WrongUnit => "wrong unit",
            Self::DayLate => "a day late",
            Self::WrongCode => "wrong code",
            Self::MissingCode => "missing code",
            Self::Draft => "draft",
            Self::Opposite => "opposite",
            Self::WrongProvider => "wrong provider",
            Self::WrongPriority => "wrong priority",
            Self::Deletion => "deletion",
            Self::Twice => "twice",
            Self::LeftOut => "left out",
        }
    }
}

impl Variant {
    pub const ALL: [Variant; 2] = [Self::Reordered, Self::Annotated];
}

/// What becomes of one thing that an agent sends.
pub(crate) struct Alteration {
    pub(crate) body: Value,
    /// Sent before the body.
    pub(crate) again: Option<Value>,
    pub(crate) is_left_out: bool,
}

impl Alteration {
    /// `number` counts what was sent before.
    pub(crate) fn of(manner: Manner, path: &str, body: &Value, number: usize) -> Self {
        let altered = |body| Self { body, again: None, is_left_out: false };
        match manner {
            Manner::Mutant(Mutation::Twice) => {
                Self { body: body.clone(), again: Some(renumbered(body, number)), is_left_out: false }
            }
            Manner::Mutant(Mutation::LeftOut) => Self { body: body.clone(), again: None, is_left_out: true },
            Manner::Mutant(mutation) => altered(mutated(mutation, path, body)),
            Manner::Variant(Variant::Reordered) => altered(reordered(body)),
            Manner::Variant(Variant::Annotated) => altered(annotated(body)),
            _ => altered(body.clone()),
        }
    }
}

fn mutated(mutation: Mutation, path: &str, body: &Value) -> Value {
    let mut body = body.clone();
    let is_file = path.starts_with("files/");
    walk(&mut body, "", &mut |key, value| match (mutation, value) {
        (Mutation::Opposite, Value::String(text)) if is_outcome(key, is_file) => *text = opposite(text).to_owned(),
        (_, value) => mutate(mutation, key, value),
    });
    body
}

fn mutate(mutation: Mutation, key: &str, value: &mut Value) {
    match (mutation, value) {
        (mutation, Value::String(text)) if key == "payload" => *text = message::mutated(mutation, text),
        (Mutation::WrongPatient, Value::String(text)) if names_patient(key, text) => *text = other(text),
        (Mutation::TenTimes, Value::Number(number)) if is_amount(key) => *number = ten_times(number),
        (Mutation::WrongUnit, Value::String(text)) if matches!(key, "unit" | "code" | "units") => {
            *text = other_unit(text).to_owned();
        }
        (Mutation::DayLate, Value::String(text)) => *text = day_late(text),
        (Mutation::WrongCode, Value::String(text)) if is_code(key) => *text = other(text),
        (Mutation::MissingCode, Value::String(text)) if is_code(key) => text.clear(),
        (Mutation::WrongProvider, Value::String(text)) if matches!(key, "provider_npi" | "npi" | "to_number") => {
            *text = other(text)
        }
        (Mutation::WrongPriority, Value::String(text)) if matches!(key, "urgency" | "priority") => {
            *text = other_priority(text).to_owned();
        }
        (Mutation::Draft, Value::String(text)) if matches!(key, "status" | "indicator") => {
            *text = unfinished(text).to_owned()
        }
        _ => {}
    }
}

fn walk(value: &mut Value, key: &str, change: &mut impl FnMut(&str, &mut Value)) {
    match value {
        Value::Object(members) => {
            members.iter_mut().for_each(|(key, member)| walk(member, key, change));
            // What has lost its text is not sent as an empty one, which no server would take.
            members.retain(|_, member| member.as_str() != Some(""));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| walk(item, key, change)),
        leaf => change(key, leaf),
    }
}

fn names_patient(key: &str, text: &str) -> bool {
    matches!(key, "patient_id" | "patient_member_id" | "member_id" | "mrn") || text.starts_with("Patient/")
}

fn is_amount(key: &str) -> bool {
    matches!(key, "value" | "amount" | "quantity" | "dose" | "frequency")
        || key.ends_with("_amount")
        || key.ends_with("_remaining")
}

/// In FHIR `status` is the resource's own; what came of something is a code.
fn is_outcome(key: &str, is_file: bool) -> bool {
    matches!(key, "code" | "outcome" | "decision" | "determination") || (is_file && key == "status")
}

fn opposite(text: &str) -> &str {
    match text {
        "approved" | "paid" => "denied",
        "denied" => "approved",
        "pending" => "paid",
        "active" => "inactive",
        "inactive" => "active",
        "rejected" => "active",
        other => other,
    }
}

fn is_code(key: &str) -> bool {
    matches!(key, "code" | "procedure_code" | "diagnosis_code" | "drug" | "reason" | "decision")
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

fn ten_times(number: &serde_json::Number) -> serde_json::Number {
    let text = number.to_string();
    let shifted = match text.split_once('.') {
        None => format!("{text}0"),
        Some((whole, fraction)) => {
            format!("{whole}{}.{}", &fraction[..1], fraction.get(1..).filter(|rest| !rest.is_empty()).unwrap_or("0"))
        }
    };
    let trimmed = shifted.trim_start_matches('0');
    let whole = if trimmed.starts_with('.') { format!("0{trimmed}") } else { trimmed.to_owned() };
    whole.parse().unwrap_or_else(|_| number.clone())
}

fn unfinished(status: &str) -> &str {
    match status {
        "active" | "requested" => "draft",
        "final" | "corrected" => "preliminary",
        "booked" => "proposed",
        "critical" | "warning" => "info",
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
        other => other,
    }
}

/// A date, or the date that a moment begins with.
fn day_late(text: &str) -> String {
    let is_date = text.len() >= 10
        && text.bytes().take(10).enumerate().all(|(place, byte)| match place {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    if !is_date {
        return text.to_owned();
    }
    let day: u8 = text[8..10].parse().unwrap_or(1);
    format!("{}{:02}{}", &text[..8], day % 28 + 1, &text[10..])
}

/// The same under another number, so that no server takes it for a repetition.
fn renumbered(body: &Value, number: usize) -> Value {
    let mut body = body.clone();
    walk(&mut body, "", &mut |key, value| {
        if let (true, Value::String(text)) = (key == "payload", value) {
            *text = message::renumbered(text, number);
        }
    });
    body
}

fn reordered(body: &Value) -> Value {
    match body {
        Value::Object(members) => {
            members.iter().rev().map(|(key, member)| (key.clone(), reordered(member))).collect::<Map<_, _>>().into()
        }
        Value::Array(items) => items.iter().map(reordered).collect::<Vec<_>>().into(),
        leaf => leaf.clone(),
    }
}

/// FHIR resources take a note; other messages stay as they are.
fn annotated(body: &Value) -> Value {
    let mut body = body.clone();
    let takes = ["ServiceRequest", "MedicationRequest", "Task", "Observation", "Communication"];
    if body["resourceType"].as_str().is_some_and(|kind| takes.contains(&kind)) && body.get("note").is_none() {
        body["note"] = serde_json::json!([{"text": "Entered by the desk."}]);
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn one(mutation: Mutation, body: &Value) -> Value {
        Alteration::of(Manner::Mutant(mutation), "fhir/MedicationRequest", body, 0).body
    }

    #[test]
    fn each_mutation_changes_what_it_says() {
        let body = json!({"status": "active", "subject": {"reference": "Patient/p-1"}, "authoredOn": "2026-04-07",
            "code": {"coding": [{"code": "860975"}]}, "dose": {"value": 2.5, "unit": "mg"}});
        assert_eq!(one(Mutation::WrongPatient, &body)["subject"]["reference"], "Patient/p-2");
        assert_eq!(one(Mutation::TenTimes, &body)["dose"]["value"].to_string(), "25.0");
        assert_eq!(one(Mutation::WrongUnit, &body)["dose"]["unit"], "g");
        assert_eq!(one(Mutation::DayLate, &body)["authoredOn"], "2026-04-08");
        assert_eq!(one(Mutation::WrongCode, &body)["code"]["coding"][0]["code"], "860976");
        assert_eq!(one(Mutation::MissingCode, &body)["code"]["coding"][0], json!({}));
        assert_eq!(one(Mutation::Draft, &body)["status"], "draft");
        let request = json!({"provider_npi": "1234567893", "urgency": "standard"});
        assert_eq!(one(Mutation::WrongProvider, &request)["provider_npi"], "1234567894");
        assert_eq!(one(Mutation::WrongPriority, &request)["urgency"], "urgent");
        let filed = |mutation, body: &Value| Alteration::of(Manner::Mutant(mutation), "files/a.json", body, 0).body;
        let answer = json!({"member_id": "W1", "status": "paid", "paid_amount": 68});
        assert_eq!(one(Mutation::Opposite, &body), body);
        assert_eq!(filed(Mutation::Opposite, &answer)["status"], "denied");
        assert_eq!(filed(Mutation::WrongPatient, &answer)["member_id"], "W2");
        assert_eq!(filed(Mutation::TenTimes, &answer)["paid_amount"].to_string(), "680");
        for variant in Variant::ALL {
            let same = Alteration::of(Manner::Variant(variant), "fhir/Task", &body, 0).body;
            assert_eq!(same["subject"], body["subject"]);
        }
    }

    #[test]
    fn messages_are_changed_in_their_fields() {
        let text = "MSH|^~\\&|A|B|C|D|20260407||ORM^O01|7|P|2.5.1\rPID|1||10048213^^^H||A^B||19480317\rOBR|1|7||CARD^x|||||||||||||||||||||||||||I48.91^y";
        let body = json!({"payload": text});
        let sent = |mutation| one(mutation, &body)["payload"].as_str().unwrap_or_default().to_owned();
        assert!(sent(Mutation::WrongPatient).contains("10048214^^^H"));
        assert!(sent(Mutation::DayLate).contains("19480318"));
        assert!(sent(Mutation::WrongCode).contains("CARDX^x"));
        assert!(!sent(Mutation::MissingCode).contains("I48.91"));
        let twice = Alteration::of(Manner::Mutant(Mutation::Twice), "hl7/outbound", &body, 3);
        assert_ne!(twice.again, Some(body));
    }
}
