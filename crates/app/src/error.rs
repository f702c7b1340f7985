//! Why a verb could not be carried out, told apart by what the caller can do about it.

use model::FieldErrors;
use runtime::RuntimeError;
use store::StoreError;

#[derive(Clone, Debug, thiserror::Error)]
pub enum AppError {
    /// Fields that do not keep the rules.
    #[error("invalid: {0}")]
    Invalid(FieldErrors),
    /// The request as a whole cannot be understood.
    #[error("{0}")]
    BadRequest(String),
    #[error("{0}")]
    Unauthorized(&'static str),
    /// A run's token that is past its time.
    #[error("the run's token has expired")]
    TokenExpired,
    /// A valid credential of a kind that may not do this.
    #[error("{0}")]
    Forbidden(&'static str),
    /// No such thing, or another organization's: the two are one answer.
    #[error("no such {0}")]
    NotFound(&'static str),
    /// The benchmark has versions, but not that one.
    #[error("{slug} has no version {wanted}; the newest is `{slug}@{newest}`")]
    NoVersion { slug: String, wanted: i64, newest: i64 },
    /// The state of things does not allow it; the message says what would.
    #[error("{message}")]
    Conflict { message: String, details: FieldErrors },
    /// `If-Match` names another state than the current one.
    #[error("the resource has changed since it was read")]
    PreconditionFailed,
    #[error("{0}")]
    TooLarge(String),
    /// The server has too much to do of this kind now.
    #[error("{0}")]
    Busy(&'static str),
    /// The server lacks something that only its operator can provide.
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
