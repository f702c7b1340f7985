//! Envelopes: what is wrong is acknowledged, what is unreadable is refused, and each answer is a response of its own.

use model::event::EventType;
use model::simulator::SimulatorType;
use serde_json::json;

use super::house::{ADA, House, inquiry, interchange, sandbox_id, sound};
use crate::clearinghouse::exchange::Refusal;

#[test]
fn a_faulty_envelope_gets_a_ta1_and_nothing_is_kept() {
    for (from, to, code) in [
        ("IEA*1*000000042", "IEA*1*000000043", "001"),
        ("IEA*1*", "IEA*2*", "021"),
        ("*00501*", "*00401*", "017"),
        ("~IEA*1*000000042~", "~", "023"),
        ("~GS*HS", "~GS", "024"),
        ("~GS*HS", "~GX*HS", "021"),
    ] {
        let mut house = House::with_rules(&json!([]));
        let told = house.told(&inquiry(ADA, "EQ*30").replacen(from, to, 1), &["TA1", "ST"]);
        assert_eq!(told, [format!("TA1*000000042*260423*1200*R*{code}")], "{from}");
        let kept =
            house.world.sandboxes[&sandbox_id(SimulatorType::Clearinghouse)].records.written_collections().count();
        assert_eq!(kept, 0);
        let types: Vec<EventType> = house.events.iter().map(|event| event.r#type).collect();
        assert_eq!(types, [EventType::X12Request, EventType::X12Response]);
    }
}

#[test]
fn a_faulty_transaction_gets_a_999() {
    for (from, to, expected) in [
        ("SE*12*", "SE*11*", "IK5*R*4"),
        ("SE*12*0001", "SE*12*0002", "IK5*R*3"),
        ("ST*270*0001*005010X279A1", "ST*270*0001*005010X279", "IK5*R*19"),
        ("~NM1*PR*2*BLUE PLAN*****PI*60054", "", "IK3*NM1*3*2100*3"),
        ("DMG*D8*19800229", "DMG*D8*19800231", "IK4*2**8*19800231"),
        ("HL*3*2*22*0", "HL*3*9*22*0", "IK4*2**7*9"),
        ("~EQ*30", "~ZZ9*30", "IK3*ZZ9*11**6"),
    ] {
        let mut house = House::with_rules(&json!([]));
        let told = house.told(&inquiry(ADA, "EQ*30").replacen(from, to, 1), &["ST", "IK3", "IK4", "IK5", "AK9"]);
        assert_eq!(told[0], "ST*999*0001*005010X231A1");
        assert!(told.contains(&expected.to_owned()), "{from}: {told:?}");
        assert_eq!(told.last().unwrap(), "AK9*R*1*1*0");
    }
}

#[test]
fn what_nobody_takes_is_refused_in_the_999() {
    let mut house = House::with_rules(&json!([]));
    let unknown = interchange("271", "BHT*0022*11*1*20260423*1200");
    assert_eq!(house.told(&unknown, &["IK5", "AK9"]), ["IK5*R*1", "AK9*R*1*1*0*1"]);
    let old = inquiry(ADA, "EQ*30").replace("005010X279A1", "004010X092A1");
    assert_eq!(house.told(&old, &["IK5"]), ["IK5*R*I6"]);
    let answer = interchange("278", "BHT*0007*11*1*20260423*1200");
    assert_eq!(house.told(&answer, &["IK5"]), ["IK5*R*1"]);
}

#[test]
fn what_cannot_be_divided_is_refused() {
    for body in ["", "hello", "ISA*00*", "ISA*00*          *00*~", "\u{0}\u{1}", "{\"patient_id\": 1}"] {
        let mut house = House::with_rules(&json!([]));
        let refusal = house.try_send(body.as_bytes()).unwrap_err();
        assert!(matches!(refusal, Refusal::Unreadable(_)), "{body}: {refusal:?}");
        assert_eq!(house.events.len(), 1);
    }
    let mut house = House::with_rules(&json!([]));
    assert!(matches!(house.try_send(&[0xff, 0xfe, 0x00]), Err(Refusal::Unreadable(_))));
    let long = inquiry(ADA, &format!("EQ*{}", "3".repeat(70_000)));
    assert!(matches!(house.try_send(long.as_bytes()), Err(Refusal::TooLarge(_))));
    let endless = inquiry(ADA, "EQ*30").trim_end_matches('~').to_owned();
    assert!(matches!(house.try_send(endless.as_bytes()), Err(Refusal::Unreadable(_))));
    let many = inquiry(ADA, "EQ*30").repeat(101);
    assert!(matches!(house.try_send(many.as_bytes()), Err(Refusal::TooLarge(_))));
    let levels = inquiry(ADA, &"HL*4*2*22*0\n".repeat(2001));
    assert!(matches!(house.try_send(levels.as_bytes()), Err(Refusal::TooLarge(_))));
}

#[test]
fn several_interchanges_groups_and_transactions_are_answered_each() {
    let mut house = House::with_rules(&json!([]));
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
    let answer = house.try_send(format!("{three}\r\n{another}{faulty}").as_bytes()).unwrap();
    assert_eq!(answer.responses.len(), 3);
    let [first, second, third] = &answer.responses[..] else { panic!() };
    sound(&answer.text());
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
fn a_ta1_is_sent_to_whoever_asks_for_one() {
    let mut house = House::with_rules(&json!([]));
    let told = house.told(&inquiry(ADA, "EQ*30").replace("*0*T*:", "*1*T*:"), &["TA1", "ST"]);
    assert_eq!(told, ["TA1*000000042*260423*1200*A*000", "ST*271*0001*005010X279A1"]);
    let acknowledgment = interchange("999", "AK1*HC*7*005010X222A1\nAK9*A*1*1*1").replace("GS*HB", "GS*FA");
    let acknowledgment = acknowledgment.replace("005010X279A1", "005010X231A1");
    assert_eq!(house.told(&acknowledgment, &["TA1", "ST"]), ["TA1*000000042*260423*1200*A*000"]);
}

#[test]
fn values_with_delimiters_in_them_are_written_under_others() {
    let mut resources = super::house::record();
    resources[3]["name"][0]["family"] = json!("Mor*ow:~^|\n");
    let mut house = House::over(&resources, &json!({}));
    let answer = house.try_send(inquiry("NM1*IL*1******MI*W0001", "EQ*30").as_bytes()).unwrap().text();
    sound(&answer);
    assert!(answer.contains("MOR*OW:~^|"), "{answer}");
}

#[test]
fn secrets_are_masked_in_the_log() {
    let mut house = House::with_rules(&json!([]));
    let key = format!("vk_{}", "a".repeat(38));
    house.try_send(inquiry(ADA, &format!("EQ*30\nREF*ZZ*{key}")).as_bytes()).unwrap();
    let _ = house.try_send(format!("not X12 {key}").as_bytes());
    assert!(house.events.iter().all(|event| !event.payload.text().contains(&key)));
}
