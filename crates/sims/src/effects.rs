//! The effects of an agent's work, from the change log: every create, update and delete of every version, and every message
//! that left. What was done and undone counts. Each simulator says in its own folder what its effects are.

use std::collections::{BTreeSet, HashSet};

use model::event::{Event, EventType};
use serde_json::Value;
use world::{Effect, Revision, Sandbox, Seq, Verb, World};

/// How a simulator's effects are named and found.
#[derive(Debug)]
pub struct EffectInfo {
    /// What the names of its effects begin with: `fhir` in `fhir/Task/t-12:update`.
    pub channel: &'static str,
    /// Whether its resources are paths of a tree. Elsewhere a kind stands for everything of that kind.
    pub has_paths: bool,
    /// Effects of this simulator, for the manual.
    pub examples: &'static [&'static str],
    pub(crate) collect: fn(&AgentLog<'_>) -> Vec<Act>,
}

/// An effect before it has its channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Act {
    pub(crate) seq: Seq,
    pub(crate) resource: String,
    pub(crate) verb: Verb,
}

/// What the agent left in one sandbox.
pub(crate) struct AgentLog<'a> {
    pub(crate) sandbox: &'a Sandbox,
    /// Those of the sandbox that tell of the agent, in order.
    pub(crate) events: Vec<&'a Event>,
    /// Entries of the log that tell of somebody else.
    others: &'a HashSet<Seq>,
}

/// A version of a record that the agent wrote.
pub(crate) struct RecordChange<'a> {
    pub(crate) seq: Seq,
    pub(crate) collection: &'a str,
    pub(crate) key: &'a str,
    /// None when there was no such record.
    pub(crate) before: Option<Value>,
    /// None when the record was deleted.
    pub(crate) after: Option<Value>,
    /// Whether the agent created the record.
    pub(crate) is_own: bool,
}

/// Every channel that effects can have, in the order of the registry.
pub fn channels() -> impl Iterator<Item = &'static str> {
    crate::catalog().iter().map(|info| info.effects.channel)
}

/// Whether the resources of a channel are paths of a tree.
pub fn has_paths(channel: &str) -> bool {
    crate::catalog().iter().any(|info| info.effects.channel == channel && info.effects.has_paths)
}

/// What the agent did, in the order of the log.
pub fn of_agent(world: &World, events: &[Event]) -> Vec<Effect> {
    let others: HashSet<Seq> = events.iter().filter(|event| !is_of_agent(event)).map(|event| event.seq).collect();
    let mut effects = Vec::new();
    for sandbox in world.sandboxes.values() {
        let own = events.iter().filter(|event| event.sandbox_id == sandbox.id && is_of_agent(event)).collect();
        let info = &crate::info(sandbox.kind).effects;
        let acts = (info.collect)(&AgentLog { sandbox, events: own, others: &others });
        effects.extend(acts.into_iter().map(|Act { seq, resource, verb }| Effect {
            seq,
            sandbox: sandbox.id.clone(),
            channel: info.channel,
            resource,
            verb,
        }));
    }
    // Stable: what one message did in one sandbox keeps its order.
    effects.sort_by_key(|effect| effect.seq);
    effects
}

/// Whether the event tells of the agent, and not of the scenario or of what became due by itself.
fn is_of_agent(event: &Event) -> bool {
    !is_of_scenario(event) && !event.is_system()
}

/// Whether the event tells of the scenario. What a step brought carries the step's number beside the actor: a client may
/// choose its name, but not what else its simulator logs.
pub fn is_of_scenario(event: &Event) -> bool {
    let has_number = || event.payload.get("scenario_step").is_some_and(Value::is_u64);
    event.r#type == EventType::ScenarioStep || (event.actor == "scenario" && has_number())
}

impl<'a> AgentLog<'a> {
    /// The versions that the agent wrote in the collections that count, by record and in order. A version that says the same
    /// as the one before it, by `substance`, is none.
    pub(crate) fn changes(
        &self,
        counts: impl Fn(&str) -> bool,
        substance: impl Fn(&Value) -> String,
    ) -> Vec<RecordChange<'a>> {
        let records = &self.sandbox.records;
        let mut found = Vec::new();
        for collection in records.written_collections().filter(|name| counts(name)) {
            let keys: BTreeSet<&str> = records.written(collection).into_iter().map(|revision| revision.key).collect();
            for key in keys {
                let mut history = records.history(collection, key);
                history.reverse();
                self.add_changes(&history, &substance, &mut found);
            }
        }
        found.sort_by_key(|change| change.seq);
        found
    }

    fn add_changes(
        &self,
        history: &[Revision<'a>],
        substance: &dyn Fn(&Value) -> String,
        found: &mut Vec<RecordChange<'a>>,
    ) {
        let (mut before, mut is_own): (Option<Value>, bool) = (None, false);
        for revision in history {
            let after = content(revision);
            let is_agents = revision.seq != 0 && !self.others.contains(&revision.seq);
            if before.is_none() {
                is_own = is_agents;
            }
            let is_same = match (&before, &after) {
                (None, None) => true,
                (Some(before), Some(after)) => substance(before) == substance(after),
                _ => false,
            };
            if is_agents && !is_same {
                let (collection, key) = (revision.collection, revision.key);
                found.push(RecordChange { seq: revision.seq, collection, key, before, after: after.clone(), is_own });
            }
            before = after;
        }
    }
}

/// Parsed here and not kept: there may be very many versions.
fn content(revision: &Revision<'_>) -> Option<Value> {
    let record = revision.record.as_ref()?;
    Some(serde_json::from_str(&record.text()).unwrap_or_default())
}

impl RecordChange<'_> {
    pub(crate) fn verb(&self) -> Verb {
        match (&self.before, &self.after) {
            (None, _) => Verb::Create,
            (Some(_), None) if self.is_own => Verb::DeleteOwn,
            (Some(_), None) => Verb::Delete,
            (Some(_), Some(_)) if self.is_own => Verb::UpdateOwn,
            (Some(_), Some(_)) => Verb::Update,
        }
    }

    /// Named by collection and key.
    pub(crate) fn act(&self) -> Act {
        Act { seq: self.seq, resource: format!("{}/{}", self.collection, self.key), verb: self.verb() }
    }
}

/// The text of a member of an event's payload.
pub(crate) fn member<'e>(event: &'e Event, name: &str) -> Option<&'e str> {
    event.payload.get(name).and_then(Value::as_str)
}

/// What is not due yet, and what simulators remember for themselves: nobody's work.
pub(crate) fn is_bookkeeping(collection: &str) -> bool {
    collection == crate::scenario::SCHEDULED || collection == crate::idempotency::BOOKKEEPING
}
