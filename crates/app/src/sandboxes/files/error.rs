//! Errors of a file drop: a rejection by the simulator, or an error of the server.

use sims::files::FilesError;

use crate::AppError;

#[derive(Debug, thiserror::Error)]
pub enum FileDropError {
    #[error(transparent)]
    Refused(#[from] FilesError),
    #[error(transparent)]
    App(#[from] AppError),
}

impl From<runtime::RuntimeError> for FileDropError {
    fn from(error: runtime::RuntimeError) -> Self {
        Self::App(error.into())
    }
}

/// The error of the HTTP API.
impl From<FileDropError> for AppError {
    fn from(error: FileDropError) -> Self {
        match error {
            FileDropError::App(error) => error,
            FileDropError::Refused(FilesError::NotFound) => AppError::NotFound("file"),
            FileDropError::Refused(FilesError::NoDirectory) => AppError::NotFound("directory"),
            FileDropError::Refused(FilesError::Precondition) => AppError::PreconditionFailed,
            FileDropError::Refused(FilesError::Full(words)) => AppError::TooLarge(words),
            FileDropError::Refused(refusal) => AppError::conflict(refusal.to_string()),
        }
    }
}
