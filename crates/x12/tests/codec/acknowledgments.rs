//! Tests that TA1 and 999 report the faults of a check.

use verial_x12::acknowledge::Verdict;
use verial_x12::check::{ElementReport, Report, SegmentReport};
use verial_x12::codes::{ElementFault, GroupFault, InterchangeFault, SegmentFault, TransactionFault};
use verial_x12::draft::Lines;
use verial_x12::{Delimiters, check};

use crate::samples::{ACKNOWLEDGMENT, CLAIM, ELIGIBILITY, ELIGIBILITY_REQUEST, envelope};
use crate::{read, report};

fn acknowledged(report: &Report) -> String {
    let text = report.acknowledgment_interchange(&envelope(), 1).write(Delimiters::USUAL, Lines::PerSegment).unwrap();
    assert!(check(&read(&text)).iter().all(Report::is_clean), "{text}");
    text.lines().filter(|line| ["TA1", "AK", "IK"].iter().any(|name| line.starts_with(name))).collect()
}

#[test]
fn a_clean_interchange_is_accepted() {
    let written = acknowledged(&report(&CLAIM.text()));
    let expected = "TA1*000000905*260115*0930*A*000~AK1*HC*7*005010X222A1~AK2*837*0001*005010X222A1~IK5*A~AK9*A*1*1*1~";
    assert_eq!(written, expected);
}

#[test]
fn every_fault_is_reported() {
    let text = ELIGIBILITY_REQUEST.text().replace("HL*5*4*23*0", "HL*5*9*23*7").replace("REF*4A*000111222", "ZZZ*1");
    let written = acknowledged(&report(&text));
    let expected = "TA1*000000905*260115*0930*A*000~AK1*HS*7*005010X279A1~AK2*270*0001*005010X279A1~\
                    IK3*ZZZ*7**6~IK3*HL*17*2000*8~IK4*2**7*9~IK4*4**7*7~IK5*R*5~AK9*R*1*1*0~";
    assert_eq!(written, expected);

    let written = acknowledged(&report(&ELIGIBILITY.text().replace("GE*1*7", "GE*3*9").replace("IEA*1", "IEA*4")));
    let expected =
        "TA1*000000905*260115*0930*R*021~AK1*HB*7*005010X279A1~AK2*271*0001*005010X279A1~IK5*A~AK9*R*3*1*0*4*5~";
    assert_eq!(written, expected);
}

#[test]
fn faults_added_by_a_simulator_are_reported() {
    let mut report = report(&CLAIM.text());
    report.faults.push(InterchangeFault::UnknownReceiver);
    let set = &mut report.groups[0].transactions[0];
    let missing = ElementReport { component: Some(2), ..ElementReport::new(5, ElementFault::Missing, "a*b~c") };
    let within = Some("2300".to_owned());
    let fault = Some(SegmentFault::Elements);
    set.segments.push(SegmentReport { name: "CLM".to_owned(), position: 19, within, fault, elements: vec![missing] });
    assert_eq!(set.verdict(), Verdict::Rejected);
    let written = acknowledged(&report);
    let expected = "TA1*000000905*260115*0930*R*009~AK1*HC*7*005010X222A1~AK2*837*0001*005010X222A1~\
                    IK3*CLM*19*2300*8~IK4*5:2**1*abc~IK5*R*5~AK9*R*1*1*0~";
    assert_eq!(written, expected);
}

#[test]
fn an_acknowledgment_is_not_acknowledged() {
    let report = report(&ACKNOWLEDGMENT.text());
    assert_eq!(report.groups[0].acknowledge("0001"), None);
    assert_eq!(acknowledged(&report), "TA1*000000905*260115*0930*A*000~");
}

#[test]
fn a_group_may_be_partially_accepted() {
    let text = CLAIM.text();
    let set = &text[text.find("ST*").unwrap()..text.find("GE*").unwrap()];
    let second = set.replace("*0001", "*0002").replace("SE*50*", "SE*51*");
    let report = report(&text.replace(set, &format!("{set}{second}")).replace("GE*1", "GE*2"));
    assert_eq!(report.groups[0].verdict(), Verdict::PartiallyAccepted);
    assert!(acknowledged(&report).ends_with("IK5*A~AK2*837*0002*005010X222A1~IK5*R*4~AK9*P*2*2*1~"));
}

#[test]
fn codes_parse_back_to_their_fault() {
    assert!(InterchangeFault::ALL.iter().all(|fault| InterchangeFault::from_code(fault.code()) == Some(*fault)));
    assert!(GroupFault::ALL.iter().all(|fault| GroupFault::from_code(fault.code()) == Some(*fault)));
    assert!(TransactionFault::ALL.iter().all(|fault| TransactionFault::from_code(fault.code()) == Some(*fault)));
    assert!(SegmentFault::ALL.iter().all(|fault| SegmentFault::from_code(fault.code()) == Some(*fault)));
    assert!(ElementFault::ALL.iter().all(|fault| ElementFault::from_code(fault.code()) == Some(*fault)));
    assert_eq!(InterchangeFault::from_code("000"), None);
    assert_eq!(GroupFault::Count.to_string(), "number of included transaction sets does not match actual count");
}
