//! Rejected messages.

use super::{Body, strict, update};

#[test]
fn errors_are_reported_with_their_location() {
    for (from, to, code, expected) in [
        ("PV1|1|O\r", "", "AE", "ERR||PV1^1|100^Segment sequence error^HL70357|E||||PV1 is missing after PID"),
        ("PID|1||77^^^MRN", "PID|1||", "AE", "ERR||PID^1^3|101^Required field missing^HL70357|E||||PID-3 is required"),
        ("EVN||20260401120000", "EVN||yesterday", "AE", "ERR||EVN^1^2^1^1|102^Data type error^HL70357|E"),
        ("ADT^A08", "ADT^A99", "AR", "ERR||MSH^1^9^1^2|201^Unsupported event code^HL70357|E"),
        ("ADT^A08", "XYZ^A08", "AR", "ERR||MSH^1^9^1^1|200^Unsupported message type^HL70357|E"),
        ("|P|2.5.1", "|X|2.5.1", "AR", "ERR||MSH^1^11|202^Unsupported processing id^HL70357|E"),
        ("|P|2.5.1", "|P|3.0", "AR", "ERR||MSH^1^12|203^Unsupported version id^HL70357|E"),
        ("|7|P|", "||P|", "AE", "ERR||MSH^1^10|101^Required field missing^HL70357|E"),
        ("PV1|1|O", "pv1|1|O", "AE", "ERR|||100^Segment sequence error^HL70357|E"),
        ("2.5.1\r", "2.5.1||||||EBCDIC\r", "AE", "ERR||MSH^1^18|103^Table value not found^HL70357|E"),
        ("Ann\r", "Ann\rMSH|^~|\r", "AE", "ERR|"),
    ] {
        let mut interface = strict();
        let text = update("7").replace(from, to);
        let (receipt, changes) = interface.send_body(Body::Bytes(text.clone().into_bytes()));
        let reply = receipt.unwrap();
        let ack = reply.text().unwrap();
        assert_eq!(reply.code(), Some(code), "{text}\n{ack}");
        assert!(ack.contains(expected), "{expected}\n{ack}");
        let rejected: Vec<_> =
            interface.events.iter().filter(|event| event.payload.json()["accepted"] == false).collect();
        assert!(!rejected.is_empty() && changes <= interface.events.len() - rejected.len(), "{ack}");
    }
}

#[test]
fn input_without_a_header_is_rejected() {
    for body in [
        &b""[..],
        b"\r\n\r",
        b"hello",
        b"{\"resourceType\":\"Patient\"}",
        b"MSH",
        b"MSH|",
        b"MSHA^~\\&|A",
        b"MSH||||",
        b"PID|1\rMSH|^~\\&|A",
        b"ISA*00*          *00*",
        b"\xff\xfe\x00\x01\x02\x1c\x0b",
        b"FHS|^~\\&|A\rFTS|0\r",
    ] {
        let mut interface = strict();
        let (receipt, changes) = interface.send_body(Body::Bytes(body.to_vec()));
        let error = receipt.unwrap_err();
        assert!(!error.reason.is_empty());
        let rejection = error.rejection.unwrap();
        assert_eq!(rejection.code, "AR", "{}", rejection.message);
        assert_eq!((changes, interface.events.len()), (0, 1));
        let event = interface.last_event();
        assert_eq!((event["accepted"].as_bool(), event["control_id"].as_str()), (Some(false), Some("")));
    }
}

#[test]
fn large_input_is_rejected_and_logged_truncated() {
    let long = format!("{}OBX|1|ST|1||{}", update("7"), "x".repeat(17 << 20));
    let many = format!("{}{}", update("7"), "NTE|1\r".repeat(30_000));
    for text in [long, many] {
        let mut interface = strict();
        let (receipt, changes) = interface.send_body(Body::Bytes(text.into_bytes()));
        let reply = receipt.unwrap();
        assert_eq!(reply.code(), Some("AR"), "{:?}", reply.text());
        assert!(reply.text().unwrap().contains("MSA|AR|7|"));
        assert_eq!((changes, interface.events.len()), (0, 1));
        assert!(interface.events[0].payload.text().len() < 20_000);
    }
}

#[test]
fn secrets_are_masked_in_the_log() {
    let mut interface = strict();
    let secret = "vrl_run_0123456789abcdefghijklmnopqrstuvwxyz01";
    interface.send(&update("7").replace("Doe", secret));
    assert!(!interface.events[0].payload.text().contains("0123456789abcdef"));
}

/// Expensive input. Tests are not optimized, so slow handling would be noticed.
#[test]
fn expensive_input_is_answered() {
    let update = update("1");
    let many = |what: &str, count: usize| what.repeat(count);
    for (bomb, code) in [
        (format!("{update}{}", many("NTE|1\r", 19_000)), Some("AE")),
        (format!("{update}ZZZ|{}", many("a^", 200_000)), Some("AA")),
        (format!("{update}ZZ1|{}", many("\\X0D\\", 200_000)), Some("AA")),
        (update.replace("Doe", &many("~", 200_000)), Some("AA")),
        (update.replace("20260401120000\rPID", &format!("{}\rPID", many("x~", 200_000))), Some("AE")),
        (format!("BHS|^~\\&|A\r{}", many(&update.replace("|1|P", "||P"), 300)), Some("AE")),
        (many("MSH|^~\\&|\r", 1001), None),
    ] {
        let (receipt, _) = strict().send_body(Body::Bytes(bomb.clone().into_bytes()));
        let answered = receipt.as_ref().ok().and_then(|reply| reply.code());
        assert_eq!(answered, code, "{}", bomb.chars().skip(120).take(40).collect::<String>());
    }
}
