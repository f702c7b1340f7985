//! The fax line.

pub mod config;
pub mod steps;

use model::simulator::SimulatorType;
use serde_json::json;

use crate::authored;
use crate::registry::SimulatorInfo;

pub(crate) const SIMULATOR: SimulatorInfo = SimulatorInfo {
    kind: SimulatorType::Fax,
    summary: "A fax line: PDF or TIFF out, rendered documents in",
    credentials: &["fax_number", "upload_url"],
    endpoints: &["fax"],
    steps: &[steps::FAX_INBOUND],
    example_config: || {
        json!({
            "outcomes": [{"number": "+15550100199", "status": "failed", "reason": "busy", "delay_seconds": 30}],
            "default_outcome": {"status": "sent", "delay_seconds": 10},
        })
    },
    check_config: authored::check::<config::FaxConfig>,
};
