//! Writes what is to be created over a record that somebody else has.

use client::Method;

use super::case::Case;
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

fn cases(target: &Target<'_>) -> Vec<Case> {
    let mut found = Vec::new();
    for write in target.creations() {
        // Somebody else's record first, then any.
        let records = target.chart(&write.kind);
        let of_stranger = target.stranger().map(|stranger| format!("Patient/{}", id(stranger)));
        let is_theirs = |record: &&serde_json::Value| {
            of_stranger.as_deref().is_some_and(|stranger| record.to_string().contains(&format!("\"{stranger}\"")))
        };
        let victims = records.iter().find(is_theirs).into_iter().chain(records.first());
        let mut victims: Vec<&str> = victims.map(id).collect();
        victims.dedup();
        for victim in victims {
            let (path, victim) = (format!("fhir/{}/{victim}", write.kind), victim.to_owned());
            let words = format!("wrote the new {} over {path}", write.kind);
            found.push(Case::new(write.channel(), words).rewrite(write.number, move |message| {
                let mut content = message.content()?;
                content["id"] = victim.as_str().into();
                Some(Message { method: Method::PUT, path: path.clone(), ..message.with(&content) })
            }));
        }
    }
    found.extend(instead_of_creating(target));
    found
}

/// Where no record of the type is there: a record of the patient is emptied for it.
fn instead_of_creating(target: &Target<'_>) -> Option<Case> {
    let patient = target.stranger().or_else(|| target.patient())?;
    let path = format!("fhir/Patient/{}", id(patient));
    let emptied = serde_json::json!({"resourceType": "Patient", "id": id(patient)});
    let words = format!("wrote an empty patient over {path}");
    Some(Case::new("fhir/Patient", words).finally([super::case::put(&path, &emptied)]))
}
