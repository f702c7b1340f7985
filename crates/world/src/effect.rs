//! Effects: what an agent did that others can notice. It created, changed or deleted a record, sent a message, or
//! placed a call.

use std::fmt;

use model::SandboxId;

use crate::Seq;

/// One effect, written `channel/kind[/key]:verb`, as in `fhir/Task/t-12:update` or `hl7/ORM^O01:send`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The log entry that recorded it.
    pub seq: Seq,
    pub sandbox: SandboxId,
    /// The simulator's channel, such as `fhir`.
    pub channel: &'static str,
    /// Kind and key, such as `Task/t-12`, `ORM^O01` or `outbox/report.json`.
    pub resource: String,
    pub verb: Verb,
}

/// What was done to the resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verb {
    Create,
    /// Of a record that the agent did not create.
    Update,
    /// Of a record that the agent created itself.
    UpdateOwn,
    /// Of a record that the agent did not create.
    Delete,
    /// Of a record that the agent created itself.
    DeleteOwn,
    /// A request that was submitted before was withdrawn.
    Withdraw,
    Send,
    /// An outgoing call.
    Place,
    /// An incoming call.
    Answer,
}

impl Verb {
    pub const ALL: [Verb; 9] = [
        Verb::Create,
        Verb::Update,
        Verb::UpdateOwn,
        Verb::Delete,
        Verb::DeleteOwn,
        Verb::Withdraw,
        Verb::Send,
        Verb::Place,
        Verb::Answer,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Verb::Create => "create",
            Verb::Update => "update",
            Verb::UpdateOwn => "update-own",
            Verb::Delete => "delete",
            Verb::DeleteOwn => "delete-own",
            Verb::Withdraw => "withdraw",
            Verb::Send => "send",
            Verb::Place => "place",
            Verb::Answer => "answer",
        }
    }

    /// Whether something new was created. A pattern without a verb matches these.
    pub fn is_addition(self) -> bool {
        matches!(self, Verb::Create | Verb::Send | Verb::Place | Verb::Answer)
    }

    /// Whether a pattern with `self` covers `other`: permission to change every record includes one's own.
    pub fn covers(self, other: Verb) -> bool {
        self == other || matches!((self, other), (Verb::Update, Verb::UpdateOwn) | (Verb::Delete, Verb::DeleteOwn))
    }
}

impl std::str::FromStr for Verb {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|verb| verb.name() == text).ok_or(())
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}:{}", self.channel, self.resource, self.verb)
    }
}
