//! Which near misses a task is tried with: as many as there are, spread over kinds and places.

use std::collections::BTreeMap;

use super::change::changed;
use super::judged::{is_asked_for, is_judged};
use super::leaf::{Address, leaves};
use super::{Fault, Kind, NearMiss, Plan, sibling};
use crate::guess::words;
use crate::message::Message;
use client::Method;

/// Of each task, when there are as many.
const MOST: usize = 40;

/// The near misses of one of the tasks, the same ones every time.
pub(crate) fn chosen(task: usize, plans: &[Plan]) -> Vec<NearMiss> {
    let Some(own) = plans.get(task) else { return Vec::new() };
    let siblings: Vec<&Plan> =
        plans.iter().enumerate().filter(|(place, _)| *place != task).map(|(_, plan)| plan).collect();
    let mut all = in_values(own);
    all.extend(of_messages(own));
    all.extend(sibling::instead(own, &siblings));
    all.extend(sibling::beside(own, &siblings));
    all.extend(on_others(own));
    all.push(NearMiss { kind: Kind::Late, fault: Fault::Late });
    spread(all)
}

/// One in `each`, another one in each task, so that all tasks together have every kind.
pub(crate) fn some_of(misses: Vec<NearMiss>, task: usize, each: usize) -> Vec<NearMiss> {
    let each = each.max(1);
    misses
        .into_iter()
        .enumerate()
        .filter(|(place, _)| (place + task).is_multiple_of(each))
        .map(|(_, miss)| miss)
        .collect()
}

/// One of each kind, then a second one of each, and so on.
fn spread(all: Vec<NearMiss>) -> Vec<NearMiss> {
    let mut by_kind: BTreeMap<Kind, Vec<NearMiss>> = BTreeMap::new();
    for miss in all {
        by_kind.entry(miss.kind).or_default().push(miss);
    }
    let most = by_kind.values().map(Vec::len).max().unwrap_or_default();
    let rounds = (0..most).flat_map(|round| by_kind.values().filter_map(move |misses| misses.get(round)));
    rounds.take(MOST).cloned().collect()
}

/// One value wrong; and where several can be wrong in the same way, all of them.
fn in_values(own: &Plan) -> Vec<NearMiss> {
    let public = words(&own.item);
    let mut found = Vec::new();
    for kind in Kind::ALL {
        let places: Vec<(usize, Address)> = own
            .sent
            .iter()
            .enumerate()
            .filter(|(_, message)| is_judged(message))
            .flat_map(|(number, message)| of_message(*kind, message, &public).into_iter().map(move |at| (number, at)))
            .collect();
        if places.len() > 1 {
            found.push(NearMiss { kind: *kind, fault: Fault::At(places.clone()) });
        }
        found.extend(places.into_iter().map(|place| NearMiss { kind: *kind, fault: Fault::At(vec![place]) }));
    }
    found
}

fn of_message(kind: Kind, message: &Message, public: &str) -> Vec<Address> {
    let content = message.content().unwrap_or_default();
    let can_be_wrong = leaves(&content).into_iter().filter(|leaf| {
        !leaf.address.is_below("/meta") && changed(kind, leaf).is_some() && is_asked_for(kind, leaf, public)
    });
    can_be_wrong.map(|leaf| leaf.address).collect()
}

fn of_messages(own: &Plan) -> Vec<NearMiss> {
    let mut found = Vec::new();
    for (number, message) in own.sent.iter().enumerate().filter(|(_, message)| is_judged(message)) {
        found.push(NearMiss { kind: Kind::LeftOut, fault: Fault::LeftOut(number) });
        // A question asked again leaves nothing behind, and an answer is given once.
        let leaves_one_more = message.method == Method::POST || message.path.starts_with("files/");
        if leaves_one_more && !message.path.starts_with("x12/") && !message.path.starts_with("cds/") {
            found.push(NearMiss { kind: Kind::Twice, fault: Fault::Twice(number) });
        }
        if message.method == Method::PUT {
            found.push(NearMiss { kind: Kind::Elsewhere, fault: Fault::Elsewhere(number) });
        }
    }
    found
}

/// What a chart may hold.
const CHARTED: [&str; 7] =
    ["Patient", "Coverage", "Observation", "MedicationRequest", "AllergyIntolerance", "Practitioner", "Organization"];

/// Records that were there before, and those that were just made.
fn on_others(own: &Plan) -> Vec<NearMiss> {
    let mut kinds: Vec<String> = CHARTED.map(str::to_owned).to_vec();
    let made = own.sent.iter().filter(|message| message.method == Method::POST);
    let made = made.filter_map(|message| message.path.strip_prefix("fhir/")).map(str::to_owned);
    for kind in made.filter(|kind| !kind.contains('/')) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let deleted = kinds.into_iter().map(|kind| NearMiss { kind: Kind::Deletion, fault: Fault::Deleted(kind) });
    let rewritten = ["Patient", "Practitioner"]
        .map(|kind| NearMiss { kind: Kind::Rewritten, fault: Fault::Rewritten(kind.to_owned()) });
    deleted.chain(rewritten).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn plan(patient: &str, code: &str) -> Plan {
        let task = json!({"resourceType": "Task", "status": "requested", "intent": "order", "authoredOn": "2026-04-07",
            "for": {"reference": patient}, "code": {"text": code}, "note": [{"text": "by the desk"}]});
        Plan { item: json!({"instruction": "Do it."}), sent: vec![Message::json(Method::POST, "fhir/Task", &task)] }
    }

    #[test]
    fn one_small_task_has_many_near_misses_of_many_kinds() {
        let plans = [plan("Patient/p-1", "appeal"), plan("Patient/p-2", "resubmit")];
        let misses = chosen(0, &plans);
        assert!(misses.len() >= 20, "{misses:#?}");
        let kinds: std::collections::BTreeSet<Kind> = misses.iter().map(|miss| miss.kind).collect();
        assert!(kinds.len() >= 14, "{kinds:?}");
        assert_eq!(misses, chosen(0, &plans));
        // What the sibling asks for, for this patient.
        let instead = misses.iter().find_map(|miss| match &miss.fault {
            Fault::Instead(0, content) => Some(content),
            _ => None,
        });
        let instead = instead.unwrap();
        assert_eq!(
            (&instead["for"]["reference"], &instead["code"]["text"]),
            (&json!("Patient/p-1"), &json!("resubmit"))
        );
    }

    #[test]
    fn all_tasks_together_have_every_near_miss_of_a_sample() {
        let misses = chosen(0, &[plan("Patient/p-1", "appeal")]);
        let parts: usize = (0..4).map(|task| some_of(misses.clone(), task, 4).len()).sum();
        assert_eq!(parts, misses.len());
    }
}
