//! The inbox: what the scenario and the config have brought and is due, newest first.

use model::hl7::InboxMessage;
use model::page::{Direction, Page, PageRequest};
use model::{SandboxId, Timestamp};
use serde::Deserialize;
use serde_json::Value;
use world::{Change, Context, Outcome, Sandbox, World, Write};

use super::config::Hl7Config;
use super::event;
use super::text;
use crate::authored;
use crate::scenario::step::object;

/// Rows are `{id, message_type, control_id, received_at, payload, read}`.
pub const INBOX: &str = "inbox";

/// A page of the inbox; only what was read or what was not, if that is asked for.
pub fn list(
    world: &World,
    sandbox: &SandboxId,
    actor: &str,
    (read, page): (Option<bool>, &PageRequest),
    context: &Context<'_>,
) -> Outcome<Page<InboxMessage>> {
    let mut all = arrived(world, sandbox, context.now);
    all.retain(|message| read.is_none_or(|read| message.read == read));
    let page = page_of(all, page);
    let ids: Vec<Value> = page.items.iter().map(|message| message.id.as_str().into()).collect();
    let summary = format!("looked into the inbox: {} messages", ids.len());
    let payload = object([("action", "list".into()), ("messages", ids.into())]);
    Outcome { answer: page, changes: Vec::new(), events: vec![event::inbox(sandbox, actor, summary, payload)] }
}

/// One message; none if there is no such.
pub fn get(
    world: &World,
    sandbox: &SandboxId,
    actor: &str,
    id: &str,
    context: &Context<'_>,
) -> Outcome<Option<InboxMessage>> {
    let found = arrived(world, sandbox, context.now).into_iter().find(|message| message.id == id);
    let payload = found.iter().map(|message| told(message, "read")).next();
    let events = payload.map(|(summary, payload)| event::inbox(sandbox, actor, summary, payload));
    Outcome { answer: found, changes: Vec::new(), events: events.into_iter().collect() }
}

/// Says that a message was read, or was not. None if there is no such.
pub fn mark(
    world: &World,
    sandbox: &SandboxId,
    actor: &str,
    (id, read): (&str, bool),
    context: &Context<'_>,
) -> Outcome<Option<InboxMessage>> {
    let place = world.sandboxes.get(sandbox);
    let found = arrived(world, sandbox, context.now).into_iter().find(|message| message.id == id);
    let (Some(mut message), Some(place)) = (found, place) else {
        return Outcome { answer: None, changes: Vec::new(), events: Vec::new() };
    };
    message.read = read;
    let (summary, payload) = told(&message, if read { "mark_read" } else { "mark_unread" });
    let version = place.records.next_version(INBOX, id);
    let change = Change {
        sandbox: sandbox.clone(),
        collection: INBOX.into(),
        key: id.into(),
        version,
        at: context.now,
        write: if version == 1 { Write::Create } else { Write::Update },
        text: serde_json::to_string(&message).ok().map(Into::into),
    };
    let events = vec![event::inbox(sandbox, actor, summary, payload)];
    Outcome { answer: Some(message), changes: vec![change], events }
}

fn told(message: &InboxMessage, action: &str) -> (String, serde_json::Map<String, Value>) {
    let summary = format!("{action} {} {}", message.message_type, message.control_id);
    (summary, object([("action", action.into()), ("id", message.id.as_str().into())]))
}

/// All that is there, newest first.
fn arrived(world: &World, sandbox: &SandboxId, now: Timestamp) -> Vec<InboxMessage> {
    let Some(sandbox) = world.sandboxes.get(sandbox) else { return Vec::new() };
    let kept = sandbox.records.own(INBOX).filter_map(|record| InboxMessage::deserialize(&*record.json()).ok());
    let mut all: Vec<InboxMessage> = kept.collect();
    let is_kept = |id: &str, all: &[InboxMessage]| all.iter().any(|message| message.id == id);
    for message in seeded(sandbox).into_iter().filter(|message| message.received_at <= now) {
        if !is_kept(&message.id, &all) {
            all.push(message);
        }
    }
    all.sort_by_key(|message| std::cmp::Reverse(place(message)));
    all
}

/// What the config brings, as if it had been sent when the sandbox was made. It is no record before it is changed.
fn seeded(sandbox: &Sandbox) -> Vec<InboxMessage> {
    if sandbox.config.get("inbox").is_none() {
        return Vec::new();
    }
    let Ok(config) = authored::read::<Hl7Config>(&sandbox.config) else { return Vec::new() };
    let messages = config.inbox.iter().zip(1..);
    let shown = |(seed, number): (&super::config::Seed, usize)| {
        let message = seed.read().ok()?;
        let after = seed.after_seconds.unwrap_or(0).saturating_mul(1000);
        Some(InboxMessage {
            id: format!("hl7_seed_{number:04}"),
            message_type: text::type_of(&message),
            control_id: message.control_id().into_owned(),
            received_at: sandbox.created_at.plus_milliseconds(after),
            payload: message.text().to_owned(),
            read: false,
        })
    };
    messages.filter_map(shown).collect()
}

/// Its place in the order, as text.
fn place(message: &InboxMessage) -> String {
    format!("{} {}", message.received_at, message.id)
}

fn page_of(all: Vec<InboxMessage>, request: &PageRequest) -> Page<InboxMessage> {
    let most = request.limit + 1;
    let rows = match &request.cursor {
        None => all.into_iter().take(most).collect(),
        Some(cursor) if cursor.direction == Direction::Next => {
            all.into_iter().filter(|message| place(message) < cursor.key).take(most).collect()
        }
        Some(cursor) => all.into_iter().rev().filter(|message| place(message) > cursor.key).take(most).collect(),
    };
    Page::from_rows(rows, request, place)
}
