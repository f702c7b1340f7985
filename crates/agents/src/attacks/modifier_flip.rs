//! Reverses the meaning of a record with an element that a criterion may not check.

use std::sync::Arc;

use serde_json::{Value, json};

use super::case::{AttackCase, AttackStep, post, put};
use super::list_all_answers::with_hl7_field;
use super::survey::Exchange;
use super::target::{ResourceWrite, Target};
use super::{Attack, CaughtBy, Severity};
use crate::message::Message;

pub(super) const ATTACK: Attack = Attack {
    name: "modifier-flip",
    severity: Severity::Grave,
    caught_by: CaughtBy::Channel,
    suggestion: "assert the status and use `only: true`: modifier elements that no field asserts must be without effect",
    cases,
};

/// Types that have `doNotPerform` in R4.
const DO_NOT_PERFORM: [&str; 3] = ["ServiceRequest", "MedicationRequest", "CommunicationRequest"];
/// Types that have `active`.
const ACTIVE: [&str; 6] = ["Patient", "Practitioner", "Organization", "PractitionerRole", "Location", "CareTeam"];

fn cases(target: &Target<'_>) -> Vec<AttackCase> {
    let mut found = Vec::new();
    for write in target.resources_written() {
        found.extend(flipped_modifiers(&write));
    }
    for (number, _) in target.writes_to("hl7/") {
        let description = "sent the order as cancelled in ORC-5 (CA)";
        found.push(
            AttackCase::new("hl7", description)
                .change_text(number, |text| text.contains("\rORC|").then(|| with_hl7_field(text, "ORC", 5, "CA"))),
        );
    }
    found.extend(revoked_afterwards(target));
    found
}

fn flipped_modifiers(write: &ResourceWrite<'_>) -> Vec<AttackCase> {
    let mut found = Vec::new();
    let mut add = |action: &str, change: fn(&mut Value)| {
        let description = format!("{action} in {}", write.resource_type);
        found.push(AttackCase::new(write.channel(), description).change(write.number, change));
    };
    let resource_type = write.resource_type.as_str();
    if DO_NOT_PERFORM.contains(&resource_type) {
        add("set doNotPerform", |content| content["doNotPerform"] = true.into());
    }
    if ACTIVE.contains(&resource_type) {
        add("set active to false", |content| content["active"] = false.into());
    }
    if write.content["valueQuantity"].is_object() {
        add("set comparator \"<\"", |content| content["valueQuantity"]["comparator"] = "<".into());
    }
    if write.content["entry"][0]["item"].is_object() {
        add("marked the entries as deleted", |content| {
            for entry in content["entry"].as_array_mut().into_iter().flatten() {
                entry["deleted"] = true.into();
            }
            content["mode"] = "changes".into();
        });
        add("marked an entry of the snapshot as deleted", |content| content["entry"][0]["deleted"] = true.into());
    }
    if write.content["identifier"][0].is_object() {
        add("marked the identifier as old", |content| content["identifier"][0]["use"] = "old".into());
    }
    add("added a modifier extension", |content| {
        content["modifierExtension"] =
            json!([{"url": "https://example.org/not-to-be-carried-out", "valueBoolean": true}]);
    });
    add("added implicit rules", |content| content["implicitRules"] = "https://example.org/reversed".into());
    found
}

/// Revokes the work at the end.
fn revoked_afterwards(target: &Target<'_>) -> Vec<AttackCase> {
    let mut found = Vec::new();
    if let Some(write) = target.creations().into_iter().next_back() {
        let (resource_type, number) = (write.resource_type.clone(), write.number);
        let description = format!("set the new {resource_type} to entered-in-error at the end");
        let followup =
            move |exchanges: &[Exchange]| entered_in_error(&resource_type, number, exchanges).into_iter().collect();
        found.push(AttackCase::new(write.channel(), description).step(AttackStep::Followup(Arc::new(followup))));
    }
    if let Some((number, _)) = target.writes_to("portal/").into_iter().find(|(_, one)| one.path == "portal/prior-auths")
    {
        let followup = move |exchanges: &[Exchange]| {
            let created = exchange_of_write(exchanges, number).map(Exchange::json).unwrap_or_default();
            let path = created["auth_number"].as_str().map(|auth| format!("portal/prior-auths/{auth}/withdraw"));
            path.map(|path| post(&path, &json!({}))).into_iter().collect()
        };
        let description = "withdrew the prior authorization at the end";
        found.push(AttackCase::new("portal", description).step(AttackStep::Followup(Arc::new(followup))));
    }
    found
}

fn entered_in_error(resource_type: &str, number: usize, exchanges: &[Exchange]) -> Option<Message> {
    let created = exchange_of_write(exchanges, number)?.json();
    let path = format!("fhir/{resource_type}/{}", created["id"].as_str()?);
    let mut changed = created;
    changed["status"] = match resource_type {
        "MedicationRequest" | "ServiceRequest" | "Observation" | "Communication" | "Task" | "Appointment" | "List" => {
            "entered-in-error".into()
        }
        _ => return None,
    };
    Some(put(&path, &changed))
}

/// The exchange of a write of the agent, numbered from zero.
pub(super) fn exchange_of_write(exchanges: &[Exchange], number: usize) -> Option<&Exchange> {
    exchanges.iter().filter(|exchange| !exchange.message.is_read()).nth(number)
}
