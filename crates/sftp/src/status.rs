//! Errors as SFTP status responses: a code and a message (draft-ietf-secsh-filexfer-02 section 7).

use app::AppError;
use app::sandboxes::files::{FileDropError, FilesError};
use russh_sftp::protocol::StatusCode;

/// The response to a request that failed.
#[derive(Debug)]
pub(crate) struct Status {
    pub(crate) code: StatusCode,
    pub(crate) message: String,
}

impl Status {
    pub(crate) fn new(code: StatusCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub(crate) fn end_of_file() -> Self {
        Self::new(StatusCode::Eof, "end of file")
    }

    pub(crate) fn unsupported() -> Self {
        Self::new(StatusCode::OpUnsupported, "operation not supported")
    }

    pub(crate) fn invalid_path() -> Self {
        Self::new(StatusCode::NoSuchFile, "invalid path")
    }

    pub(crate) fn invalid_handle() -> Self {
        Self::new(StatusCode::Failure, "invalid handle")
    }
}

impl From<FileDropError> for Status {
    fn from(error: FileDropError) -> Self {
        let refusal = match error {
            FileDropError::Refused(refusal) => refusal,
            FileDropError::App(error) => return error.into(),
        };
        let code = match refusal {
            FilesError::NotFound | FilesError::NoDirectory | FilesError::NotDirectory(_) => StatusCode::NoSuchFile,
            FilesError::Permanent => StatusCode::PermissionDenied,
            _ => StatusCode::Failure,
        };
        Self::new(code, refusal.to_string())
    }
}

impl From<AppError> for Status {
    fn from(error: AppError) -> Self {
        match error {
            AppError::Conflict { message, .. } | AppError::TooLarge(message) => Self::new(StatusCode::Failure, message),
            error => {
                tracing::error!(%error, "an SFTP request failed");
                Self::new(StatusCode::Failure, "internal server error")
            }
        }
    }
}
