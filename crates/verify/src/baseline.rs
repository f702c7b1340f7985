//! The versions of records that come from the dataset and the scenario, without the changes of the agent.

use std::collections::HashSet;
use std::sync::Arc;

use model::event::EventType;
use serde_json::Value;
use world::{Records, Revision, Seq};

use crate::evidence::EvaluationContext;

/// Distinguishes versions of records from the dataset and the scenario from those that the agent wrote.
pub(crate) struct Baselines {
    scenario: HashSet<Seq>,
}

impl Baselines {
    pub(crate) fn new(context: &EvaluationContext<'_>) -> Result<Self, String> {
        context.budget.spend(context.whole.events.len())?;
        let steps = context.whole.events.iter().filter(|event| event.r#type == EventType::ScenarioStep);
        Ok(Self { scenario: steps.map(|event| event.seq).collect() })
    }

    /// Whether a version comes from the dataset or the scenario.
    pub(crate) fn is_given(&self, revision: &Revision<'_>) -> bool {
        revision.seq == 0 || self.scenario.contains(&revision.seq)
    }

    /// The record before the agent changed it. None if it did not exist.
    pub(crate) fn of(&self, records: &Records, collection: &str, key: &str) -> Option<Arc<Value>> {
        let history = records.history(collection, key);
        let given = history.iter().find(|revision| self.is_given(revision))?;
        given.record.as_ref().map(|record| record.json())
    }

    /// Whether the agent wrote the current version.
    pub(crate) fn is_changed(&self, records: &Records, collection: &str, key: &str) -> bool {
        !records.history(collection, key).first().is_some_and(|revision| self.is_given(revision))
    }

    /// The last version that the agent did not write, or the current one if the agent created the record.
    pub(crate) fn given_or_current(&self, records: &Records, collection: &str, key: &str) -> Option<Arc<Value>> {
        let history = records.history(collection, key);
        let revision = history.iter().find(|revision| self.is_given(revision)).or_else(|| history.first())?;
        revision.record.as_ref().map(|record| record.json())
    }
}
