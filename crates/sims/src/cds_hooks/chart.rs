//! The playground's FHIR server, which the EHR's data lies in.

use model::simulator::SimulatorType;
use world::{Sandbox, World};

/// The first that keeps its records here: what another server holds can neither be prefetched nor written in one step.
pub fn fhir_server(world: &World) -> Option<&Sandbox> {
    let is_here = |sandbox: &&Sandbox| {
        let is_remote = sandbox.config.get("remote").is_some_and(|remote| !remote.is_null());
        sandbox.kind == SimulatorType::Fhir && sandbox.is_active && !is_remote
    };
    world.sandboxes.values().find(is_here)
}

/// Whether the data knows no such patient. Without any data nobody can say.
pub(super) fn is_unknown_patient(world: &World, id: &str) -> bool {
    fhir_server(world).is_some_and(|server| server.records.get("Patient", id).live().is_none())
}
