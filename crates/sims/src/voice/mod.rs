//! The Voice simulator: a phone line.

mod agent_input;
pub mod calls;
pub mod config;
mod effects;
mod graph;
pub mod inbox;
mod ivr;
pub mod node;
pub mod number;
mod prompt;
mod rows;
mod script;
mod speech;
pub mod steps;
mod transcript;
pub mod wire;

use model::dataset::DatasetType;
use model::simulator::SimulatorType;
use serde_json::{Value, json};

use crate::authored;
use crate::credentials::{Credential, CredentialContext};
use crate::registry::{ConfigDefaults, Endpoint, SimulatorInfo};

pub(crate) const SIMULATOR: SimulatorInfo = SimulatorInfo {
    kind: SimulatorType::Voice,
    summary: "A phone line with menus, look-ups and a scripted representative; it rings out without an `ivr`",
    datasets: &[DatasetType::Fhir, DatasetType::Files],
    credentials: &[
        Credential::new("phone_number", |context| number::of_line(context.config, context.derive)),
        Credential::new("ws_url", stream_url),
    ],
    endpoints: &[Endpoint::at("voice")],
    steps: &[steps::VOICEMAIL, steps::INBOUND_CALL],
    example_config,
    effects: effects::EFFECTS,
    operations: &[],
    schedules: &[],
    config_defaults: ConfigDefaults::UNCHANGED,
    check_config: authored::check::<config::VoiceConfig>,
};

fn example_config() -> Value {
    json!({"phone_number": "+15550100100",
        "voicemails": [{"from_number": "+15550100123", "caller_name": "Ada Stone", "text": "Please call me back."}],
        "ivr": {
        "start": "welcome", "retries": 2, "timeout_seconds": 10, "barge_in": true,
        "nodes": {
            "welcome": {"type": "say", "prompt": "Thank you for calling Northwind Health.", "next": "main_menu"},
            "main_menu": {"type": "menu", "prompt": "For eligibility press 1. For anything else stay on the line.",
                "options": [{"dtmf": "1", "phrases": ["eligibility", "benefits"], "next": "member_number"}],
                "otherwise": "message"},
            "member_number": {"type": "collect", "prompt": "Please enter the member number.", "field": "member_id",
                "kind": "digits", "max_length": 12, "confirm": true, "next": "find_member", "otherwise": "goodbye"},
            "find_member": {"type": "lookup", "source": "fhir", "resource": "Patient",
                "match": {"identifier": "{{field.member_id}}"}, "found": "wait", "not_found": "unknown_member"},
            "unknown_member": {"type": "say", "prompt": "I cannot find {{field.member_id}}.", "next": "member_number"},
            "wait": {"type": "hold", "prompt": "Please hold for a representative.", "seconds": 20, "next": "agent"},
            "agent": {"type": "representative", "prompt": "This is Dana. How can I help?",
                "beats": [{"phrases": ["deductible"], "answer": "The deductible is {{record.deductible}}."},
                    {"fields": ["procedure_code"], "answer": "{{field.procedure_code}} needs an authorization."}],
                "fallback": "Could you say that again?", "next": "department"},
            "department": {"type": "transfer", "prompt": "I will connect you.", "number": "+15550100177"},
            "message": {"type": "voicemail", "prompt": "Please leave a message after the tone.", "next": "goodbye"},
            "goodbye": {"type": "hangup", "prompt": "Goodbye."},
        },
    }})
}

fn stream_url(context: &CredentialContext<'_>) -> String {
    let url = context.url_of("voice/stream");
    match url.strip_prefix("http") {
        Some(rest) => format!("ws{rest}"),
        None => url,
    }
}
