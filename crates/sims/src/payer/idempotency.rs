//! Repeated messages with the same idempotency key.

use serde_json::Value;
use world::Change;

use super::context::{PortalContext, PortalError};
use super::rows::{BOOKKEEPING, REQUESTS, display_row};
use crate::idempotency::IdempotencyConflict;
pub use crate::idempotency::IdempotencyKey;

/// The current state of the request that an earlier message with this key was about. A conflict if that message had other
/// content.
pub(super) fn earlier_request(
    portal: &PortalContext<'_>,
    key: Option<&IdempotencyKey>,
) -> Result<Option<Value>, PortalError> {
    let Some(key) = key else { return Ok(None) };
    let earlier =
        key.earlier_row(portal.sandbox).map_err(|_| PortalError::Conflict(IdempotencyConflict::MESSAGE.to_owned()))?;
    Ok(earlier.and_then(|id| Some(display_row(&id, &portal.row(REQUESTS, &id)?))))
}

/// Records which request a message with this key was about.
pub(super) fn remember(portal: &PortalContext<'_>, key: Option<&IdempotencyKey>, request: &str) -> Option<Change> {
    let key = key?;
    Some(portal.put(BOOKKEEPING, &key.record_key(), &key.row(request)))
}
