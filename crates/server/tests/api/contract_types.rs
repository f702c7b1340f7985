//! The entry of each simulator type for the tests in `contract`.

use model::canonical::sha256_hex;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::world;

/// A request below the address of a sandbox.
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) content_type: &'static str,
    pub(crate) body: Vec<u8>,
    pub(crate) status: u16,
}

/// A simulator type with an HTTP interface.
pub(crate) struct SimulatorEntry {
    pub(crate) name: &'static str,
    pub(crate) config: fn() -> Value,
    /// A message that changes something and contains this text, as far as the protocol can carry it.
    pub(crate) write: fn(&str) -> Call,
    /// A follow-up message with the text, for protocols that cannot carry it in the first one.
    pub(crate) follow: Option<fn(&Value, &str) -> Call>,
    /// The text as the log or the state stores it.
    pub(crate) kept: fn(&str) -> String,
    /// Paths that a client reads; none of them changes anything.
    pub(crate) reads: &'static [&'static str],
    /// The type of the event of a write.
    pub(crate) event: &'static str,
    /// How many of these events one write causes.
    pub(crate) events: u64,
    /// The pattern with which `no-side-effects` allows the write.
    pub(crate) effect: &'static str,
}

/// One entry for every simulator type with an HTTP interface; a test checks that none is missing.
pub(crate) const SIMULATORS: &[SimulatorEntry] = &[
    SimulatorEntry {
        name: "Fhir",
        config: || json!({}),
        write: |words| json_call("fhir/Basic", &json!({"resourceType": "Basic", "code": {"text": words}})),
        follow: None,
        kept: str::to_owned,
        reads: &["fhir/Patient", "fhir/Basic?_count=50", "fhir/metadata"],
        event: "fhir_request",
        events: 1,
        effect: "fhir/Basic",
    },
    SimulatorEntry {
        name: "Hl7",
        config: || json!({}),
        write: |words| Call { status: 200, ..json_call("hl7/outbound", &json!({"payload": hl7_message(words)})) },
        follow: None,
        kept: hl7_text,
        reads: &["hl7/inbox"],
        event: "hl7_outbound",
        events: 1,
        effect: "hl7/ADT^A08",
    },
    SimulatorEntry {
        name: "Clearinghouse",
        config: || json!({}),
        write: |words| Call {
            method: Method::POST,
            path: "x12/transactions".into(),
            content_type: "application/edi-x12",
            body: x12_inquiry(words).into_bytes(),
            status: 200,
        },
        follow: None,
        kept: x12_text,
        reads: &["x12/responses"],
        event: "x12_request",
        events: 1,
        effect: "x12/270",
    },
    SimulatorEntry {
        name: "Files",
        config: || json!({}),
        write: |words| Call {
            method: Method::PUT,
            path: format!("files/outbox/{}.txt", short_name(words)),
            content_type: "text/plain",
            body: words.as_bytes().to_vec(),
            status: 201,
        },
        follow: None,
        kept: |words| sha256_hex(words.as_bytes()),
        reads: &["files", "files/inbox"],
        event: "file_write",
        events: 1,
        effect: "files/outbox/*",
    },
    SimulatorEntry {
        name: "Payer",
        config: || json!({}),
        write: |words| {
            let mut request = world::prior_auth();
            request["clinical_notes"] = json!(words);
            json_call("portal/prior-auths", &request)
        },
        follow: None,
        kept: str::to_owned,
        reads: &["portal/prior-auths", "portal/patients"],
        event: "portal_submit",
        events: 1,
        effect: "portal/prior_auth_requests",
    },
    SimulatorEntry {
        name: "Message",
        config: || json!({}),
        write: |words| {
            let mut message = world::message();
            message["body"] = json!(words);
            json_call("messages", &message)
        },
        follow: None,
        kept: str::to_owned,
        reads: &["messages"],
        event: "message_outbound",
        events: 1,
        effect: "messages/sms",
    },
    SimulatorEntry {
        name: "Fax",
        config: || json!({}),
        write: |words| {
            let mut fax = world::fax();
            fax["subject"] = json!(words);
            json_call("fax/faxes", &fax)
        },
        follow: None,
        kept: str::to_owned,
        reads: &["fax/faxes", "fax/inbox"],
        event: "fax_outbound",
        events: 1,
        effect: "fax/+15550100100",
    },
    SimulatorEntry {
        name: "Voice",
        config: || {
            let nodes = json!({"ask": {"type": "collect", "prompt": "Say something.", "field": "said", "kind": "free",
                "next": "bye"}, "bye": {"type": "hangup", "prompt": "Goodbye."}});
            json!({"ivr": {"start": "ask", "nodes": nodes}})
        },
        write: |_| json_call("voice/calls", &json!({})),
        follow: Some(|response, words| {
            let call = response["call"]["id"].as_str().unwrap();
            json_call(&format!("voice/calls/{call}/turns"), &json!({"say": words}))
        }),
        kept: str::to_owned,
        reads: &["voice/calls", "voice/voicemails"],
        event: "voice_turn",
        // The line's turns are counted too.
        events: 20,
        effect: "voice/*",
    },
    SimulatorEntry {
        name: "CdsHooks",
        config: || json!({}),
        write: |words| {
            let mut service = world::cds_service(&format!("s-{}", short_name(words)));
            service["description"] = json!(words);
            json_call("cds/services", &json!({ "service": service }))
        },
        follow: None,
        kept: str::to_owned,
        reads: &["cds/services", "cds/hooks", "cds/feedback"],
        event: "cds_read",
        events: 1,
        effect: "cds/services:create",
    },
];

