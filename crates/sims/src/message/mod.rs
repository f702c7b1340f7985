//! Text messages and e-mail with patients.

pub mod config;
mod effects;
pub mod inbox;
mod opt_out;
mod personas;
mod recipient;
pub mod replies;
mod rows;
pub mod send;
pub mod steps;

use model::simulator::SimulatorType;
use serde_json::json;

use crate::authored;
use crate::registry::SimulatorInfo;

pub(crate) const SIMULATOR: SimulatorInfo = SimulatorInfo {
    kind: SimulatorType::Message,
    summary: "Text messages and e-mail with patients who answer by script",
    credentials: &["messages_url"],
    endpoints: &["messages"],
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
    check_config: authored::check::<config::MessageConfig>,
};
