//! Finds a patient's insurance coverage, and NPIs.

use serde_json::Value;

use crate::sandbox::Sandbox;

/// The coverage that is active and in force on a day. Of several, the one with the lowest `order`.
pub(crate) async fn in_force(sandbox: &Sandbox, patient: &str, day: &str) -> anyhow::Result<Option<Value>> {
    let coverages = sandbox.search(&format!("Coverage?beneficiary={patient}")).await?;
    let is_in_force = |coverage: &Value| {
        let bound = |name: &str| coverage["period"][name].as_str();
        coverage["status"] == "active"
            && bound("start").is_none_or(|start| start <= day)
            && bound("end").is_none_or(|end| end >= day)
    };
    let in_force = coverages.into_iter().filter(is_in_force);
    Ok(in_force.min_by_key(|coverage| coverage["order"].as_u64().unwrap_or(u64::MAX)))
}

/// The NPI of a practitioner or an organization.
pub(crate) fn npi(resource: &Value) -> Option<&str> {
    let mut identifiers = resource["identifier"].as_array()?.iter();
    identifiers.find(|identifier| identifier["system"] == "http://hl7.org/fhir/sid/us-npi")?["value"].as_str()
}
