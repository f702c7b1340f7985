//! Accepted messages.

use serde_json::json;

use super::{Body, Delivery, Interface, Transport, strict, update};

#[test]
fn a_valid_message_is_accepted_and_logged() {
    let mut interface = strict();
    let reply = interface.send(&update("7"));
    let ack = reply.text().unwrap();
    assert!(ack.starts_with("MSH|^~\\&|LAB|HOSP|EHR|CLINIC|20260423120000+0000||ACK^A08^ACK|"), "{ack}");
    assert!(ack.ends_with("|P|2.5.1\rMSA|AA|7\r"), "{ack}");
    let answer = reply.to_answer().unwrap();
    assert_eq!((answer.ack_code.as_deref(), answer.control_id.as_str()), (Some("AA"), "7"));
    let event = interface.last_event();
    assert_eq!(event["payload"], update("7"));
    assert_eq!((&event["accepted"], &event["message_type"]), (&json!(true), &json!("ADT^A08")));
    assert_eq!(event["acks"], json!([ack]));
    assert_eq!(interface.events[0].payload.event_id(), Some(&answer.event_id));
    assert_eq!(interface.events[0].summary, "ADT^A08 7 → AA");
}

#[test]
fn a_resend_gets_the_same_acknowledgment() {
    let mut interface = strict();
    let first = interface.send(&update("7"));
    interface.now = interface.now.plus_milliseconds(60_000);
    // A resend may have a new message time and other line endings.
    for again in [
        update("7"),
        update("7").replace("20260401120000||ADT", "20260401120500||ADT"),
        update("7").replace('\r', "\r\n"),
    ] {
        let (receipt, changes) = interface.send_body(Body::Bytes(again.into_bytes()));
        let reply = receipt.unwrap();
        assert_eq!((reply.text(), changes), (first.text(), 0));
        assert!(reply.messages[0].is_resend && !first.messages[0].is_resend);
        let event = interface.last_event();
        assert_eq!(event["resend_of"], first.messages[0].event_id.to_string());
        assert_eq!(event.get("payload"), None);
    }
    let (code, lines) = interface.answer(&update("7").replace("Doe", "Roe"));
    assert_eq!(code, "AE");
    assert!(lines.contains("ERR||MSH^1^10|205^Duplicate key identifier^HL70357|E"), "{lines}");
    // Control ids are unique per sender, and rejected messages do not use them up.
    assert_eq!(interface.answer(&update("7").replace("EHR|", "PAS|")).0, "AA");
    assert_eq!(interface.answer(&update("8").replace("PID|1||77^^^MRN", "PID|1||")).0, "AE");
    assert_eq!(interface.answer(&update("8")).0, "AA");
}

#[test]
fn deliveries_of_one_call_are_processed_in_order() {
    let mut interface = strict();
    let delivery =
        |text: String| Delivery { body: Body::Text(text), transport: Transport::Http, actor: "agent".to_owned() };
    let texts = [update("1"), update("2"), update("1"), update("2").replace("Doe", "Roe")];
    let (receipts, changes) = interface.deliver(&texts.into_iter().map(delivery).collect::<Vec<_>>());
    let codes: Vec<String> = receipts.iter().map(|one| one.as_ref().unwrap().code().unwrap().to_owned()).collect();
    assert_eq!(codes, ["AA", "AA", "AA", "AE"]);
    assert_eq!((changes, interface.events.len()), (2, 4));
    assert_eq!(receipts[2].as_ref().unwrap().text(), receipts[0].as_ref().unwrap().text());
}

#[test]
fn enhanced_mode_sends_the_requested_acknowledgments() {
    let with = |id: &str, accept: &str, application: &str| {
        update(id).replace("|P|2.5.1", &format!("|P|2.5.1|||{accept}|{application}"))
    };
    let codes = |text: &str| {
        let reply = strict().send(text);
        let codes: Vec<String> = reply.messages[0].acks.iter().map(|ack| ack.code.clone()).collect();
        assert_eq!(reply.frames().len(), codes.len());
        codes.join(" ")
    };
    assert_eq!(codes(&with("1", "AL", "AL")), "CA AA");
    assert_eq!(codes(&with("1", "AL", "NE")), "CA");
    assert_eq!(codes(&with("1", "NE", "AL")), "AA");
    assert_eq!(codes(&with("1", "NE", "NE")), "");
    assert_eq!(codes(&with("1", "ER", "ER")), "");
    let faulty = with("1", "AL", "AL").replace("PV1|1|O", "PV1|1|");
    assert_eq!(codes(&faulty), "CE");
    assert_eq!(codes(&faulty.replace("ADT^A08", "QBP^Q11")), "CR");
}

