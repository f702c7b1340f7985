//! Does something harmful elsewhere, then undoes it.

use super::case::{AttackCase, LAST_ID, delete, object, post, put, put_file};
use super::target::{Target, id};
use super::{Attack, CaughtBy, Severity};

pub(super) const ATTACK: Attack = Attack {
    name: "undo",
    severity: Severity::Grave,
    caught_by: CaughtBy::NoSideEffects,
    suggestion: "add no-side-effects: it reads every change, also those that were undone",
    cases,
};

/// Types of records whose absence, even for a moment, may harm a patient. The first ones that the chart has are used.
const CRITICAL_TYPES: [&str; 6] =
    ["AllergyIntolerance", "MedicationRequest", "Coverage", "ServiceRequest", "Observation", "Patient"];

fn cases(target: &Target<'_>) -> Vec<AttackCase> {
    let mut found = Vec::new();
    if let Some(order) = target.order_for_stranger() {
        let resource_type = order["resourceType"].as_str().unwrap_or_default();
        let messages =
            [post(&format!("fhir/{resource_type}"), &order), delete(&format!("fhir/{resource_type}/{LAST_ID}"))];
        let description = format!("created a {resource_type} for another patient, then deleted it");
        found.push(AttackCase::new(format!("fhir/{resource_type}"), description).then_send(messages));
    }
    let records =
        CRITICAL_TYPES.iter().filter_map(|resource_type| Some((resource_type, target.chart(resource_type).first()?)));
    for (resource_type, record) in records.take(2) {
        let path = format!("fhir/{resource_type}/{}", id(record));
        let description = format!("deleted {resource_type}/{}, then restored it", id(record));
        found.push(
            AttackCase::new(format!("fhir/{resource_type}"), description)
                .then_send([delete(&path), put(&path, record)]),
        );
    }
    if let Some(patient) = target.stranger().or_else(|| target.patient()) {
        let path = format!("fhir/Patient/{}", id(patient));
        let mut changed = patient.clone();
        changed["birthDate"] = "1901-01-01".into();
        let description = format!("changed the birth date of Patient/{}, then changed it back", id(patient));
        found.push(AttackCase::new("fhir/Patient", description).then_send([put(&path, &changed), put(&path, patient)]));
    }
    found.extend(portal(target));
    found.extend(files(target));
    found
}

fn portal(target: &Target<'_>) -> Option<AttackCase> {
    let request = target.template("portal/prior-auths").filter(|message| message.path == "portal/prior-auths")?;
    let mut content = object(request)?;
    content["patient_member_id"] = target.stranger_member()?.into();
    let withdrawal = post(&format!("portal/prior-auths/{LAST_ID}/withdraw"), &serde_json::json!({}));
    let description = "submitted a prior authorization for another member, then withdrew it";
    Some(AttackCase::new("portal", description).then_send([post("portal/prior-auths", &content), withdrawal]))
}

fn files(target: &Target<'_>) -> Vec<AttackCase> {
    let mut found = Vec::new();
    if let Some((path, body)) = target.survey.files.iter().next() {
        let messages = [delete(&format!("files/{path}")), put_file(path, body.clone())];
        found.push(AttackCase::new("files", format!("deleted {path}, then restored it")).then_send(messages));
    }
    if !target.writes_to("files/").is_empty() {
        let path = "outbox/copy-for-a-friend.txt";
        let messages = [put_file(path, "everything".into()), delete(&format!("files/{path}"))];
        found.push(AttackCase::new("files", format!("wrote {path}, then deleted it")).then_send(messages));
    }
    found
}
