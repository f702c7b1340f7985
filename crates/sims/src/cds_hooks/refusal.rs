//! Why the EHR does not do what it is asked.

use model::FieldErrors;

use crate::idempotency::IdempotencyConflict;

#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    Invalid(FieldErrors),
    /// There is no such service, invocation or suggestion: which.
    Missing(&'static str),
    /// As things are, it cannot be done.
    Conflict(String),
    /// The request's name is that of another one.
    Used(IdempotencyConflict),
}

impl From<FieldErrors> for Refusal {
    fn from(errors: FieldErrors) -> Self {
        Self::Invalid(errors)
    }
}
