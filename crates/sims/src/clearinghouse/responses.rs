//! Answers that are kept for whoever picks them up: those that were given, and those that become due.

use model::clearinghouse::Response;
use model::{SandboxId, Timestamp};
use serde::Deserialize;
use serde_json::Value;
use world::{Context, Outcome, Sandbox, World};
use x12::{Interchange, Limits};

use super::event;
use super::exchange::{Sender, events_only};

/// Rows by id are [`Response`]s.
pub(crate) const RESPONSES: &str = "responses";

/// Given out with the answer itself.
pub(super) fn now(request: &Interchange<'_>, text: String, context: &Context<'_>) -> Response {
    let delivered_at = Some(context.now);
    Response { delivered_at, ..later(request, text, context.now, context) }
}

/// To be given out when it is due.
pub(super) fn later(request: &Interchange<'_>, text: String, due: Timestamp, context: &Context<'_>) -> Response {
    let (control_number, transaction_sets) = match x12::parse(&text, &Limits::default()) {
        Ok(body) => {
            let control = body.interchanges().first().map(|found| found.header().text_at(13).to_owned());
            (control.unwrap_or_default(), event::sets_of(&body))
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

/// Those that can be had, newest first. None where one became due that nobody was given yet: see [`pick_up`].
pub fn look(
    world: &World,
    sandbox: &SandboxId,
    sender: &Sender,
    context: &Context<'_>,
) -> Outcome<Option<Vec<Response>>> {
    let available = world.sandboxes.get(sandbox).map(|sandbox| available(sandbox, context.now)).unwrap_or_default();
    if available.iter().any(|response| response.delivered_at.is_none()) {
        return events_only(None, Vec::new());
    }
    let events = vec![event::looked(sandbox, sender, available.len())];
    events_only(Some(available), events)
}

/// The same, and what became due is marked as given and told in the log.
pub fn pick_up(world: &World, sandbox: &SandboxId, sender: &Sender, context: &Context<'_>) -> Outcome<Vec<Response>> {
    let Some(sandbox) = world.sandboxes.get(sandbox) else { return events_only(Vec::new(), Vec::new()) };
    let mut found = available(sandbox, context.now);
    let mut events = vec![event::looked(&sandbox.id, sender, found.len())];
    let mut changes = Vec::new();
    // In the order in which they became due.
    let mut due: Vec<&mut Response> = found.iter_mut().filter(|response| response.delivered_at.is_none()).collect();
    due.sort_by_key(|response| response.available_at);
    for response in due {
        response.delivered_at = Some(context.now);
        let (collection, key, row) = row(response);
        changes.push(sandbox.put(collection, &key, &row, context.now));
        events.push(event::answered(&sandbox.id, sender, response, true));
    }
    Outcome { answer: found, changes, events }
}

fn available(sandbox: &Sandbox, now: Timestamp) -> Vec<Response> {
    let rows = sandbox.records.own(RESPONSES).filter_map(|record| Response::deserialize(&*record.json()).ok());
    let mut available: Vec<Response> = rows.filter(|response| response.available_at <= now).collect();
    available.sort_by(|left, right| right.id.cmp(&left.id));
    available
}
