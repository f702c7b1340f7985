//! Tests that inconsistent envelopes are found and reported with the right code.

use verial_x12::codes::{GroupFault, InterchangeFault, SegmentFault, TransactionFault};

use crate::report;
use crate::samples::{ALL, CLAIM, ELIGIBILITY, ELIGIBILITY_REQUEST, PAYMENT, REVIEW_REQUEST};

#[test]
fn samples_are_clean() {
    for sample in &ALL {
        let report = report(&sample.text());
        assert!(report.is_clean(), "{} {report:#?}", sample.set);
    }
}

#[test]
fn every_element_of_the_header_is_checked() {
    let text = ELIGIBILITY.text();
    for (valid, invalid, code) in [
        ("ISA*00*", "ISA*99*", "010"),
        ("*00*          *ZZ*C", "*77*          *ZZ*C", "012"),
        ("*ZZ*CLINIC ", "*QQ*CLINIC ", "005"),
        ("*CLINIC         *", "* CLINIC        *", "006"),
        ("*ZZ*VERIALPAYER", "*A *VERIALPAYER", "007"),
        ("*VERIALPAYER    *", "*               *", "008"),
        ("*260115*", "*261315*", "014"),
        ("*260115*", "*260229*", "014"),
        ("*0930*^*", "*2460*^*", "015"),
        ("*^*00501*", "*U*00501*", "016"),
        ("*00501*", "*00401*", "017"),
        ("*000000905*1*", "*00000A905*1*", "018"),
        ("*1*T*", "*2*T*", "019"),
        ("*1*T*", "*1*X*", "020"),
        // Wrong widths: the interchange can still be acknowledged.
        ("*VERIALPAYER    *", "*VERIALPAYER*", "008"),
        ("*260115*", "*20260115*", "014"),
        ("*000000905*1*", "*905*1*", "018"),
        ("ISA*00*          *", "ISA*00**", "011"),
    ] {
        let report = report(&text.replacen(valid, invalid, 1));
        assert_eq!(report.faults[0].code(), code, "{invalid} {:?}", report.faults);
        assert_eq!(report.ta1().elements[4], code.into());
    }
}

#[test]
fn interchange_trailers_and_contents_are_checked() {
    let text = ELIGIBILITY.text();
    let group = &text[text.find("GS*").unwrap()..text.find("IEA*").unwrap()];
    for (changed, fault) in [
        (text.replace("IEA*1*", "IEA*2*"), InterchangeFault::GroupCount),
        (text.replace("IEA*1*", "IEA*x*"), InterchangeFault::GroupCount),
        (text.replace("IEA*1*000000905", "IEA*1*000000906"), InterchangeFault::ControlNumbersDiffer),
        (text.replace("IEA*1*000000905~", "IEA*1*000000905*~"), InterchangeFault::Structure),
        (text.replace("IEA*1*000000905~", ""), InterchangeFault::EndOfFile),
        (format!("{}{text}", text.replace("IEA*1*000000905~\n", "")), InterchangeFault::Structure),
        (text.replace("GS*HB", "ZZ*1~\nGS*HB"), InterchangeFault::Content),
        (text.replace("GE*1", "ZZ*1~\nGE*1"), InterchangeFault::Content),
        (text.replace("IEA*", "GE*1*7~\nIEA*"), InterchangeFault::Structure),
        (text.replace("GS*HB*CLINIC*", "GS*HB**"), InterchangeFault::Content),
        (text.replace(group, "").replace("IEA*1", "IEA*0"), InterchangeFault::Content),
    ] {
        assert_eq!(report(&changed).faults, [fault], "{changed}");
    }
    let ta1 = text.replace(group, "TA1*000000001*260115*0930*A*000~").replace("IEA*1", "IEA*0");
    assert!(report(&ta1).is_clean());
    let body = format!("{text}{text}");
    let reports = verial_x12::check(&crate::read(&body));
    assert!(reports[0].is_clean());
    assert_eq!((reports[1].number, reports[1].faults.as_slice()), (2, &[InterchangeFault::Duplicate][..]));
}

