//! The CdsHooks simulator: the EHR side of CDS Hooks 2.0.

pub mod accept;
mod actions;
pub mod answer;
pub mod cards;
pub mod chart;
pub mod config;
mod definition;
mod effects;
mod error;
mod event;
pub mod feedback;
mod hooks;
pub mod invocations;
pub mod invoke;
mod json_object;
mod prefetch;
pub mod services;
pub mod steps;
mod uuid;

pub use error::CdsError;
pub use json_object::UnknownMembers;

use model::dataset::DatasetType;
use model::simulator::SimulatorType;
use serde_json::json;

use crate::authored;
use crate::credentials::Credential;
use crate::registry::{ConfigDefaults, Endpoint, SimulatorInfo};

pub(crate) const SIMULATOR: SimulatorInfo = SimulatorInfo {
    kind: SimulatorType::CdsHooks,
    summary: "An EHR that calls CDS Hooks services and keeps their cards and feedback",
    datasets: &[DatasetType::Fhir, DatasetType::Files],
    credentials: &[
        Credential::new("services_url", |context| context.url_of("cds/services")),
        Credential::new("hooks_url", |context| context.url_of("cds/hooks")),
    ],
    endpoints: &[Endpoint::at("cds")],
    steps: &[steps::CDS_HOOK],
    example_config: || {
        json!({
            "services": [{"base_url": "https://cds.example.org", "timeout_seconds": 5,
                "headers": {"X-Site": "clinic"}}],
            "timeout_seconds": 10,
            "agent_services": [{"hook": "patient-view", "id": "triage", "title": "Triage",
                "description": "Says whom to call today", "prefetch": {"patient": "Patient/{{context.patientId}}"},
                "usageRequirements": "None"}],
            "hooks": ["order-sign"],
            "cards": [{"summary": "Check the dose", "indicator": "warning", "source": {"label": "Pharmacy"}}],
            "fhir_authorization": {"scope": "system/*.rs"},
        })
    },
    effects: effects::EFFECTS,
    operations: &[],
    schedules: &[],
    config_defaults: ConfigDefaults::UNCHANGED,
    check_config: authored::check::<config::CdsHooksConfig>,
};
