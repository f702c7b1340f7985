//! Stored responses, which clients can list: delivered ones and deferred ones.

use model::clearinghouse::Response;
use model::{SandboxId, Timestamp};
use serde::Deserialize;
use serde_json::Value;
use world::{Context, Outcome, Sandbox, World};
use x12::{Interchange, Limits};

use super::event;
use super::exchange::{Sender, events_only};

/// The collection of [`Response`] rows, by id.
pub(crate) const RESPONSES: &str = "responses";

/// A response that is returned to the sender at once.
pub(super) fn delivered(request: &Interchange<'_>, text: String, context: &Context<'_>) -> Response {
    let delivered_at = Some(context.now);
    Response { delivered_at, ..deferred(request, text, context.now, context) }
}

/// A response that becomes available when it is due.
pub(super) fn deferred(request: &Interchange<'_>, text: String, due: Timestamp, context: &Context<'_>) -> Response {
    let (control_number, transaction_sets) = match x12::parse(&text, &Limits::default()) {
        Ok(body) => {
            let control_number =
                body.interchanges().first().map(|interchange| interchange.header().text_at(13).to_owned());
            (control_number.unwrap_or_default(), event::sets_of(&body))
        }
        Err(_) => (String::new(), Vec::new()),
    };
    Response {
        id: format!("x12_{}", (context.new_id)()),
        control_number,
        in_reply_to: super::text::plain(request.header().text_at(13), 9),
        transaction_sets,
        received_at: context.now,
        available_at: due,
        delivered_at: None,
        payload: text,
    }
}

pub(super) fn row(response: &Response) -> (&'static str, String, Value) {
    (RESPONSES, response.id.clone(), serde_json::to_value(response).unwrap_or_default())
}

/// The available responses, newest first. None if one of them is not marked as delivered: use [`list_and_mark_delivered`].
pub fn list(
    world: &World,
    sandbox: &SandboxId,
    sender: &Sender,
    context: &Context<'_>,
) -> Outcome<Option<Vec<Response>>> {
    let available = world.sandboxes.get(sandbox).map(|sandbox| available(sandbox, context.now)).unwrap_or_default();
    if available.iter().any(|response| response.delivered_at.is_none()) {
        return events_only(None, Vec::new());
    }
    let events = vec![event::responses_listed(sandbox, sender, available.len())];
    events_only(Some(available), events)
}

/// Like [`list`], but marks responses that have become due as delivered, with a log event for each.
pub fn list_and_mark_delivered(
    world: &World,
    sandbox: &SandboxId,
    sender: &Sender,
    context: &Context<'_>,
) -> Outcome<Vec<Response>> {
    let Some(sandbox) = world.sandboxes.get(sandbox) else { return events_only(Vec::new(), Vec::new()) };
    let mut found = available(sandbox, context.now);
    let mut events = vec![event::responses_listed(&sandbox.id, sender, found.len())];
    let mut changes = Vec::new();
    // In the order of their due times.
    let mut due: Vec<&mut Response> = found.iter_mut().filter(|response| response.delivered_at.is_none()).collect();
    due.sort_by_key(|response| response.available_at);
    for response in due {
        response.delivered_at = Some(context.now);
        let (collection, key, row) = row(response);
        changes.push(sandbox.put(collection, &key, &row, context.now));
        events.push(event::response_sent(&sandbox.id, sender, response, true));
    }
    Outcome { answer: found, changes, events }
}

fn available(sandbox: &Sandbox, now: Timestamp) -> Vec<Response> {
    let rows = sandbox.records.own(RESPONSES).filter_map(|record| Response::deserialize(&*record.json()).ok());
    let mut available: Vec<Response> = rows.filter(|response| response.available_at <= now).collect();
    available.sort_by(|left, right| right.id.cmp(&left.id));
    available
}
