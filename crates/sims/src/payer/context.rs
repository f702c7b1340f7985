//! The context of a message to the portal: world, sandbox, config and client.

use model::{FieldErrors, SandboxId};
use serde_json::Value;
use world::{Change, Context, NewEvent, Outcome, Sandbox, World};

use super::config::PayerConfig;

/// The interface through which the portal was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortalInterface {
    Api,
    Pages,
}

impl PortalInterface {
    pub(super) fn name(self) -> &'static str {
        match self {
            PortalInterface::Api => "api",
            PortalInterface::Pages => "pages",
        }
    }
}

/// The client, for the log.
#[derive(Clone, Debug)]
pub struct PortalClient {
    pub name: String,
    pub interface: PortalInterface,
}

/// Everything that a message needs.
pub struct PortalContext<'a> {
    pub(super) world: &'a World,
    pub(super) sandbox: &'a Sandbox,
    pub(super) config: PayerConfig,
    pub(super) client: &'a PortalClient,
    pub(super) context: &'a Context<'a>,
}

/// Why the portal rejected a message. Nothing has changed.
#[derive(Clone, Debug, PartialEq)]
pub enum PortalError {
    Invalid(FieldErrors),
    /// The kind of thing that was not found.
    NotFound(&'static str),
    Conflict(String),
}

/// The outcome of a message to the portal.
pub type PortalOutcome<T> = Outcome<Result<T, PortalError>>;

/// Handles one message with `run`.
pub fn handle<T>(
    world: &World,
    sandbox: &SandboxId,
    client: &PortalClient,
    context: &Context<'_>,
    run: impl FnOnce(&PortalContext<'_>) -> PortalOutcome<T>,
) -> PortalOutcome<T> {
    match world.sandboxes.get(sandbox) {
        Some(sandbox) => {
            run(&PortalContext { world, sandbox, config: PayerConfig::of(&sandbox.config), client, context })
        }
        None => failure(PortalError::NotFound("sandbox"), Vec::new()),
    }
}

pub(super) fn failure<T>(error: PortalError, events: Vec<NewEvent>) -> PortalOutcome<T> {
    Outcome { answer: Err(error), changes: Vec::new(), events }
}

impl PortalContext<'_> {
    pub(super) fn row(&self, collection: &str, key: &str) -> Option<Value> {
        self.sandbox.records.get(collection, key).live().map(|record| Value::clone(&record.json()))
    }

    pub(super) fn count(&self, collection: &str) -> usize {
        self.sandbox.records.own(collection).count()
    }

    pub(super) fn put(&self, collection: &str, key: &str, row: &Value) -> Change {
        self.sandbox.put(collection, key, row, self.context.now)
    }

    pub(super) fn delete(&self, collection: &str, key: &str) -> Change {
        self.sandbox.delete(collection, key, self.context.now)
    }

    pub(super) fn now(&self) -> Value {
        self.context.now.to_string().into()
    }
}
