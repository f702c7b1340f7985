//! Effects on the FHIR store: every version of every resource.

use serde_json::Value;

use crate::effects::{AgentLog, EffectInfo, RecordChange, SandboxEffect, is_bookkeeping};

pub(crate) const EFFECTS: EffectInfo = EffectInfo {
    channel: "fhir",
    has_paths: false,
    examples: &["fhir/Observation:create", "fhir/Task/t-12:update"],
    collect,
};

fn collect(log: &AgentLog<'_>) -> Vec<SandboxEffect> {
    log.changes(|collection| !is_bookkeeping(collection), substance).iter().map(RecordChange::effect).collect()
}

/// The resource without the members that the server sets, as canonical JSON. The order of members does not matter, and 1
/// differs from 1.0.
pub(crate) fn substance(resource: &Value) -> String {
    let mut resource = resource.clone();
    if let Some(meta) = resource.get_mut("meta").and_then(Value::as_object_mut) {
        meta.shift_remove("versionId");
        meta.shift_remove("lastUpdated");
        if meta.is_empty()
            && let Some(members) = resource.as_object_mut()
        {
            members.shift_remove("meta");
        }
    }
    model::canonical::to_string(&resource)
}
