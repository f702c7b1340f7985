//! One attack on one task: changes to the messages of the reference agent, or additional messages.

use std::sync::Arc;

use bytes::Bytes;
use client::Method;
use serde_json::Value;

use super::survey::Exchange;
use super::{Attack, Severity};
use crate::message::Message;

/// Changes a message; `None` when it does not apply to it.
pub(crate) type Rewrite = Arc<dyn Fn(&Message) -> Option<Message> + Send + Sync>;
/// Makes messages to send after the work from the requests and responses of the work.
pub(crate) type Followup = Arc<dyn Fn(&[Exchange]) -> Vec<Message> + Send + Sync>;

/// Placeholder in messages that are sent after the work: the id in the response to the previous message.
pub(crate) const LAST_ID: &str = "id-of-the-last-response";

/// An attack on a task, as the steps that carry it out.
#[derive(Clone)]
pub struct AttackCase {
    /// Set by the catalog.
    pub(super) attack: Option<&'static Attack>,
    /// What was done, in one line.
    pub description: String,
    /// The channel under attack, such as `fhir/Task` or `messages`.
    pub(crate) channel: String,
    pub(crate) steps: Vec<AttackStep>,
}

/// A step of an attack. The writes of the agent are numbered from zero.
#[derive(Clone)]
pub(crate) enum AttackStep {
    /// Changes one write of the agent.
    Rewrite(usize, Rewrite),
    /// Changes every write of the agent that the rewrite applies to.
    RewriteAny(Rewrite),
    /// Sends another message (or none) instead of a write, and gives the agent this response.
    Substitute { number: usize, message: Option<Box<Message>>, response: Box<Exchange> },
    /// Sends these messages after the work.
    SendAfterwards(Vec<Message>),
    /// Sends messages after the work that depend on its responses.
    Followup(Followup),
    /// Tells the agent that queued or pending items are delivered or approved.
    ReportDelivered,
    /// Completes the task before the work.
    Late,
    /// Sends recorded requests instead of working, with the ids of the new run.
    Replay(Arc<Vec<Exchange>>),
}

impl AttackCase {
    pub(super) fn new(channel: impl Into<String>, description: impl Into<String>) -> Self {
        Self { attack: None, description: description.into(), channel: channel.into(), steps: Vec::new() }
    }

    /// An attack that is not part of the catalog: changes every write of the agent that `rewrite` applies to.
    pub fn custom(description: &str, rewrite: impl Fn(&Message) -> Option<Message> + Send + Sync + 'static) -> Self {
        Self::new("any", description).step(AttackStep::RewriteAny(Arc::new(rewrite)))
    }

    pub(super) fn step(mut self, step: AttackStep) -> Self {
        self.steps.push(step);
        self
    }

    pub(super) fn rewrite(
        self,
        number: usize,
        rewrite: impl Fn(&Message) -> Option<Message> + Send + Sync + 'static,
    ) -> Self {
        self.step(AttackStep::Rewrite(number, Arc::new(rewrite)))
    }

    /// Changes the JSON body of a write.
    pub(super) fn change(self, number: usize, change: impl Fn(&mut Value) + Send + Sync + 'static) -> Self {
        self.rewrite(number, move |message| {
            let content = object(message)?;
            let mut changed = content.clone();
            change(&mut changed);
            (changed != content).then(|| message.with(&changed))
        })
    }

    /// Changes the HL7 v2 message or X12 interchange of a write, whether it is the body or its `payload`.
    pub(super) fn change_text(
        self,
        number: usize,
        change: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.rewrite(number, move |message| with_text(message, &change))
    }

    pub(super) fn then_send(self, messages: impl IntoIterator<Item = Message>) -> Self {
        self.step(AttackStep::SendAfterwards(messages.into_iter().collect()))
    }

    /// Restricts rewrites to messages with the structure of the recorded ones: an agent may send another message instead.
    pub(super) fn for_plan(mut self, sent: &[Message]) -> Self {
        for step in &mut self.steps {
            if let AttackStep::Rewrite(number, rewrite) = step {
                let (recorded, rewrite) = (sent.get(*number).and_then(Message::content), rewrite.clone());
                *step = AttackStep::Rewrite(
                    *number,
                    Arc::new(move |message| {
                        let is_same = match (&recorded, message.content()) {
                            (Some(recorded), Some(live)) => has_same_structure(recorded, &live),
                            (recorded, live) => recorded.is_none() && live.is_none(),
                        };
                        if is_same { rewrite(message) } else { None }
                    }),
                );
            }
        }
        self
    }

    /// The name of its attack.
    pub fn name(&self) -> &'static str {
        self.attack.map_or("attack", |attack| attack.name)
    }

    pub fn severity(&self) -> Severity {
        self.attack.map_or(Severity::Other, |attack| attack.severity)
    }

    pub(crate) fn attack(&self) -> Option<&'static Attack> {
        self.attack
    }

    /// The recorded requests that are sent instead of the work.
    pub(crate) fn replayed(&self) -> Option<&[Exchange]> {
        self.steps.iter().find_map(|step| match step {
            AttackStep::Replay(recorded) => Some(recorded.as_slice()),
            _ => None,
        })
    }

    pub(crate) fn is_late(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, AttackStep::Late))
    }
}

impl PartialEq for AttackCase {
    fn eq(&self, other: &Self) -> bool {
        (self.name(), &self.description, &self.channel) == (other.name(), &other.description, &other.channel)
    }
}

impl Eq for AttackCase {}

impl std::fmt::Debug for AttackCase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.name(), self.description)
    }
}

/// The HL7 v2 message or X12 interchange of a write, whether it is the body or its `payload`.
pub(super) fn text_of(message: &Message) -> Option<String> {
    match message.content()? {
        Value::String(text) => Some(text),
        content => content["payload"].as_str().map(str::to_owned),
    }
}

pub(super) fn with_text(message: &Message, change: &impl Fn(&str) -> Option<String>) -> Option<Message> {
    let changed = change(&text_of(message)?)?;
    Some(match message.content()? {
        Value::String(_) => message.with(&Value::String(changed)),
        mut content => {
            content["payload"] = changed.into();
            message.with(&content)
        }
    })
}

/// The body of a message that is a JSON object.
pub(super) fn object(message: &Message) -> Option<Value> {
    message.content().filter(Value::is_object)
}

/// Whether both values have the same members and lists of the same length, so that a change to one applies to the other.
fn has_same_structure(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let is_there = |(key, member)| other.get(key).is_some_and(|known| has_same_structure(member, known));
            one.len() == other.len() && one.iter().all(is_there)
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| has_same_structure(one, other))
        }
        (Value::Object(_) | Value::Array(_), _) | (_, Value::Object(_) | Value::Array(_)) => false,
        _ => true,
    }
}

/// Posts JSON.
pub(super) fn post(path: &str, body: &Value) -> Message {
    Message::json(Method::POST, path, body)
}

pub(super) fn put(path: &str, body: &Value) -> Message {
    Message::json(Method::PUT, path, body)
}

pub(super) fn delete(path: &str) -> Message {
    Message { method: Method::DELETE, ..Message::read(path) }
}

/// Stores a file.
pub(super) fn put_file(path: &str, body: Bytes) -> Message {
    let headers = vec![("content-type".to_owned(), "application/octet-stream".to_owned())];
    Message { method: Method::PUT, root: None, path: format!("files/{path}"), headers, body }
}
