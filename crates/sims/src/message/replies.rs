//! Persona replies. A delayed reply is stored next to the deferred scenario steps, as a record that no simulator exposes.
//! That makes it survive a crash and visible to every node.

use model::Timestamp;
use model::channel::Channel;
use model::event::EventType;
use model::simulator::SimulatorType;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use world::{Change, Context, NewEvent, Outcome, Sandbox, World};

use super::rows::{InboundMessage, text};
use super::steps::MESSAGES;
use crate::scenario::SCHEDULED;
use crate::scheduler::{Origin, Schedule};

/// A reply is another person's action. Whether it arrives before the task is completed is part of the task.
pub(crate) const SCHEDULE: Schedule = Schedule { origin: Origin::SimulatedPerson, next_due, catch_up };

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct PersonaReply {
    pub(super) due_at: Timestamp,
    pub(super) persona: String,
    pub(super) channel: Channel,
    pub(super) from: String,
    pub(super) patient_id: Option<String>,
    pub(super) subject: Option<String>,
    pub(super) body: String,
}

impl PersonaReply {
    /// Delivers the reply if it is due, and defers it otherwise. `message` is the id of the message that it answers.
    pub(super) fn deliver_or_defer(
        &self,
        sandbox: &Sandbox,
        context: &Context<'_>,
        message: &str,
    ) -> (Change, Option<NewEvent>) {
        if self.due_at > context.now {
            let row = serde_json::to_value(self).unwrap_or_default();
            return (sandbox.put(SCHEDULED, &key(message), &row, context.now), None);
        }
        let (change, event) = self.deliver(sandbox, context);
        (change, Some(event))
    }

    fn deliver(&self, sandbox: &Sandbox, context: &Context<'_>) -> (Change, NewEvent) {
        let id = format!("msg_{}", (context.new_id)());
        let inbound = InboundMessage {
            id: &id,
            channel: self.channel,
            from: Some(&self.from),
            patient_id: self.patient_id.as_deref(),
            subject: self.subject.as_deref(),
            body: &self.body,
            at: self.due_at,
        };
        let event = NewEvent {
            sandbox: sandbox.id.clone(),
            r#type: EventType::MessageInbound,
            actor: "persona".to_owned(),
            summary: format!("{} from {} arrived", self.channel.name(), self.persona),
            payload: Value::Object(inbound.members()).into(),
        };
        (sandbox.put(MESSAGES, &id, &inbound.row(), context.now), event)
    }
}

/// The key of a deferred reply. Deferred scenario steps have numbers as keys.
fn key(message: &str) -> String {
    format!("reply-{message}")
}

/// When the next deferred reply becomes due, if there is one.
pub fn next_due(world: &World) -> Option<Timestamp> {
    pending(world).map(|(_, _, reply)| reply.due_at).min()
}

/// Delivers the replies that are due, ordered by due time.
pub fn catch_up(world: &World, context: &Context<'_>) -> Outcome<()> {
    let mut due: Vec<(&Sandbox, String, PersonaReply)> =
        pending(world).filter(|(_, _, reply)| reply.due_at <= context.now).collect();
    due.sort_by(|left, right| (left.2.due_at, &left.1).cmp(&(right.2.due_at, &right.1)));
    let (mut changes, mut events) = (Vec::new(), Vec::new());
    for (sandbox, key, reply) in due {
        let (change, event) = reply.deliver(sandbox, context);
        changes.extend([sandbox.delete(SCHEDULED, &key, context.now), change]);
        events.push(event);
    }
    Outcome { answer: (), changes, events }
}

/// The deferred replies of active sandboxes, with their keys.
fn pending(world: &World) -> impl Iterator<Item = (&Sandbox, String, PersonaReply)> {
    let sandboxes = world.sandboxes.values();
    let sandboxes = sandboxes.filter(|sandbox| sandbox.kind == SimulatorType::Message && sandbox.is_active);
    sandboxes.flat_map(|sandbox| {
        let replies = sandbox.records.own(SCHEDULED).filter(|record| text(&record.json(), "persona").is_some());
        replies.filter_map(move |record| {
            Some((sandbox, record.key.to_owned(), PersonaReply::deserialize(&*record.json()).ok()?))
        })
    })
}
