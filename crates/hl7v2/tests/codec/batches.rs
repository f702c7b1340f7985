//! Tests batches and files of messages.

use verial_hl7v2::{BatchFile, Limits};

use crate::samples;

fn parse(text: &str) -> Result<BatchFile, String> {
    BatchFile::parse(text.as_bytes(), &Limits::default()).map_err(|error| error.to_string())
}

#[test]
fn a_file_of_batches_is_split_and_written_back() {
    let (one, two) = (samples::admission(), samples::result());
    let text = format!(
        "\r\nFHS|^~\\&|A\nBHS|^~\\&|A|||||||B1\r{one}{two}BTS|2\r\nBHS#*!?%#A\r{}BTS#1#sum*1\rFTS|2\r\n",
        samples::order()
    );
    let file = parse(&text).unwrap();
    let ids: Vec<String> = file.messages().map(|message| message.control_id().into_owned()).collect();
    assert_eq!(ids, ["MSG00001", "LAB77", "ORD1"]);
    let first = file.messages().next().unwrap();
    assert_eq!(first.text(), one);
    let names: Vec<&str> = file.envelopes().map(|envelope| envelope.segment().name()).collect();
    assert_eq!(names, ["FHS", "BHS", "BTS", "BHS", "BTS", "FTS"]);
    let second = file.envelopes().nth(1).unwrap();
    assert_eq!(second.segment().field(10).unwrap().raw(), "B1");
    assert_eq!(file.to_bytes(), text.as_bytes());
    assert_eq!(file.into_messages().count(), 3);
}

#[test]
fn envelopes_are_optional() {
    let (one, two) = (samples::admission(), samples::result());
    for text in
        [one.clone(), format!("{one}{two}"), format!("BHS|^~\\&|A\r{one}BTS\r"), format!("FHS|^~\\&\r{one}FTS|1")]
    {
        let file = parse(&text).unwrap();
        assert_eq!(file.to_bytes(), text.as_bytes());
        assert!(file.messages().count() >= 1);
    }
}

#[test]
fn wrong_counts_are_reported() {
    let one = samples::order();
    let check = |text: String, expected: &[&str]| assert_eq!(parse(&text).unwrap().miscounts(), expected);
    check(format!("FHS|^~\\&\rBHS|^~\\&\r{one}BTS|1\rFTS|1"), &[]);
    check(format!("BHS|^~\\&\r{one}BTS|2"), &["BTS-1 says 2 messages in the batch, there are 1"]);
    check(format!("BHS|^~\\&\r{one}BTS|many"), &["BTS-1 says many messages in the batch, there are 1"]);
    check(format!("FHS|^~\\&\rBHS|^~\\&\r{one}BTS\rFTS|3"), &["FTS-1 says 3 batches in the file, there are 1"]);
}

#[test]
fn invalid_envelopes_are_rejected_with_their_position() {
    let one = "MSH|^~\\&|A\rPID|1\r";
    for (text, message) in [
        (format!("{one}BTS|1"), "segment 3, byte 17: BTS has no BHS"),
        (format!("{one}FTS|1"), "FTS has no FHS"),
        (format!("BHS|^~\\&\rBHS|^~\\&\r{one}"), "segment 2, byte 9: BHS is inside a batch that has no BTS"),
        (format!("FHS|^~\\&\rBHS|^~\\&\r{one}FTS|1"), "FTS is inside a batch"),
        (format!("{one}FHS|^~\\&"), "FHS is not at the start"),
        (format!("FHS|^~\\&\r{one}FTS|1\r{one}"), "MSH follows FTS"),
        (format!("FHS|\r{one}"), "MSH-2 is empty"),
        (format!("BHS|^~\\&\r{one}pv1|1\rBTS"), "segment 4, byte 26: `pv1|1` is not a segment"),
        (format!("BHS|^~\\&\r{one}BTS#1"), "is not a segment"),
        ("PID|1".to_owned(), "starts with MSH"),
    ] {
        let error = parse(&text).unwrap_err();
        assert!(error.contains(message), "{text:?}: {error}");
    }
}

#[test]
fn decoded_text_is_parsed() {
    let text = "BHS|^~\\&|A\rMSH|^~\\&||||||||||||||||8859/1\rNTE|||Zoë\rMSH|^~\\&|A\rNTE|||Łódź\rBTS|2";
    let file = BatchFile::parse_text(text, &Limits::default()).unwrap();
    assert_eq!(file.text(), text);
    let first = file.messages().next().unwrap();
    assert!(first.to_bytes().ends_with(b"Zo\xeb\r"), "each is sent in its own character set");
    assert!(BatchFile::parse(&file.to_bytes(), &Limits::default()).unwrap() == file);
}
