//! Near misses of an agent that does its work: the same with one thing wrong, as a hurried or confused agent would have it.

mod change;
mod choose;
mod dates;
mod judged;
mod kind;
mod leaf;
mod role;
mod segments;
mod sibling;

use serde_json::Value;

use crate::message::Message;
pub(crate) use change::other;
pub(crate) use choose::{chosen, some_of};
pub use kind::Kind;
use leaf::Address;
pub(crate) use sibling::SOMEBODY;

/// What an agent was told of a task, and what it wrote.
#[derive(Clone, Debug)]
pub struct Plan {
    pub item: Value,
    pub sent: Vec<Message>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearMiss {
    pub kind: Kind,
    pub(crate) fault: Fault,
}

/// Where it is wrong. Messages are counted from zero, in the order in which the agent writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// In these values of these messages.
    At(Vec<(usize, Address)>),
    LeftOut(usize),
    Twice(usize),
    Elsewhere(usize),
    Instead(usize, Value),
    Beside(Message),
    /// One resource of this type.
    Deleted(String),
    Rewritten(String),
    Late,
}

impl NearMiss {
    /// Whether the work is to begin when the task has been completed.
    pub(crate) fn is_late(&self) -> bool {
        self.fault == Fault::Late
    }
}

impl std::fmt::Display for NearMiss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.kind.name();
        match &self.fault {
            Fault::At(places) => {
                let places = places.iter().map(|(message, address)| format!("{address} of message {}", message + 1));
                write!(f, "{name} in {}", places.collect::<Vec<_>>().join(", "))
            }
            Fault::LeftOut(message)
            | Fault::Twice(message)
            | Fault::Elsewhere(message)
            | Fault::Instead(message, _) => {
                write!(f, "{name} in message {}", message + 1)
            }
            Fault::Beside(message) => write!(f, "{name}: {} {}", message.method, message.path),
            Fault::Deleted(kind) | Fault::Rewritten(kind) => write!(f, "{name}: {kind}"),
            Fault::Late => f.write_str(name),
        }
    }
}

/// The message with these values wrong, or nothing when none of them can be.
pub(crate) fn altered<'a>(kind: Kind, message: &Message, places: impl Iterator<Item = &'a Address>) -> Option<Message> {
    let content = message.content()?;
    let mut wrong = content.clone();
    for address in places {
        if let Some(value) = leaf::at(&wrong, address).and_then(|leaf| change::changed(kind, &leaf)) {
            leaf::set(&mut wrong, address, value);
        }
    }
    (wrong != content).then(|| message.with(&wrong))
}

/// The same once more, as another one.
pub(crate) fn renumbered(message: &Message) -> Message {
    if message.path.starts_with("files/") {
        return Message { path: format!("{}-2", message.path), ..message.clone() };
    }
    let Some(mut content) = message.content() else { return message.clone() };
    if let Some(Value::String(text)) = content.get_mut("payload") {
        *text = segments::renumbered(text);
    }
    message.with(&content)
}

/// The same under another name.
pub(crate) fn elsewhere(message: &Message) -> Message {
    let mut other = message.clone();
    other.path = match message.path.rsplit_once('.') {
        Some((name, ending)) => format!("{}.{ending}", change::other(name)),
        None => change::other(&message.path),
    };
    if let Some(mut content) = message.content()
        && content["id"].is_string()
    {
        content["id"] = other.path.rsplit('/').next().unwrap_or_default().into();
        other = other.with(&content);
    }
    other
}
