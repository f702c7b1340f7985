//! A fax on its way: the calls that have ended change it, and what gets through arrives at the line of that number, if the
//! playground has one.

use model::Timestamp;
use model::event::EventType;
use model::simulator::SimulatorType;
use serde::Deserialize;
use serde_json::{Value, json};
use world::{Change, Context, NewEvent, Sandbox, World};

use super::line::{Attempt, Line};
use super::number;
use super::rows::{Delivery, shown, text};
use super::steps::FAXES;
use crate::scenario::SCHEDULED;
use crate::scenario::step::object;

/// What the calls that have ended by now leave.
#[derive(Default)]
pub(super) struct Delivered {
    /// With the fax as it then is, in `row`.
    pub(super) changes: Vec<Change>,
    /// What the line tells of them, one for each call.
    pub(super) events: Vec<NewEvent>,
}

/// Goes on with a fax whose next call ends at `next_attempt_at`.
pub(super) fn go_on(
    world: &World,
    sandbox: &Sandbox,
    context: &Context<'_>,
    line: &Line,
    row: &mut Value,
) -> Delivered {
    let mut delivered = Delivered::default();
    let done = row.get("attempts").and_then(Value::as_i64).unwrap_or(0);
    let due = next_end(row).unwrap_or(context.now);
    for attempt in line.attempts(done, due, context.now) {
        attempt.note(row);
        delivered.events.push(told(sandbox, row, &attempt));
        if attempt.status() == "sent" {
            delivered.arrive(world, context, row);
        }
    }
    let id = text(row, "id").unwrap_or_default();
    match next_end(row) {
        Some(due_at) => {
            let delivery = Delivery { due_at, fax: id.to_owned() };
            let waiting = serde_json::to_value(delivery).unwrap_or_default();
            delivered.changes.push(sandbox.put(SCHEDULED, &key(id), &waiting, context.now));
        }
        None if sandbox.records.get(SCHEDULED, &key(id)).live().is_some() => {
            delivered.changes.push(sandbox.delete(SCHEDULED, &key(id), context.now));
        }
        None => {}
    }
    delivered.changes.push(sandbox.put(FAXES, id, row, context.now));
    delivered
}

fn next_end(row: &Value) -> Option<Timestamp> {
    Timestamp::deserialize(row.get("next_attempt_at")?).ok()
}

/// A scenario's steps have numbers.
pub(super) fn key(fax: &str) -> String {
    format!("delivery-{fax}")
}

fn told(sandbox: &Sandbox, row: &Value, attempt: &Attempt) -> NewEvent {
    let to = text(row, "to_number").unwrap_or_default();
    let summary = match &attempt.failure {
        None => format!("the fax to {to} was sent"),
        Some(reason) => format!("call {} to {to} failed: {reason}", attempt.number),
    };
    let payload = json!({"id": row.get("id"), "to_number": to, "status": attempt.status(), "attempt": attempt.number,
        "reason": attempt.failure, "at": attempt.at, "next_attempt_at": attempt.next});
    NewEvent {
        sandbox: sandbox.id.clone(),
        r#type: EventType::FaxStatus,
        actor: "line".to_owned(),
        summary,
        payload: payload.into(),
    }
}

impl Delivered {
    fn arrive(&mut self, world: &World, context: &Context<'_>, sent: &Value) {
        let Some(to) = text(sent, "to_number") else { return };
        let mut lines = world.sandboxes.values().filter(|one| one.kind == SimulatorType::Fax && one.is_active);
        let Some(line) = lines.find(|one| number::own(&one.config, &one.id) == to) else { return };
        let id = format!("fax_{}", (context.new_id)());
        let mut row = object([
            ("id", id.as_str().into()),
            ("direction", "inbound".into()),
            ("from_number", sent["from_number"].clone()),
            ("to_number", to.into()),
            ("subject", sent["subject"].clone()),
            ("status", "received".into()),
            ("received_at", sent["sent_at"].clone()),
        ]);
        for member in ["content_type", "pages", "size", "sha256", "ocr_status", "ocr_engine", "text_sources", "text"] {
            row.extend(sent.get(member).map(|value| (member.to_owned(), value.clone())));
        }
        row.insert("read".to_owned(), false.into());
        let row = Value::Object(row);
        self.events.push(NewEvent {
            sandbox: line.id.clone(),
            r#type: EventType::FaxInbound,
            actor: "line".to_owned(),
            summary: format!("a fax arrived from {}", text(sent, "from_number").unwrap_or_default()),
            payload: shown(&row).into(),
        });
        self.changes.push(line.put(FAXES, &id, &row, context.now));
    }
}
