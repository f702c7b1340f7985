//! The X12 005010 clearinghouse: answers interchanges with TA1, 999 and response transactions, based on the FHIR data of
//! the playground.

mod adjudication;
mod authorization;
pub mod batch_files;
mod benefits;
mod chart;
mod claim;
mod claim_acknowledgment;
mod claim_status;
pub mod config;
mod coverage;
pub mod effects;
mod eligibility;
mod eligibility_summary;
mod envelope;
mod event;
pub mod exchange;
mod hl_writer;
mod inquiry;
mod interchange_json;
mod interchange_response;
mod member;
mod money;
pub mod patient_eligibility;
mod person;
mod reject;
mod remittance;
mod response_context;
pub mod responses;
mod rules;
mod status;
mod syntax;
mod text;

#[cfg(test)]
mod tests;

use model::dataset::DatasetType;
use model::simulator::SimulatorType;
use serde_json::json;

use crate::authored;
use crate::credentials::Credential;
use crate::registry::{ConfigDefaults, Endpoint, SimulatorInfo};

pub(crate) const SIMULATOR: SimulatorInfo = SimulatorInfo {
    kind: SimulatorType::Clearinghouse,
    summary: "An X12 005010 clearinghouse: eligibility, claim status and prior authorization in raw interchanges",
    datasets: &[DatasetType::Fhir, DatasetType::Files],
    credentials: &[
        Credential::new("transactions_url", |context| context.url_of("x12/transactions")),
        Credential::new("responses_url", |context| context.url_of("x12/responses")),
    ],
    endpoints: &[Endpoint::at("x12")],
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
            {"match": {"procedure": "99213"}, "status": "paid", "payment": {"percent": "0.80", "copay": "10.00",
                "group": "CO", "reason": "45"}},
        ], "batch": {"take_from": "edi/outbound", "answer_to": "edi/inbound"}})
    },
    effects: effects::EFFECTS,
    operations: &[],
    schedules: &[],
    config_defaults: ConfigDefaults::UNCHANGED,
    check_config: authored::check::<config::ClearinghouseConfig>,
};
