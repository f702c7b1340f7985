//! Errors of rendering and reading documents.

/// Why a document cannot be rendered or read. Messages are for the author of the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    #[error("the file is neither PDF, TIFF, PNG nor JPEG")]
    UnknownKind,
    #[error("the file is damaged: {0}")]
    Damaged(&'static str),
    #[error("the file is encrypted")]
    Encrypted,
    #[error("the file is too large to be read: {0}")]
    TooLarge(&'static str),
    #[error("the document would have more than {max} pages")]
    TooManyPages { max: usize },
    #[error("a document that is rendered to TIFF has no text layer")]
    TextInTiff,
    /// An internal error.
    #[error("the font cannot be read")]
    Font,
}
