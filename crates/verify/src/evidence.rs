//! The input of checks (the frozen state and the events) and their outcome.
//!
//! The names of collections and statuses that simulators write are defined only here.

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
use crate::content::FileContents;
use crate::sandbox_scope::SandboxNames;

/// Everything that an assertion is evaluated against. All of it is data: no text in it is ever interpreted as a pattern, a
/// path or a template.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    pub world: &'a World,
    /// The names by which assertions refer to its sandboxes.
    pub names: &'a SandboxNames,
    /// The events of all sandboxes, in order.
    pub events: &'a [Event],
    /// The effects of the agent, in order: [`sims::effects::of_agent`].
    pub effects: &'a [Effect],
    /// The position of the last log entry when the task was completed. Later entries come from settling. None for results
    /// of versions that did not settle.
    pub completed_seq: Option<Seq>,
    /// The bytes of files that are not stored in their rows.
    pub contents: &'a FileContents,
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
    /// The check's own evidence, limited in size.
    pub evidence: Value,
}

impl Outcome {
    pub(crate) fn failed(details: String, evidence: Value) -> Self {
        Self { score: Score::zero(), passed: false, details, evidence }
    }
}

/// The outcome of an evaluation, or the reason why it could not be completed, which fails the criterion.
pub type EvaluationResult = Result<Outcome, String>;

/// The evidence of one evaluation, and its budget.
pub struct EvaluationContext<'a> {
    /// The evidence that is scored.
    pub(crate) evidence: Evidence<'a>,
    /// The evidence of the whole playground, if `sandbox` limits what is scored. Records of the dataset and the scenario may
    /// be in any sandbox.
    pub(crate) whole: Evidence<'a>,
    pub(crate) budget: Budget,
}

/// Files are stored as `{sha256, size, content_type, text?}` by path; `text` is the content, or the text extracted from it.
/// Without `text`, the bytes are found in the contents by their hash.
pub(crate) const FILES: &str = "files";
/// Faxes are stored as `{direction, to_number, status, pages, text?, ocr_status?}`.
pub(crate) const FAXES: &str = "faxes";
/// Statuses of delivered faxes. Queued and failed faxes do not count.
pub(crate) const SENT_FAX: [&str; 1] = ["sent"];

impl<'a> EvaluationContext<'a> {
    pub(crate) fn new(evidence: Evidence<'a>) -> Self {
        Self::scoped(evidence, evidence)
    }

    pub(crate) fn scoped(evidence: Evidence<'a>, whole: Evidence<'a>) -> Self {
        Self { evidence, whole, budget: Budget::new() }
    }

    /// The time of the last event, which stands in for a clock.
    pub(crate) fn now(&self) -> Timestamp {
        let created = self.evidence.world.sandboxes.values().map(|sandbox| sandbox.created_at);
        self.evidence.events.last().map(|event| event.at).into_iter().chain(created).max().unwrap_or(Timestamp(0))
    }

    /// The sandboxes of a type. Fails if there is none.
    pub(crate) fn sandboxes(&self, kind: SimulatorType) -> Result<Vec<&'a Sandbox>, String> {
        let world = self.evidence.world;
        let found: Vec<&Sandbox> = world.sandboxes.values().filter(|sandbox| sandbox.kind == kind).collect();
        if found.is_empty() {
            return Err(format!("the playground has no {} sandbox", kind.name()));
        }
        found.iter().try_for_each(|sandbox| check_is_local(sandbox))?;
        Ok(found)
    }

    /// The events of some types, in order. Fails if there is no sandbox of the type `kind`.
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

/// Fails if the records are on another server, where checks cannot see them.
pub(crate) fn check_is_local(sandbox: &Sandbox) -> Result<(), String> {
    match sandbox.config.get("remote").filter(|remote| !remote.is_null()) {
        Some(_) => Err("the records are on another server, which no check can read".to_owned()),
        None => Ok(()),
    }
}

pub(crate) fn text<'v>(value: &'v Value, member: &str) -> Option<&'v str> {
    value.get(member).and_then(Value::as_str)
}

/// A JSON object with its members in this order.
pub(crate) fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
}
