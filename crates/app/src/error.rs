//! Errors of operations, distinguished by what the caller can do about them.

use model::FieldErrors;
use runtime::RuntimeError;
use store::StoreError;

#[derive(Clone, Debug, thiserror::Error)]
pub enum AppError {
    /// Invalid fields.
    #[error("invalid: {0}")]
    Invalid(FieldErrors),
    /// The request as a whole cannot be understood.
    #[error("{0}")]
    BadRequest(String),
    #[error("{0}")]
    Unauthorized(&'static str),
    /// The token of a run has expired.
    #[error("the run's token has expired")]
    TokenExpired,
    /// A valid credential that does not permit the operation.
    #[error("{0}")]
    Forbidden(&'static str),
    /// The resource does not exist or belongs to another organization; the error does not distinguish them.
    #[error("no such {0}")]
    NotFound(&'static str),
    /// The benchmark has versions, but not the requested one.
    #[error("{slug} has no version {wanted}; the newest is `{slug}@{newest}`")]
    NoVersion { slug: String, wanted: i64, newest: i64 },
    /// The current state does not permit the operation. The message says what to do.
    #[error("{message}")]
    Conflict { message: String, details: FieldErrors },
    /// `If-Match` does not match the current state.
    #[error("the resource has changed since it was read")]
    PreconditionFailed,
    #[error("{0}")]
    TooLarge(String),
    /// The server is overloaded with this kind of work.
    #[error("{0}")]
    Busy(&'static str),
    /// The server lacks a program that its operator must install.
    #[error("{0}")]
    Unavailable(&'static str),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}")]
    Internal(String),
}

impl AppError {
    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::Conflict { message: message.into(), details: FieldErrors::new() }
    }

    pub(crate) fn missing<I: model::Id>() -> Self {
        Self::NotFound(I::NOUN)
    }
}

impl From<RuntimeError> for AppError {
    fn from(error: RuntimeError) -> Self {
        match error {
            RuntimeError::PlaygroundNotFound => Self::missing::<model::PlaygroundId>(),
            RuntimeError::SandboxNotFound => Self::missing::<model::SandboxId>(),
            RuntimeError::NotStarted
            | RuntimeError::NeverStarted
            | RuntimeError::PastDeadline
            | RuntimeError::LogFull(_)
            | RuntimeError::TornDown => Self::conflict(error.to_string()),
            RuntimeError::Store(error) => Self::Store(error),
            RuntimeError::Internal(message) => Self::Internal(message),
        }
    }
}

impl From<FieldErrors> for AppError {
    fn from(errors: FieldErrors) -> Self {
        Self::Invalid(errors)
    }
}