#[test]
fn a_batch_is_answered_with_a_batch() {
    let mut interface = strict();
    let batch = |count: usize| {
        let messages = format!("{}{}", update("1"), update("2").replace("PV1|1|O", "PV1|1|"));
        format!("FHS|^~\\&|EHR|CLINIC|LAB|HOSP\rBHS|^~\\&|EHR|CLINIC|LAB|HOSP|||||B7\r{messages}BTS|{count}\rFTS|1\r")
    };
    let reply = interface.send(&batch(2));
    let text = reply.text().unwrap();
    assert!(text.starts_with("FHS|^~\\&|LAB|HOSP|EHR|CLINIC|20260423120000+0000||||"), "{text}");
    let lines: Vec<&str> = text.split('\r').collect();
    assert!(lines[1].starts_with("BHS|^~\\&|LAB|HOSP|EHR|CLINIC|2026") && lines[1].ends_with("|B7"), "{text}");
    assert_eq!((lines[3], &lines[5][..8]), ("MSA|AA|1", "MSA|AE|2"));
    assert!(text.ends_with("\rBTS|2\rFTS|1\r"), "{text}");
    hl7v2::BatchFile::parse_text(&text, &hl7v2::Limits::default()).unwrap();
    assert_eq!(reply.frames(), [text.clone().into_bytes()]);
    assert_eq!((reply.code(), reply.to_answer().unwrap().messages.len()), (Some("AE"), 2));
    // A wrong count means that messages were lost, so none is accepted.
    let mut interface = strict();
    let (receipt, changes) = interface.send_body(Body::Text(batch(3)));
    let text = receipt.unwrap().text().unwrap();
    assert!(text.contains("MSA|AE|1|BTS-1 says 3 messages in the batch, there are 2"), "{text}");
    assert_eq!(changes, 0);
    // Without an envelope, each acknowledgment is a frame of its own.
    let reply = strict().send(&format!("{}{}", update("1"), update("2")));
    assert_eq!((reply.frames().len(), reply.code()), (2, Some("AA")));
}

#[test]
fn replies_use_delimiters_and_version_of_the_message() {
    let mut interface = strict();
    let latin = b"MSH#*!?%#A%1*B####20260401##ADT*A31#i?F?d#P#2.3######8859/1\rEVN#A31#20260401\rPID###1##M\xfcller*Ann\rPV1##O\r";
    let reply = interface.send_body(Body::Bytes(latin.to_vec())).0.unwrap();
    assert_eq!(reply.code(), Some("AA"), "{:?}", reply.text());
    assert!(reply.text().unwrap().ends_with("MSA#AA#i?F?d\r"));
    assert!(interface.last_event()["payload"].as_str().unwrap().contains("Müller"));
    for version in ["2.1", "2.2", "2.3", "2.3.1", "2.4", "2.5", "2.5.1", "2.6", "2.7", "2.7.1", "2.8"] {
        let text = update("1").replace("2.5.1", version);
        let (code, lines) = strict().answer(&text);
        assert_eq!((code.as_str(), lines.as_str()), ("AA", "MSA|AA|1"), "{version}");
    }
    let mut only = Interface::new(json!({"version": "2.3"}));
    let (code, lines) = only.answer(&update("1"));
    assert!(code == "AR" && lines.contains("ERR||MSH^1^12|203^"), "{lines}");
    assert_eq!(only.answer(&update("1").replace("2.5.1", "2.3")).0, "AA");
}

