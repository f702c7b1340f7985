//! 278 → 278.

use serde_json::json;

use super::fixture::{Fixture, interchange};

fn request(service: &str) -> String {
    let segments = format!(
        "BHT*0007*13*AUTH1*20260423*1200\nHL*1**20*1\nNM1*X3*2*BLUE PLAN*****PI*60054\nHL*2*1*21*1\n\
         NM1*1P*2*RIVERSIDE CLINIC*****XX*1234567893\nHL*3*2*22*1\nNM1*IL*1*MORROW*ADA****MI*W0001\n\
         DMG*D8*19800229*F\nHL*4*3*EV*1\nTRN*1*EVENT1*9CLINICSYS\nUM*HS*I*62\nHI*BK:J45\n{service}"
    );
    interchange("278", &segments)
}

fn service(code: &str) -> String {
    format!("HL*5*4*SS*0\nSV1*HC:{code}*120*UN*1")
}

#[test]
fn decisions_come_from_rules_then_fhir_data_else_pend() {
    let mut fixture = Fixture::with_rules(&json!([
        {"match": {"procedure": "70553"}, "status": "approved"},
        {"match": {"procedure": "70554"}, "status": "denied"},
        {"match": {"procedure": "70555"}, "status": "need_more_info"},
        {"match": {"procedure": "70556"}, "aaa": "AG"},
    ]));
    let approved = fixture.response_lines(&request(&service("70553")), &["BHT", "HL", "TRN", "UM", "HCR", "HI", "SV1"]);
    let [_, _, _, _, _, trace, kind, decision, diagnosis, level, of_service, procedure] = &approved[..] else {
        panic!("{approved:?}")
    };
    assert_eq!([trace.as_str(), kind, diagnosis], ["TRN*2*EVENT1*9CLINICSYS", "UM*HS*I*62", "HI*BK:J45"]);
    assert!(decision.starts_with("HCR*A1*A") && decision == of_service, "{decision}");
    assert_eq!([level.as_str(), procedure], ["HL*5*4*SS*0", "SV1*HC:70553*120*UN*1"]);
    assert_eq!(fixture.response_lines(&request(&service("70553")), &["HCR"])[0], *decision, "the number is stable");
    assert_eq!(fixture.response_lines(&request(&service("70554")), &["HCR"]), ["HCR*A3**0F", "HCR*A3**0F"]);
    assert_eq!(fixture.response_lines(&request(&service("70555")), &["HCR"]), ["HCR*A4**0U", "HCR*A4**0U"]);
    assert_eq!(fixture.response_lines(&request(&service("70556")), &["HCR", "AAA"]), ["AAA*N**AG*C", "AAA*N**AG*C"]);
    assert_eq!(
        fixture.response_lines(&request(&service("70551")), &["HCR"])[0],
        "HCR*A1*AUTH-777",
        "from the FHIR data"
    );
    assert_eq!(fixture.response_lines(&request(&service("12345")), &["HCR"])[0], "HCR*A4**0V", "undecided");
    assert_eq!(fixture.response_lines(&request("").replace("EV*1", "EV*0"), &["HCR"]), ["HCR*A4**0V"]);
}

#[test]
fn unknown_members_and_payers_are_rejected() {
    let mut fixture = Fixture::with_rules(&json!([]));
    let stranger = request(&service("1")).replace("MORROW*ADA****MI*W0001", "NOBODY*NEMO****MI*Z9");
    assert_eq!(fixture.response_lines(&stranger, &["AAA", "HCR"]), ["AAA*N**75*C"]);
    let unknown = request(&service("1")).replace("60054", "11111").replace("BLUE PLAN", "GREEN PLAN");
    assert_eq!(fixture.response_lines(&unknown, &["AAA", "HCR"]), ["AAA*N**79*C"]);
}
