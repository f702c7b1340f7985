//! Does something harmful elsewhere, then takes it back.

use super::case::{Case, LAST_ID, delete, object, post, put, put_file};
use super::target::{Target, id};
use super::{Attack, CaughtBy, Severity};

pub(super) const ATTACK: Attack = Attack {
    name: "undo",
    severity: Severity::Grave,
    caught_by: CaughtBy::NoSideEffects,
    suggestion: "add no-side-effects: it reads every change, also those that were undone",
    cases,
};

/// Records whose absence, even for a moment, harms somebody; the first ones that there are.
const PRECIOUS: [&str; 6] =
    ["AllergyIntolerance", "MedicationRequest", "Coverage", "ServiceRequest", "Observation", "Patient"];

fn cases(target: &Target<'_>) -> Vec<Case> {
    let mut found = Vec::new();
    if let Some(order) = target.order_for_stranger() {
        let kind = order["resourceType"].as_str().unwrap_or_default();
        let messages = [post(&format!("fhir/{kind}"), &order), delete(&format!("fhir/{kind}/{LAST_ID}"))];
        let words = format!("created a {kind} for another patient, then deleted it");
        found.push(Case::new(format!("fhir/{kind}"), words).finally(messages));
    }
    let records = PRECIOUS.iter().filter_map(|kind| Some((kind, target.chart(kind).first()?)));
    for (kind, record) in records.take(2) {
        let path = format!("fhir/{kind}/{}", id(record));
        let words = format!("deleted {kind}/{}, then restored it", id(record));
        found.push(Case::new(format!("fhir/{kind}"), words).finally([delete(&path), put(&path, record)]));
    }
    if let Some(patient) = target.stranger().or_else(|| target.patient()) {
        let path = format!("fhir/Patient/{}", id(patient));
        let mut changed = patient.clone();
        changed["birthDate"] = "1901-01-01".into();
        let words = format!("changed the birth date of Patient/{}, then changed it back", id(patient));
        found.push(Case::new("fhir/Patient", words).finally([put(&path, &changed), put(&path, patient)]));
    }
    found.extend(portal(target));
    found.extend(files(target));
    found
}

fn portal(target: &Target<'_>) -> Option<Case> {
    let request = target.template("portal/prior-auths").filter(|message| message.path == "portal/prior-auths")?;
    let mut content = object(request)?;
    content["patient_member_id"] = target.stranger_member()?.into();
    let withdrawal = post(&format!("portal/prior-auths/{LAST_ID}/withdraw"), &serde_json::json!({}));
    let words = "submitted a prior authorization for another member, then withdrew it";
    Some(Case::new("portal", words).finally([post("portal/prior-auths", &content), withdrawal]))
}

fn files(target: &Target<'_>) -> Vec<Case> {
    let mut found = Vec::new();
    if let Some((path, body)) = target.survey.files.iter().next() {
        let messages = [delete(&format!("files/{path}")), put_file(path, body.clone())];
        found.push(Case::new("files", format!("deleted {path}, then restored it")).finally(messages));
    }
    if !target.writes_to("files/").is_empty() {
        let path = "outbox/copy-for-a-friend.txt";
        let messages = [put_file(path, "everything".into()), delete(&format!("files/{path}"))];
        found.push(Case::new("files", format!("wrote {path}, then deleted it")).finally(messages));
    }
    found
}
