//! Envelopes: errors are acknowledged, unreadable bodies are rejected, and each interchange has its own response.

use model::event::EventType;
use model::simulator::SimulatorType;
use serde_json::json;

use super::fixture::{ADA, Fixture, assert_valid, inquiry, interchange, sandbox_id};
use crate::clearinghouse::exchange::ExchangeError;

#[test]
fn an_invalid_envelope_gets_a_ta1_and_stores_nothing() {
    for (from, to, code) in [
        ("IEA*1*000000042", "IEA*1*000000043", "001"),
        ("IEA*1*", "IEA*2*", "021"),
        ("*00501*", "*00401*", "017"),
        ("~IEA*1*000000042~", "~", "023"),
        ("~GS*HS", "~GS", "024"),
        ("~GS*HS", "~GX*HS", "021"),
    ] {
        let mut fixture = Fixture::with_rules(&json!([]));
        let response_lines = fixture.response_lines(&inquiry(ADA, "EQ*30").replacen(from, to, 1), &["TA1", "ST"]);
        assert_eq!(response_lines, [format!("TA1*000000042*260423*1200*R*{code}")], "{from}");
        let stored =
            fixture.world.sandboxes[&sandbox_id(SimulatorType::Clearinghouse)].records.written_collections().count();
        assert_eq!(stored, 0);
        let types: Vec<EventType> = fixture.events.iter().map(|event| event.r#type).collect();
        assert_eq!(types, [EventType::X12Request, EventType::X12Response]);
    }
}

#[test]
fn an_invalid_transaction_gets_a_999() {
    for (from, to, expected) in [
        ("SE*12*", "SE*11*", "IK5*R*4"),
        ("SE*12*0001", "SE*12*0002", "IK5*R*3"),
        ("ST*270*0001*005010X279A1", "ST*270*0001*005010X279", "IK5*R*19"),
        ("~NM1*PR*2*BLUE PLAN*****PI*60054", "", "IK3*NM1*3*2100*3"),
        ("DMG*D8*19800229", "DMG*D8*19800231", "IK4*2**8*19800231"),
        ("HL*3*2*22*0", "HL*3*9*22*0", "IK4*2**7*9"),
        ("~EQ*30", "~ZZ9*30", "IK3*ZZ9*11**6"),
    ] {
        let mut fixture = Fixture::with_rules(&json!([]));
        let response_lines =
            fixture.response_lines(&inquiry(ADA, "EQ*30").replacen(from, to, 1), &["ST", "IK3", "IK4", "IK5", "AK9"]);
        assert_eq!(response_lines[0], "ST*999*0001*005010X231A1");
        assert!(response_lines.contains(&expected.to_owned()), "{from}: {response_lines:?}");
        assert_eq!(response_lines.last().unwrap(), "AK9*R*1*1*0");
    }
}

#[test]
fn unsupported_transactions_are_rejected_in_the_999() {
    let mut fixture = Fixture::with_rules(&json!([]));
    let unknown = interchange("271", "BHT*0022*11*1*20260423*1200");
    assert_eq!(fixture.response_lines(&unknown, &["IK5", "AK9"]), ["IK5*R*1", "AK9*R*1*1*0*1"]);
    let old = inquiry(ADA, "EQ*30").replace("005010X279A1", "004010X092A1");
    assert_eq!(fixture.response_lines(&old, &["IK5"]), ["IK5*R*I6"]);
    let answer = interchange("278", "BHT*0007*11*1*20260423*1200");
    assert_eq!(fixture.response_lines(&answer, &["IK5"]), ["IK5*R*1"]);
}

#[test]
fn bodies_that_are_not_interchanges_are_rejected() {
    for body in ["", "hello", "ISA*00*", "ISA*00*          *00*~", "\u{0}\u{1}", "{\"patient_id\": 1}"] {
        let mut fixture = Fixture::with_rules(&json!([]));
        let error = fixture.try_send(body.as_bytes()).unwrap_err();
        assert!(matches!(error, ExchangeError::Unreadable(_)), "{body}: {error:?}");
        assert_eq!(fixture.events.len(), 1);
    }
    let mut fixture = Fixture::with_rules(&json!([]));
    assert!(matches!(fixture.try_send(&[0xff, 0xfe, 0x00]), Err(ExchangeError::Unreadable(_))));
    let long = inquiry(ADA, &format!("EQ*{}", "3".repeat(70_000)));
    assert!(matches!(fixture.try_send(long.as_bytes()), Err(ExchangeError::TooLarge(_))));
    let endless = inquiry(ADA, "EQ*30").trim_end_matches('~').to_owned();
    assert!(matches!(fixture.try_send(endless.as_bytes()), Err(ExchangeError::Unreadable(_))));
    let many = inquiry(ADA, "EQ*30").repeat(101);
    assert!(matches!(fixture.try_send(many.as_bytes()), Err(ExchangeError::TooLarge(_))));
    let levels = inquiry(ADA, &"HL*4*2*22*0\n".repeat(2001));
    assert!(matches!(fixture.try_send(levels.as_bytes()), Err(ExchangeError::TooLarge(_))));
}

#[test]
fn every_interchange_group_and_transaction_gets_a_response() {
    let mut fixture = Fixture::with_rules(&json!([]));
    let first = inquiry(ADA, "EQ*30");
    let set = &first[first.find("ST*").unwrap()..first.find("GE*").unwrap()];
    let second = set.replace("*0001", "*0002").replace("W0001", "W9999");
    let two = first.replace(set, &format!("{set}{second}")).replace("GE*1", "GE*2");
    let group = &first[first.find("GS*").unwrap()..first.find("IEA*").unwrap()];
    let other = group.replace("*7*X", "*8*X").replace("GE*1*7", "GE*1*8");
    let three = two.replace("IEA*1", &format!("{other}IEA*2"));
    let another = first
        .replace("000000042", "000000043")
        .replace('*', "|")
        .replace('~', "\n")
        .replace(':', ">")
        .replace('^', "!");
    let faulty = first.replace("000000042", "000000044").replace("IEA*1", "IEA*7");
    let answer = fixture.try_send(format!("{three}\r\n{another}{faulty}").as_bytes()).unwrap();
    assert_eq!(answer.responses.len(), 3);
    let [first, second, third] = &answer.responses[..] else { panic!() };
    assert_valid(&answer.text());
    assert_eq!(first.payload.matches("~ST*271*").count(), 3);
    assert_eq!(first.payload.matches("~GS*HB*").count(), 2);
    assert!(second.payload.starts_with("ISA|00|") && second.payload.contains("\nEB|1|IND|30|"), "{}", second.payload);
    assert!(third.payload.contains("TA1*000000044*260423*1200*R*021~"), "{}", third.payload);
    let controls: Vec<&str> = answer.responses.iter().map(|response| response.control_number.as_str()).collect();
    assert_eq!(controls, ["000000002", "000000003", "000000004"]);
    assert_eq!(
        answer.responses.iter().map(|response| response.in_reply_to.as_str()).collect::<Vec<_>>(),
        ["000000042", "000000043", "000000044"]
    );
}

#[test]
fn a_ta1_is_sent_on_request() {
    let mut fixture = Fixture::with_rules(&json!([]));
    let response_lines = fixture.response_lines(&inquiry(ADA, "EQ*30").replace("*0*T*:", "*1*T*:"), &["TA1", "ST"]);
    assert_eq!(response_lines, ["TA1*000000042*260423*1200*A*000", "ST*271*0001*005010X279A1"]);
    let acknowledgment = interchange("999", "AK1*HC*7*005010X222A1\nAK9*A*1*1*1").replace("GS*HB", "GS*FA");
    let acknowledgment = acknowledgment.replace("005010X279A1", "005010X231A1");
    assert_eq!(fixture.response_lines(&acknowledgment, &["TA1", "ST"]), ["TA1*000000042*260423*1200*A*000"]);
}

#[test]
fn values_that_contain_delimiters_change_the_delimiters() {
    let mut resources = super::fixture::fhir_resources();
    resources[3]["name"][0]["family"] = json!("Mor*ow:~^|\n");
    let mut fixture = Fixture::new(&resources, &json!({}));
    let answer = fixture.try_send(inquiry("NM1*IL*1******MI*W0001", "EQ*30").as_bytes()).unwrap().text();
    assert_valid(&answer);
    assert!(answer.contains("MOR*OW:~^|"), "{answer}");
}

#[test]
fn secrets_are_masked_in_the_log() {
    let mut fixture = Fixture::with_rules(&json!([]));
    let key = format!("vk_{}", "a".repeat(38));
    fixture.try_send(inquiry(ADA, &format!("EQ*30\nREF*ZZ*{key}")).as_bytes()).unwrap();
    let _ = fixture.try_send(format!("not X12 {key}").as_bytes());
    assert!(fixture.events.iter().all(|event| !event.payload.text().contains(&key)));
}
