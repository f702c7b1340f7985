//! 270 → 271.

use serde_json::json;

use super::fixture::{ADA, Fixture, fhir_resources, inquiry, interchange};

#[test]
fn the_271_contains_the_members_coverage() {
    let mut fixture = Fixture::with_rules(&json!([]));
    let answer = fixture.send(&inquiry(ADA, "DTP*291*D8*20260423\nEQ*30^98"));
    let expected =
        "ISA*00*          *00*          *ZZ*CLEARING       *ZZ*CLINIC         *260423*1200*^*00501*000000002*0*T*:~
GS*HB*PAYERS*CLINIC*20260423*1200*1*X*005010X279A1~
ST*271*0001*005010X279A1~
BHT*0022*11*REF1*20260423*1200~
HL*1**20*1~
NM1*PR*2*BLUE PLAN*****PI*60054~
HL*2*1*21*1~
NM1*1P*2*RIVERSIDE CLINIC*****XX*1234567893~
HL*3*2*22*0~
TRN*2*TRACE1*9CLINICSYS~
NM1*IL*1*MORROW*ADA****MI*W0001~
REF*6P*GRP42*ACME~
N3*12 LAKE ST~
N4*SPRINGFIELD*IL*62701~
DMG*D8*19800229*F~
DTP*346*D8*20260101~
DTP*347*D8*20261231~
EB*1*IND*30*PR*GOLD PPO~
EB*1*IND*1^33^35^47^86^88^98^AL^MH^UC~
EB*1*IND*98*PR*GOLD PPO~
EB*B*IND*98***27*25~
EB*C*IND*30***23*1500.5~
SE*21*0001~
GE*1*1~
IEA*1*000000002~
";
    assert_eq!(answer, expected);
}

#[test]
fn unknown_members_are_rejected_with_a_reason() {
    let mut fixture = Fixture::with_rules(&json!([]));
    for (subscriber, expected) in [
        ("NM1*IL*1*MORROW*ADA****MI*W0009\nDMG*D8*19800229*F", "AAA*N**72*C"),
        ("NM1*IL*1*MURROW*ADA****MI*W0001\nDMG*D8*19800229*F", "AAA*N**73*C"),
        ("NM1*IL*1*MORROW*EVE****MI*W0001\nDMG*D8*19800229*F", "AAA*N**73*C"),
        ("NM1*IL*1*MORROW*ADA****MI*W0001\nDMG*D8*19800228*F", "AAA*N**71*C"),
        ("NM1*IL*1*MORROW*ADA****MI*W0001\nDMG*D8*19800229*M", "AAA*N**74*C"),
        ("NM1*IL*1*NOBODY*NEMO****MI*W9999\nDMG*D8*19800229*F", "AAA*N**75*C"),
        ("NM1*IL*1*NOBODY*NEMO****MI*W9999", "AAA*N**75*C"),
        ("NM1*IL*1*MORROW*ADA", "AAA*N**58*C"),
        ("NM1*IL*1", "AAA*N**72*C"),
    ] {
        assert_eq!(fixture.response_lines(&inquiry(subscriber, "EQ*30"), &["AAA", "EB"]), [expected], "{subscriber}");
    }
    let found = fixture.response_lines(&inquiry("NM1*IL*1*MORROW*ADA\nDMG*D8*19800229*F", "EQ*30"), &["NM1*IL", "AAA"]);
    assert_eq!(found, ["NM1*IL*1*MORROW*ADA****MI*W0001"], "name and birth date are sufficient");
    let found = fixture.response_lines(&inquiry("NM1*IL*1******MI*W0001", "EQ*30"), &["NM1*IL", "AAA"]);
    assert_eq!(found, ["NM1*IL*1*MORROW*ADA****MI*W0001"], "the number alone is sufficient");
}

