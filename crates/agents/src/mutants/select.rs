//! Selects the mutants that are tried on a task, spread over kinds and messages.

use std::collections::BTreeMap;

use super::change::mutated_value;
use super::leaf::{LeafPath, leaves};
use super::scope::{is_mutable, is_required};
use super::{Mutant, Mutation, MutationKind, Plan, siblings};
use crate::guessability::all_text;
use crate::message::Message;
use client::Method;

/// The maximum number of mutants of one task.
const MAX_MUTANTS: usize = 40;

/// Selects the mutants of a task. The selection is deterministic.
pub(crate) fn select(task: usize, plans: &[Plan]) -> Vec<Mutant> {
    let Some(own) = plans.get(task) else { return Vec::new() };
    let sibling_plans: Vec<&Plan> =
        plans.iter().enumerate().filter(|(index, _)| *index != task).map(|(_, plan)| plan).collect();
    let mut all = value_mutants(own);
    all.extend(message_mutants(own));
    all.extend(siblings::replaced_content(own, &sibling_plans));
    all.extend(siblings::extra_messages(own, &sibling_plans));
    all.extend(unrelated_record_mutants(own));
    all.push(Mutant { kind: MutationKind::Late, mutation: Mutation::Late });
    spread(all)
}

/// Takes one in `each` mutants. Each task gets a different part, so that all tasks together cover every kind.
pub(crate) fn sample(mutants: Vec<Mutant>, task: usize, each: usize) -> Vec<Mutant> {
    let each = each.max(1);
    mutants
        .into_iter()
        .enumerate()
        .filter(|(index, _)| (index + task).is_multiple_of(each))
        .map(|(_, mutant)| mutant)
        .collect()
}

/// Takes one mutant of each kind, then a second one of each, and so on, up to the limit.
fn spread(all: Vec<Mutant>) -> Vec<Mutant> {
    let mut by_kind: BTreeMap<MutationKind, Vec<Mutant>> = BTreeMap::new();
    for mutant in all {
        by_kind.entry(mutant.kind).or_default().push(mutant);
    }
    let rounds = by_kind.values().map(Vec::len).max().unwrap_or_default();
    let in_turn = (0..rounds).flat_map(|round| by_kind.values().filter_map(move |mutants| mutants.get(round)));
    in_turn.take(MAX_MUTANTS).cloned().collect()
}

/// Mutants with one changed value, and, where a kind applies to several values, one with all of them changed.
fn value_mutants(own: &Plan) -> Vec<Mutant> {
    let public = all_text(&own.item);
    let mut found = Vec::new();
    for kind in MutationKind::ALL {
        let values: Vec<(usize, LeafPath)> = own
            .sent
            .iter()
            .enumerate()
            .filter(|(_, message)| is_mutable(message))
            .flat_map(|(number, message)| {
                mutable_leaves(*kind, message, &public).into_iter().map(move |at| (number, at))
            })
            .collect();
        if values.len() > 1 {
            found.push(Mutant { kind: *kind, mutation: Mutation::Values(values.clone()) });
        }
        found.extend(values.into_iter().map(|value| Mutant { kind: *kind, mutation: Mutation::Values(vec![value]) }));
    }
    found
}

/// The leaves of a message that a kind applies to.
fn mutable_leaves(kind: MutationKind, message: &Message, public: &str) -> Vec<LeafPath> {
    let content = message.content().unwrap_or_default();
    let mutable = leaves(&content).into_iter().filter(|leaf| {
        !leaf.path.is_below("/meta") && mutated_value(kind, leaf).is_some() && is_required(kind, leaf, public)
    });
    mutable.map(|leaf| leaf.path).collect()
}

/// Mutants that omit, duplicate or misplace a message.
fn message_mutants(own: &Plan) -> Vec<Mutant> {
    let mut found = Vec::new();
    for (number, message) in own.sent.iter().enumerate().filter(|(_, message)| is_mutable(message)) {
        found.push(Mutant { kind: MutationKind::MessageOmitted, mutation: Mutation::Omitted(number) });
        // A repeated X12 inquiry leaves nothing behind, and a CDS hook is answered once.
        let creates_second = message.method == Method::POST || message.path.starts_with("files/");
        if creates_second && !message.path.starts_with("x12/") && !message.path.starts_with("cds/") {
            found.push(Mutant { kind: MutationKind::MessageDuplicated, mutation: Mutation::Duplicated(number) });
        }
        if message.method == Method::PUT {
            found.push(Mutant { kind: MutationKind::WrongLocation, mutation: Mutation::WrongLocation(number) });
        }
    }
    found
}

/// Resource types that a chart may contain.
const CHART_TYPES: [&str; 7] =
    ["Patient", "Coverage", "Observation", "MedicationRequest", "AllergyIntolerance", "Practitioner", "Organization"];

/// Mutants that delete or change an unrelated record. A deleted record may also be one that the agent has just created.
fn unrelated_record_mutants(own: &Plan) -> Vec<Mutant> {
    let mut types: Vec<String> = CHART_TYPES.map(str::to_owned).to_vec();
    let created = own.sent.iter().filter(|message| message.method == Method::POST);
    let created = created.filter_map(|message| message.path.strip_prefix("fhir/")).map(str::to_owned);
    for resource_type in created.filter(|resource_type| !resource_type.contains('/')) {
        if !types.contains(&resource_type) {
            types.push(resource_type);
        }
    }
    let deleted = types.into_iter().map(|resource_type| Mutant {
        kind: MutationKind::UnrelatedDeletion,
        mutation: Mutation::RecordDeleted(resource_type),
    });
    let changed = ["Patient", "Practitioner"].map(|resource_type| Mutant {
        kind: MutationKind::UnrelatedChange,
        mutation: Mutation::RecordChanged(resource_type.to_owned()),
    });
    deleted.chain(changed).collect()
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
    fn a_small_task_has_many_mutants_of_many_kinds() {
        let plans = [plan("Patient/p-1", "appeal"), plan("Patient/p-2", "resubmit")];
        let mutants = select(0, &plans);
        assert!(mutants.len() >= 20, "{mutants:#?}");
        let kinds: std::collections::BTreeSet<MutationKind> = mutants.iter().map(|mutant| mutant.kind).collect();
        assert!(kinds.len() >= 14, "{kinds:?}");
        assert_eq!(mutants, select(0, &plans));
        // The sibling's action, for this task's patient.
        let content = mutants.iter().find_map(|mutant| match &mutant.mutation {
            Mutation::SiblingContent(0, content) => Some(content),
            _ => None,
        });
        let content = content.unwrap();
        assert_eq!(
            (&content["for"]["reference"], &content["code"]["text"]),
            (&json!("Patient/p-1"), &json!("resubmit"))
        );
    }

    #[test]
    fn samples_of_all_tasks_together_have_every_mutant() {
        let mutants = select(0, &[plan("Patient/p-1", "appeal")]);
        let parts: usize = (0..4).map(|task| sample(mutants.clone(), task, 4).len()).sum();
        assert_eq!(parts, mutants.len());
    }
}
