//! S7 for HL7 interfaces and clearinghouses: messages that try to exhaust the server are rejected or acknowledged in
//! limited memory.

use reqwest::Method;
use serde_json::json;
use testkit::{Caller, Database};

use crate::bombs::MAX_KIBIBYTES;
use crate::process::{ServerData, on_both_databases};

on_both_databases! {
    throw_bombs: wire_bombs_take_little_memory_on_sqlite, wire_bombs_take_little_memory_on_postgres
}

async fn throw_bombs(database: Database) {
    let data = ServerData::new(database);
    let server = data.serve();
    let caller = server.first_caller();
    let hl7 = format!("{}/hl7/outbound", sandbox(&caller, "Hl7").await);
    let x12 = format!("{}/x12/transactions", sandbox(&caller, "Clearinghouse").await);
    let mut too_large = Vec::new();
    for bomb in hl7_bombs().into_iter().chain(x12_bombs()) {
        server.reset_peak();
        let (peak, worked) = (server.peak_kibibytes(), server.processor_milliseconds());
        let (path, media) = match bomb.wire {
            Wire::Hl7 => (&hl7, "x-application/hl7-v2+er7"),
            Wire::X12 => (&x12, "application/edi-x12"),
        };
        let size = bomb.body.len();
        let response = caller.send_bytes(Method::POST, path, &[], Some((media, bomb.body.into_bytes()))).await;
        let worked = server.processor_milliseconds() - worked;
        let grown = server.peak_kibibytes().saturating_sub(peak);
        println!("{:>4} {worked:>6} ms {grown:>6} KiB {size:>10} bytes: {}", response.status, bomb.about);
        assert!(response.status < 500, "{}: {} {:.500}", bomb.about, response.status, response.text());
        if grown > MAX_KIBIBYTES {
            too_large.push(format!("{}: {grown} KiB more", bomb.about));
        }
        caller.get("/organization").await.expect(200);
    }
    assert!(too_large.is_empty(), "{too_large:?}");
}

async fn sandbox(caller: &Caller, kind: &str) -> String {
    let simulator = caller.post("/simulators", json!({"type": kind, "name": kind})).await.expect(201).id();
    let sandbox = caller.post("/sandboxes", json!({"simulator_id": simulator})).await.expect(201).id();
    format!("/sandboxes/{sandbox}")
}

enum Wire {
    Hl7,
    X12,
}

struct Bomb {
    wire: Wire,
    about: &'static str,
    body: String,
}

fn hl7_bombs() -> Vec<Bomb> {
    let message =
        |rest: &str| format!("MSH|^~\\&|A|B|C|D|20260401||ADT^A08|1|P|2.5.1\rEVN||20260401\rPID|1||7||Doe^Ann{rest}");
    let hl7 = |about, body| Bomb { wire: Wire::Hl7, about, body };
    vec![
        hl7("a million fields", message(&"|".repeat(1_000_000))),
        hl7("a million repetitions", message(&"~".repeat(1_000_000))),
        hl7("a million components", message(&"^".repeat(1_000_000))),
        hl7("a million subcomponents", message(&"&".repeat(1_000_000))),
        hl7("a million segments", message(&"\rZZZ|1".repeat(1_000_000))),
        hl7("a million escapes", message(&"\\F\\".repeat(1_000_000))),
        hl7("escapes that do not end", message(&"\\X4".repeat(1_000_000))),
        hl7("a field of 4 MB", message(&"x".repeat(4_000_000))),
        hl7("17 MB", message(&"x".repeat(17 << 20))),
        hl7("100 000 messages at once", message("\r").repeat(100_000)),
        hl7("no message at all", "\u{b}\u{1c}".repeat(1_000_000)),
        hl7("a header that is its own separator", format!("MSH{}", "|".repeat(4_000_000))),
    ]
}

fn x12_bombs() -> Vec<Bomb> {
    let header =
        "ISA*00*          *00*          *ZZ*CLINIC         *ZZ*CLEARING       *260423*1200*^*00501*000000042*0*T*:~";
    let group = "GS*HS*CLINIC*PAYERS*20260423*1200*7*X*005010X279A1~";
    let set = "ST*270*0001*005010X279A1~BHT*0022*13*REF1*20260423*1200~";
    let tail = "SE*4*0001~GE*1*7~IEA*1*000000042~";
    let x12 = |about, body| Bomb { wire: Wire::X12, about, body };
    vec![
        x12("a million elements", format!("{header}{group}{set}NM1{}~{tail}", "*".repeat(1_000_000))),
        x12("a million components", format!("{header}{group}{set}NM1*{}~{tail}", ":".repeat(1_000_000))),
        x12("a million repetitions", format!("{header}{group}{set}EQ*{}~{tail}", "^".repeat(1_000_000))),
        x12("a million segments", format!("{header}{group}{set}{}{tail}", "EQ*30~".repeat(1_000_000))),
        x12("100 000 levels", format!("{header}{group}{set}{}{tail}", "HL*1*1*22*1~".repeat(100_000))),
        x12("100 000 sets", format!("{header}{group}{}{tail}", set.repeat(100_000))),
        x12("100 000 groups", format!("{header}{}{tail}", group.repeat(100_000))),
        x12("10 000 interchanges", header.repeat(10_000)),
        x12("9 MB of one segment", format!("{header}{}", "x".repeat(9 << 20))),
        x12("a header that goes on", "ISA*".repeat(2_000_000)),
    ]
}
