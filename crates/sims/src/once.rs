//! What makes a message one, however often it is sent: the sender's own name for it.

use model::canonical::sha256_hex;
use serde_json::{Value, json};
use world::Sandbox;

/// Where names are kept: nothing that a simulator shows.
pub(crate) const BOOKKEEPING: &str = "bookkeeping";

/// The sender's name for a message, and the hash of what was sent under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub key: String,
    pub sha256: String,
}

/// The name was used for something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsedOtherwise;

impl UsedOtherwise {
    pub const WORDS: &'static str = "the Idempotency-Key was used with another request";
}

impl Token {
    /// The key of what is kept of it.
    pub(crate) fn place(&self) -> String {
        format!("once_{}", sha256_hex(self.key.as_bytes()))
    }

    /// What is kept of it: which row it was about.
    pub(crate) fn row(&self, about: &str) -> Value {
        json!({"sha256": self.sha256, "about": about})
    }

    /// The row that an earlier message of this name was about.
    pub(crate) fn earlier(&self, sandbox: &Sandbox) -> Result<Option<String>, UsedOtherwise> {
        let Some(known) = sandbox.records.get(BOOKKEEPING, &self.place()).live().map(|record| record.json()) else {
            return Ok(None);
        };
        if known["sha256"] != self.sha256.as_str() {
            return Err(UsedOtherwise);
        }
        Ok(known["about"].as_str().map(ToOwned::to_owned))
    }
}
