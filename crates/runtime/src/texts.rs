//! Long texts of the log are stored as blobs, short ones in its rows.

use std::sync::Arc;

use store::log::{Entry, Text};
use world::Change;

use crate::{Runtime, RuntimeError};

/// Longer texts are stored as blobs.
const MAX_INLINE_BYTES: usize = 16 * 1024;

impl Runtime {
    /// Moves the long texts of an entry to blobs.
    pub async fn store_texts(&self, entry: &mut Entry) -> Result<(), RuntimeError> {
        if let Text::Inline(text) = &entry.payload
            && text.len() > MAX_INLINE_BYTES
        {
            entry.payload = self.store_text(text).await?;
        }
        for (change, stored) in &mut entry.changes {
            if let (Change { text: Some(text), .. }, None) = (&*change, &stored) {
                *stored = Some(self.store_text(text).await?);
            }
        }
        Ok(())
    }

    pub async fn store_text(&self, text: &Arc<str>) -> Result<Text, RuntimeError> {
        if text.len() <= MAX_INLINE_BYTES {
            return Ok(Text::Inline(Arc::clone(text)));
        }
        Ok(Text::Blob(self.blobs().put(bytes::Bytes::from_owner(SharedText(Arc::clone(text)))).await?))
    }

    pub async fn read_text(&self, text: Text) -> Result<Arc<str>, RuntimeError> {
        match text {
            Text::Inline(text) => Ok(text),
            Text::Blob(name) => {
                let bytes = self.blobs().get(&name).await?;
                let text = str::from_utf8(&bytes).map_err(|error| RuntimeError::Internal(error.to_string()))?;
                Ok(text.into())
            }
        }
    }
}

/// Text that is stored without copying it.
struct SharedText(Arc<str>);

impl AsRef<[u8]> for SharedText {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}
