//! Mutants of an agent's work (near misses): the same requests with one error, as a hurried or confused agent might make it.
//!
//! Mutants are derived from the recorded plan of the reference agent. A benchmark's criteria must fail them.

mod change;
mod dates;
mod leaf;
mod mutation_kind;
mod role;
mod scope;
mod segments;
mod select;
mod siblings;

use serde_json::Value;

use crate::message::Message;
pub(crate) use change::different_text;
use leaf::LeafPath;
pub use mutation_kind::MutationKind;
pub(crate) use select::{sample, select};
pub(crate) use siblings::ANY_PATIENT;

/// The task item that an agent was given, and its write requests.
#[derive(Clone, Debug)]
pub struct Plan {
    pub item: Value,
    pub sent: Vec<Message>,
}

/// The work of an agent with one error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    pub kind: MutationKind,
    pub(crate) mutation: Mutation,
}

/// What is changed in the work. Messages are numbered from zero, in the order in which the agent writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mutation {
    /// These values of these messages are changed.
    Values(Vec<(usize, LeafPath)>),
    /// A message is not sent.
    Omitted(usize),
    /// A message is sent twice.
    Duplicated(usize),
    /// A message is sent to another path.
    WrongLocation(usize),
    /// A message is sent with the content of a sibling task's message.
    SiblingContent(usize, Value),
    /// An additional message is sent after the work.
    ExtraMessage(Message),
    /// A resource of this type is deleted after the work.
    RecordDeleted(String),
    /// A resource of this type is changed after the work.
    RecordChanged(String),
    /// The task is completed before the work.
    Late,
}

impl Mutant {
    /// Whether the task is completed before the work.
    pub(crate) fn is_late(&self) -> bool {
        self.mutation == Mutation::Late
    }
}

impl std::fmt::Display for Mutant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.kind.name();
        match &self.mutation {
            Mutation::Values(values) => {
                let paths = values.iter().map(|(message, path)| format!("{path} of message {}", message + 1));
                write!(f, "{name} in {}", paths.collect::<Vec<_>>().join(", "))
            }
            Mutation::Omitted(message)
            | Mutation::Duplicated(message)
            | Mutation::WrongLocation(message)
            | Mutation::SiblingContent(message, _) => {
                write!(f, "{name} in message {}", message + 1)
            }
            Mutation::ExtraMessage(message) => write!(f, "{name}: {} {}", message.method, message.path),
            Mutation::RecordDeleted(resource_type) | Mutation::RecordChanged(resource_type) => {
                write!(f, "{name}: {resource_type}")
            }
            Mutation::Late => f.write_str(name),
        }
    }
}

/// Changes these values of a message. Returns `None` when the kind applies to none of them.
pub(crate) fn mutated<'a>(
    kind: MutationKind,
    message: &Message,
    paths: impl Iterator<Item = &'a LeafPath>,
) -> Option<Message> {
    let content = message.content()?;
    let mut changed = content.clone();
    for path in paths {
        if let Some(value) = leaf::at(&changed, path).and_then(|leaf| change::mutated_value(kind, &leaf)) {
            leaf::set(&mut changed, path, value);
        }
    }
    (changed != content).then(|| message.with(&changed))
}

/// A second copy of a message that the server takes for a new one: with another file name or control number.
pub(crate) fn duplicate(message: &Message) -> Message {
    if message.path.starts_with("files/") {
        return Message { path: format!("{}-2", message.path), ..message.clone() };
    }
    let Some(mut content) = message.content() else { return message.clone() };
    if let Some(Value::String(text)) = content.get_mut("payload") {
        *text = segments::with_new_control_number(text);
    }
    message.with(&content)
}

/// The same message with another path, and the id in the body changed accordingly.
pub(crate) fn relocated(message: &Message) -> Message {
    let mut relocated = message.clone();
    relocated.path = match message.path.rsplit_once('.') {
        Some((name, extension)) => format!("{}.{extension}", different_text(name)),
        None => different_text(&message.path),
    };
    if let Some(mut content) = message.content()
        && content["id"].is_string()
    {
        content["id"] = relocated.path.rsplit('/').next().unwrap_or_default().into();
        relocated = relocated.with(&content);
    }
    relocated
}
