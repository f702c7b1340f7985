//! The FHIR R4 server (EHR), or a proxy to an existing one.

pub mod answer;
pub mod config;
pub mod http;
pub mod scopes;
pub mod steps;

use model::simulator::SimulatorType;
use serde_json::json;

use crate::authored;
use crate::registry::SimulatorInfo;

pub(crate) const SIMULATOR: SimulatorInfo = SimulatorInfo {
    kind: SimulatorType::Fhir,
    summary: "A FHIR R4 server with SMART client credentials, or a proxy to an existing one",
    credentials: &["fhir_base_url", "token_url", "client_id", "client_secret"],
    endpoints: &["fhir"],
    steps: &[steps::LOAD_BUNDLE],
    example_config: || {
        json!({"remote": {
            "base_url": "https://fhir.example.org/r4",
            "headers": {"Authorization": "Bearer example"},
        }})
    },
    check_config: authored::check::<config::FhirConfig>,
};
