//! The HL7 v2 interface.

pub mod config;
pub mod effects;
mod event;
pub mod inbox;
pub mod receive;
pub mod refusal;
pub mod reply;
mod resend;
pub mod steps;
mod text;

use model::simulator::SimulatorType;
use serde_json::json;

use crate::authored;
use crate::registry::SimulatorInfo;

pub(crate) const SIMULATOR: SimulatorInfo = SimulatorInfo {
    kind: SimulatorType::Hl7,
    summary: "An HL7 v2 interface: messages out with real ACKs, an inbox of messages in, MLLP",
    credentials: &["inbox_url", "outbound_url", "mllp_host", "mllp_port"],
    endpoints: &["hl7_inbox", "hl7_outbound"],
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
    check_config: authored::check::<config::Hl7Config>,
};

#[cfg(test)]
mod tests;
