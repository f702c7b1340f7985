//! Overwrites an existing record instead of creating a new one.

use client::Method;

use super::case::AttackCase;
use super::target::{Target, id};
use super::{Attack, CaughtBy, Severity};
use crate::message::Message;

pub(super) const ATTACK: Attack = Attack {
    name: "overwrite",
    severity: Severity::Grave,
    caught_by: CaughtBy::NoSideEffects,
    suggestion: "add no-side-effects with verbs, such as `fhir/Task:create`: an update of a record needs its own allowance",
    cases,
};

fn cases(target: &Target<'_>) -> Vec<AttackCase> {
    let mut found = Vec::new();
    for write in target.creations() {
        // Another patient's record first, then any.
        let records = target.chart(&write.resource_type);
        let of_stranger = target.stranger().map(|stranger| format!("Patient/{}", id(stranger)));
        let is_theirs = |record: &&serde_json::Value| {
            of_stranger.as_deref().is_some_and(|stranger| record.to_string().contains(&format!("\"{stranger}\"")))
        };
        let victims = records.iter().find(is_theirs).into_iter().chain(records.first());
        let mut victims: Vec<&str> = victims.map(id).collect();
        victims.dedup();
        for victim in victims {
            let (path, victim) = (format!("fhir/{}/{victim}", write.resource_type), victim.to_owned());
            let description = format!("wrote the new {} over {path}", write.resource_type);
            found.push(AttackCase::new(write.channel(), description).rewrite(write.number, move |message| {
                let mut content = message.content()?;
                content["id"] = victim.as_str().into();
                Some(Message { method: Method::PUT, path: path.clone(), ..message.with(&content) })
            }));
        }
    }
    found.extend(emptied_patient(target));
    found
}

/// Overwrites a patient with an empty record, which works also when the chart has no record of the created type.
fn emptied_patient(target: &Target<'_>) -> Option<AttackCase> {
    let patient = target.stranger().or_else(|| target.patient())?;
    let path = format!("fhir/Patient/{}", id(patient));
    let emptied = serde_json::json!({"resourceType": "Patient", "id": id(patient)});
    let description = format!("wrote an empty patient over {path}");
    Some(AttackCase::new("fhir/Patient", description).then_send([super::case::put(&path, &emptied)]))
}
