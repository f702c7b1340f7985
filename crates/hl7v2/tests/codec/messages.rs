//! Tests parsing: exact text, delimiters, line ends, character sets, paths, and errors with their position.

use verial_hl7v2::{CharacterSet, Limits, Message, ParseErrorKind, Version};

use crate::{found, read, samples};

#[test]
fn an_admission_is_parsed() {
    let message = read(&samples::admission());
    assert_eq!(message.message_type(), "ADT");
    assert_eq!(message.trigger_event(), "A01");
    assert_eq!(message.control_id(), "MSG00001");
    assert_eq!(message.processing_id(), "P");
    assert_eq!(message.version(), Some(Version::V2_5_1));
    assert_eq!(message.segments().len(), 9);
    assert_eq!(message.text(), samples::admission());
    for (path, values) in [
        ("MSH.1", &["|"][..]),
        ("MSH.2", &[r"^~\&"]),
        ("MSH.2.1.1", &[r"^~\&"]),
        ("MSH.3", &["ADT1"]),
        ("MSH.9", &["ADT^A01^ADT_A01"]),
        ("MSH.9.2", &["A01"]),
        ("PID.3", &["483920^^^NORTHGATE^MR", "987-65-4329^^^USSSA^SS"]),
        ("PID.3.1", &["483920", "987-65-4329"]),
        ("PID.3[2].5", &["SS"]),
        ("PID.3[3].1", &[]),
        ("PID[1].5.2", &["Zoë"]),
        ("PID[2].5.2", &[]),
        ("PID[3[2].5=SS].5.1", &["Brandt"]),
        ("PID.5.1.1", &["Brandt"]),
        ("PID.5.1.2", &[]),
        ("PID.6", &[]),
        ("PID.99", &[]),
        ("AL1.5", &["Hives & wheeze"]),
        ("ZPI.2", &["wears a | shaped brace"]),
        ("XYZ.1", &[]),
        ("NK1", &["NK1|1|Brandt^Tomas|SPO"]),
    ] {
        assert_eq!(found(&message, path), values, "{path}");
    }
}

#[test]
fn segments_are_selected_by_number_and_by_value() {
    let message = read(&samples::result());
    for (path, values) in [
        ("OBX[3.1=718-7].5", &["13.2"][..]),
        ("OBX[3.1=6690-2].8", &["H"]),
        ("OBX[8=H].3.1", &["6690-2", "777-3"]),
        ("OBX[3.1=nothing].5", &[]),
        ("OBX[3].5", &[">^400"]),
        ("OBX[4].5", &["line one", "line two"]),
        ("OBX[4].5[2]", &["line two"]),
        ("OBX.1", &["1", "2", "3", "1"]),
        ("NTE.3", &["Slightly raised.\nRepeat in a week."]),
        ("OBR.4.1", &["58410-2", "24323-8"]),
    ] {
        assert_eq!(found(&message, path), values, "{path}");
    }
    assert_eq!(message.value(&"OBX.5".parse().unwrap()).as_deref(), Some("13.2"));
    assert_eq!(message.value(&"OBX.99".parse().unwrap()), None);
}

#[test]
fn empty_is_not_null() {
    let message = read("MSH|^~\\&|A||\"\"\rPID|||\"\"|^\"\"");
    let header = message.header();
    assert!(header.field(4).unwrap().is_empty() && !header.field(4).unwrap().is_null());
    assert!(header.field(5).unwrap().is_null() && !header.field(5).unwrap().is_valued());
    assert!(header.field(6).is_none());
    assert_eq!(found(&message, "PID.3"), ["\"\""]);
    assert_eq!(found(&message, "PID.4.1"), [""; 0]);
    assert_eq!(found(&message, "PID.4.2"), ["\"\""]);
}

#[test]
fn each_message_has_its_own_delimiters() {
    let message = read("MSH#*!?%#A%1*B#F#G#H#20260301##ORU*R01#1#P#2.3\rPID###1*2%3!4#x?F?y?S?z?T?|^~\\&");
    assert_eq!(found(&message, "MSH.1"), ["#"]);
    assert_eq!(found(&message, "MSH.2"), ["*!?%"]);
    assert_eq!(found(&message, "MSH.3.1.2"), ["1"]);
    assert_eq!(message.trigger_event(), "R01");
    assert_eq!(found(&message, "PID.3"), ["1*2%3", "4"]);
    assert_eq!(found(&message, "PID.3[1].2.2"), ["3"]);
    assert_eq!(found(&message, "PID.4"), ["x#y*z%|^~\\&"]);

    let five = read("MSH|^~\\&#|A\rNTE|1||cut\\P\\ here#");
    assert_eq!(found(&five, "MSH.2"), ["^~\\&#"]);
    assert_eq!(found(&five, "NTE.3"), ["cut# here#"]);

    let two = read("MSH|^~|A\rNTE|1||a\\F\\&b");
    assert_eq!(found(&two, "NTE.3.1.1"), ["a\\F\\&b"], "neither escapes nor subcomponents are declared");
}

#[test]
fn all_line_ends_are_accepted_and_kept() {
    for end in ["\r", "\n", "\r\n", "\r\r", "\n\r\n"] {
        for last in ["", end] {
            let text = format!("MSH|^~\\&|A{end}PID|1{end}ZZZ{last}");
            let message = read(&text);
            let names: Vec<&str> = message.segments().map(|segment| segment.name()).collect();
            assert_eq!(names, ["MSH", "PID", "ZZZ"]);
            assert_eq!(message.text(), text);
        }
    }
    assert_eq!(read("\r\nMSH|^~\\&|A ").header().text(), "MSH|^~\\&|A ", "blanks are data");
}

