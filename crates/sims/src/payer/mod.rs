//! The payer portal: requests for prior authorization and the payer's determinations.

pub mod accounts;
pub mod config;
pub mod context;
pub mod deferred_determinations;
mod determination;
pub mod directory;
pub mod documents;
pub mod drafts;
mod effects;
mod event;
pub mod faults;
mod fhir_people;
pub mod formulary;
pub mod idempotency;
pub mod questions;
pub mod request_list;
pub mod requests;
pub mod rows;
pub mod steps;
pub mod submission;

use model::dataset::DatasetType;
use model::simulator::SimulatorType;
use serde_json::json;

use crate::authored;
use crate::credentials::{Credential, CredentialContext};
use crate::pagination;
use crate::registry::{ConfigDefaults, Endpoint, SimulatorInfo};

pub(crate) const SIMULATOR: SimulatorInfo = SimulatorInfo {
    kind: SimulatorType::Payer,
    summary: "A payer's prior authorization portal: HTML in a browser and REST",
    datasets: &[DatasetType::Fhir, DatasetType::Files],
    credentials: &[
        Credential::new("portal_url", |context| format!("{}/portal", context.sandbox_url)),
        Credential::new("username", portal_username),
        Credential::new("password", |context| context.secret("portal password")),
        Credential::new("api_url", |context| context.url_of("portal")),
    ],
    endpoints: &[Endpoint::at("portal")],
    steps: &[steps::PORTAL_ROW],
    example_config: || {
        json!({
            "portal": "radmd",
            "determinations": [
                {"match": {"procedure_code": "70551", "diagnosis": "G43.909"},
                    "determination": {"status": "denied", "reason": "No trial of conservative treatment"}},
                {"match": {"procedure_code": "70551"}, "determination": {"status": "approved", "delay_seconds": 60}},
            ],
            "default_determination": {"status": "need_more_info", "reason": "Clinical notes are required",
                "then": {"status": "approved"}},
            "session_seconds": 900,
            "questions": [
                {"id": "conservative_treatment", "text": "Six weeks of conservative treatment?", "kind": "yes_no"},
            ],
            "formulary": [
                {"drug": "Adalimumab", "tier": "Specialty", "prior_auth_required": true,
                    "step_therapy": "Methotrexate", "alternatives": ["Methotrexate"]},
            ],
            "faults": {"slow_page": {"page": "review", "milliseconds": 1500}, "lock_after_failures": 5},
        })
    },
    effects: effects::EFFECTS,
    operations: &[],
    schedules: &[deferred_determinations::SCHEDULE],
    config_defaults: ConfigDefaults::UNCHANGED,
    check_config: authored::check::<config::PayerConfig>,
};

/// Short enough to type, and different for each sandbox.
fn portal_username(context: &CredentialContext<'_>) -> String {
    let id = context.sandbox.to_string().to_ascii_lowercase();
    format!("clinic-{}", id.get(id.len().saturating_sub(8)..).unwrap_or(&id))
}
