//! Records as the dataset and the scenario gave them, whatever the agent has written over them.

use std::collections::HashSet;
use std::sync::Arc;

use model::event::EventType;
use serde_json::Value;
use world::{Records, Revision, Seq};

use crate::evidence::Case;

/// Tells which versions of records the dataset or the scenario brought.
pub(crate) struct Baselines {
    scenario: HashSet<Seq>,
}

impl Baselines {
    pub(crate) fn new(case: &Case<'_>) -> Result<Self, String> {
        case.budget.spend(case.whole.events.len())?;
        let steps = case.whole.events.iter().filter(|event| event.r#type == EventType::ScenarioStep);
        Ok(Self { scenario: steps.map(|event| event.seq).collect() })
    }

    pub(crate) fn is_given(&self, revision: &Revision<'_>) -> bool {
        revision.seq == 0 || self.scenario.contains(&revision.seq)
    }

    /// The record before the agent changed it; none when it was not there.
    pub(crate) fn of(&self, records: &Records, collection: &str, key: &str) -> Option<Arc<Value>> {
        let history = records.history(collection, key);
        let given = history.iter().find(|revision| self.is_given(revision))?;
        given.record.as_ref().map(|record| record.json())
    }

    /// Whether the current version is not one that was given.
    pub(crate) fn is_changed(&self, records: &Records, collection: &str, key: &str) -> bool {
        !records.history(collection, key).first().is_some_and(|revision| self.is_given(revision))
    }

    /// The record's last version that is not the agent's; the current one if the agent made the record.
    pub(crate) fn given_or_current(&self, records: &Records, collection: &str, key: &str) -> Option<Arc<Value>> {
        let history = records.history(collection, key);
        let revision = history.iter().find(|revision| self.is_given(revision)).or_else(|| history.first())?;
        revision.record.as_ref().map(|record| record.json())
    }
}
