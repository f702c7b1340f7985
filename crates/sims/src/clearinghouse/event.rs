//! Log events for requests and responses. Checks read the member `payload`.

use model::SandboxId;
use model::api_key::masked;
use model::clearinghouse::Response;
use model::event::EventType;
use model::reading::shortened;
use serde_json::{Value, json};
use world::NewEvent;
use x12::Body;

use super::exchange::{ExchangeError, Sender, Transport};

/// How much of an unreadable body is logged.
const MAX_UNREADABLE_BYTES: usize = 64 << 10;
const MAX_SUMMARY_CHARS: usize = 200;

impl Transport {
    fn name(self) -> &'static str {
        match self {
            Transport::Http => "http",
            Transport::File => "file",
            Transport::Eligibility => "eligibility",
        }
    }
}

pub(super) fn request_received(sandbox: &SandboxId, sender: &Sender, body: &Body<'_>) -> NewEvent {
    let sets = sets_of(body);
    let control_numbers: Vec<&str> =
        body.interchanges().iter().map(|interchange| interchange.header().text_at(13)).collect();
    let payload = json!({
        "transport": sender.transport.name(),
        "transaction_sets": sets,
        "control_numbers": control_numbers,
        "payload": masked_text(&body.to_string()),
    });
    event(sandbox, sender, EventType::X12Request, &format!("{} received", set_names(&sets)), payload)
}

pub(super) fn request_rejected(sandbox: &SandboxId, sender: &Sender, body: &[u8], error: &ExchangeError) -> NewEvent {
    let (ExchangeError::Unreadable(reason) | ExchangeError::TooLarge(reason)) = error;
    let excerpt = body.get(..body.len().min(MAX_UNREADABLE_BYTES)).unwrap_or_default();
    let payload = json!({
        "transport": sender.transport.name(),
        "error": reason,
        "size": body.len(),
        "payload": masked_text(&String::from_utf8_lossy(excerpt)),
    });
    event(sandbox, sender, EventType::X12Request, &format!("refused: {reason}"), payload)
}

pub(super) fn response_sent(sandbox: &SandboxId, sender: &Sender, response: &Response, is_accepted: bool) -> NewEvent {
    let mut payload = json!({
        "in_reply_to": response.in_reply_to,
        "control_number": response.control_number,
        "transaction_sets": response.transaction_sets,
        "payload": response.payload,
    });
    if is_accepted && let Some(members) = payload.as_object_mut() {
        members.insert("response_id".to_owned(), response.id.as_str().into());
    }
    let summary = format!("{} in reply to {}", set_names(&response.transaction_sets), response.in_reply_to);
    event(sandbox, sender, EventType::X12Response, &summary, payload)
}

/// The client listed the available responses. The event has no `payload`, because no interchange was sent.
pub(super) fn responses_listed(sandbox: &SandboxId, sender: &Sender, found: usize) -> NewEvent {
    let payload = json!({"transport": sender.transport.name(), "operation": "responses", "found": found});
    event(sandbox, sender, EventType::X12Request, &format!("listed responses: {found}"), payload)
}

/// An eligibility request for a patient for whom no 270 could be built.
pub(super) fn unknown_patient(sandbox: &SandboxId, sender: &Sender, patient: &str) -> NewEvent {
    let patient = shortened(&masked_text(patient), 100);
    let payload = json!({"transport": sender.transport.name(), "operation": "eligibility", "patient_id": patient,
        "error": "patient not found"});
    event(sandbox, sender, EventType::X12Request, "eligibility request for an unknown patient", payload)
}

fn event(sandbox: &SandboxId, sender: &Sender, r#type: EventType, summary: &str, payload: Value) -> NewEvent {
    let one_line: String = summary.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    NewEvent {
        sandbox: sandbox.clone(),
        r#type,
        actor: sender.actor.clone(),
        summary: shortened(&one_line, MAX_SUMMARY_CHARS),
        payload: payload.into(),
    }
}

/// The distinct ST01 values of all transactions, and `TA1`.
pub(super) fn sets_of(body: &Body<'_>) -> Vec<String> {
    let has_ta1 = body
        .interchanges()
        .iter()
        .flat_map(|interchange| interchange.outside_groups())
        .any(|(_, segment)| segment.name() == "TA1");
    let mut sets: Vec<String> = has_ta1.then(|| "TA1".to_owned()).into_iter().collect();
    for transaction in body.transactions() {
        let set: String = transaction.set().chars().take(10).collect();
        if sets.len() < 20 && !sets.contains(&set) {
            sets.push(set);
        }
    }
    sets
}

fn set_names(sets: &[String]) -> String {
    if sets.is_empty() { "no transaction".to_owned() } else { sets.join(", ") }
}

/// Masks API keys and credentials in a logged body.
fn masked_text(text: &str) -> String {
    if text.contains("vk_") || text.contains("vrl_") { masked(text) } else { text.to_owned() }
}
