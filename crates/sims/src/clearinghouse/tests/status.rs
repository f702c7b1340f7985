//! 276 → 277.

use serde_json::json;

use super::fixture::{Fixture, interchange};

fn question(claim: &str) -> String {
    let segments = format!(
        "BHT*0010*13*CS1*20260423*1200\nHL*1**20*1\nNM1*PR*2*BLUE PLAN*****PI*60054\nHL*2*1*21*1\n\
         NM1*41*2*RIVERSIDE CLINIC*****46*X67E\nHL*3*2*19*1\nNM1*1P*2*RIVERSIDE CLINIC*****XX*1234567893\n\
         HL*4*3*22*0\nDMG*D8*19800229*F\nNM1*IL*1*MORROW*ADA****MI*W0001\nTRN*1*T1\n{claim}"
    );
    interchange("276", &segments)
}

const STATUS_SEGMENTS: [&str; 6] = ["TRN", "STC", "REF", "DTP", "SVC", "AAA"];

#[test]
fn claims_of_the_fhir_data_are_found() {
    let mut fixture = Fixture::with_rules(&json!([]));
    let paid = fixture.response_lines(&question("REF*1K*PAYER-1\nAMT*T3*85\nDTP*472*D8*20260105"), &STATUS_SEGMENTS);
    let expected = [
        "TRN*2*T1",
        "STC*F1:65*20260423**85*68*20260110**20260110*CHK100",
        "REF*1K*PAYER-1",
        "REF*EJ*CLAIM-1",
        "DTP*472*D8*20260105",
    ];
    assert_eq!(paid, expected);
    assert_eq!(fixture.response_lines(&question("REF*EJ*CLAIM-1"), &STATUS_SEGMENTS), expected);
    let waiting = fixture.response_lines(&question("REF*EJ*CLAIM-2"), &STATUS_SEGMENTS);
    assert_eq!(waiting[1], "STC*P1:20*20260423**120");
    assert_eq!(fixture.response_lines(&question("REF*EJ*CLAIM-3"), &["STC"]), ["STC*A4:35*20260423**0"]);
    assert_eq!(fixture.response_lines(&question("DTP*472*RD8*20250101-20250131"), &["STC"]), ["STC*A4:35*20260423**0"]);
    assert_eq!(
        fixture.response_lines(&question(""), &["STC"]).len(),
        2,
        "a request without criteria returns both claims"
    );
    let lines = fixture
        .response_lines(&question("REF*EJ*CLAIM-1\nSVC*HC:99213*85*****1\nDTP*472*D8*20260105"), &["SVC", "STC"]);
    assert_eq!(lines[1..], ["SVC*HC:99213*85*68****1", "STC*F1:65*20260423"]);
}

#[test]
fn rules_set_the_status_and_unknown_members_are_rejected() {
    let mut fixture = Fixture::with_rules(&json!([
        {"match": {"procedure": "99999"}, "status": "denied"},
        {"match": {"procedure": "88888"}, "status": "need_more_info"},
        {"match": {"procedure": "77777"}, "status": "paid", "payment": {"percent": "0.80", "copay": "10.00"}},
    ]));
    let about = |code: &str| question(&format!("REF*EJ*CLAIM-1\nSVC*HC:{code}*85*****1\nDTP*472*D8*20260105"));
    assert_eq!(fixture.response_lines(&about("99999"), &["STC"])[0], "STC*F2:585*20260423**85*0*20260110");
    assert_eq!(fixture.response_lines(&about("88888"), &["STC"])[0], "STC*P3:123:1P*20260423**85");
    let unanswered = about("77777").replace("CLAIM-1", "CLAIM-2");
    assert!(
        fixture.response_lines(&unanswered, &["STC"])[0].starts_with("STC*F1:65*20260423**120*86*"),
        "the amount of the 835"
    );
    for (from, to, expected) in [
        ("NM1*IL*1*MORROW*ADA****MI*W0001", "NM1*IL*1*NOBODY*NEMO****MI*Z9", "STC*A4:33:IL*20260423**0"),
        ("NM1*IL*1*MORROW", "NM1*IL*1*MURROW", "STC*E0:125:IL*20260423**0"),
        ("19800229", "19800228", "STC*E0:158:IL*20260423**0"),
        ("1234567893", "1234567890", "STC*E0:562:1P*20260423"),
        ("BLUE PLAN*****PI*60054", "GREEN PLAN*****PI*11111", "STC*E0:116*20260423"),
    ] {
        assert_eq!(fixture.response_lines(&question("").replace(from, to), &["STC"]), [expected]);
    }
}

#[test]
fn a_rule_for_a_payer_only_applies_to_its_members() {
    let mut fixture = Fixture::with_rules(&json!([{"match": {"payer": "60054"}, "status": "paid"}]));
    assert!(fixture.response_lines(&question("REF*EJ*CLAIM-2"), &["STC"])[0].starts_with("STC*F1:65*"));
    let stranger =
        question("REF*EJ*CLAIM-2").replace("NM1*IL*1*MORROW*ADA****MI*W0001", "NM1*IL*1*NOBODY*NEMO****MI*Z9");
    assert_eq!(fixture.response_lines(&stranger, &["STC"]), ["STC*A4:33:IL*20260423**0"]);
}
