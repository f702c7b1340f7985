//! How much clients may write into one sandbox. What was overwritten or deleted is kept with the log, so it counts too.

use serde_json::{Map, Value};
use world::{Change, Records};

use super::call::Call;
use super::refusal::Refusal;
use crate::scenario::step::object;

/// The row `files` of this collection has what clients have written: `{bytes, files}`.
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

    /// With one file more, of so many bytes; none of them is new when the file only changes.
    pub(crate) fn with(self, bytes: u64, is_new: bool, quota: Quota) -> Result<Self, Refusal> {
        let after = Self { bytes: self.bytes.saturating_add(bytes), files: self.files + u64::from(is_new) };
        if after.bytes > quota.bytes {
            let words = format!("the sandbox takes at most {} bytes, of which {} are written", quota.bytes, self.bytes);
            return Err(Refusal::Full(words));
        }
        if is_new && after.files > quota.files {
            return Err(Refusal::Full(format!("the sandbox takes at most {} files", quota.files)));
        }
        Ok(after)
    }

    pub(crate) fn without_file(self) -> Self {
        Self { files: self.files.saturating_sub(1), ..self }
    }

    /// Nothing when nothing changed.
    pub(crate) fn change(self, call: &Call<'_>, records: &Records) -> Option<Change> {
        let row: Map<String, Value> = object([("bytes", self.bytes.into()), ("files", self.files.into())]);
        (self != Self::of(records)).then(|| call.put(records, USAGE, KEY, row))
    }
}
