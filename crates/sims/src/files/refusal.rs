//! Why the file drop does not do what it was asked.

/// Every face says it in its own way: HTTP by a status, SFTP by a code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("no such file")]
    NotFound,
    #[error("no such directory")]
    NoDirectory,
    #[error("it is a directory")]
    IsDirectory,
    #[error("`{0}` is a file, and no directory")]
    NotDirectory(String),
    #[error("there is something of that path already")]
    Exists,
    #[error("the directory is not empty")]
    NotEmpty,
    #[error("the directory always stands")]
    Standing,
    #[error("the file is not in the state that the request was made for")]
    Precondition,
    #[error("a directory cannot be moved into itself")]
    IntoItself,
    #[error("{0}")]
    Full(String),
}

impl Refusal {
    /// For events and programs.
    pub fn name(&self) -> &'static str {
        match self {
            Refusal::NotFound | Refusal::NoDirectory => "not_found",
            Refusal::IsDirectory => "is_directory",
            Refusal::NotDirectory(_) => "not_directory",
            Refusal::Exists => "exists",
            Refusal::NotEmpty => "not_empty",
            Refusal::Standing => "standing",
            Refusal::Precondition => "precondition",
            Refusal::IntoItself => "into_itself",
            Refusal::Full(_) => "full",
        }
    }
}
