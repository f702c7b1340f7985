//! One message to the file drop: who sends it over which protocol, and how it is told in the log.

use model::SandboxId;
use model::event::EventType;
use model::reading::shortened;
use serde_json::{Map, Value};
use world::{Change, Context, Lookup, NewEvent, Outcome, Records, Sandbox, World, Write};

use super::refusal::Refusal;
use super::tree::Tree;
use crate::scenario::step::object;

/// The protocol that a message came by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    Http,
    Sftp,
}

impl Via {
    pub(super) fn name(self) -> &'static str {
        match self {
            Via::Http => "http",
            Via::Sftp => "sftp",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Client {
    /// Who it is, as events tell it.
    pub actor: String,
    pub via: Via,
}

/// What a message is carried out on.
pub struct Call<'a> {
    pub world: &'a World,
    pub context: &'a Context<'a>,
    pub sandbox: &'a SandboxId,
    pub client: &'a Client,
}

/// What a message came to.
pub type Answered<T> = Outcome<Result<T, Refusal>>;

/// What the log tells of a message.
pub(crate) struct Told<'t> {
    pub(crate) r#type: EventType,
    pub(crate) operation: &'t str,
    pub(crate) path: &'t str,
    pub(crate) more: Map<String, Value>,
}

/// What a message changed, and its answer.
pub(crate) struct Carried<T> {
    pub(crate) answer: T,
    pub(crate) changes: Vec<Change>,
    /// More for the log.
    pub(crate) more: Map<String, Value>,
}

impl<T> Carried<T> {
    pub(crate) fn unchanged(answer: T) -> Self {
        Self { answer, changes: Vec::new(), more: Map::new() }
    }
}

const LONGEST_SUMMARY: usize = 200;

impl<'a> Call<'a> {
    pub(crate) fn sandbox(&self) -> Option<&'a Sandbox> {
        self.world.sandboxes.get(self.sandbox)
    }

    /// Runs a message on the sandbox's tree and tells of it, whatever comes of it.
    pub(crate) fn carry_out<T>(
        &self,
        told: Told<'_>,
        work: impl FnOnce(&Tree<'a>) -> Result<Carried<T>, Refusal>,
    ) -> Answered<T> {
        let tree = self.sandbox().map(Tree::of);
        let carried = tree.ok_or(Refusal::NotFound).and_then(|tree| work(&tree));
        let Told { r#type, operation, path, mut more } = told;
        let mut payload =
            object([("operation", operation.into()), ("via", self.client.via.name().into()), ("path", path.into())]);
        payload.append(&mut more);
        let (answer, changes, outcome) = match carried {
            Ok(Carried { answer, changes, mut more }) => {
                payload.append(&mut more);
                (Ok(answer), changes, None)
            }
            Err(refusal) => (Err(refusal.clone()), Vec::new(), Some(refusal)),
        };
        let mut summary = format!("{operation} /{path}");
        if let Some(refusal) = &outcome {
            payload.insert("refused".to_owned(), refusal.name().into());
            summary = format!("{summary}: {refusal}");
        }
        Outcome { answer, changes, events: vec![self.event(r#type, &summary, payload)] }
    }

    pub(crate) fn event(&self, r#type: EventType, summary: &str, payload: Map<String, Value>) -> NewEvent {
        NewEvent {
            sandbox: self.sandbox.clone(),
            r#type,
            actor: self.client.actor.clone(),
            summary: shortened(summary, LONGEST_SUMMARY),
            payload: Value::Object(payload).into(),
        }
    }

    pub(crate) fn put(&self, records: &Records, collection: &str, key: &str, row: Map<String, Value>) -> Change {
        let is_there = matches!(records.get(collection, key), Lookup::Live(_));
        let write = if is_there { Write::Update } else { Write::Create };
        self.change(records, collection, key, write, Some(Value::Object(row).to_string()))
    }

    pub(crate) fn remove(&self, records: &Records, collection: &str, key: &str) -> Change {
        self.change(records, collection, key, Write::Delete, None)
    }

    fn change(&self, records: &Records, collection: &str, key: &str, write: Write, text: Option<String>) -> Change {
        Change {
            sandbox: self.sandbox.clone(),
            collection: collection.into(),
            key: key.into(),
            version: records.next_version(collection, key),
            at: self.context.now,
            write,
            text: text.map(Into::into),
        }
    }
}