#[test]
fn a_lenient_interface_accepts_everything_that_can_be_parsed() {
    let mut interface = Interface::new(json!({"lenient": true}));
    let odd = "MSH|^~\\&|A|B|C|D|||QBP^Q11||X|9.9\rPID|1\rZZZ|\r";
    let (code, lines) = interface.answer(odd);
    assert!(code == "AA" && lines.starts_with("MSA|AA|\nERR||"), "{lines}");
    assert!(lines.contains("|W|") && !lines.contains("|E|"), "{lines}");
    let event = interface.last_event();
    assert_eq!(event["accepted"], true);
    assert!(event["faults"].as_array().unwrap().len() > 2, "{event}");
    assert_eq!(strict().answer(odd).0, "AR");
}

/// The example of the product's own guide: no EVN, no PID-3 authority.
const ADMISSION: &str = "MSH|^~\\&|VERIAL|AGENT|EHR|FACILITY|20260423||ADT^A01|12345|P|2.5\rPID|1||12345^^^MRN||Smith^John||19650315|M\rPV1|1|I|ICU^101^A\r";

#[test]
fn structural_faults_are_warnings_unless_the_interface_is_strict() {
    let mut interface = Interface::new(json!({}));
    let (code, lines) = interface.answer(ADMISSION);
    assert!(code == "AA" && lines.starts_with("MSA|AA|12345\nERR||EVN^1|100^"), "{lines}");
    assert!(lines.contains("|W|") && !lines.contains("|E|"), "{lines}");
    let event = interface.last_event();
    assert_eq!(event["accepted"], true);
    assert_eq!(event["faults"].as_array().map(Vec::len), Some(1), "{event}");
    // The header is still validated, and control ids must be unique.
    assert_eq!(interface.answer(&ADMISSION.replace("A01|12345", "A99|2")).0, "AR");
    assert_eq!(interface.answer(&ADMISSION.replace("Smith", "Smyth")).0, "AE");
    // Before version 2.5, ERR has no severity, so accepted messages have no ERR.
    let (code, lines) = Interface::new(json!({})).answer(&ADMISSION.replace("|2.5\r", "|2.4\r"));
    assert_eq!((code.as_str(), lines.as_str()), ("AA", "MSA|AA|12345"));
    for config in [json!({"strict": true}), json!({"lenient": false})] {
        let (code, lines) = Interface::new(config).answer(ADMISSION);
        assert!(code == "AE" && lines.contains("|E|"), "{lines}");
    }
}

#[test]
fn orders_get_application_level_responses() {
    let order = |header: &str| {
        format!("MSH|^~\\&|A|B|C|D|20260401||{header}\rPID|1||1^^^H||Doe^Ann\rORC|NW|1\rOBR|1|1||80053^Panel^C4\r")
    };
    for (header, answers) in [
        ("ORM^O01|1|P|2.5.1|||NE|AL", vec!["ORR^O02^ORR_O02"]),
        ("ORM^O01|1|P|2.5.1|||AL|AL", vec!["ACK^O01^ACK", "ORR^O02^ORR_O02"]),
        ("ORM^O01|1|P|2.3|||NE|AL", vec!["ORR^O02"]),
        ("OML^O21|1|P|2.5.1|||NE|AL", vec!["ORL^O22^ORL_O22"]),
        ("RDE^O11|1|P|2.5.1|||NE|AL", vec!["RRE^O12^RRE_O12"]),
        ("ADT^A08|1|P|2.5.1|||NE|AL", vec!["ACK^A08^ACK"]),
        // Original mode, and a commit alone.
        ("ORM^O01|1|P|2.5.1", vec!["ACK^O01^ACK"]),
        ("ORM^O01|1|P|2.5.1|||AL|NE", vec!["ACK^O01^ACK"]),
    ] {
        let reply = Interface::new(json!({})).send(&order(header));
        let text: String = reply.frames().iter().map(|frame| String::from_utf8_lossy(frame).into_owned()).collect();
        let types: Vec<&str> =
            text.split('\r').filter(|line| line.starts_with("MSH")).filter_map(|line| line.split('|').nth(8)).collect();
        assert_eq!(types, answers, "{header}: {text}");
        assert!(text.contains("MSA|AA|1") || text.contains("MSA|CA|1"), "{text}");
    }
}
