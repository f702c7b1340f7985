//! Errors of the Files simulator.

/// Why an operation failed. HTTP and SFTP map it to a status of their own.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilesError {
    #[error("no such file")]
    NotFound,
    #[error("no such directory")]
    NoDirectory,
    #[error("the path is a directory")]
    IsDirectory,
    #[error("`{0}` is a file, not a directory")]
    NotDirectory(String),
    #[error("the path exists already")]
    Exists,
    #[error("the directory is not empty")]
    NotEmpty,
    #[error("the directory is permanent")]
    Permanent,
    #[error("the file does not match the precondition of the request")]
    Precondition,
    #[error("a directory cannot be moved into itself")]
    IntoItself,
    #[error("{0}")]
    Full(String),
}

impl FilesError {
    /// The error code in events.
    pub fn name(&self) -> &'static str {
        match self {
            FilesError::NotFound | FilesError::NoDirectory => "not_found",
            FilesError::IsDirectory => "is_directory",
            FilesError::NotDirectory(_) => "not_directory",
            FilesError::Exists => "exists",
            FilesError::NotEmpty => "not_empty",
            FilesError::Permanent => "standing",
            FilesError::Precondition => "precondition",
            FilesError::IntoItself => "into_itself",
            FilesError::Full(_) => "full",
        }
    }
}
