//! What a message changed, in the form in which it is stored and folded.

use std::sync::Arc;

use model::{SandboxId, Timestamp};

/// A place in a playground's log. The baseline is 0; every event takes the next one.
pub type Seq = i64;

/// A new version of one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub sandbox: SandboxId,
    /// A FHIR resource type, or another kind of rows.
    pub collection: Arc<str>,
    pub key: Arc<str>,
    /// Counts from 1 for each record.
    pub version: u64,
    pub at: Timestamp,
    pub write: Write,
    /// JSON; none when the record was deleted.
    pub text: Option<Arc<str>>,
}

/// How a version came to be.
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
