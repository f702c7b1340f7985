//! One message to the portal: who sends it, the world that it meets, and how a refusal is said.

use std::sync::Arc;

use model::{FieldErrors, SandboxId};
use serde_json::Value;
use world::{Change, Context, Lookup, NewEvent, Outcome, Sandbox, World, Write};

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
        put(self.sandbox, self.context, collection, key, row)
    }

    pub(super) fn delete(&self, collection: &str, key: &str) -> Change {
        change(self.sandbox, self.context, (collection, key), Write::Delete, None)
    }

    pub(super) fn now(&self) -> Value {
        self.context.now.to_string().into()
    }
}

pub(super) fn put(sandbox: &Sandbox, context: &Context<'_>, collection: &str, key: &str, row: &Value) -> Change {
    let is_there = matches!(sandbox.records.get(collection, key), Lookup::Live(_));
    let write = if is_there { Write::Update } else { Write::Create };
    change(sandbox, context, (collection, key), write, Some(row.to_string().into()))
}

pub(super) fn change(
    sandbox: &Sandbox,
    context: &Context<'_>,
    (collection, key): (&str, &str),
    write: Write,
    text: Option<Arc<str>>,
) -> Change {
    Change {
        sandbox: sandbox.id.clone(),
        collection: collection.into(),
        key: key.into(),
        version: sandbox.records.next_version(collection, key),
        at: context.now,
        write,
        text,
    }
}