#[test]
fn payers_and_providers_are_checked_before_members() {
    let mut fixture = Fixture::with_rules(&json!([]));
    let unknown = inquiry(ADA, "EQ*30").replace("BLUE PLAN*****PI*60054", "GREEN PLAN*****PI*11111");
    assert_eq!(fixture.response_lines(&unknown, &["HL", "AAA", "EB"]), ["HL*1**20*0", "AAA*N**79*C"]);
    let other = inquiry(ADA, "EQ*30").replace("BLUE PLAN*****PI*60054", "RED PLAN*****PI*70000");
    assert_eq!(fixture.response_lines(&other, &["AAA", "EB"]), ["AAA*N**75*C"], "insured by another payer");
    let provider = inquiry(ADA, "EQ*30").replace("1234567893", "1234567890");
    assert_eq!(fixture.response_lines(&provider, &["HL", "AAA", "EB"]), ["HL*1**20*1", "HL*2*1*21*0", "AAA*N**43*C"]);
}

#[test]
fn coverage_that_has_ended_is_inactive() {
    let mut fixture = Fixture::with_rules(&json!([]));
    let former = "NM1*IL*1*FORMER*FINN****MI*W0003\nDMG*D8*19700101*M";
    assert_eq!(fixture.response_lines(&inquiry(former, "EQ*30"), &["EB"]), ["EB*6*IND*30*PR*GOLD PPO"]);
    let then = inquiry(former, "DTP*291*D8*20240601\nEQ*30");
    assert_eq!(
        fixture.response_lines(&then, &["EB"])[0],
        "EB*1*IND*30*PR*GOLD PPO",
        "the date of service is within the period"
    );
}

#[test]
fn dependents_are_found_under_the_subscribers_number() {
    let mut fixture = Fixture::with_rules(&json!([]));
    let about = |dependent: &str| {
        let head = inquiry("NM1*IL*1*OKAFOR*BEN****MI*W0002", "");
        let segments = head.split('~').skip(3).take_while(|segment| !segment.starts_with("SE*"));
        let kept: Vec<&str> = segments.filter(|segment| !segment.starts_with("TRN")).collect();
        let head = kept.join("\n").replace("HL*3*2*22*0", "HL*3*2*22*1");
        interchange("270", &format!("{head}\nHL*4*3*23*0\nTRN*1*TRACE2*9CLINICSYS\n{dependent}\nEQ*30"))
    };
    let found =
        fixture.response_lines(&about("NM1*03*1*OKAFOR*CLEO\nDMG*D8*20150601*F"), &["HL", "TRN", "NM1", "EB*1", "AAA"]);
    assert_eq!(
        found[6..],
        [
            "HL*4*3*23*0",
            "TRN*2*TRACE2*9CLINICSYS",
            "NM1*03*1*OKAFOR*CLEO",
            "EB*1*IND*30*PR*GOLD PPO",
            "EB*1*IND*1^33^35^47^86^88^98^AL^MH^UC"
        ]
    );
    assert_eq!(fixture.response_lines(&about("NM1*03*1*OKAFOR*DORA\nDMG*D8*20150601*F"), &["AAA"]), ["AAA*N**67*C"]);
    assert_eq!(fixture.response_lines(&about("NM1*03*1*OKAFOR*CLEO\nDMG*D8*20150602*F"), &["AAA"]), ["AAA*N**71*C"]);
}

