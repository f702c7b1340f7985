//! Tests acknowledgements: original and enhanced mode, and errors in the format of each version.

use verial_hl7v2::acknowledgement::codes_due;
use verial_hl7v2::{AckCode, Acknowledgement, ErrorCode, Fault, Limits, Location, Message, validate};

use crate::{found, read, samples};

fn acknowledge(code: AckCode, faults: Vec<Fault>, message: &Message) -> String {
    let ack = Acknowledgement::new(code, "20260301120000", "ACK1").with_faults(faults).answer(message).unwrap();
    assert_eq!(validate(&ack), [], "{ack}");
    ack.text().to_owned()
}

fn missing_name() -> Fault {
    Fault::new(ErrorCode::RequiredFieldMissing, "PID-5 is required").at(Location::field("PID", 1, 5))
}

#[test]
fn an_acknowledgement_goes_from_receiver_to_sender() {
    assert_eq!(
        acknowledge(AckCode::ApplicationAccept, vec![], &read(&samples::admission())),
        "MSH|^~\\&|LAB|NORTHGATE|ADT1|NORTHGATE|20260301120000||ACK^A01^ACK|ACK1|P|2.5.1||||||UNICODE UTF-8\r\
         MSA|AA|MSG00001\r"
    );
}

#[test]
fn errors_have_the_format_of_the_version() {
    let header = |version: &str| read(&format!("MSH|^~\\&|A|B|C|D|||ADT^A01|7|T|{version}\r"));
    let tail = |version| {
        let text = acknowledge(AckCode::ApplicationError, vec![missing_name()], &header(version));
        text.split_once("|ACK").unwrap().1.to_owned()
    };
    let old = "MSA|AE|7|PID-5 is required\rERR|PID^1^5^101&Required field missing&HL70357\r";
    let new = "ERR||PID^1^5|101^Required field missing^HL70357|E||||PID-5 is required\r";
    assert_eq!(tail("2.1"), format!("|ACK1|T|2.1\r{old}"));
    assert_eq!(tail("2.3"), format!("^A01|ACK1|T|2.3\r{old}"));
    assert_eq!(tail("2.4"), format!("^A01^ACK|ACK1|T|2.4\r{old}"));
    assert_eq!(tail("2.5"), format!("^A01^ACK|ACK1|T|2.5\rMSA|AE|7|PID-5 is required\r{new}"));
    assert_eq!(tail("2.8"), format!("^A01^ACK|ACK1|T|2.8\rMSA|AE|7\r{new}"));
}

#[test]
fn several_faults_repeat_the_field_or_the_segment() {
    let mut deep = Fault::new(ErrorCode::DataTypeError, "is 1|2");
    let path: verial_hl7v2::Path = "OBX.5[2].1".parse().unwrap();
    deep.location = Some(Location { segment: "OBX".to_owned(), sequence: 3, position: path.position });
    let without_location = Fault::new(ErrorCode::ApplicationInternalError, "out of paper");
    let faults = vec![deep, without_location];
    let old = acknowledge(AckCode::ApplicationError, faults.clone(), &read("MSH|^~\\&|||||||ORU^R01|7|P|2.4"));
    assert!(
        old.ends_with("ERR|OBX^3^5^102&Data type error&HL70357~^^^207&Application internal error&HL70357\r"),
        "{old}"
    );
    let new = acknowledge(AckCode::ApplicationError, faults, &read("MSH|^~\\&|||||||ORU^R01|7|P|2.6"));
    assert!(
        new.ends_with(
            "ERR||OBX^3^5^2^1|102^Data type error^HL70357|E||||is 1\\F\\2\r\
             ERR|||207^Application internal error^HL70357|E||||out of paper\r"
        ),
        "{new}"
    );
}

#[test]
fn an_acknowledgement_uses_the_delimiters_and_character_set_of_the_message() {
    let custom = read("MSH#*!?%#A%1*B####X##ORU*R01#i?F?d#P#2.3");
    let text = acknowledge(AckCode::ApplicationAccept, vec![], &custom);
    assert_eq!(text, "MSH#*!?%###A%1*B##20260301120000##ACK*R01#ACK1#P#2.3\rMSA#AA#i?F?d\r");

    let short = read("MSH|^|A||||||ORU^R01|7|P|2.3");
    assert!(acknowledge(AckCode::ApplicationAccept, vec![], &short).starts_with("MSH|^~\\&|"));

    let ascii = read("MSH|^~\\&|||||||ORU^R01|7|P|2.8||||||ASCII");
    let fault = Fault::new(ErrorCode::DataTypeError, "is `Zoë`");
    assert!(acknowledge(AckCode::ApplicationError, vec![fault], &ascii).contains("is `Zo?`"));
}

#[test]
fn an_unparsable_message_is_rejected_by_its_header() {
    let bytes = b"MSH|^~\\&|A|B|C|D|||ADT^A01|7|P|2.5\rnot a segment";
    let limits = Limits::default();
    let error = Message::parse(bytes, &limits).unwrap_err();
    assert!(!error.is_not_hl7());
    let header = Message::parse_header(bytes, &limits).unwrap();
    let text = acknowledge(AckCode::ApplicationReject, vec![error.to_fault()], &header);
    assert!(text.contains("MSA|AR|7|segment 2, byte 35: `not a segment` is not a segment"), "{text}");
}

#[test]
fn long_texts_are_truncated() {
    let long = "x".repeat(1000);
    let message = read("MSH|^~\\&|||||||ORU^R01|7|P|2.5");
    let builder = Acknowledgement::new(AckCode::ApplicationError, "20260301", "1")
        .with_text(&long)
        .with_faults([Fault::new(ErrorCode::DataTypeError, &long)]);
    let ack = builder.answer(&message).unwrap();
    assert_eq!(found(&ack, "MSA.3")[0].len(), 80);
    assert_eq!(found(&ack, "ERR.8")[0].len(), 250);
}

#[test]
fn modes_determine_the_requested_acknowledgements() {
    let due = |accept: &str, application: &str, faults: &[Fault]| {
        let message = read(&format!("MSH|^~\\&|||||||ORU^R01|7|P|2.5|||{accept}|{application}"));
        codes_due(&message, faults).into_iter().map(AckCode::code).collect::<Vec<_>>().join(" ")
    };
    let error = [missing_name()];
    let rejection = [Fault::new(ErrorCode::UnsupportedMessageType, "no"), missing_name()];
    assert_eq!(due("", "", &[]), "AA");
    assert_eq!(due("", "", &error), "AE");
    assert_eq!(due("", "", &rejection), "AR");
    assert_eq!(due("AL", "NE", &[]), "CA");
    assert_eq!(due("AL", "NE", &error), "CE");
    assert_eq!(due("AL", "NE", &rejection), "CR");
    assert_eq!(due("AL", "AL", &[]), "CA AA");
    assert_eq!(due("AL", "AL", &error), "CE", "a message that was not committed is not processed");
    assert_eq!(due("ER", "AL", &[]), "AA");
    assert_eq!(due("ER", "AL", &error), "CE");
    assert_eq!(due("SU", "ER", &[]), "CA");
    assert_eq!(due("SU", "ER", &error), "AE");
    assert_eq!(due("NE", "NE", &error), "");
    assert_eq!(due("NE", "", &[]), "");
}
