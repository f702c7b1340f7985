//! What checks read and what they give: the frozen state, the events, and the outcome.
//!
//! The names below are those that the simulators write; they stand here and nowhere else in this crate.

use model::Timestamp;
use model::event::{Event, EventType};
use model::score::Score;
use model::simulator::SimulatorType;
use serde_json::{Map, Value};
use world::{Effect, Sandbox, Seq, World};

pub(crate) use sims::clearinghouse::effects::text as x12_text;
pub(crate) use sims::effects::is_of_scenario;
pub(crate) use sims::hl7::effects::{is_sent as is_hl7_sent, text as hl7_text};

use crate::budget::Budget;
use crate::content::Contents;
use crate::sandbox_scope::SandboxNames;

/// Everything that an assertion is held against. All of it is data: no text in it is ever read as a pattern, a path or
/// a template, but for the entity's and the task's values that authored templates name.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    pub world: &'a World,
    /// What assertions may call its sandboxes.
    pub names: &'a SandboxNames,
    /// Of all sandboxes, in order.
    pub events: &'a [Event],
    /// What the agent did, in order: [`sims::effects::of_agent`].
    pub effects: &'a [Effect],
    /// The last entry of the log when the task was completed. Later entries tell of what was settled after that. None for
    /// results from before there was settling.
    pub completed_seq: Option<Seq>,
    /// What files say that is not in their rows.
    pub contents: &'a Contents,
    /// For `{{entity.…}}`: `{name, ref, data}`.
    pub entity: Option<&'a Value>,
    /// For `{{task.…}}`.
    pub task: Option<&'a Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub score: Score,
    pub passed: bool,
    /// One sentence for people.
    pub details: String,
    /// In the shape of the check, bounded.
    pub evidence: Value,
}

impl Outcome {
    pub(crate) fn failed(details: String, evidence: Value) -> Self {
        Self { score: Score::zero(), passed: false, details, evidence }
    }
}

/// What an evaluation ends with; a fault is why it could not be brought to its end, and fails the criterion.
pub type Evaluated = Result<Outcome, String>;

/// The evidence, and what may be spent on looking at it.
pub struct Case<'a> {
    /// What is scored.
    pub(crate) evidence: Evidence<'a>,
    /// The whole playground, where `sandbox` limits what is scored: what the dataset and the scenario gave may be in any
    /// sandbox.
    pub(crate) whole: Evidence<'a>,
    pub(crate) budget: Budget,
}

/// Files are kept as `{sha256, size, content_type, text?}` by path; `text` is the content, or what was read from it. Without
/// it the bytes are elsewhere, by their hash.
pub(crate) const FILES: &str = "files";
/// Faxes are kept as `{direction, to_number, status, pages, text?, ocr_status?}`.
pub(crate) const FAXES: &str = "faxes";
/// A fax counts once it was delivered: not while it is queued, nor after it has failed.
pub(crate) const SENT_FAX: [&str; 1] = ["sent"];

impl<'a> Case<'a> {
    pub(crate) fn new(evidence: Evidence<'a>) -> Self {
        Self::scoped(evidence, evidence)
    }

    pub(crate) fn scoped(evidence: Evidence<'a>, whole: Evidence<'a>) -> Self {
        Self { evidence, whole, budget: Budget::new() }
    }

    /// When the last thing happened: the time that there is without a clock.
    pub(crate) fn now(&self) -> Timestamp {
        let created = self.evidence.world.sandboxes.values().map(|sandbox| sandbox.created_at);
        self.evidence.events.last().map(|event| event.at).into_iter().chain(created).max().unwrap_or(Timestamp(0))
    }

    /// The sandboxes of a kind. That there is none is a fault: nothing can be said about what is not there.
    pub(crate) fn sandboxes(&self, kind: SimulatorType) -> Result<Vec<&'a Sandbox>, String> {
        let world = self.evidence.world;
        let found: Vec<&Sandbox> = world.sandboxes.values().filter(|sandbox| sandbox.kind == kind).collect();
        if found.is_empty() {
            return Err(format!("the playground has no {} sandbox", kind.name()));
        }
        found.iter().try_for_each(|sandbox| check_here(sandbox))?;
        Ok(found)
    }

    /// The events of some types, in order. That no sandbox could have logged them is a fault.
    pub(crate) fn events(&self, kind: SimulatorType, types: &[EventType]) -> Result<Vec<&'a Event>, String> {
        self.sandboxes(kind)?;
        self.budget.spend(self.evidence.events.len())?;
        Ok(self.evidence.events.iter().filter(|event| types.contains(&event.r#type)).collect())
    }

    /// The live rows of a collection with their keys, by sandbox and key.
    pub(crate) fn rows(&self, kind: SimulatorType, collection: &str) -> Result<Vec<(String, Value)>, String> {
        let mut rows = Vec::new();
        for sandbox in self.sandboxes(kind)? {
            for record in sandbox.records.live(collection, world::Seq::MAX) {
                self.budget.spend(record.text().len())?;
                rows.push((record.key.to_owned(), Value::clone(&record.json())));
            }
        }
        rows.sort_by(|left, right| left.0.cmp(&right.0));
        Ok(rows)
    }
}

/// What another server answers for is not in the playground, and nothing can be said about it.
pub(crate) fn check_here(sandbox: &Sandbox) -> Result<(), String> {
    match sandbox.config.get("remote").filter(|remote| !remote.is_null()) {
        Some(_) => Err("the records lie on another server, which no check can see".to_owned()),
        None => Ok(()),
    }
}

pub(crate) fn text<'v>(value: &'v Value, member: &str) -> Option<&'v str> {
    value.get(member).and_then(Value::as_str)
}

/// An object of evidence, in the order given.
pub(crate) fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
}