#[test]
fn rules_take_precedence_over_fhir_data() {
    let mut fixture = Fixture::with_rules(&json!([
        {"match": {"member": "W0001", "service_type": "35"}, "aaa": "42"},
        {"match": {"payer": "99999"}, "aaa": "79"},
        {"match": {"member": "X1"}, "status": "active", "benefits": [
            {"code": "B", "service_type": "98", "amount": "20.00", "in_network": true, "message": "At the desk"},
            {"code": "A", "percent": 0.25, "coverage_level": "IND", "authorization_required": false}]},
        {"match": {"service_type": "98"}, "status": "inactive"},
        {"match": {"procedure": "70551"}, "benefits": [{"code": "I", "service_type": "62"}]},
    ]));
    assert_eq!(fixture.response_lines(&inquiry(ADA, "EQ*35"), &["AAA", "EB"]), ["AAA*Y**42*R"]);
    assert_eq!(fixture.response_lines(&inquiry(ADA, "EQ*98"), &["EB"]), ["EB*6*IND*98*PR*GOLD PPO"]);
    assert_eq!(
        fixture.response_lines(&inquiry(ADA, "EQ**HC:70551"), &["EB"]),
        ["EB*1*IND**PR*GOLD PPO********HC:70551", "EB*I**62"]
    );
    let stranger = inquiry("NM1*IL*1*STRANGER*SAM****MI*X1", "EQ*98");
    assert_eq!(
        fixture.response_lines(&stranger, &["NM1*IL", "EB", "MSG"]),
        [
            "NM1*IL*1*STRANGER*SAM****MI*X1",
            "EB*1*IND*98",
            "EB*B**98****20.00*****Y",
            "MSG*At the desk",
            "EB*A*IND*98*****0.25***N"
        ]
    );
    let other = inquiry("NM1*IL*1*STRANGER*SAM****MI*X2", "EQ*98");
    assert_eq!(
        fixture.response_lines(&other, &["AAA"]),
        ["AAA*N**75*C"],
        "rules without a member condition only apply to known members"
    );
    let refused = inquiry(ADA, "EQ*30").replace("60054", "99999");
    assert_eq!(fixture.response_lines(&refused, &["HL", "AAA"]), ["HL*1**20*0", "AAA*N**79*C"]);
}

#[test]
fn without_fhir_data_only_rules_apply() {
    let mut fixture = Fixture::new(&[], &json!({"rules": [{"match": {"member": "W0002"}, "status": "active"}]}));
    assert_eq!(fixture.response_lines(&inquiry(ADA, "EQ*30"), &["AAA"]), ["AAA*Y**42*R"]);
    let known = inquiry("NM1*IL*1*OKAFOR*BEN****MI*W0002", "EQ*30");
    assert_eq!(fixture.response_lines(&known, &["EB"])[0], "EB*1*IND*30");
}

#[test]
fn members_are_found_by_any_identifier() {
    let mut resources = fhir_resources();
    for resource in &mut resources {
        if resource["id"] == "c1" {
            resource.as_object_mut().unwrap().shift_remove("subscriberId");
            resource["identifier"] = json!([{"system": "urn:card", "value": "CARD,7|x"}]);
        }
        if resource["id"] == "old" {
            resource["identifier"] = json!([{"value": "MEMBER-9"}]);
        }
    }
    let mut fixture = Fixture::new(&resources, &json!({}));
    let by_card = inquiry("NM1*IL*1*MORROW*ADA****MI*CARD,7|x", "EQ*30");
    assert_eq!(fixture.response_lines(&by_card, &["EB"])[0], "EB*1*IND*30*PR*GOLD PPO");
    let by_patient = inquiry("NM1*IL*1*FORMER*FINN****MI*MEMBER-9", "EQ*30");
    assert_eq!(fixture.response_lines(&by_patient, &["EB"]), ["EB*6*IND*30*PR*GOLD PPO"]);
}

/// The portal reads the same Coverage in its own test of the row.
#[test]
fn the_member_id_is_the_one_that_the_portal_shows() {
    let mut resources = fhir_resources();
    let of_ada = |resource: &serde_json::Value| resource["id"] == "c1";
    let coverage = resources.iter_mut().find(|resource| of_ada(resource)).unwrap();
    coverage.as_object_mut().unwrap().remove("subscriberId");
    coverage["identifier"] = json!([{"value": "POLICY-7"}, {"type": {"coding": [{"code": "MB"}]}, "value": "W0009"}]);
    let mut fixture = Fixture::new(&resources, &json!({}));
    let found = fixture.response_lines(&inquiry("NM1*IL*1*MORROW*ADA\nDMG*D8*19800229*F", "EQ*30"), &["NM1*IL"]);
    assert_eq!(found, ["NM1*IL*1*MORROW*ADA****MI*W0009"]);
}