#[test]
fn groups_and_transactions_are_checked() {
    let text = ELIGIBILITY.text();
    for (changed, fault) in [
        (text.replace("GE*1*7", "GE*2*7"), GroupFault::Count),
        (text.replace("GE*1*7", "GE**7"), GroupFault::Count),
        (text.replace("GE*1*7", "GE*1*8"), GroupFault::ControlNumbersDiffer),
        (text.replace("GE*1*7~", ""), GroupFault::TrailerMissing),
        (text.replace("*7*X*", "*A7*X*").replace("GE*1*7", "GE*1*A7"), GroupFault::ControlNumber),
    ] {
        assert_eq!(report(&changed).groups[0].faults, [fault], "{changed}");
    }
    let count = format!("SE*{}*0001", ELIGIBILITY.lines().count() + 2);
    for (changed, fault) in [
        (text.replace(&count, "SE*12*0001"), TransactionFault::Count),
        (text.replace(&count, &count.replace("0001", "0002")), TransactionFault::ControlNumbersDiffer),
        (text.replace(&format!("{count}~"), ""), TransactionFault::TrailerMissing),
        (text.replace("ST*271*0001*005010X279A1", "ST*271*0001*005010X279"), TransactionFault::Version),
        (text.replace("ST*271*0001*005010X279A1", "ST*271*0001"), TransactionFault::Version),
        (text.replace("GS*HB", "GS*HS"), TransactionFault::NotInGroup),
        (
            text.replace("0001*005010", "01*005010").replace(&count, &count.replace("0001", "01")),
            TransactionFault::ControlNumber,
        ),
    ] {
        assert_eq!(report(&changed).groups[0].transactions[0].faults, [fault], "{changed}");
    }
    let unidentified = report(&text.replace("ST*271", "ST*2X1"));
    assert_eq!(unidentified.groups[0].transactions[0].faults, [TransactionFault::Identifier]);

    let start = text.find("ST*").unwrap();
    let set = &text[start..text.find("GE*").unwrap()];
    let twice = text.replace(set, &set.repeat(2)).replace("GE*1", "GE*2");
    assert_eq!(report(&twice).groups[0].transactions[1].faults, [TransactionFault::Duplicate]);
    assert!(report(&PAYMENT.text()).is_clean(), "an 835 has no ST03");
}

#[test]
fn misplaced_segments_are_reported() {
    let found = |text: &str| {
        let report = report(text);
        let set = &report.groups[0].transactions[0];
        assert_eq!(set.faults.last(), Some(&TransactionFault::Segments));
        set.segments.iter().map(|one| (one.name.clone(), one.position, one.fault.unwrap())).collect::<Vec<_>>()
    };
    let replaced = |old: &str, new: &str| found(&ELIGIBILITY.text().replace(old, new));
    assert_eq!(replaced("III*ZZ*11", "CLM*1"), [("CLM".to_owned(), 20, SegmentFault::NotInSet)]);
    assert_eq!(replaced("III*ZZ*11", "iii*ZZ*11"), [("iii".to_owned(), 20, SegmentFault::Unrecognized)]);
    assert_eq!(replaced("III*ZZ*11", ""), [(String::new(), 20, SegmentFault::Unrecognized)]);
    assert_eq!(replaced("PER*IC**TE*5550100", "EB*1"), [("EB".to_owned(), 5, SegmentFault::Unexpected)]);
}

#[test]
fn the_hierarchy_is_checked() {
    let check = |text: String, element: usize, within: &str| {
        let report = report(&text);
        let segments = &report.groups[0].transactions[0].segments;
        let found = segments.iter().find(|one| one.elements.iter().any(|fault| fault.element == element));
        let found = found.unwrap_or_else(|| panic!("{element} {within} {report:#?}"));
        assert_eq!((found.name.as_str(), found.within.as_deref()), ("HL", Some(within)));
    };
    let request = ELIGIBILITY_REQUEST.text();
    check(request.replace("HL*5*4*23*0", "HL*7*4*23*0"), 1, "2000D");
    check(request.replace("HL*5*4*23*0", "HL**4*23*0"), 1, "2000D");
    check(request.replace("HL*5*4*23*0", "HL*5*9*23*0"), 2, "2000D");
    check(request.replace("HL*5*4*23*0", "HL*5*5*23*0"), 2, "2000D");
    check(request.replace("HL*5*4*23*0", "HL*5**23*0"), 2, "2000D");
    check(request.replace("HL*5*4*23*0", "HL*5*2*23*0"), 2, "2000D");
    check(request.replace("HL*4*2*22*1", "HL*4*2*22*0"), 4, "2000C");
    check(request.replace("HL*4*2*22*1", "HL*4*2*22*X"), 4, "2000C");
    check(CLAIM.text().replace("HL*2*1*22*0", "HL*2**22*0"), 2, "2000B");
    check(REVIEW_REQUEST.text().replace("HL*6*5*SS*0", "HL*6*3*SS*0"), 2, "2000F");
    assert!(report(&request.replace("HL*5*4*23*0", "HL*5*4*23*1")).is_clean(), "announced children may be absent");
    let unknown = report(&request.replace("HL*5*4*23*0", "HL*5*4*99*0"));
    let segments = &unknown.groups[0].transactions[0].segments;
    assert!(segments.iter().any(|one| one.elements.iter().any(|fault| fault.element == 3)), "{segments:#?}");
}

#[test]
fn faults_are_listed_with_their_locations() {
    let text = ELIGIBILITY_REQUEST.text().replace("HL*5*4*23*0", "HL*5*4*23*7").replace("GE*1*7", "GE*1*8");
    let listed = report(&text).listed();
    let lines: Vec<String> = listed.iter().map(|(location, message)| format!("{location}: {message}")).collect();
    let expected = [
        "interchange 1, group 1: group control number in the functional group header and trailer do not agree",
        "interchange 1, group 1, transaction 1: one or more segments in error",
        "interchange 1, group 1, transaction 1, segment 17: HL in loop 2000D: segment has data element errors",
        "interchange 1, group 1, transaction 1, segment 17, element 4: \"7\": invalid code value",
    ];
    assert_eq!(lines, expected);
    assert!(report(&ELIGIBILITY_REQUEST.text()).listed().is_empty());
}
