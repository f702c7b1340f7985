//! Idempotency keys: a message that is sent twice under the same key has one effect.

use model::canonical::sha256_hex;
use serde_json::{Value, json};
use world::Sandbox;

/// The collection that stores idempotency keys. No simulator exposes it.
pub(crate) const BOOKKEEPING: &str = "bookkeeping";

/// The sender's idempotency key and the hash of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey {
    pub key: String,
    pub sha256: String,
}

/// The key was used with another request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdempotencyConflict;

impl IdempotencyConflict {
    pub const MESSAGE: &'static str = "the Idempotency-Key was used with another request";
}

impl IdempotencyKey {
    /// The record's key in [`BOOKKEEPING`].
    pub(crate) fn record_key(&self) -> String {
        format!("once_{}", sha256_hex(self.key.as_bytes()))
    }

    /// The record. `about` is the key of the row that the request created or changed.
    pub(crate) fn row(&self, about: &str) -> Value {
        json!({"sha256": self.sha256, "about": about})
    }

    /// The key of the row that an earlier request under this key created or changed.
    pub(crate) fn earlier_row(&self, sandbox: &Sandbox) -> Result<Option<String>, IdempotencyConflict> {
        let Some(stored) = sandbox.records.get(BOOKKEEPING, &self.record_key()).live().map(|record| record.json())
        else {
            return Ok(None);
        };
        if stored["sha256"] != self.sha256.as_str() {
            return Err(IdempotencyConflict);
        }
        Ok(stored["about"].as_str().map(ToOwned::to_owned))
    }
}
