//! How much clients may write into one sandbox. Overwritten and deleted bytes count, because the log keeps them.

use serde_json::{Map, Value};
use world::{Change, Records};

use super::call::Call;
use super::error::FilesError;
use crate::scenario::step::object;

/// The collection with one row `files`: what clients have written, as `{bytes, files}`.
pub(crate) const USAGE: &str = "usage";
const KEY: &str = "files";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    pub bytes: u64,
    pub files: u64,
}

/// What clients have written so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub bytes: u64,
    pub files: u64,
}

impl Usage {
    pub fn of(records: &Records) -> Self {
        let row = records.get(USAGE, KEY).live().map(|record| record.json());
        let member = |name: &str| row.as_ref().and_then(|row| row.get(name)?.as_u64()).unwrap_or_default();
        Self { bytes: member("bytes"), files: member("files") }
    }

    /// The usage after a write of this many bytes, if the quota allows it. `is_new` is false for an existing file.
    pub(crate) fn with(self, bytes: u64, is_new: bool, quota: Quota) -> Result<Self, FilesError> {
        let after = Self { bytes: self.bytes.saturating_add(bytes), files: self.files + u64::from(is_new) };
        if after.bytes > quota.bytes {
            let message =
                format!("the sandbox takes at most {} bytes, of which {} are written", quota.bytes, self.bytes);
            return Err(FilesError::Full(message));
        }
        if is_new && after.files > quota.files {
            return Err(FilesError::Full(format!("the sandbox takes at most {} files", quota.files)));
        }
        Ok(after)
    }

    pub(crate) fn without_file(self) -> Self {
        Self { files: self.files.saturating_sub(1), ..self }
    }

    /// The change of the stored usage. None if it is the same.
    pub(crate) fn change(self, call: &Call<'_>, records: &Records) -> Option<Change> {
        let row: Map<String, Value> = object([("bytes", self.bytes.into()), ("files", self.files.into())]);
        (self != Self::of(records)).then(|| call.put(records, USAGE, KEY, row))
    }
}
