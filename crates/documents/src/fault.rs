//! Why a document cannot be rendered or read.

/// One sentence each, for the author or the agent whose file it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("the file is neither PDF, TIFF, PNG nor JPEG")]
    UnknownKind,
    #[error("the file is damaged: {0}")]
    Damaged(&'static str),
    #[error("the file is encrypted")]
    Encrypted,
    #[error("the file is too large to be read: {0}")]
    TooLarge(&'static str),
    #[error("the document would have more than {most} pages")]
    TooManyPages { most: usize },
    #[error("a document that is rendered to TIFF has no text layer")]
    TextInTiff,
    /// A fault of ours, which a test would have found.
    #[error("the font cannot be read")]
    Font,
}
