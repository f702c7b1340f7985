//! What each type of simulator is to the contract that all of them keep: one entry each.

use model::canonical::sha256_hex;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::world;

/// A request below a door.
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) content_type: &'static str,
    pub(crate) body: Vec<u8>,
    pub(crate) status: u16,
}

/// A type of simulator that answers.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) config: fn() -> Value,
    /// A message that changes something and has these words in it, as far as the protocol can carry them.
    pub(crate) write: fn(&str) -> Call,
    /// Where the words can only be said after that: what follows its answer.
    pub(crate) follow: Option<fn(&Value, &str) -> Call>,
    /// The words as the log or the state then has them.
    pub(crate) kept: fn(&str) -> String,
    /// Where a client looks; none of them changes anything.
    pub(crate) reads: &'static [&'static str],
    /// The type of the event that each write makes.
    pub(crate) event: &'static str,
    /// So many of those are enough for one write.
    pub(crate) events: u64,
    /// What `no-side-effects` must allow for the write; none if it stays inside.
    pub(crate) effect: Option<&'static str>,
}

/// Every type that answers has its line here; a test asks for those that have none.
pub(crate) const KINDS: &[Kind] = &[
    Kind {
        name: "Fhir",
        config: || json!({}),
        write: |words| json_call("fhir/Basic", &json!({"resourceType": "Basic", "code": {"text": words}})),
        follow: None,
        kept: str::to_owned,
        reads: &["fhir/Patient", "fhir/Basic?_count=50", "fhir/metadata"],
        event: "fhir_request",
        events: 1,
        effect: Some("fhir/Basic"),
    },
    Kind {
        name: "Hl7",
        config: || json!({}),
        write: |words| Call { status: 200, ..json_call("hl7/outbound", &json!({"payload": hl7_message(words)})) },
        follow: None,
        kept: hl7_text,
        reads: &["hl7/inbox"],
        event: "hl7_outbound",
        events: 1,
        effect: Some("hl7/ADT^A08"),
    },
    Kind {
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
        effect: Some("x12/270"),
    },
    Kind {
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
        effect: Some("files/outbox/*"),
    },
    Kind {
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
        effect: Some("portal/prior_auth_requests"),
    },
    Kind {
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
        effect: Some("messages/sms"),
    },
    Kind {
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
        effect: Some("fax/+15550100100"),
    },
    Kind {
        name: "Voice",
        config: || {
            let nodes = json!({"ask": {"type": "collect", "prompt": "Say something.", "field": "said", "kind": "free",
                "next": "bye"}, "bye": {"type": "hangup", "prompt": "Goodbye."}});
            json!({"ivr": {"start": "ask", "nodes": nodes}})
        },
        write: |_| json_call("voice/calls", &json!({})),
        follow: Some(|answer, words| {
            let call = answer["call"]["id"].as_str().unwrap();
            json_call(&format!("voice/calls/{call}/turns"), &json!({"say": words}))
        }),
        kept: str::to_owned,
        reads: &["voice/calls", "voice/voicemails"],
        event: "voice_turn",
        // What the line says is counted too.
        events: 20,
        effect: Some("voice/*"),
    },
    Kind {
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
        effect: None,
    },
];

fn json_call(path: &str, body: &Value) -> Call {
    let body = body.to_string().into_bytes();
    Call { method: Method::POST, path: path.to_owned(), content_type: "application/json", body, status: 201 }
}

/// In the signs of HL7, which has signs of its own.
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

/// Another message for other words: the same control id again is the same message.
fn hl7_message(words: &str) -> String {
    world::hl7_update(&short_name(words)).replace("Doe^Ann", &format!("{}^Ann", hl7_text(words)))
}

/// X12 has no escapes: what separates is left out, and so is what is no letter of it.
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

/// A short name of its own for each text.
fn short_name(words: &str) -> String {
    sha256_hex(words.as_bytes()).chars().take(16).collect()
}
