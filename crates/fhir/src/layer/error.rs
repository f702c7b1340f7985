//! Why a layer cannot be built or loaded.

use super::Layer;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LayerError {
    #[error("chunk {chunk}, line {line}: {reason}")]
    Line { chunk: usize, line: usize, reason: String },
    #[error("{0} comes twice")]
    Duplicate(String),
    #[error("more documents or values than a layer can number")]
    TooLarge,
    #[error("the index has format {0}, not {format}", format = Layer::FORMAT)]
    Format(u32),
    /// Bytes that no layer has been stored as.
    #[error("damaged layer: {0}")]
    Damaged(&'static str),
}
