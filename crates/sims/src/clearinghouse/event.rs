//! What the log tells of a body and of each of its answers. `payload` is the text that checks read.

use model::SandboxId;
use model::api_key::masked;
use model::clearinghouse::Response;
use model::event::EventType;
use model::reading::shortened;
use serde_json::{Value, json};
use world::NewEvent;
use x12::Body;

use super::exchange::{Refusal, Sender, Transport};

/// Of what is no interchange no more is kept.
const MOST_UNREAD_BYTES: usize = 64 << 10;
const LONGEST_SUMMARY: usize = 200;

impl Transport {
    fn name(self) -> &'static str {
        match self {
            Transport::Http => "http",
            Transport::File => "file",
            Transport::Eligibility => "eligibility",
        }
    }
}

pub(super) fn received(sandbox: &SandboxId, sender: &Sender, body: &Body<'_>) -> NewEvent {
    let sets = sets_of(body);
    let controls: Vec<&str> = body.interchanges().iter().map(|found| found.header().text_at(13)).collect();
    let payload = json!({
        "transport": sender.transport.name(),
        "transaction_sets": sets,
        "control_numbers": controls,
        "payload": masked_text(&body.to_string()),
    });
    event(sandbox, sender, EventType::X12Request, &format!("{} received", words(&sets)), payload)
}

pub(super) fn refused(sandbox: &SandboxId, sender: &Sender, body: &[u8], refusal: &Refusal) -> NewEvent {
    let (Refusal::Unreadable(reason) | Refusal::TooLarge(reason)) = refusal;
    let kept = body.get(..body.len().min(MOST_UNREAD_BYTES)).unwrap_or_default();
    let payload = json!({
        "transport": sender.transport.name(),
        "error": reason,
        "size": body.len(),
        "payload": masked_text(&String::from_utf8_lossy(kept)),
    });
    event(sandbox, sender, EventType::X12Request, &format!("refused: {reason}"), payload)
}

pub(super) fn answered(sandbox: &SandboxId, sender: &Sender, response: &Response, is_taken: bool) -> NewEvent {
    let mut payload = json!({
        "in_reply_to": response.in_reply_to,
        "control_number": response.control_number,
        "transaction_sets": response.transaction_sets,
        "payload": response.payload,
    });
    if is_taken && let Some(members) = payload.as_object_mut() {
        members.insert("response_id".to_owned(), response.id.as_str().into());
    }
    let summary = format!("{} in reply to {}", words(&response.transaction_sets), response.in_reply_to);
    event(sandbox, sender, EventType::X12Response, &summary, payload)
}

/// Somebody looked for answers. It carries no interchange: nothing was sent.
pub(super) fn looked(sandbox: &SandboxId, sender: &Sender, found: usize) -> NewEvent {
    let payload = json!({"transport": sender.transport.name(), "operation": "responses", "found": found});
    event(sandbox, sender, EventType::X12Request, &format!("looked for responses, found {found}"), payload)
}

/// Somebody asked about a patient of whom no question could be made.
pub(super) fn no_patient(sandbox: &SandboxId, sender: &Sender, patient: &str) -> NewEvent {
    let patient = shortened(&masked_text(patient), 100);
    let payload = json!({"transport": sender.transport.name(), "operation": "eligibility", "patient_id": patient,
        "error": "there is no such patient"});
    event(sandbox, sender, EventType::X12Request, "asked about a patient who is not there", payload)
}

fn event(sandbox: &SandboxId, sender: &Sender, r#type: EventType, summary: &str, payload: Value) -> NewEvent {
    let one_line: String = summary.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    NewEvent {
        sandbox: sandbox.clone(),
        r#type,
        actor: sender.actor.clone(),
        summary: shortened(&one_line, LONGEST_SUMMARY),
        payload: payload.into(),
    }
}

/// ST01 of all transactions, and `TA1`, each once.
pub(super) fn sets_of(body: &Body<'_>) -> Vec<String> {
    let has_ta1 =
        body.interchanges().iter().flat_map(|found| found.outside_groups()).any(|(_, found)| found.name() == "TA1");
    let mut sets: Vec<String> = has_ta1.then(|| "TA1".to_owned()).into_iter().collect();
    for transaction in body.transactions() {
        let set: String = transaction.set().chars().take(10).collect();
        if sets.len() < 20 && !sets.contains(&set) {
            sets.push(set);
        }
    }
    sets
}

fn words(sets: &[String]) -> String {
    if sets.is_empty() { "no transaction".to_owned() } else { sets.join(", ") }
}

/// Without keys that somebody put into it.
fn masked_text(text: &str) -> String {
    if text.contains("vk_") || text.contains("vrl_") { masked(text) } else { text.to_owned() }
}
