//! The playground's FHIR server, which stores the EHR's data.

use model::simulator::SimulatorType;
use world::{Sandbox, World};

/// The first active FHIR sandbox that is not remote. Remote servers support neither prefetching nor transactions here.
pub fn fhir_server(world: &World) -> Option<&Sandbox> {
    let is_local = |sandbox: &&Sandbox| {
        let is_remote = sandbox.config.get("remote").is_some_and(|remote| !remote.is_null());
        sandbox.kind == SimulatorType::Fhir && sandbox.is_active && !is_remote
    };
    world.sandboxes.values().find(is_local)
}

/// Whether the FHIR data lacks the patient. Always false without FHIR data.
pub(super) fn is_unknown_patient(world: &World, id: &str) -> bool {
    fhir_server(world).is_some_and(|server| server.records.get("Patient", id).live().is_none())
}
