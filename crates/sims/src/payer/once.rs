//! Submissions that were sent before, under the sender's own name for them.

use serde_json::Value;
use world::Change;

use super::call::{Call, Refusal};
use super::rows::{BOOKKEEPING, REQUESTS, shown};
use crate::idempotency::IdempotencyConflict;
pub use crate::idempotency::IdempotencyKey;

/// The request that an earlier message of this name was about, as it is now; another message of the name is refused.
pub(super) fn earlier(call: &Call<'_>, token: Option<&IdempotencyKey>) -> Result<Option<Value>, Refusal> {
    let Some(token) = token else { return Ok(None) };
    let about =
        token.earlier_row(call.sandbox).map_err(|_| Refusal::Conflict(IdempotencyConflict::MESSAGE.to_owned()))?;
    Ok(about.and_then(|key| Some(shown(&key, &call.row(REQUESTS, &key)?))))
}

pub(super) fn remember(call: &Call<'_>, token: Option<&IdempotencyKey>, request: &str) -> Option<Change> {
    let token = token?;
    Some(call.put(BOOKKEEPING, &token.record_key(), &token.row(request)))
}
