//! Delivery of a fax: applies the calls that have ended, and delivers the fax to the playground's own line of that number, if
//! there is one.

use model::Timestamp;
use model::event::EventType;
use model::simulator::SimulatorType;
use serde::Deserialize;
use serde_json::{Value, json};
use world::{Change, Context, NewEvent, Sandbox, World};

use super::calls::{CallAttempt, CallPlan};
use super::number;
use super::rows::{PendingDelivery, public_row, text};
use super::steps::FAXES;
use crate::scenario::SCHEDULED;
use crate::scenario::step::object;

/// The result of the calls that have ended.
#[derive(Default)]
pub(super) struct DeliveryOutcome {
    pub(super) changes: Vec<Change>,
    /// One event for each call, and one for the arrival.
    pub(super) events: Vec<NewEvent>,
}

/// Applies all calls of a fax that have ended by now to its row. The next call ends at the row's `next_attempt_at`.
pub(super) fn advance(
    world: &World,
    sandbox: &Sandbox,
    context: &Context<'_>,
    plan: &CallPlan,
    row: &mut Value,
) -> DeliveryOutcome {
    let mut outcome = DeliveryOutcome::default();
    let completed = row.get("attempts").and_then(Value::as_i64).unwrap_or(0);
    let due = next_end(row).unwrap_or(context.now);
    for attempt in plan.attempts(completed, due, context.now) {
        attempt.apply_to(row);
        outcome.events.push(status_event(sandbox, row, &attempt));
        if attempt.status() == "sent" {
            outcome.deliver_locally(world, context, row);
        }
    }
    let id = text(row, "id").unwrap_or_default();
    match next_end(row) {
        Some(due_at) => {
            let delivery = PendingDelivery { due_at, fax: id.to_owned() };
            let pending = serde_json::to_value(delivery).unwrap_or_default();
            outcome.changes.push(sandbox.put(SCHEDULED, &key(id), &pending, context.now));
        }
        None if sandbox.records.get(SCHEDULED, &key(id)).live().is_some() => {
            outcome.changes.push(sandbox.delete(SCHEDULED, &key(id), context.now));
        }
        None => {}
    }
    outcome.changes.push(sandbox.put(FAXES, id, row, context.now));
    outcome
}

fn next_end(row: &Value) -> Option<Timestamp> {
    Timestamp::deserialize(row.get("next_attempt_at")?).ok()
}

/// The key of a pending delivery. Deferred scenario steps have numbers as keys.
pub(super) fn key(fax: &str) -> String {
    format!("delivery-{fax}")
}

fn status_event(sandbox: &Sandbox, row: &Value, attempt: &CallAttempt) -> NewEvent {
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

impl DeliveryOutcome {
    /// Delivers the fax to the active line of the playground with that number.
    fn deliver_locally(&mut self, world: &World, context: &Context<'_>, sent: &Value) {
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
            payload: public_row(&row).into(),
        });
        self.changes.push(line.put(FAXES, &id, &row, context.now));
    }
}
