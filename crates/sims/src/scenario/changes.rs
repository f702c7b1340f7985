//! The changes of several steps as one: of each record the last state counts, as its next version.

use std::collections::HashMap;
use std::sync::Arc;

use model::SandboxId;
use model::simulator::SimulatorType;
use world::{Change, Lookup, World, Write};

use crate::fhir;

#[derive(Debug, Default)]
pub(super) struct Changes {
    all: Vec<Change>,
    places: HashMap<(SandboxId, Arc<str>, Arc<str>), usize>,
}

impl Changes {
    pub(super) fn add(&mut self, change: Change) {
        let record = (change.sandbox.clone(), Arc::clone(&change.collection), Arc::clone(&change.key));
        match self.places.get(&record) {
            Some(place) => self.all[*place] = change,
            None => {
                self.places.insert(record, self.all.len());
                self.all.push(change);
            }
        }
    }

    /// As changes of the world that all steps began with.
    pub(super) fn settled(self, world: &World) -> Vec<Change> {
        self.all.into_iter().filter_map(|change| settled(change, world)).collect()
    }
}

/// None for a record that came and went. Of a file its mark stays: a dataset may have one of that path.
fn settled(mut change: Change, world: &World) -> Option<Change> {
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
