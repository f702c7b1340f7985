//! Replies that a persona gives later. They lie where the scenario's later steps lie, as records that nobody is shown,
//! so that they survive a crash and every node knows them.

use model::Timestamp;
use model::channel::Channel;
use model::event::EventType;
use model::simulator::SimulatorType;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use world::{Change, Context, NewEvent, Outcome, Sandbox, World};

use super::rows::{Arriving, text};
use super::steps::MESSAGES;
use crate::scenario::SCHEDULED;
use crate::scheduler::{Origin, Schedule};

/// A reply is what somebody else decides to write: whether it comes in time is part of the task.
pub(crate) const SCHEDULE: Schedule = Schedule { origin: Origin::World, next_due, catch_up };

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Reply {
    pub(super) due_at: Timestamp,
    pub(super) persona: String,
    pub(super) channel: Channel,
    pub(super) from: String,
    pub(super) patient_id: Option<String>,
    pub(super) subject: Option<String>,
    pub(super) body: String,
}

impl Reply {
    /// At once when it is due, else put by; `to` is the message that it answers.
    pub(super) fn given(&self, sandbox: &Sandbox, context: &Context<'_>, to: &str) -> (Change, Option<NewEvent>) {
        if self.due_at > context.now {
            let row = serde_json::to_value(self).unwrap_or_default();
            return (sandbox.put(SCHEDULED, &key(to), &row, context.now), None);
        }
        let (change, event) = self.arrive(sandbox, context);
        (change, Some(event))
    }

    fn arrive(&self, sandbox: &Sandbox, context: &Context<'_>) -> (Change, NewEvent) {
        let id = format!("msg_{}", (context.new_id)());
        let arriving = Arriving {
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
            payload: Value::Object(arriving.told()).into(),
        };
        (sandbox.put(MESSAGES, &id, &arriving.row(), context.now), event)
    }
}

/// A scenario's steps have numbers.
fn key(message: &str) -> String {
    format!("reply-{message}")
}

/// When the next reply becomes due, if one waits.
pub fn next_due(world: &World) -> Option<Timestamp> {
    waiting(world).map(|(_, _, reply)| reply.due_at).min()
}

/// Lets the replies arrive that are due, in the order of their time.
pub fn catch_up(world: &World, context: &Context<'_>) -> Outcome<()> {
    let mut due: Vec<(&Sandbox, String, Reply)> =
        waiting(world).filter(|(_, _, reply)| reply.due_at <= context.now).collect();
    due.sort_by(|left, right| (left.2.due_at, &left.1).cmp(&(right.2.due_at, &right.1)));
    let (mut changes, mut events) = (Vec::new(), Vec::new());
    for (sandbox, key, reply) in due {
        let (change, event) = reply.arrive(sandbox, context);
        changes.extend([sandbox.delete(SCHEDULED, &key, context.now), change]);
        events.push(event);
    }
    Outcome { answer: (), changes, events }
}

/// What waits in sandboxes that take traffic.
fn waiting(world: &World) -> impl Iterator<Item = (&Sandbox, String, Reply)> {
    let sandboxes = world.sandboxes.values();
    let sandboxes = sandboxes.filter(|sandbox| sandbox.kind == SimulatorType::Message && sandbox.is_active);
    sandboxes.flat_map(|sandbox| {
        let replies = sandbox.records.own(SCHEDULED).filter(|record| text(&record.json(), "persona").is_some());
        replies
            .filter_map(move |record| Some((sandbox, record.key.to_owned(), Reply::deserialize(&*record.json()).ok()?)))
    })
}
