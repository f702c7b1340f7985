//! Errors of a file drop: a rejection by the simulator, or an error of the server.

use sims::files::Refusal;

use crate::AppError;

#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    App(#[from] AppError),
}

impl From<runtime::RuntimeError> for Fault {
    fn from(error: runtime::RuntimeError) -> Self {
        Self::App(error.into())
    }
}

/// The error of the HTTP API.
impl From<Fault> for AppError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::App(error) => error,
            Fault::Refused(Refusal::NotFound) => AppError::NotFound("file"),
            Fault::Refused(Refusal::NoDirectory) => AppError::NotFound("directory"),
            Fault::Refused(Refusal::Precondition) => AppError::PreconditionFailed,
            Fault::Refused(Refusal::Full(words)) => AppError::TooLarge(words),
            Fault::Refused(refusal) => AppError::conflict(refusal.to_string()),
        }
    }
}
