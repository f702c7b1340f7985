//! One operation on the file tree: who requests it, how it runs, and how it is logged.

use model::SandboxId;
use model::event::EventType;
use model::reading::shortened;
use serde_json::{Map, Value};
use world::{Change, Context, Lookup, NewEvent, Outcome, Records, Sandbox, World, Write};

use super::error::FilesError;
use super::tree::Tree;
use crate::scenario::step::object;

/// The protocol of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Http,
    Sftp,
}

impl Protocol {
    pub(super) fn name(self) -> &'static str {
        match self {
            Protocol::Http => "http",
            Protocol::Sftp => "sftp",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Client {
    /// The actor of its events.
    pub actor: String,
    pub protocol: Protocol,
}

/// The context of an operation.
pub struct Call<'a> {
    pub world: &'a World,
    pub context: &'a Context<'a>,
    pub sandbox: &'a SandboxId,
    pub client: &'a Client,
}

/// The outcome of an operation.
pub type FilesOutcome<T> = Outcome<Result<T, FilesError>>;

/// How an operation is logged.
pub(crate) struct EventInfo<'t> {
    pub(crate) r#type: EventType,
    pub(crate) operation: &'t str,
    pub(crate) path: &'t str,
    /// Additional members of the payload.
    pub(crate) details: Map<String, Value>,
}

/// The result of a successful operation.
pub(crate) struct OperationResult<T> {
    pub(crate) answer: T,
    pub(crate) changes: Vec<Change>,
    /// Additional members of the event's payload.
    pub(crate) details: Map<String, Value>,
}

impl<T> OperationResult<T> {
    pub(crate) fn unchanged(answer: T) -> Self {
        Self { answer, changes: Vec::new(), details: Map::new() }
    }
}

const MAX_SUMMARY_LENGTH: usize = 200;

impl<'a> Call<'a> {
    pub(crate) fn sandbox(&self) -> Option<&'a Sandbox> {
        self.world.sandboxes.get(self.sandbox)
    }

    /// Runs an operation on the sandbox's file tree and logs it, whether it succeeds or not.
    pub(crate) fn run<T>(
        &self,
        info: EventInfo<'_>,
        work: impl FnOnce(&Tree<'a>) -> Result<OperationResult<T>, FilesError>,
    ) -> FilesOutcome<T> {
        let tree = self.sandbox().map(Tree::of);
        let result = tree.ok_or(FilesError::NotFound).and_then(|tree| work(&tree));
        let EventInfo { r#type, operation, path, mut details } = info;
        let mut payload = object([
            ("operation", operation.into()),
            ("via", self.client.protocol.name().into()),
            ("path", path.into()),
        ]);
        payload.append(&mut details);
        let (answer, changes, error) = match result {
            Ok(OperationResult { answer, changes, mut details }) => {
                payload.append(&mut details);
                (Ok(answer), changes, None)
            }
            Err(error) => (Err(error.clone()), Vec::new(), Some(error)),
        };
        let mut summary = format!("{operation} /{path}");
        if let Some(error) = &error {
            payload.insert("refused".to_owned(), error.name().into());
            summary = format!("{summary}: {error}");
        }
        Outcome { answer, changes, events: vec![self.event(r#type, &summary, payload)] }
    }

    pub(crate) fn event(&self, r#type: EventType, summary: &str, payload: Map<String, Value>) -> NewEvent {
        NewEvent {
            sandbox: self.sandbox.clone(),
            r#type,
            actor: self.client.actor.clone(),
            summary: shortened(summary, MAX_SUMMARY_LENGTH),
            payload: Value::Object(payload).into(),
        }
    }

    pub(crate) fn put(&self, records: &Records, collection: &str, key: &str, row: Map<String, Value>) -> Change {
        let exists = matches!(records.get(collection, key), Lookup::Live(_));
        let write = if exists { Write::Update } else { Write::Create };
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
