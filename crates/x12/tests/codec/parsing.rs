//! Tests that texts parse into segments, and that errors have a location.

use verial_x12::{Limits, ParseFault, parse, parse_bytes};

use crate::read;
use crate::samples::{ALL, ELIGIBILITY, PAYMENT};

#[test]
fn samples_print_back_unchanged() {
    for sample in &ALL {
        for text in variants(&sample.text()) {
            let body = read(&text);
            assert_eq!(body.to_string(), text, "{}", sample.set);
            let transaction = body.transactions().next().unwrap();
            assert_eq!(transaction.set(), sample.set);
            assert_eq!(transaction.version(), sample.version);
        }
    }
}

/// The text unchanged, on one line, with other line breaks, with other delimiters, and with a line break as terminator.
fn variants(text: &str) -> Vec<String> {
    let one_line = text.replace('\n', "");
    let other = one_line.replace('*', "|").replace(':', ">").replace('^', "!").replace('~', "\u{1d}");
    let lines = one_line.replace('~', "\n");
    vec![text.to_owned(), one_line, text.replace('\n', "\r\n"), format!("\u{feff}\n {text} \n"), other, lines]
}

#[test]
fn elements_repeat_and_have_components() {
    for text in variants(&ELIGIBILITY.text()) {
        let body = read(&text);
        let transaction = body.transactions().next().unwrap();
        let benefit = transaction.segments().iter().filter(|segment| segment.name() == "EB").nth(1).unwrap();
        let services = benefit.element(3).unwrap();
        assert_eq!(services.repetitions().map(|one| one.text().to_owned()).collect::<Vec<_>>(), ["98", "1"]);
        assert_eq!((benefit.text_at(4), benefit.text_at(7), benefit.text_at(8)), ("", "25", ""));
        assert!(benefit.element(4).is_some_and(|element| element.is_empty()));
        assert!(benefit.element(8).is_none() && benefit.element(0).is_none());
        assert_eq!(benefit.canonical(), "EB*B*IND*98^1***27*25");
    }
    let text = PAYMENT.text();
    let body = read(&text);
    let transaction = body.transactions().next().unwrap();
    let service = transaction.segments().iter().find(|segment| segment.name() == "SVC").unwrap();
    let code = service.element(1).unwrap();
    assert_eq!((code.component(1), code.component(2), code.component(3)), (Some("HC"), Some("99213"), None));
    assert_eq!(body.interchanges()[0].header().text_at(16), ":");
}

#[test]
fn several_interchanges_each_have_their_own_delimiters() {
    let text =
        [variants(&ELIGIBILITY.text())[4].clone(), PAYMENT.text(), variants(&ELIGIBILITY.text())[5].clone()].concat();
    let body = read(&text);
    let elements: Vec<char> = body.interchanges().iter().map(|one| one.delimiters().element()).collect();
    assert_eq!(elements, ['|', '*', '*']);
    assert_eq!(body.transactions().map(|one| one.set()).collect::<Vec<_>>(), ["271", "835", "271"]);
    assert_eq!(body.to_string(), text);
}

#[test]
fn a_004010_interchange_has_no_repetitions() {
    let text = ELIGIBILITY.text().replace("*^*00501*", "*U*00401*");
    let body = read(&text);
    assert_eq!(body.interchanges()[0].delimiters().repetition(), None);
    assert_eq!(body.to_string(), text);
}

#[test]
fn errors_have_a_location() {
    let text = ELIGIBILITY.text();
    let parse_error = |text: &str| parse(text, &Limits::default()).unwrap_err();
    assert_eq!(parse_error("").fault, ParseFault::Empty);
    assert_eq!(parse_error(" \r\n").fault, ParseFault::Empty);
    for text in ["MSH|^~\\&|", "ISAAC*", "ISA", "isa*00*", "{}"] {
        assert_eq!(parse_error(text).fault, ParseFault::NotAnInterchange, "{text}");
    }
    for text in ["ISA*00*", &text[..104], "ISA****************", "ISA***************:"] {
        assert_eq!(parse_error(text).fault, ParseFault::Header, "{text}");
    }
    assert!(matches!(parse_error(&text.replace("*T*:~", "*T**~")).fault, ParseFault::Delimiters(_)));
    assert!(matches!(parse_error(&text.replace("*T*:~", "*T*:A")).fault, ParseFault::Delimiters(_)));

    let error = parse_error(text.trim_end().strip_suffix('~').unwrap());
    assert_eq!(
        error.to_string().split(" (").next().unwrap(),
        "interchange 1, segment 34: the segment has no terminator"
    );
    let cut = text.find("EB*B").unwrap();
    let error = parse_error(&text[..cut + 6]);
    assert_eq!(
        (error.location.group, error.location.transaction, error.location.segment),
        (Some(1), Some(1), Some(18))
    );
    assert_eq!((error.offset, error.fault), (cut, ParseFault::Unterminated));

    let error = parse_error(&format!("{text}GS*HB~"));
    assert_eq!((error.location.interchange, error.fault), (2, ParseFault::NotAnInterchange));
    let error = parse_bytes(b"ISA*00*\xff\xfe", &Limits::default()).unwrap_err();
    assert_eq!((error.offset, error.fault), (7, ParseFault::NotText));
}

#[test]
fn limits_are_enforced() {
    let text = ELIGIBILITY.text();
    let count = read(&text).interchanges()[0].segments().len();
    let limits = Limits { bytes: text.len(), segments: count, segment_bytes: 105 };
    assert!(parse_bytes(text.as_bytes(), &limits).is_ok());
    for (limits, fault) in [
        (Limits { bytes: text.len() - 1, ..limits }, ParseFault::TooLarge(text.len() - 1)),
        (Limits { segments: count - 1, ..limits }, ParseFault::TooManySegments(count - 1)),
        (Limits { segment_bytes: 104, ..limits }, ParseFault::SegmentTooLong(104)),
    ] {
        assert_eq!(parse_bytes(text.as_bytes(), &limits).unwrap_err().fault, fault);
        assert_eq!(parse(&text, &limits).unwrap_err().fault, fault);
    }
}

/// Blank terminators and repeated headers are parsed in one pass.
#[test]
fn large_invalid_texts_parse_quickly() {
    let header = ELIGIBILITY.text()[..105].to_owned();
    let tabs = format!("{header}\t{}X\t", "\t".repeat(1_000_000));
    assert_eq!(read(&tabs).interchanges()[0].segments().len(), 1_000_002);
    let lines = format!("{header}~{}~", "\n".repeat(10_000_000));
    assert_eq!(read(&lines).to_string(), lines);
    let headers = format!("{header}~").repeat(10_000);
    assert_eq!(read(&headers).interchanges().len(), 10_000);
}
