//! Merges the changes of several steps into one message: only the last state of each record counts, as its next version.

use std::collections::HashMap;
use std::sync::Arc;

use model::SandboxId;
use model::simulator::SimulatorType;
use world::{Change, Lookup, World, Write};

use crate::fhir;

/// At most one change for each record, in the order in which the records were first changed.
#[derive(Debug, Default)]
pub(super) struct MergedChanges {
    changes: Vec<Change>,
    /// Indexes into `changes` by sandbox, collection and key.
    indexes: HashMap<(SandboxId, Arc<str>, Arc<str>), usize>,
}

impl MergedChanges {
    pub(super) fn add(&mut self, change: Change) {
        let record = (change.sandbox.clone(), Arc::clone(&change.collection), Arc::clone(&change.key));
        match self.indexes.get(&record) {
            Some(index) => self.changes[*index] = change,
            None => {
                self.indexes.insert(record, self.changes.len());
                self.changes.push(change);
            }
        }
    }

    /// The changes with the versions that follow those of `world`, the world before all steps.
    pub(super) fn relative_to(self, world: &World) -> Vec<Change> {
        self.changes.into_iter().filter_map(|change| relative_to(world, change)).collect()
    }
}

/// None for a record that was created and deleted again, except in a Files sandbox: there the deletion is kept, because
/// it hides a dataset file of the same path.
fn relative_to(world: &World, mut change: Change) -> Option<Change> {
    let sandbox = world.sandboxes.get(&change.sandbox)?;
    let (collection, key) = (&*change.collection, &*change.key);
    let before = sandbox.records.get(collection, key);
    let version = sandbox.records.next_version(collection, key);
    change.write = match (&change.text, before) {
        (None, Lookup::Unknown) if sandbox.kind != SimulatorType::Files => return None,
        (None, _) => Write::Delete,
        (Some(_), Lookup::Live(_)) => Write::Update,
        (Some(_), _) => Write::Create,
    };
    if version != change.version {
        change.version = version;
        if sandbox.kind == SimulatorType::Fhir {
            change.text = change.text.map(|text| fhir::renumbered(&text, version));
        }
    }
    Some(change)
}