fn json_call(path: &str, body: &Value) -> Call {
    let body = body.to_string().into_bytes();
    Call { method: Method::POST, path: path.to_owned(), content_type: "application/json", body, status: 201 }
}

/// Escapes the delimiters of HL7.
fn hl7_text(words: &str) -> String {
    let escaped = |c: char| match c {
        '\\' => "\\E\\".to_owned(),
        '|' => "\\F\\".to_owned(),
        '^' => "\\S\\".to_owned(),
        '&' => "\\T\\".to_owned(),
        '~' => "\\R\\".to_owned(),
        c if c.is_control() => format!("\\X{:02X}\\", c as u32),
        c => c.to_string(),
    };
    words.chars().map(escaped).collect()
}

/// A message with its own control id for each text, because a repeated control id is a retry.
fn hl7_message(words: &str) -> String {
    world::hl7_update(&short_name(words)).replace("Doe^Ann", &format!("{}^Ann", hl7_text(words)))
}

/// X12 has no escapes: delimiters and characters outside of its character set are removed.
fn x12_text(words: &str) -> String {
    let kept = |c: &char| c.is_ascii_graphic() && !"*~:^".contains(*c);
    words.chars().filter(kept).map(|c| c.to_ascii_uppercase()).take(50).collect()
}

fn x12_inquiry(words: &str) -> String {
    format!(
        "ISA*00*          *00*          *ZZ*CLINIC         *ZZ*CLEARING       *260423*1200*^*00501*000000042*0*T*:~\
         GS*HS*CLINIC*PAYERS*20260423*1200*7*X*005010X279A1~ST*270*0001*005010X279A1~BHT*0022*13*R*20260423*1200~\
         HL*1**20*1~NM1*PR*2*PLAN*****PI*1~HL*2*1*21*1~NM1*1P*2*CLINIC*****XX*1234567893~HL*3*2*22*0~\
         NM1*IL*1*{}*JO****MI*M1~EQ*30~SE*10*0001~GE*1*7~IEA*1*000000042~",
        x12_text(words)
    )
}

/// A short unique name for each text.
fn short_name(words: &str) -> String {
    sha256_hex(words.as_bytes()).chars().take(16).collect()
}
