//! The payer portal.

pub mod config;
pub mod steps;

use model::simulator::SimulatorType;
use serde_json::json;

use crate::authored;
use crate::registry::SimulatorInfo;

pub(crate) const SIMULATOR: SimulatorInfo = SimulatorInfo {
    kind: SimulatorType::Payer,
    summary: "A payer's prior authorization portal: HTML in a browser and REST",
    credentials: &["portal_url", "username", "password", "api_url"],
    endpoints: &["portal"],
    steps: &[steps::PORTAL_ROW],
    example_config: || {
        json!({
            "portal": "radmd",
            "determinations": [
                {"match": {"procedure_code": "70551", "diagnosis": "G43.909"},
                    "determination": {"status": "denied", "reason": "No trial of conservative treatment"}},
                {"match": {"procedure_code": "70551"}, "determination": {"status": "approved", "delay_seconds": 60}},
            ],
            "default_determination": {"status": "need_more_info", "reason": "Clinical notes are required"},
            "session_seconds": 900,
        })
    },
    check_config: authored::check::<config::PayerConfig>,
};
