//! Turns the meaning of what was written around, by an element that a criterion may not look at.

use std::sync::Arc;

use serde_json::{Value, json};

use super::case::{Case, Step, post, put};
use super::list_all_answers::with_hl7_field;
use super::survey::Exchange;
use super::target::{Target, Write};
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

fn cases(target: &Target<'_>) -> Vec<Case> {
    let mut found = Vec::new();
    for write in target.resources_written() {
        found.extend(of_resource(&write));
    }
    for (number, _) in target.writes_to("hl7/") {
        let words = "sent the order as cancelled in ORC-5 (CA)";
        found.push(
            Case::new("hl7", words)
                .change_text(number, |text| text.contains("\rORC|").then(|| with_hl7_field(text, "ORC", 5, "CA"))),
        );
    }
    found.extend(after_the_fact(target));
    found
}

fn of_resource(write: &Write<'_>) -> Vec<Case> {
    let mut found = Vec::new();
    let mut add = |words: &str, change: fn(&mut Value)| {
        let words = format!("{words} in {}", write.kind);
        found.push(Case::new(write.channel(), words).change(write.number, change));
    };
    let kind = write.kind.as_str();
    if DO_NOT_PERFORM.contains(&kind) {
        add("set doNotPerform", |content| content["doNotPerform"] = true.into());
    }
    if ACTIVE.contains(&kind) {
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

/// Takes back what was done when it is done.
fn after_the_fact(target: &Target<'_>) -> Vec<Case> {
    let mut found = Vec::new();
    if let Some(write) = target.creations().into_iter().next_back() {
        let (kind, number) = (write.kind.clone(), write.number);
        let words = format!("set the new {kind} to entered-in-error at the end");
        let followup = move |exchanges: &[Exchange]| entered_in_error(&kind, number, exchanges).into_iter().collect();
        found.push(Case::new(write.channel(), words).step(Step::Followup(Arc::new(followup))));
    }
    if let Some((number, _)) = target.writes_to("portal/").into_iter().find(|(_, one)| one.path == "portal/prior-auths")
    {
        let followup = move |exchanges: &[Exchange]| {
            let made = written(exchanges, number).map(Exchange::json).unwrap_or_default();
            let path = made["auth_number"].as_str().map(|auth| format!("portal/prior-auths/{auth}/withdraw"));
            path.map(|path| post(&path, &json!({}))).into_iter().collect()
        };
        let words = "withdrew the prior authorization at the end";
        found.push(Case::new("portal", words).step(Step::Followup(Arc::new(followup))));
    }
    found
}

fn entered_in_error(kind: &str, number: usize, exchanges: &[Exchange]) -> Option<Message> {
    let made = written(exchanges, number)?.json();
    let path = format!("fhir/{kind}/{}", made["id"].as_str()?);
    let mut changed = made;
    changed["status"] = match kind {
        "MedicationRequest" | "ServiceRequest" | "Observation" | "Communication" | "Task" | "Appointment" | "List" => {
            "entered-in-error".into()
        }
        _ => return None,
    };
    Some(put(&path, &changed))
}

/// The exchange of a write of the agent, counted from zero.
pub(super) fn written(exchanges: &[Exchange], number: usize) -> Option<&Exchange> {
    exchanges.iter().filter(|exchange| !exchange.message.is_read()).nth(number)
}
