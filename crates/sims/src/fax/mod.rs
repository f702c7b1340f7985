//! The Fax simulator: a fax line.

mod calls;
pub mod config;
mod delivery;
mod effects;
pub mod number;
pub mod pending;
pub mod read;
mod reference;
mod rows;
pub mod send;
pub mod steps;

pub use reference::DocumentSource;
pub use rows::{
    Direction, FaxText, OcrStatus, PageText, StoredFax, TextSource, UnreadableFax, stored_content, unreadable_faxes,
};

use model::dataset::DatasetType;
use model::simulator::SimulatorType;
use serde_json::json;

use crate::authored;
use crate::credentials::Credential;
use crate::registry::{ConfigDefaults, Endpoint, SimulatorInfo};

pub(crate) const SIMULATOR: SimulatorInfo = SimulatorInfo {
    kind: SimulatorType::Fax,
    summary: "A fax line: PDF or TIFF out, rendered documents in",
    datasets: &[DatasetType::Fhir, DatasetType::Files],
    credentials: &[
        Credential::new("fax_number", |context| number::own(context.config, context.sandbox)),
        Credential::new("upload_url", |context| context.url_of("fax/faxes")),
    ],
    endpoints: &[Endpoint::at("fax")],
    steps: &[steps::FAX_INBOUND],
    example_config: || {
        json!({
            "fax_number": "+15550100100",
            "outcomes": [
                {"number": "+15550100199", "status": "failed", "reason": "busy", "delay_seconds": 30},
                {"number": "+15550100198", "status": "sent", "failing_attempts": 1, "reason": "no_answer"},
            ],
            "default_outcome": {"status": "sent", "delay_seconds": 10},
            "retries": {"count": 2, "after_seconds": 60},
        })
    },
    effects: effects::EFFECTS,
    operations: &[],
    schedules: &[pending::SCHEDULE],
    config_defaults: ConfigDefaults::UNCHANGED,
    check_config: authored::check::<config::FaxConfig>,
};
