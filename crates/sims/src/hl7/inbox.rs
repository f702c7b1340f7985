//! The inbox: messages from scenario steps and from the config that are due, newest first.

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

/// Lists a page of the inbox, optionally only read or unread messages.
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
    let summary = format!("listed the inbox: {} messages", ids.len());
    let payload = object([("action", "list".into()), ("messages", ids.into())]);
    Outcome { answer: page, changes: Vec::new(), events: vec![event::inbox(sandbox, actor, &summary, payload)] }
}

/// Returns one message, or None if it does not exist.
pub fn get(
    world: &World,
    sandbox: &SandboxId,
    actor: &str,
    id: &str,
    context: &Context<'_>,
) -> Outcome<Option<InboxMessage>> {
    let found = arrived(world, sandbox, context.now).into_iter().find(|message| message.id == id);
    let payload = found.iter().map(|message| action(message, "read")).next();
    let events = payload.map(|(summary, payload)| event::inbox(sandbox, actor, &summary, payload));
    Outcome { answer: found, changes: Vec::new(), events: events.into_iter().collect() }
}

/// Marks a message as read or unread. None if it does not exist.
pub fn mark(
    world: &World,
    sandbox: &SandboxId,
    actor: &str,
    (id, read): (&str, bool),
    context: &Context<'_>,
) -> Outcome<Option<InboxMessage>> {
    let inbox_sandbox = world.sandboxes.get(sandbox);
    let found = arrived(world, sandbox, context.now).into_iter().find(|message| message.id == id);
    let (Some(mut message), Some(inbox_sandbox)) = (found, inbox_sandbox) else {
        return Outcome { answer: None, changes: Vec::new(), events: Vec::new() };
    };
    message.read = read;
    let (summary, payload) = action(&message, if read { "mark_read" } else { "mark_unread" });
    let version = inbox_sandbox.records.next_version(INBOX, id);
    let change = Change {
        sandbox: sandbox.clone(),
        collection: INBOX.into(),
        key: id.into(),
        version,
        at: context.now,
        write: if version == 1 { Write::Create } else { Write::Update },
        text: serde_json::to_string(&message).ok().map(Into::into),
    };
    let events = vec![event::inbox(sandbox, actor, &summary, payload)];
    Outcome { answer: Some(message), changes: vec![change], events }
}

fn action(message: &InboxMessage, action: &str) -> (String, serde_json::Map<String, Value>) {
    let summary = format!("{action} {} {}", message.message_type, message.control_id);
    (summary, object([("action", action.into()), ("id", message.id.as_str().into())]))
}

/// All messages that are due, newest first.
fn arrived(world: &World, sandbox: &SandboxId, now: Timestamp) -> Vec<InboxMessage> {
    let Some(sandbox) = world.sandboxes.get(sandbox) else { return Vec::new() };
    let stored = sandbox.records.own(INBOX).filter_map(|record| InboxMessage::deserialize(&*record.json()).ok());
    let mut all: Vec<InboxMessage> = stored.collect();
    let is_stored = |id: &str, all: &[InboxMessage]| all.iter().any(|message| message.id == id);
    for message in configured(sandbox).into_iter().filter(|message| message.received_at <= now) {
        if !is_stored(&message.id, &all) {
            all.push(message);
        }
    }
    all.sort_by_key(|message| std::cmp::Reverse(sort_key(message)));
    all
}

/// The messages of the config, as if they had arrived after the sandbox was created. They are stored when they are changed.
fn configured(sandbox: &Sandbox) -> Vec<InboxMessage> {
    if sandbox.config.get("inbox").is_none() {
        return Vec::new();
    }
    let Ok(config) = authored::read::<Hl7Config>(&sandbox.config) else { return Vec::new() };
    let messages = config.inbox.iter().zip(1..);
    let to_inbox = |(configured, number): (&super::config::InboxSeed, usize)| {
        let message = configured.parse().ok()?;
        let after = configured.after_seconds.unwrap_or(0).saturating_mul(1000);
        Some(InboxMessage {
            id: format!("hl7_seed_{number:04}"),
            message_type: text::type_of(&message),
            control_id: message.control_id().into_owned(),
            received_at: sandbox.created_at.plus_milliseconds(after),
            payload: message.text().to_owned(),
            read: false,
        })
    };
    messages.filter_map(to_inbox).collect()
}

/// The sort key of a message.
fn sort_key(message: &InboxMessage) -> String {
    format!("{} {}", message.received_at, message.id)
}

fn page_of(all: Vec<InboxMessage>, request: &PageRequest) -> Page<InboxMessage> {
    let count = request.limit + 1;
    let rows = match &request.cursor {
        None => all.into_iter().take(count).collect(),
        Some(cursor) if cursor.direction == Direction::Next => {
            all.into_iter().filter(|message| sort_key(message) < cursor.key).take(count).collect()
        }
        Some(cursor) => all.into_iter().rev().filter(|message| sort_key(message) > cursor.key).take(count).collect(),
    };
    Page::from_rows(rows, request, sort_key)
}
