//! Errors of the CdsHooks simulator.

use model::FieldErrors;

use crate::idempotency::IdempotencyConflict;

#[derive(Clone, Debug, PartialEq)]
pub enum CdsError {
    Invalid(FieldErrors),
    /// The named thing, such as a service or an invocation, does not exist.
    Missing(&'static str),
    /// The current state does not allow the request.
    Conflict(String),
    IdempotencyConflict(IdempotencyConflict),
}

impl From<FieldErrors> for CdsError {
    fn from(errors: FieldErrors) -> Self {
        Self::Invalid(errors)
    }
}
