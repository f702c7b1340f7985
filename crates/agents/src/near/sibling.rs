//! What other tasks of the benchmark ask for, done in this one: the action that is not to be taken, for this patient.

use serde_json::{Value, json};

use super::leaf::{self, leaves};
use super::role::{Role, role};
use super::{Fault, Kind, NearMiss, Plan};
use crate::message::Message;
use client::Method;

/// In the place of a message of one's own the one of a sibling.
pub(super) fn instead(own: &Plan, siblings: &[&Plan]) -> Vec<NearMiss> {
    let mut found: Vec<NearMiss> = Vec::new();
    for (number, message) in own.sent.iter().enumerate() {
        let Some(content) = message.content().filter(|_| !message.path.starts_with("voice/")) else { continue };
        for other in siblings.iter().flat_map(|plan| &plan.sent).filter(|other| other.door() == message.door()) {
            let Some(theirs) = other.content().filter(|theirs| is_of_same_form(&content, theirs)) else { continue };
            let miss = NearMiss { kind: Kind::Instead, fault: Fault::Instead(number, adapted(&theirs, &content)) };
            if !is_same(&miss, &content) && !found.contains(&miss) {
                found.push(miss);
            }
        }
    }
    found
}

fn is_same(miss: &NearMiss, content: &Value) -> bool {
    matches!(&miss.fault, Fault::Instead(_, theirs) if theirs == content)
}

/// A file of one kind is not answered with a file of another; that would be too easily told.
fn is_of_same_form(own: &Value, theirs: &Value) -> bool {
    match (own, theirs) {
        (Value::Object(own), Value::Object(theirs)) => own.keys().any(|key| theirs.contains_key(key)),
        _ => own.is_string() == theirs.is_string(),
    }
}

/// Who and which thing it is about stays as in one's own; what is said of it is the sibling's.
fn adapted(theirs: &Value, own: &Value) -> Value {
    let mut adapted = theirs.clone();
    let mine = leaves(own);
    for leaf in leaves(theirs) {
        let Value::String(text) = &leaf.value else { continue };
        let names =
            matches!(role(&leaf, text), Role::Patient | Role::Reference | Role::Number | Role::Provider | Role::Name);
        let same = mine.iter().find(|one| one.address == leaf.address);
        if let Some(same) = same.filter(|_| names) {
            leaf::set(&mut adapted, &leaf.address, Some(same.value.clone()));
        }
    }
    adapted
}

/// After the work, what a sibling sent, or what anybody might think of.
pub(super) fn beside(own: &Plan, siblings: &[&Plan]) -> Vec<NearMiss> {
    let mut found: Vec<Message> = Vec::new();
    for message in siblings.iter().flat_map(|plan| &plan.sent).filter(|message| stands_alone(message)) {
        let known = |one: &Message| one.door() == message.door();
        if let Some(content) = message.content()
            && found.iter().filter(|one| known(one)).count() < 2
        {
            found.push(Message { root: None, ..message.with(&for_patient(&content, own)) });
        }
    }
    found.extend(anybody(own));
    found.into_iter().map(|message| NearMiss { kind: Kind::Beside, fault: Fault::Beside(message) }).collect()
}

/// It can be sent in another task, and leaves something behind.
fn stands_alone(message: &Message) -> bool {
    match message.path.split('/').next() {
        Some("fhir") => message.method == Method::POST,
        Some("files" | "messages" | "hl7") => true,
        Some("fax") => message.path == "fax/faxes",
        Some("portal") => message.path == "portal/prior-auths",
        _ => false,
    }
}

/// With the patient of this task, wherever it is known how it is called there.
fn for_patient(content: &Value, own: &Plan) -> Value {
    let mut content = content.clone();
    for leaf in leaves(&content.clone()) {
        let Value::String(text) = &leaf.value else { continue };
        if role(&leaf, text) == Role::Patient
            && let Some(patient) = patient(own, text.starts_with("Patient/"), &leaf.key)
        {
            leaf::set(&mut content, &leaf.address, Some(patient.into()));
        }
    }
    content
}

/// As the plan itself calls the patient: by a reference, or in the member of this name.
fn patient(own: &Plan, by_reference: bool, key: &str) -> Option<String> {
    let contents: Vec<Value> = own.sent.iter().filter_map(Message::content).collect();
    let all: Vec<leaf::Leaf> = contents.iter().flat_map(leaves).collect();
    let texts = all.iter().filter_map(|leaf| Some((leaf.key.as_str(), leaf.value.as_str()?)));
    let mut meant = texts.filter(|(name, text)| if by_reference { text.starts_with("Patient/") } else { *name == key });
    meant.next().map(|(_, text)| text.to_owned())
}

/// Stands for a patient of the chart where the plan names none.
pub(crate) const SOMEBODY: &str = "somebody-of-the-chart";

fn anybody(own: &Plan) -> Vec<Message> {
    let told = own.item["patient_id"].as_str().map(|id| format!("Patient/{id}"));
    let patient = patient(own, true, "").or(told).unwrap_or_else(|| format!("Patient/{SOMEBODY}"));
    let id = patient.trim_start_matches("Patient/");
    let subject = json!({"reference": patient});
    let mut resources = crate::wrong::resources(id);
    resources.extend([
        json!({"resourceType": "Communication", "status": "completed", "subject": subject}),
        json!({"resourceType": "Condition", "subject": subject, "code": {"text": "as discussed"}}),
        json!({"resourceType": "Flag", "status": "active", "subject": subject, "code": {"text": "as discussed"}}),
        json!({"resourceType": "Observation", "status": "final", "subject": subject, "code": {"text": "as discussed"}}),
    ]);
    let created = resources.iter().map(|resource| {
        let kind = resource["resourceType"].as_str().unwrap_or_default();
        Message::json(Method::POST, &format!("fhir/{kind}"), resource)
    });
    let note = json!({"channel": "sms", "patient_id": id, "body": "Everything has been taken care of."});
    created.chain([Message::json(Method::POST, "messages", &note)]).collect()
}
