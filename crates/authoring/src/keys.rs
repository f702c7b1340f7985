//! Keys under which a push makes things: asking again with the same one gives what was made the first time.

use model::canonical;
use serde_json::Value;

use crate::folder::Folder;
use crate::write;

/// What lets a push take up what another push of the same folder had made before it was cut off.
pub(crate) struct Keys(Option<String>);

impl Keys {
    /// The same for the same folder and the same state of the benchmark: after each push that came through, others.
    pub(crate) fn of(folder: &Folder, before: Option<&Value>) -> Self {
        let state = before.map(|benchmark| format!("{} {}", benchmark["id"], benchmark["updated_at"]));
        let mut all = state.unwrap_or_default();
        for (path, content) in write(folder) {
            all.push_str(&format!("\n{path} {}", canonical::sha256_hex(&content)));
        }
        Self(Some(canonical::sha256_hex(all.as_bytes())))
    }

    pub(crate) fn none() -> Self {
        Self(None)
    }

    pub(crate) fn of_part(&self, part: &str) -> Option<String> {
        let all = self.0.as_ref()?;
        Some(format!("push-{}", canonical::sha256_hex(format!("{all} {part}").as_bytes())))
    }
}