#[test]
fn the_character_set_is_taken_from_the_header() {
    let with_set = |set: &str| format!("MSH|^~\\&|||||||ADT^A08|1|P|2.5||||||{set}\rPID|||1||").into_bytes();
    let parse = |set: &str, name: &[u8]| Message::parse(&[&with_set(set), name].concat(), &Limits::default());

    let latin = parse("8859/1", b"Zo\xeb\rPV1||I\r").unwrap();
    assert_eq!(latin.character_set(), CharacterSet::Latin1);
    assert_eq!(found(&latin, "PID.5"), ["Zoë"]);
    assert_eq!(found(&latin, "PV1.2"), ["I"], "later segments are found although the text is longer in UTF-8");
    assert_eq!(latin.to_bytes().as_ref(), [&with_set("8859/1")[..], b"Zo\xeb\rPV1||I\r"].concat());

    for set in ["", "UNICODE UTF-8", "UTF-8"] {
        assert_eq!(found(&parse(set, "Zoë".as_bytes()).unwrap(), "PID.5"), ["Zoë"]);
        let error = parse(set, b"Zo\xeb").unwrap_err();
        assert!(matches!(error.kind, ParseErrorKind::ForeignCharacter { .. }), "{error}");
        assert_eq!(error.position.segment, 2);
    }
    let error = parse("ASCII", "Zoë".as_bytes()).unwrap_err();
    assert_eq!(error.kind, ParseErrorKind::ForeignCharacter { name: "ASCII" });
    for set in ["8859/2", "UNICODE UTF-16", "~ISO IR87"] {
        let error = parse(set, b"Zoe").unwrap_err();
        assert!(error.to_string().contains("not supported"), "{error}");
        assert_eq!(error.to_fault().location.unwrap().to_string(), "MSH[1].18");
    }
    assert!(Message::parse_text("MSH|^~\\&||||||||||||||||8859/1\rNTE|||Łódź", &Limits::default()).is_err());
}

#[test]
fn invalid_messages_are_rejected_with_their_position() {
    for (text, segment, offset, message) in [
        ("", 1, 0, "the message is empty"),
        ("\r\n\r", 1, 0, "the message is empty"),
        ("hello", 1, 0, "starts with MSH, this with `hello`"),
        ("{\"payload\":\"MSH|\"}", 1, 0, "starts with MSH"),
        ("\n msh|^~\\&|", 1, 1, "starts with MSH"),
        ("PID|1\rMSH|^~\\&|", 1, 0, "starts with MSH"),
        ("MSH", 1, 0, "before its field separator"),
        ("MSH|", 1, 0, "MSH-2 is empty"),
        ("MSH||A", 1, 0, "MSH-2 is empty"),
        ("MSH|^~\\&#!|A", 1, 0, "more than five"),
        ("MSH|^^\\&|A", 1, 0, "two delimiters"),
        ("MSHA^~\\&A", 1, 0, "a letter"),
        ("MSH|^~\\&|A\rPID|1\rpv1|1", 3, 17, "`pv1|1` is not a segment"),
        ("MSH|^~\\&|A\rPIDX|1", 2, 11, "is not a segment"),
        ("MSH|^~\\&|A\rPID#1", 2, 11, "is not a segment"),
        ("MSH|^~\\&|A\rNTE|||one\ntwo", 3, 21, "`two` is not a segment"),
        ("MSH|^~\\&|A\rMSH|^~\\&|B", 2, 11, "a second message"),
        ("BHS|^~\\&|A\rMSH|^~\\&|B", 1, 0, "a batch"),
        ("MSH|^~\\&|A\rBTS|1", 2, 11, "a batch"),
    ] {
        let error = Message::parse_text(text, &Limits::default()).unwrap_err();
        assert!(error.to_string().contains(message), "{text:?}: {error}");
        assert_eq!((error.position.segment, error.position.offset), (segment, offset), "{text:?}: {error}");
    }
}

#[test]
fn messages_beyond_the_limits_are_rejected() {
    let limits = Limits { bytes: 100, segments: 3, segment_bytes: 40 };
    let parse = |text: &str| Message::parse(text.as_bytes(), &limits).map_err(|error| error.kind);
    let header = "MSH|^~\\&|A\r";
    assert!(parse(&format!("{header}PID|1\rPV1|1")).is_ok());
    assert_eq!(parse(&format!("{header}{}", "x".repeat(90))), Err(ParseErrorKind::TooLarge { max: 100 }));
    assert_eq!(parse(&format!("{header}NTE|{}", "x".repeat(37))), Err(ParseErrorKind::SegmentTooLong { max: 40 }));
    assert_eq!(parse(&format!("{header}A01\rA02\rA03")), Err(ParseErrorKind::TooManySegments { max: 3 }));
}

#[test]
fn a_header_can_be_parsed_alone() {
    let limits = Limits::default();
    let header = Message::parse_header(b"\nMSH|^~\\&|A|Z\xff|||||ADT^A01|7|P|2.5||||||EBCDIC\rnot a segment", &limits);
    let header = header.unwrap();
    assert_eq!((header.control_id().as_ref(), header.segments().len()), ("7", 1));
    assert_eq!(found(&header, "MSH.4"), ["Z?"]);
    for bytes in [&b""[..], b"\r", b"PID|1", b"MSH", b"MSH|"] {
        assert!(Message::parse_header(bytes, &limits).unwrap_err().is_not_hl7());
    }
}
