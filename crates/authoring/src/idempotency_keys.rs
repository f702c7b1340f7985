//! Idempotency keys of a push: a repeated request with the same key returns what the first one created.

use model::canonical;
use serde_json::Value;

use crate::folder::Folder;
use crate::write;

/// The idempotency keys of a push, with which it continues an interrupted push of the same folder.
pub(crate) struct IdempotencyKeys(Option<String>);

impl IdempotencyKeys {
    /// Derives the keys from the folder and the state of the benchmark. A completed push changes the state, so the next push
    /// has other keys.
    pub(crate) fn of(folder: &Folder, before: Option<&Value>) -> Self {
        let state = before.map(|benchmark| format!("{} {}", benchmark["id"], benchmark["updated_at"]));
        let mut input = state.unwrap_or_default();
        for (path, content) in write(folder) {
            input.push_str(&format!("\n{path} {}", canonical::sha256_hex(&content)));
        }
        Self(Some(canonical::sha256_hex(input.as_bytes())))
    }

    /// No keys: everything is created again.
    pub(crate) fn none() -> Self {
        Self(None)
    }

    /// The key for one part of the benchmark.
    pub(crate) fn for_part(&self, part: &str) -> Option<String> {
        let base = self.0.as_ref()?;
        Some(format!("push-{}", canonical::sha256_hex(format!("{base} {part}").as_bytes())))
    }
}
