//! Changes of records, in the form in which they are stored and replayed.

use std::sync::Arc;

use model::{SandboxId, Timestamp};

/// A position in a playground's log. The baseline is 0; each event takes the next position.
pub type Seq = i64;

/// A new version of one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub sandbox: SandboxId,
    /// A FHIR resource type, or the name of another collection.
    pub collection: Arc<str>,
    pub key: Arc<str>,
    /// Starts at 1 for each record.
    pub version: u64,
    pub at: Timestamp,
    pub write: Write,
    /// JSON; `None` if the record was deleted.
    pub text: Option<Arc<str>>,
}

/// The kind of write that created a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    Create,
    Update,
    Delete,
}

impl Write {
    pub fn name(self) -> &'static str {
        match self {
            Write::Create => "create",
            Write::Update => "update",
            Write::Delete => "delete",
        }
    }
}

impl std::str::FromStr for Write {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        [Write::Create, Write::Update, Write::Delete].into_iter().find(|write| write.name() == text).ok_or(())
    }
}
