//! One message to the portal: who sends it, the world that it meets, and how a refusal is said.

use model::{FieldErrors, SandboxId};
use serde_json::Value;
use world::{Change, Context, NewEvent, Outcome, Sandbox, World};

use super::config::PayerConfig;

/// Which face of the portal was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    Api,
    Pages,
}

impl Channel {
    pub(super) fn name(self) -> &'static str {
        match self {
            Channel::Api => "api",
            Channel::Pages => "pages",
        }
    }
}

/// Who asks, for the events.
#[derive(Clone, Debug)]
pub struct Client {
    pub name: String,
    pub channel: Channel,
}

pub struct Call<'a> {
    pub(super) world: &'a World,
    pub(super) sandbox: &'a Sandbox,
    pub(super) config: PayerConfig,
    pub(super) client: &'a Client,
    pub(super) context: &'a Context<'a>,
}

/// Why the portal does not do it. Nothing has changed.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    Invalid(FieldErrors),
    /// No such thing, named.
    NotFound(&'static str),
    Conflict(String),
}

/// What a message left, and its answer.
pub type Done<T> = Outcome<Result<T, Refusal>>;

/// Answers one message; `run` does the work.
pub fn answer<T>(
    world: &World,
    sandbox: &SandboxId,
    client: &Client,
    context: &Context<'_>,
    run: impl FnOnce(&Call<'_>) -> Done<T>,
) -> Done<T> {
    match world.sandboxes.get(sandbox) {
        Some(sandbox) => run(&Call { world, sandbox, config: PayerConfig::of(&sandbox.config), client, context }),
        None => refused(Refusal::NotFound("sandbox"), Vec::new()),
    }
}

pub(super) fn refused<T>(refusal: Refusal, events: Vec<NewEvent>) -> Done<T> {
    Outcome { answer: Err(refusal), changes: Vec::new(), events }
}

impl Call<'_> {
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
