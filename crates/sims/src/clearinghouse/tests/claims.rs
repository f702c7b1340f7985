//! 837 → 999, 277CA and 835.

use serde_json::json;

use super::fixture::{Fixture, assert_valid, interchange};

pub(super) fn claim(control: &str, code: &str, charge: &str) -> String {
    interchange(
        "837",
        &format!(
            "BHT*0019*00*BATCH1*20260423*1200*CH\nNM1*41*2*RIVERSIDE CLINIC*****46*X67E\nPER*IC*BILLING*TE*5550144444\n\
             NM1*40*2*CLEARING*****46*CH01\nHL*1**20*1\nNM1*85*2*RIVERSIDE CLINIC*****XX*1234567893\nN3*1 RIVER RD\n\
             N4*SPRINGFIELD*IL*627010001\nREF*EI*123456789\nHL*2*1*22*0\nSBR*P*18*GRP42******CI\n\
             NM1*IL*1*MORROW*ADA****MI*W0001\nN3*12 LAKE ST\nN4*SPRINGFIELD*IL*62701\nDMG*D8*19800229*F\n\
             NM1*PR*2*BLUE PLAN*****PI*60054\nCLM*{control}*{charge}***11:B:1*Y*A*Y*Y\nHI*ABK:J0190\nLX*1\n\
             SV1*HC:{code}*{charge}*UN*1***1\nDTP*472*D8*20260105\nREF*6R*L1"
        ),
    )
}

#[test]
fn a_claim_is_acknowledged_accepted_and_paid() {
    let mut fixture = Fixture::with_rules(&json!([{"match": {"procedure": "99213"}, "status": "paid",
        "payment": {"percent": "0.80", "copay": "10"}}]));
    let answer = fixture.send(&claim("CLAIM-9", "99213", "85"));
    for part in [
        "AK1*HC*7*005010X222A1~\nAK2*837*0001*005010X222A1~\nIK5*A~\nAK9*A*1*1*1~",
        "STC*A1:19:PR*20260423*WQ*85~\nQTY*90*1~\nAMT*YU*85~",
        "TRN*2*CLAIM-9~\nSTC*A2:20:PR*20260423*WQ*85~\nREF*1K*C",
        "BPR*I*58*C*CHK************20260423~\nTRN*1*K",
        "SVC*HC:99213*85*58**1~\nDTM*472*20260105~\nCAS*CO*45*17~\nCAS*PR*3*10~\nREF*6R*L1~\nAMT*B6*68~",
    ] {
        assert!(answer.contains(part), "{part}\n{answer}");
    }
    assert!(answer.contains("CLP*CLAIM-9*1*85*58*10*12*C"), "{answer}");
    let again = fixture.response_lines(&claim("CLAIM-9", "99213", "85"), &["STC", "BPR"]);
    assert_eq!(again.last().unwrap(), "STC*A3:54*20260423*U*85", "duplicate claim");
    assert!(again.iter().all(|line| !line.starts_with("BPR")));
}

#[test]
fn a_claim_is_denied_or_left_undecided() {
    let mut fixture = Fixture::with_rules(&json!([
        {"match": {"procedure": "99999"}, "status": "denied", "payment": {"reason": "197"}},
        {"match": {"procedure": "88888"}, "status": "pending"},
    ]));
    let denied = fixture.response_lines(&claim("D1", "99999", "85.50"), &["BPR", "CLP", "SVC", "CAS"]);
    assert_eq!(denied[0], "BPR*H*0*C*NON************20260423");
    assert!(denied[1].starts_with("CLP*D1*4*85.5*0**12*"), "{denied:?}");
    assert_eq!(denied[2..], ["SVC*HC:99999*85.50*0**1".replace(".50", ".5"), "CAS*CO*197*85.5".to_owned()]);
    for code in ["88888", "77777"] {
        let undecided = fixture.response_lines(&claim(code, code, "10"), &["STC", "BPR"]);
        assert_eq!(undecided.last().unwrap(), "STC*A2:20:PR*20260423*WQ*10");
    }
}

