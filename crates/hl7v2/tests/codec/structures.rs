//! Tests validation: samples are valid, and each error is reported with its location.

use verial_hl7v2::{Message, validate};

use crate::{read, samples};

fn faults(message: &Message) -> Vec<String> {
    validate(message).iter().map(ToString::to_string).collect()
}

fn check(text: &str, expected: &[&str]) {
    assert_eq!(faults(&read(text)), expected, "{text}");
}

#[test]
fn samples_are_valid() {
    for sample in samples::all() {
        check(&sample, &[]);
    }
}

#[test]
fn all_adt_events_are_supported() {
    let message = |event: &str, rest: &str| {
        format!("MSH|^~\\&|A|B|C|D|20260301||ADT^{event}|1|P|2.5\rEVN|{event}|20260301\rPID|1||7||Doe^Ann\r{rest}")
    };
    for event in ["A01", "A02", "A03", "A04", "A05", "A08", "A11", "A13", "A28", "A31", "A06", "A09", "A12", "A21"] {
        check(&message(event, "PV1|1|I\r"), &[]);
        check(&message(event, ""), &["PV1[1]: PV1 is missing after PID (100 Segment sequence error)"]);
    }
    check(&message("A40", "MRG|8\r"), &[]);
    check(&message("A40", ""), &["MRG[1]: MRG is missing after PID (100 Segment sequence error)"]);
}

#[test]
fn missing_unexpected_and_misordered_segments_are_reported() {
    let result = samples::result();
    let without =
        |name: &str| -> String { result.split_inclusive('\r').filter(|line| !line.starts_with(name)).collect() };
    // Without OBR the results follow the order directly.
    let found = faults(&read(&without("OBR")));
    assert!(found[0].starts_with("OBR[1]: OBR is missing after ORC"), "{found:?}");
    check(&without("SPM"), &[]);
    check(&without("PID").replace("PV1|1|I\r", ""), &[]);
    check(
        &result.replace("PV1|1|I\r", "PV1|1|I\rIN1|1|P|X\r"),
        &["IN1[1]: IN1 is not expected after PV1 (100 Segment sequence error)"],
    );
    let admission = samples::admission();
    let (evn, pid) = (line(&admission, "EVN"), line(&admission, "PID"));
    check(
        &admission.replace(&format!("{evn}{pid}"), &format!("{pid}{evn}")),
        &["PID[1]: PID is out of order after MSH (100 Segment sequence error)"],
    );
    check(
        &admission.replace(&pid, &format!("{pid}{pid}")),
        &["PID[2]: PID is not expected after PID (100 Segment sequence error)"],
    );
    check(
        &samples::merge().replace("MRG|483923\r", ""),
        &["MRG[2]: MRG is missing after PID (100 Segment sequence error)"],
    );
    check(
        &samples::vaccination().replace("ORC|RE||IZ1\r", ""),
        &["ORC[1]: ORC is missing after PID (100 Segment sequence error)"],
    );
    check(&samples::vaccination().replace("ORC|RE||IZ1\r", "").replace("2.5.1", "2.3.1"), &[]);
}

fn line(text: &str, name: &str) -> String {
    text.split_inclusive('\r').find(|line| line.starts_with(name)).unwrap().to_owned()
}

#[test]
fn z_segments_are_allowed_anywhere() {
    for sample in samples::all() {
        let (header, rest) = sample.split_once('\r').unwrap();
        let with_local = rest.replace('\r', "\rZX1|a|b\r");
        check(&format!("{header}\rZ99\r{with_local}"), &[]);
    }
}

#[test]
fn field_errors_are_reported_with_their_location() {
    let result = samples::result();
    for (from, to, message) in [
        ("||13.2|", "||13,2|", "OBX[1].5[1].1: OBX-5 must be a number, is `13,2` (102 Data type error)"),
        ("OBX|2|NM|", "OBX|2||", "OBX[2].2: OBX-2 is required when OBX-5 has a value (101 Required field missing)"),
        ("OBX|2|NM|", "OBX|2|QQ|", "OBX[2].2: `QQ` is not in the table of OBX-2 (103 Table value not found)"),
        ("|LAB1|58410-2^CBC panel^LN", "|LAB1|", "OBR[1].4: OBR-4 is required (101 Required field missing)"),
        ("|LAB1|58410-2^CBC panel^LN", "|LAB1|\"\"", "OBR[1].4: OBR-4 is required (101 Required field missing)"),
        ("|LAB77|", "||", "MSH[1].10: MSH-10 is required (101 Required field missing)"),
        (
            "20260301101500||ORU",
            "2026-03-01||ORU",
            "MSH[1].7[1].1: MSH-7 must be a time as YYYYMMDDHHMMSS, is `2026-03-01` (102 Data type error)",
        ),
        ("20260301101500||ORU", "||ORU", "MSH[1].7: MSH-7 is required (101 Required field missing)"),
        ("OBX|3|", "OBX|x|", "OBX[3].1[1].1: OBX-1 must be a whole number, is `x` (102 Data type error)"),
        (
            "|P|2.5.1",
            "|X|2.5.1",
            "MSH[1].11: `X` is not a processing id: must be D, P or T (202 Unsupported processing id)",
        ),
        ("|P|2.5.1", "|P|2.99", "MSH[1].12: `2.99` is not a version from 2.1 to 2.8 (203 Unsupported version id)"),
        ("ORU^R01^ORU_R01", "ORU^R99", "MSH[1].9.2: ORU has no event `R99` (201 Unsupported event code)"),
        (
            "ORU^R01^ORU_R01",
            "XYZ^R01",
            "MSH[1].9.1: messages of type `XYZ` are not supported (200 Unsupported message type)",
        ),
        (
            "ORU^R01^ORU_R01",
            "ORU^R01^ORU_R99",
            "MSH[1].9.3: ORU^R01 has the structure ORU_R01, not `ORU_R99` (103 Table value not found)",
        ),
        ("ORU^R01^ORU_R01", "", "MSH[1].9: MSH-9 is required (101 Required field missing)"),
    ] {
        let changed = result.replacen(from, to, 1);
        assert_ne!(changed, result, "{from}");
        check(&changed, &[message]);
    }
    check(
        "MSH|^~\\&|||||||ACK|1|P|2.1\rMSA|OK|7",
        &["MSA[1].1: `OK` is not in the table of MSA-1 (103 Table value not found)"],
    );
}

#[test]
fn the_number_of_reported_errors_is_bounded() {
    let text = "MSH|^~\\&|||||||ADT^A01|1|P|2.3\r".to_owned() + &"OBX|x\r".repeat(10_000);
    let faults = validate(&read(&text));
    assert_eq!(faults.len(), 50);
    let repeated = "x~".repeat(100_000);
    let text = format!("MSH|^~\\&|||||||ORU^R01|1|P|2.3\rOBR|1|||A\rOBX|1|NM|A||{repeated}||||||F\r");
    assert_eq!(validate(&read(&text)).len(), 50);
    let text = "MSH|^~\\&|||||||ORU^R01|1|P|2.3\rOBR|1|||A\r".to_owned() + &"OBX|1|NM|A||1||||||F\r".repeat(10_000);
    check(&text, &[]);
}
