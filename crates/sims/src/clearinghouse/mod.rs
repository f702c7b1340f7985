//! The X12 clearinghouse.

pub mod config;

use model::simulator::SimulatorType;
use serde_json::json;

use crate::authored;
use crate::registry::SimulatorInfo;

pub(crate) const SIMULATOR: SimulatorInfo = SimulatorInfo {
    kind: SimulatorType::Clearinghouse,
    summary: "An X12 005010 clearinghouse: eligibility, claim status and prior authorization in raw interchanges",
    credentials: &["transactions_url", "responses_url"],
    endpoints: &["x12"],
    steps: &[],
    example_config: || {
        json!({"rules": [
            {"match": {"member": "W000000002"}, "aaa": "72"},
            {"match": {"service_type": "98", "payer": "60054"}, "status": "active", "delay_seconds": 30, "benefits": [
                {"code": "1", "service_type": "98", "coverage_level": "IND", "message": "PLAN ACTIVE"},
                {"code": "B", "service_type": "98", "amount": "25.00", "in_network": true,
                    "authorization_required": false},
                {"code": "A", "service_type": "98", "percent": "0.20", "period": "23"},
            ]},
            {"match": {"procedure": "70551"}, "status": "pending"},
        ]})
    },
    check_config: authored::check::<config::ClearinghouseConfig>,
};
