//! The survey of a task: what an agent could see before the work, and the requests and responses of the work.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::Value;

use crate::message::Message;
use crate::mutants::Plan;

/// Resource types that a survey reads.
const SURVEYED_TYPES: [&str; 17] = [
    "Patient",
    "Practitioner",
    "Organization",
    "Coverage",
    "Observation",
    "MedicationRequest",
    "ServiceRequest",
    "AllergyIntolerance",
    "Condition",
    "Task",
    "Appointment",
    "Claim",
    "DocumentReference",
    "Communication",
    "List",
    "Encounter",
    "DiagnosticReport",
];

/// One request and its response.
#[derive(Clone, Debug)]
pub struct Exchange {
    pub(crate) message: Message,
    pub(crate) status: u16,
    /// The headers of the response.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
}

impl Exchange {
    /// The body of the response as JSON, or null.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// A task as the reference agent found it.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// The first resources of each type, before the work.
    pub(crate) chart: BTreeMap<String, Vec<Value>>,
    /// Files that were there before the work, by path.
    pub(crate) files: BTreeMap<String, Bytes>,
    /// All requests and responses of the reference agent, including reads.
    pub(crate) exchanges: Vec<Exchange>,
    /// The inbox contents, which distinguish this task from its siblings without opening documents.
    pub(crate) fingerprint: String,
}

impl Survey {
    /// The exchange of a write of the agent, numbered from zero.
    pub(crate) fn response(&self, number: usize) -> Option<&Exchange> {
        self.exchanges.iter().filter(|exchange| !exchange.message.is_read()).nth(number)
    }
}

/// The types to survey: common ones, and those that the plans write.
pub(crate) fn surveyed_types(plans: &[Plan]) -> Vec<String> {
    let mut types: Vec<String> = SURVEYED_TYPES.map(str::to_owned).to_vec();
    let written = plans.iter().flat_map(|plan| &plan.sent).filter_map(|message| message.path.strip_prefix("fhir/"));
    for resource_type in written.filter_map(|rest| rest.split(['/', '?']).next()).map(str::to_owned) {
        if !types.contains(&resource_type) && resource_type.starts_with(|c: char| c.is_ascii_uppercase()) {
            types.push(resource_type);
        }
    }
    types
}
