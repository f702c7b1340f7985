//! Records as the dataset and the scenario gave them, whatever the agent has written over them.

use std::collections::HashSet;
use std::sync::Arc;

use model::event::EventType;
use serde_json::Value;
use world::{Records, Revision, Seq};

use crate::evidence::Case;

/// Which entries of the log are the scenario's.
pub(crate) struct Given {
    scenario: HashSet<Seq>,
}

impl Given {
    pub(crate) fn new(case: &Case<'_>) -> Result<Self, String> {
        case.budget.spend(case.evidence.events.len())?;
        let steps = case.evidence.events.iter().filter(|event| event.r#type == EventType::ScenarioStep);
        Ok(Self { scenario: steps.map(|event| event.seq).collect() })
    }

    /// The record's last version that is not the agent's; the agent's own if it made the record.
    pub(crate) fn record(&self, records: &Records, collection: &str, key: &str) -> Option<Arc<Value>> {
        let history = records.history(collection, key);
        let is_given = |revision: &&Revision<'_>| revision.seq == 0 || self.scenario.contains(&revision.seq);
        let given = history.iter().find(is_given).map(|revision| revision.record.as_ref().map(|record| record.json()));
        given.unwrap_or_else(|| Some(history.first()?.record.as_ref()?.json()))
    }

    /// Whether the record is as the agent left it, and not as it was given.
    pub(crate) fn is_agents(&self, records: &Records, collection: &str, key: &str) -> bool {
        let history = records.history(collection, key);
        history.first().is_some_and(|revision| revision.seq != 0 && !self.scenario.contains(&revision.seq))
    }
}
