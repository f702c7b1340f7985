//! Refusals as SFTP tells them: a status code and one line (draft-ietf-secsh-filexfer-02 section 7).

use app::AppError;
use app::sandboxes::files::{Fault, Refusal};
use russh_sftp::protocol::StatusCode;

/// What a request is answered when it is not carried out.
#[derive(Debug)]
pub(crate) struct Status {
    pub(crate) code: StatusCode,
    pub(crate) words: String,
}

impl Status {
    pub(crate) fn new(code: StatusCode, words: impl Into<String>) -> Self {
        Self { code, words: words.into() }
    }

    pub(crate) fn end() -> Self {
        Self::new(StatusCode::Eof, "the end")
    }

    pub(crate) fn unsupported() -> Self {
        Self::new(StatusCode::OpUnsupported, "this server does not do that")
    }

    pub(crate) fn no_path() -> Self {
        Self::new(StatusCode::NoSuchFile, "no file can have that path")
    }

    pub(crate) fn no_handle() -> Self {
        Self::new(StatusCode::Failure, "no such handle")
    }
}

impl From<Fault> for Status {
    fn from(fault: Fault) -> Self {
        let refusal = match fault {
            Fault::Refused(refusal) => refusal,
            Fault::App(error) => return error.into(),
        };
        let code = match refusal {
            Refusal::NotFound | Refusal::NoDirectory | Refusal::NotDirectory(_) => StatusCode::NoSuchFile,
            Refusal::Standing => StatusCode::PermissionDenied,
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
                tracing::error!(%error, "a request by SFTP failed");
                Self::new(StatusCode::Failure, "something went wrong on the server")
            }
        }
    }
}
