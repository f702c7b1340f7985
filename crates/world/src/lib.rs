//! The state of a playground as a value: immutable dataset layers and a small overlay of changes, readable as of any
//! position of the log. Copies are cheap and never change. No I/O, no clock, no randomness.

mod change;
mod effect;
mod exchange;
mod records;
mod search;
mod tree;
mod window;

pub use change::{Change, Seq, Write};
pub use effect::{Effect, Verb};
pub use exchange::{Context, NewEvent, Outcome, Payload};
pub use records::{Lookup, Record, Records, Revision};
pub use search::{Hit, MOST_INCLUDED, Page, SearchCache, SearchResult, StoredParameters, TypeSearch};
pub use tree::{FILES, Tree};
pub use window::{Direction, Window};

use std::collections::BTreeMap;
use std::sync::Arc;

use model::simulator::SimulatorType;
use model::{SandboxId, Timestamp};
use serde_json::Value;

/// One playground at one position of its log.
#[derive(Clone, Debug)]
pub struct World {
    /// The last log entry that it contains.
    pub seq: Seq,
    /// The earliest position that can be read: the playground was reset, or its datasets changed.
    pub oldest: Seq,
    pub sandboxes: BTreeMap<SandboxId, Sandbox>,
}

/// One simulated system of the playground.
#[derive(Clone, Debug)]
pub struct Sandbox {
    pub id: SandboxId,
    pub kind: SimulatorType,
    pub config: Arc<Value>,
    pub created_at: Timestamp,
    /// Whether it accepts traffic.
    pub is_active: bool,
    pub records: Records,
}

impl Sandbox {
    /// The change that creates or updates a row.
    pub fn put(&self, collection: &str, key: &str, row: &Value, at: Timestamp) -> Change {
        let write = if self.records.get(collection, key).live().is_some() { Write::Update } else { Write::Create };
        self.change((collection, key), write, Some(row.to_string().into()), at)
    }

    /// The change that deletes a row.
    pub fn delete(&self, collection: &str, key: &str, at: Timestamp) -> Change {
        self.change((collection, key), Write::Delete, None, at)
    }

    fn change(&self, (collection, key): (&str, &str), write: Write, text: Option<Arc<str>>, at: Timestamp) -> Change {
        Change {
            sandbox: self.id.clone(),
            collection: collection.into(),
            key: key.into(),
            version: self.records.next_version(collection, key),
            at,
            write,
            text,
        }
    }
}

impl World {
    /// The world as it was after log entry `position`. Later entries are dropped.
    #[must_use]
    pub fn at(&self, position: Seq) -> World {
        let mut earlier = self.clone();
        if position < self.seq {
            earlier.sandboxes.values_mut().for_each(|sandbox| sandbox.records.rewind(position));
            earlier.seq = position;
        }
        earlier
    }

    pub fn apply(&mut self, seq: Seq, change: &Change) {
        if let Some(sandbox) = self.sandboxes.get_mut(&change.sandbox) {
            sandbox.records.apply(seq, change);
        }
        self.seq = self.seq.max(seq);
    }
}
