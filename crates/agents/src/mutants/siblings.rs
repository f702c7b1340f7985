//! Mutants made from sibling tasks: the actions that other tasks of the benchmark ask for, done for this task's patient.

use serde_json::{Value, json};

use super::leaf::{self, leaves};
use super::role::{Role, role};
use super::{Mutant, Mutation, MutationKind, Plan};
use crate::message::Message;
use client::Method;

/// Mutants that replace the content of a message with that of a sibling's message.
pub(super) fn replaced_content(own: &Plan, siblings: &[&Plan]) -> Vec<Mutant> {
    let mut found: Vec<Mutant> = Vec::new();
    for (number, message) in own.sent.iter().enumerate() {
        let Some(content) = message.content().filter(|_| !message.path.starts_with("voice/")) else { continue };
        for other in siblings.iter().flat_map(|plan| &plan.sent).filter(|other| other.endpoint() == message.endpoint())
        {
            let Some(sibling) = other.content().filter(|sibling| is_comparable(&content, sibling)) else { continue };
            let mutation = Mutation::SiblingContent(number, adapted(&sibling, &content));
            let mutant = Mutant { kind: MutationKind::SiblingContent, mutation };
            if !has_content(&mutant, &content) && !found.contains(&mutant) {
                found.push(mutant);
            }
        }
    }
    found
}

fn has_content(mutant: &Mutant, content: &Value) -> bool {
    matches!(&mutant.mutation, Mutation::SiblingContent(_, replaced) if replaced == content)
}

/// Whether two contents have the same form. A file of another form would be too easy to detect.
fn is_comparable(own: &Value, sibling: &Value) -> bool {
    match (own, sibling) {
        (Value::Object(own), Value::Object(sibling)) => own.keys().any(|key| sibling.contains_key(key)),
        _ => own.is_string() == sibling.is_string(),
    }
}

/// The sibling's content with the identifiers, references and names of this task.
fn adapted(sibling: &Value, own: &Value) -> Value {
    let mut adapted = sibling.clone();
    let own_leaves = leaves(own);
    for leaf in leaves(sibling) {
        let Value::String(text) = &leaf.value else { continue };
        let is_identifier =
            matches!(role(&leaf, text), Role::Patient | Role::Reference | Role::Number | Role::Provider | Role::Name);
        let same = own_leaves.iter().find(|one| one.path == leaf.path);
        if let Some(same) = same.filter(|_| is_identifier) {
            leaf::set(&mut adapted, &leaf.path, Some(same.value.clone()));
        }
    }
    adapted
}

/// Mutants that send an additional message after the work: a sibling's, or a generic one.
pub(super) fn extra_messages(own: &Plan, siblings: &[&Plan]) -> Vec<Mutant> {
    let mut found: Vec<Message> = Vec::new();
    for message in siblings.iter().flat_map(|plan| &plan.sent).filter(|message| is_standalone(message)) {
        let is_same_endpoint = |one: &Message| one.endpoint() == message.endpoint();
        if let Some(content) = message.content()
            && found.iter().filter(|one| is_same_endpoint(one)).count() < 2
        {
            found.push(Message { root: None, ..message.with(&for_patient(&content, own)) });
        }
    }
    found.extend(generic_messages(own));
    let mutants = found
        .into_iter()
        .map(|message| Mutant { kind: MutationKind::ExtraMessage, mutation: Mutation::ExtraMessage(message) });
    mutants.collect()
}

/// Whether a message can be sent in another task and has an effect there.
fn is_standalone(message: &Message) -> bool {
    match message.path.split('/').next() {
        Some("fhir") => message.method == Method::POST,
        Some("files" | "messages" | "hl7") => true,
        Some("fax") => message.path == "fax/faxes",
        Some("portal") => message.path == "portal/prior-auths",
        _ => false,
    }
}

/// Replaces the patient's identifiers with those of this task's patient, where the plan contains them.
fn for_patient(content: &Value, own: &Plan) -> Value {
    let mut content = content.clone();
    for leaf in leaves(&content.clone()) {
        let Value::String(text) = &leaf.value else { continue };
        if role(&leaf, text) == Role::Patient
            && let Some(patient) = patient(own, text.starts_with("Patient/"), &leaf.key)
        {
            leaf::set(&mut content, &leaf.path, Some(patient.into()));
        }
    }
    content
}

/// The plan's identifier of the patient: a reference, or the value of the member with this name.
fn patient(own: &Plan, by_reference: bool, key: &str) -> Option<String> {
    let contents: Vec<Value> = own.sent.iter().filter_map(Message::content).collect();
    let all: Vec<leaf::Leaf> = contents.iter().flat_map(leaves).collect();
    let texts = all.iter().filter_map(|leaf| Some((leaf.key.as_str(), leaf.value.as_str()?)));
    let mut matching =
        texts.filter(|(name, text)| if by_reference { text.starts_with("Patient/") } else { *name == key });
    matching.next().map(|(_, text)| text.to_owned())
}

/// Placeholder for any patient of the chart, used where the plan names none.
pub(crate) const ANY_PATIENT: &str = "somebody-of-the-chart";

/// Plausible messages that no task asks for.
fn generic_messages(own: &Plan) -> Vec<Message> {
    let from_item = own.item["patient_id"].as_str().map(|id| format!("Patient/{id}"));
    let patient = patient(own, true, "").or(from_item).unwrap_or_else(|| format!("Patient/{ANY_PATIENT}"));
    let id = patient.trim_start_matches("Patient/");
    let subject = json!({"reference": patient});
    let mut resources = crate::baselines::resources(id);
    resources.extend([
        json!({"resourceType": "Communication", "status": "completed", "subject": subject}),
        json!({"resourceType": "Condition", "subject": subject, "code": {"text": "as discussed"}}),
        json!({"resourceType": "Flag", "status": "active", "subject": subject, "code": {"text": "as discussed"}}),
        json!({"resourceType": "Observation", "status": "final", "subject": subject, "code": {"text": "as discussed"}}),
    ]);
    let created = resources.iter().map(|resource| {
        let resource_type = resource["resourceType"].as_str().unwrap_or_default();
        Message::json(Method::POST, &format!("fhir/{resource_type}"), resource)
    });
    let note = json!({"channel": "sms", "patient_id": id, "body": "Everything has been taken care of."});
    created.chain([Message::json(Method::POST, "messages", &note)]).collect()
}
