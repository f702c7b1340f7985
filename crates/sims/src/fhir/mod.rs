//! The FHIR R4 server (EHR), or a proxy to an existing one.

pub(crate) mod address;
mod bundle;
mod bundle_writer;
mod conditional;
pub mod config;
mod create;
mod delete;
pub mod depth;
mod effects;
mod event;
mod everything;
mod fhirpath_patch;
pub mod handle;
mod history;
pub mod http;
mod integrity;
mod interaction;
mod interaction_context;
pub(crate) mod internal_transaction;
mod json;
mod json_patch;
mod last_n;
mod load;
mod media;
mod metadata;
mod moments;
mod outcome;
mod paging;
mod patch;
mod perform;
mod preconditions;
pub mod proxy_scopes;
mod raw_binary;
mod read;
mod reply;
pub mod scopes;
mod search;
pub mod smart;
pub mod steps;
mod stored_parameters;
mod subset;
mod update;
mod validate;
mod write;

pub(crate) use write::renumbered;

use model::dataset::DatasetType;
use model::simulator::SimulatorType;
use serde_json::json;

use crate::authored;
use crate::credentials::Credential;
use crate::registry::{ConfigDefaults, Endpoint, SimulatorInfo};

pub(crate) const SIMULATOR: SimulatorInfo = SimulatorInfo {
    kind: SimulatorType::Fhir,
    summary: "A FHIR R4 server with SMART client credentials, or a proxy to an existing one",
    datasets: &[DatasetType::Fhir],
    credentials: &[
        Credential::new("fhir_base_url", |context| format!("{}/fhir", context.sandbox_url)),
        Credential::new("token_url", |context| format!("{}/fhir/auth/token", context.sandbox_url)),
        Credential::new("client_id", |context| context.sandbox.to_string()),
        Credential::new("client_secret", |context| context.secret("client secret")),
    ],
    endpoints: &[Endpoint::at("fhir")],
    steps: &[steps::LOAD_BUNDLE],
    example_config: || {
        json!({
            "remote": {
                "base_url": "https://fhir.example.org/r4",
                "headers": {"Authorization": "Bearer example"},
            },
            "validation": "standard",
            "referential_integrity": "off",
        })
    },
    effects: effects::EFFECTS,
    operations: &[],
    schedules: &[],
    config_defaults: ConfigDefaults::UNCHANGED,
    check_config: authored::check::<config::FhirConfig>,
};
