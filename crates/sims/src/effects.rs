//! The effects of an agent's actions, from the change log: every version that was created, updated or deleted, and every
//! message that was sent. Actions that were undone count. Each simulator defines its effects in its own module.

use std::collections::{BTreeSet, HashSet};

use model::event::{Event, EventType};
use serde_json::Value;
use world::{Effect, Revision, Sandbox, Seq, Verb, World};

/// How to find and name the effects of a simulator.
#[derive(Debug)]
pub struct EffectInfo {
    /// The first part of an effect's name: `fhir` in `fhir/Task/t-12:update`.
    pub channel: &'static str,
    /// Whether its resources are file paths. In other channels, a resource type stands for all resources of the type.
    pub has_paths: bool,
    /// Examples for the manual.
    pub examples: &'static [&'static str],
    pub(crate) collect: fn(&AgentLog<'_>) -> Vec<SandboxEffect>,
}

/// An effect without its channel and sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SandboxEffect {
    pub(crate) seq: Seq,
    pub(crate) resource: String,
    pub(crate) verb: Verb,
}

/// The agent's actions in one sandbox.
pub(crate) struct AgentLog<'a> {
    pub(crate) sandbox: &'a Sandbox,
    /// The agent's events in this sandbox, in order.
    pub(crate) events: Vec<&'a Event>,
    /// The sequence numbers of the events of others.
    others: &'a HashSet<Seq>,
}

/// A version of a record that the agent wrote.
pub(crate) struct RecordChange<'a> {
    pub(crate) seq: Seq,
    pub(crate) collection: &'a str,
    pub(crate) key: &'a str,
    /// None for a new record.
    pub(crate) before: Option<Value>,
    /// None for a deletion.
    pub(crate) after: Option<Value>,
    /// Whether the agent created the record.
    pub(crate) is_own: bool,
}

/// Every channel that effects can have, in the order of the catalog.
pub fn channels() -> impl Iterator<Item = &'static str> {
    crate::catalog().iter().map(|info| info.effects.channel)
}

/// Whether the resources of a channel are file paths.
pub fn has_paths(channel: &str) -> bool {
    crate::catalog().iter().any(|info| info.effects.channel == channel && info.effects.has_paths)
}

/// The effects of the agent's actions, in the order of the log.
pub fn of_agent(world: &World, events: &[Event]) -> Vec<Effect> {
    let others: HashSet<Seq> = events.iter().filter(|event| !is_of_agent(event)).map(|event| event.seq).collect();
    let mut effects = Vec::new();
    for sandbox in world.sandboxes.values() {
        let own = events.iter().filter(|event| event.sandbox_id == sandbox.id && is_of_agent(event)).collect();
        let info = &crate::info(sandbox.kind).effects;
        let own_effects = (info.collect)(&AgentLog { sandbox, events: own, others: &others });
        effects.extend(own_effects.into_iter().map(|SandboxEffect { seq, resource, verb }| Effect {
            seq,
            sandbox: sandbox.id.clone(),
            channel: info.channel,
            resource,
            verb,
        }));
    }
    // The sort is stable: the effects of one message in one sandbox keep their order.
    effects.sort_by_key(|effect| effect.seq);
    effects
}

/// Whether the event is about the agent, and not about the scenario or deferred work.
fn is_of_agent(event: &Event) -> bool {
    !is_of_scenario(event) && !event.is_system()
}

/// Whether the event is about the scenario. Arrivals are recognized by the index of their step: clients can choose their
/// actor, but not the other members of the payload.
pub fn is_of_scenario(event: &Event) -> bool {
    let has_step_index = || event.payload.get("scenario_step").is_some_and(Value::is_u64);
    event.r#type == EventType::ScenarioStep || (event.actor == "scenario" && has_step_index())
}

impl<'a> AgentLog<'a> {
    /// The versions that the agent wrote in the collections selected by `counts`, in order. Versions with the same
    /// `substance` as the previous version are left out.
    pub(crate) fn changes(
        &self,
        counts: impl Fn(&str) -> bool,
        substance: impl Fn(&Value) -> String,
    ) -> Vec<RecordChange<'a>> {
        let records = &self.sandbox.records;
        let mut changes = Vec::new();
        for collection in records.written_collections().filter(|name| counts(name)) {
            let keys: BTreeSet<&str> = records.written(collection).into_iter().map(|revision| revision.key).collect();
            for key in keys {
                let mut history = records.history(collection, key);
                history.reverse();
                self.add_changes(&history, &substance, &mut changes);
            }
        }
        changes.sort_by_key(|change| change.seq);
        changes
    }

    fn add_changes(
        &self,
        history: &[Revision<'a>],
        substance: &dyn Fn(&Value) -> String,
        changes: &mut Vec<RecordChange<'a>>,
    ) {
        let (mut before, mut is_own): (Option<Value>, bool) = (None, false);
        for revision in history {
            let after = content(revision);
            let is_by_agent = revision.seq != 0 && !self.others.contains(&revision.seq);
            if before.is_none() {
                is_own = is_by_agent;
            }
            let is_same = match (&before, &after) {
                (None, None) => true,
                (Some(before), Some(after)) => substance(before) == substance(after),
                _ => false,
            };
            if is_by_agent && !is_same {
                let (collection, key) = (revision.collection, revision.key);
                changes.push(RecordChange { seq: revision.seq, collection, key, before, after: after.clone(), is_own });
            }
            before = after;
        }
    }
}

/// Parses a version. The result is not cached, because there may be very many versions.
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

    /// The effect of the change, named by collection and key.
    pub(crate) fn effect(&self) -> SandboxEffect {
        SandboxEffect { seq: self.seq, resource: format!("{}/{}", self.collection, self.key), verb: self.verb() }
    }
}

/// A string member of an event's payload.
pub(crate) fn member<'e>(event: &'e Event, name: &str) -> Option<&'e str> {
    event.payload.get(name).and_then(Value::as_str)
}

/// Whether the collection holds deferred work or idempotency keys, which are not effects.
pub(crate) fn is_bookkeeping(collection: &str) -> bool {
    collection == crate::scenario::SCHEDULED || collection == crate::idempotency::BOOKKEEPING
}