#[test]
fn the_acknowledgment_has_the_reason_for_returned_claims() {
    let mut fixture = Fixture::with_rules(&json!([]));
    for (from, to, expected) in [
        ("MORROW*ADA****MI*W0001", "NOBODY*NEMO****MI*Z9", "STC*A3:33:IL*20260423*U*85"),
        ("NM1*IL*1*MORROW", "NM1*IL*1*MURROW", "STC*A7:125:IL*20260423*U*85"),
        ("19800229", "19800228", "STC*A7:158:IL*20260423*U*85"),
        ("SV1*HC:99213*85", "SV1*HC:99213*84", "STC*A7:178*20260423*U*85"),
        ("BLUE PLAN*****PI*60054", "GREEN PLAN*****PI*11111", "STC*A3:116*20260423*U*85"),
    ] {
        let response_lines = fixture.response_lines(&claim("C1", "99213", "85").replace(from, to), &["STC", "QTY"]);
        assert_eq!(response_lines.last().unwrap(), expected, "{response_lines:?}");
        assert!(response_lines.contains(&"QTY*AA*1".to_owned()), "{response_lines:?}");
    }
}

#[test]
fn the_status_of_a_submitted_claim_is_reported() {
    let mut fixture = Fixture::with_rules(&json!([
        {"match": {"procedure": "99213"}, "status": "paid", "delay_seconds": 60}]));
    let answer = fixture.send(&claim("CLAIM-9", "99213", "85"));
    let number = answer.split("REF*1K*").nth(1).unwrap().split('~').next().unwrap().to_owned();
    let question = interchange(
        "276",
        &format!(
            "BHT*0010*13*CS1*20260423*1200\nHL*1**20*1\nNM1*PR*2*BLUE PLAN*****PI*60054\nHL*2*1*21*1\n\
             NM1*41*2*RIVERSIDE CLINIC*****46*X67E\nHL*3*2*19*1\nNM1*1P*2*RIVERSIDE CLINIC*****XX*1234567893\n\
             HL*4*3*22*0\nDMG*D8*19800229*F\nNM1*IL*1*MORROW*ADA****MI*W0001\nTRN*1*T1\nREF*1K*{number}"
        ),
    );
    assert_eq!(fixture.response_lines(&question, &["STC"]), ["STC*P1:20*20260423**85"]);
    fixture.set_seconds(61);
    let decided = fixture.response_lines(&question, &["STC"]);
    assert!(decided[0].starts_with("STC*F1:65*20260423**85*85*20260423**20260423*K"), "{decided:?}");
}

#[test]
fn claims_of_several_providers_get_one_acknowledgment() {
    let mut fixture = Fixture::with_rules(&json!([{"match": {}, "status": "paid"}]));
    let one = claim("C1", "99213", "85");
    let inner = |text: &str| text[text.find("HL*1").unwrap()..text.find("SE*").unwrap()].to_owned();
    let second = inner(&one).replace("HL*1*", "HL*3*").replace("HL*2*1", "HL*4*3").replace("C1*", "C2*");
    let both = one.replace("SE*24*", &format!("{second}SE*42*"));
    let answer = fixture.send(&both);
    assert_valid(&answer.replace('\n', ""));
    assert_eq!(answer.matches("\nCLP*").count(), 2);
    assert_eq!(answer.matches("\nST*835*").count(), 2, "{answer}");
    assert!(answer.contains("QTY*90*2~\nAMT*YU*170~"), "{answer}");
}

#[test]
fn institutional_claims_are_accepted() {
    let mut fixture = Fixture::with_rules(&json!([{"match": {}, "status": "paid"}]));
    let claim = claim("H1", "99213", "850").replace("005010X222A1", "005010X223A2");
    let claim = claim.replace("***11:B:1*Y*A*Y*Y", "***11:A:1**A*Y*Y~CL1*1*7*30");
    let claim = claim.replace("SV1*HC:99213*850*UN*1***1", "SV2*0450*HC:99213*850*UN*1").replace("SE*24*", "SE*25*");
    let response_lines = fixture.response_lines(&claim, &["AK9", "CLP", "SVC"]);
    assert_eq!(response_lines[0], "AK9*A*1*1*1");
    assert!(response_lines[1].starts_with("CLP*H1*1*850*850**12*C"), "{response_lines:?}");
    assert_eq!(response_lines[2], "SVC*HC:99213*850*850**1");
}
