//! What an agent could see in a task before the work, and what was exchanged during it.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::Value;

use crate::message::Message;
use crate::near::Plan;

/// Types of resources that are read in a survey.
const SURVEYED: [&str; 17] = [
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
    /// Of the response.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
}

impl Exchange {
    /// The response, where it is JSON.
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
    /// All that the reference agent sent and received, reads included.
    pub(crate) exchanges: Vec<Exchange>,
    /// What tells this task from its siblings without opening a document.
    pub(crate) fingerprint: String,
}

impl Survey {
    /// The response to a write of the agent, counted from zero.
    pub(crate) fn response(&self, number: usize) -> Option<&Exchange> {
        self.exchanges.iter().filter(|exchange| !exchange.message.is_read()).nth(number)
    }
}

/// The types to survey: the common ones, and those that the plans create.
pub(crate) fn surveyed_types(plans: &[Plan]) -> Vec<String> {
    let mut types: Vec<String> = SURVEYED.map(str::to_owned).to_vec();
    let written = plans.iter().flat_map(|plan| &plan.sent).filter_map(|message| message.path.strip_prefix("fhir/"));
    for kind in written.filter_map(|rest| rest.split(['/', '?']).next()).map(str::to_owned) {
        if !types.contains(&kind) && kind.starts_with(|c: char| c.is_ascii_uppercase()) {
            types.push(kind);
        }
    }
    types
}
