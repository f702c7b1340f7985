//! Text messages and e-mail with patients.

pub mod config;
mod effects;
mod inbox;
mod operations;
mod opt_out;
mod personas;
mod recipient;
pub mod replies;
mod rows;
pub(crate) mod send;
pub mod steps;

use model::dataset::DatasetType;
use model::simulator::SimulatorType;
use serde_json::json;

use crate::authored;
use crate::credentials::Credential;
use crate::registry::{ConfigDefaults, Endpoint, SimulatorInfo};

pub(crate) const SIMULATOR: SimulatorInfo = SimulatorInfo {
    kind: SimulatorType::Message,
    summary: "Text messages and e-mail with patients who answer by script",
    datasets: &[DatasetType::Fhir, DatasetType::Files],
    credentials: &[Credential::new("messages_url", |context| context.url_of("messages"))],
    endpoints: &[Endpoint::at("messages")],
    steps: &[steps::MESSAGE_INBOUND],
    example_config: || {
        json!({"personas": [{
            "name": "Ada Stone",
            "patient_id": "ada-stone",
            "replies": [
                {"phrases": ["tuesday", "10:30"], "reply": "Tuesday works for me.", "delay_seconds": 45},
                {"phrases": ["potassium"], "reply": "Is that dangerous?"},
            ],
            "default_reply": "Sorry, who is this?",
        }], "unreachable": ["+15550100199"]})
    },
    effects: effects::EFFECTS,
    operations: operations::OPERATIONS,
    schedules: &[replies::SCHEDULE],
    config_defaults: ConfigDefaults::UNCHANGED,
    check_config: authored::check::<config::MessageConfig>,
};
