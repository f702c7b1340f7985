//! The EHR side of CDS Hooks 2.0.

pub mod config;

use model::simulator::SimulatorType;
use serde_json::json;

use crate::authored;
use crate::registry::SimulatorInfo;

pub(crate) const SIMULATOR: SimulatorInfo = SimulatorInfo {
    kind: SimulatorType::CdsHooks,
    summary: "An EHR that calls CDS Hooks services and keeps their cards and feedback",
    credentials: &["services_url", "hooks_url"],
    endpoints: &["cds"],
    steps: &[],
    example_config: || {
        json!({
            "services": [{"base_url": "https://cds.example.org", "timeout_seconds": 5,
                "headers": {"X-Site": "clinic"}}],
            "timeout_seconds": 10,
        })
    },
    check_config: authored::check::<config::CdsHooksConfig>,
};
