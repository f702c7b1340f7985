//! What makes a message one, however often it is sent: the sender's own name for it.

use model::canonical::sha256_hex;
use serde_json::{Value, json};
use world::Change;

use super::call::{Call, Refusal};
use super::rows::{BOOKKEEPING, REQUESTS, shown, text};

/// The sender's name for a message, and the hash of what was sent under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub key: String,
    pub sha256: String,
}

impl Token {
    fn place(&self) -> String {
        format!("once_{}", sha256_hex(self.key.as_bytes()))
    }
}

/// The request that an earlier message of this name was about, as it is now; another message of the name is refused.
pub(super) fn earlier(call: &Call<'_>, token: Option<&Token>) -> Result<Option<Value>, Refusal> {
    let known = token.and_then(|token| Some((token, call.row(BOOKKEEPING, &token.place())?)));
    let Some((token, known)) = known else { return Ok(None) };
    if text(&known, "sha256") != Some(&token.sha256) {
        return Err(Refusal::Conflict("the Idempotency-Key was used with another request".to_owned()));
    }
    let key = text(&known, "request").unwrap_or_default();
    Ok(call.row(REQUESTS, key).map(|row| shown(key, &row)))
}

pub(super) fn remember(call: &Call<'_>, token: Option<&Token>, request: &str) -> Option<Change> {
    let token = token?;
    Some(call.put(BOOKKEEPING, &token.place(), &json!({"sha256": token.sha256, "request": request})))
}
