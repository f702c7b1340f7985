//! The HL7 v2 interface: receives messages, acknowledges them, and provides an inbox.

pub mod acknowledge;
pub mod config;
pub mod effects;
mod event;
pub mod inbox;
pub mod receive;
pub mod reply;
mod resend;
pub mod steps;
mod text;

use model::dataset::DatasetType;
use model::simulator::SimulatorType;
use serde_json::json;

use crate::authored;
use crate::credentials::{Credential, Listener};
use crate::registry::{ConfigDefaults, Endpoint, SimulatorInfo};

pub(crate) const SIMULATOR: SimulatorInfo = SimulatorInfo {
    kind: SimulatorType::Hl7,
    summary: "An HL7 v2 interface: messages out with real ACKs, an inbox of messages in, MLLP",
    datasets: &[DatasetType::Fhir, DatasetType::Files],
    credentials: &[
        Credential::new("inbox_url", |context| context.url_of("hl7/inbox")),
        Credential::new("outbound_url", |context| context.url_of("hl7/outbound")),
        Credential::of(Listener::Mllp, "mllp_host", |context| context.host()),
        Credential::of(Listener::Mllp, "mllp_port", |context| context.port()),
    ],
    endpoints: &[
        Endpoint { name: "hl7_inbox", path: "hl7/inbox" },
        Endpoint { name: "hl7_outbound", path: "hl7/outbound" },
    ],
    steps: &[steps::HL7_INBOUND],
    example_config: || {
        json!({
            "strict": true,
            "lenient": false,
            "version": "2.5.1",
            "mllp": {"host": "agent.example.org", "port": 2575},
            "inbox": [{"after_seconds": 60, "message":
                "MSH|^~\\&|LAB|HOSP|EHR|CLINIC|20260401120000||ACK|LAB0001|P|2.5.1\rMSA|AA|EHR0007"}],
        })
    },
    effects: effects::EFFECTS,
    operations: &[],
    schedules: &[],
    config_defaults: ConfigDefaults { pin: config::write_default, restore: config::keep_old_default },
    check_config: authored::check::<config::Hl7Config>,
};

#[cfg(test)]
mod tests;
