//! One dataset, one outcome.

use verial_fhir::ingest::{Format, Ingest, IngestError, IngestFault, InputLocation, Limits};

use crate::{Dataset, read};

/// Reads the dataset whole and byte by byte, which must come to the same.
fn check(format: Format, limits: Limits, bytes: impl AsRef<[u8]>) -> Result<Dataset, IngestFault> {
    let bytes = bytes.as_ref();
    let whole = read(format, limits, &[bytes]);
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(whole, read(format, limits, &single));
    whole
}

fn ndjson(bytes: impl AsRef<[u8]>) -> Result<Dataset, IngestFault> {
    check(Format::Ndjson, Limits::default(), bytes)
}

fn bundle(bytes: impl AsRef<[u8]>) -> Result<Dataset, IngestFault> {
    check(Format::Bundle, Limits::default(), bytes)
}

#[track_caller]
fn fault(result: Result<Dataset, IngestFault>, expected: &str) {
    assert_eq!(result.map_err(|fault| fault.to_string()), Err(expected.to_owned()));
}

#[test]
fn lines_end_with_lf_or_crlf_and_blank_ones_are_skipped() {
    let dataset = ndjson(concat!(
        "\u{feff}{\"resourceType\":\"Patient\",\"id\":\"1\"}\r\n\n \t\r\n",
        "  { \"id\" : \"1\", \"resourceType\" : \"Group\" } \n",
        "{\"resourceType\":\"Patient\",\"id\":\"2\"}",
    ))
    .unwrap();
    assert_eq!(dataset.references, ["Patient/1", "Group/1", "Patient/2"]);
    assert_eq!(dataset.lines[1], r#"{ "id" : "1", "resourceType" : "Group" }"#);
    assert_eq!(dataset.summary.counts.into_iter().collect::<Vec<_>>(), [("Group", 1), ("Patient", 2)]);
    assert_eq!((dataset.summary.resources, dataset.summary.bytes), (3, 124));
}

#[test]
fn an_empty_dataset_holds_nothing() {
    assert_eq!(ndjson("").unwrap().summary.resources, 0);
    assert_eq!(ndjson("\u{feff}\n").unwrap().summary.resources, 0);
    assert_eq!(bundle(r#"{"resourceType":"Bundle"}"#).unwrap().summary.resources, 0);
    assert_eq!(bundle(r#"{"entry":[ ],"resourceType":"Bundle","type":"batch"}"#).unwrap().summary.resources, 0);
}

#[test]
fn a_pretty_bundle_gives_compact_lines_with_every_digit_and_escape() {
    let dataset = bundle(
        r#"
        {
          "type": "collection", "total": 1,
          "entry": [
            {
              "fullUrl": "urn:uuid:1",
              "resource": {
                "resourceType": "Observation",
                "value": 1.50, "note": "a\u00e9 [ \"{\\",
                "contained": [ { "resourceType": "Nonsense", "id": 7 } ],
                "id": "\u0061"
              }
            } , {"resource": {"resourceType":"Bundle", "id":"b", "entry":[{}]}}
          ],
          "resource\u0054ype": "Bundle", "link": [ { "entry": [] } ]
        }
        "#,
    )
    .unwrap();
    assert_eq!(dataset.references, ["Observation/a", "Bundle/b"]);
    assert_eq!(
        dataset.lines,
        [
            concat!(
                r#"{"resourceType":"Observation","value":1.50,"note":"a\u00e9 [ \"{\\","#,
                r#""contained":[{"resourceType":"Nonsense","id":7}],"id":"\u0061"}"#,
            ),
            r#"{"resourceType":"Bundle", "id":"b", "entry":[{}]}"#
        ]
    );
}

#[test]
fn a_resource_must_say_what_it_is() {
    let line = |text: &str| ndjson(format!("\n{text}\n"));
    fault(line("[]"), "line 2: resource is not a JSON object");
    fault(line("{}"), "line 2: resource has no resourceType");
    fault(line(r#"{"resourceType":7}"#), "line 2: resourceType is not a string");
    fault(line(r#"{"resourceType":"Patient"}"#), "line 2: resource has no id");
    fault(line(r#"{"resourceType":"Patient","id":null}"#), "line 2: id is not a string");
    fault(
        line(r#"{"resourceType":"Patient","id":"a b"}"#),
        "line 2: id \"a b\" is not 1 to 64 letters, digits, - and .",
    );
    fault(
        line(r#"{"resourceType":"Pateint","id":"1"}"#),
        r#"line 2: unknown resource type "Pateint", did you mean "Patient"?"#,
    );
    fault(line(r#"{"resourceType":"Spaceship","id":"1"}"#), r#"line 2: unknown resource type "Spaceship""#);
    fault(line(r#"{"resourceType":"Patient","id":"1","id":"1"}"#), "line 2: resource has more than one id");
}

#[test]
fn a_resource_must_be_json() {
    let patient = r#"{"resourceType":"Patient","id":"1""#;
    let line = |text: &str| ndjson(format!("{patient},{text}}}"));
    fault(line(r#""a":tru"#), "line 1: not valid JSON: expected ident at column 43");
    fault(line(r#""a":01"#), "line 1: not valid JSON: invalid number at column 41");
    fault(ndjson(patient), "line 1: not valid JSON: EOF while parsing an object at column 34");
    fault(ndjson(format!("{patient}}} x")), "line 1: not valid JSON: trailing characters at column 37");
    fault(ndjson([patient.as_bytes(), b",\"a\":\"\xFF\"}"].concat()), "line 1: not valid UTF-8");
    fault(line(r#""a":"\u0000""#), "line 1: a string holds the character U+0000");
    fault(line(r#""a":"\ud800x""#), "line 1: a string holds half of a surrogate pair");
    assert!(line(r#""a":"\\u0000 \ud83d\ude00""#).is_ok());
    fault(ndjson("{\"resourceType\":\n\"Patient\"}"), "line 1: not valid JSON: EOF while parsing a value at column 16");
}

#[test]
fn a_resource_comes_once() {
    let patient = r#"{"resourceType":"Patient","id":"1"}"#;
    fault(ndjson(format!("{patient}\n{patient}\n")), "line 2: Patient/1 is there more than once");
    fault(
        bundle(format!(r#"{{"resourceType":"Bundle","entry":[{{"resource":{patient}}},{{"resource":{patient}}}]}}"#)),
        "entry 2: Patient/1 is there more than once",
    );
}

#[test]
fn the_document_must_be_one_bundle() {
    fault(bundle(""), "the Bundle is cut off after 0 entries");
    fault(bundle("[]"), "expected a JSON object at byte 0");
    fault(bundle("{}"), "document has no resourceType");
    fault(bundle(r#"{"resourceType":"Patient","id":"1"}"#), r#"resourceType is "Patient", not "Bundle""#);
    fault(bundle(r#"{"resourceType":"Bundle","type":"heap"}"#), r#"unknown type of Bundle "heap""#);
    fault(bundle(r#"{"resourceType":"Bundle", garbage}"#), "expected a key at byte 26");
    fault(bundle(r#"{"resourceType":"Bundle","a":garbage}"#), "not valid JSON before byte 36");
    fault(bundle(r#"{"resourceType":"Bundle","a":}"#), "not valid JSON before byte 29");
    fault(bundle(r#"{"resourceType":"Bundle","a":[1,{]}"#), "not valid JSON before byte 35");
    fault(bundle("{\"resourceType\":\"Bundle\",\"a\tb\":1}"), "not valid JSON before byte 30");
    fault(bundle(r#"{"resourceType":"Bundle",}"#), "expected a key at byte 25");
    fault(bundle(r#"{"resourceType":"Bundle"} {}"#), "expected the end of the document at byte 26");
    fault(bundle(r#"{"resourceType":"Bundle""entry":[]}"#), "expected `,` or `}` at byte 24");
    fault(bundle(r#"{"resourceType":"Bundle","entry":null}"#), "expected an array of entries at byte 33");
    fault(bundle(r#"{"entry":[],"resourceType":"Bundle","\u0065ntry":[]}"#), "Bundle has more than one entry");
    fault(bundle(b"{\"resourceType\":\"Bundle\",\"a\":\"\xFF\"}"), "not valid UTF-8");
}

#[test]
fn an_entry_must_hold_a_resource() {
    let entries = |text: &str| bundle(format!(r#"{{"resourceType":"Bundle","entry":[{text}]}}"#));
    let good = r#"{"resource":{"resourceType":"Patient","id":"1"}}"#;
    fault(entries(&format!("{good},{{}}")), "entry 2: entry has no resource");
    fault(entries(&format!("{good},7")), "entry 2: entry is not a JSON object");
    fault(entries(&format!("{good},")), "entry 2: entry is not a JSON object");
    fault(entries(&format!("{good}{good}")), "expected `,` or `]` at byte 82");
    fault(entries(r#"{"resource":[]}"#), "entry 1: resource is not a JSON object");
    fault(entries(r#"{"resource":{"resourceType":"Patient"}}"#), "entry 1: resource has no id");
    fault(entries(r#"{"request":tru,"resource":{}}"#), "entry 1: not valid JSON: expected ident at column 15");
    fault(entries(r#"{"resource":{},"resource":{}}"#), "entry 1: entry has more than one resource");
}

#[test]
fn nesting_is_refused_where_serde_json_would_refuse_to_read_it_back() {
    let nested = |levels: usize| {
        let inner = levels - 1;
        format!(r#"{{"resourceType":"Patient","id":"1","a":{}{}}}"#, "[".repeat(inner), "]".repeat(inner))
    };
    let wrapped = |levels| format!(r#"{{"resourceType":"Bundle","entry":[{{"resource":{}}}]}}"#, nested(levels));
    for levels in [127, 128] {
        let readable = serde_json::from_str::<serde_json::Value>(&nested(levels)).is_ok();
        assert_eq!(ndjson(nested(levels)).is_ok(), readable, "{levels}");
        assert_eq!(bundle(wrapped(levels)).is_ok(), readable, "{levels}");
    }
    fault(ndjson(nested(100_000)), "line 1: nested 128 levels deep or more");
    fault(bundle(wrapped(128)), "entry 1: nested 128 levels deep or more");
}

#[test]
fn size_and_number_are_limited() {
    let patient = |id: &str| format!(r#"{{"resourceType":"Patient","id":"{id}"}}"#);
    let limits = Limits { resource_bytes: patient("1").len(), resources: 2, ..Limits::default() };
    let ndjson = |text: &str| check(Format::Ndjson, limits, text);
    let two = format!("{}\n{}\n", patient("1"), patient("2"));
    assert!(ndjson(&two).is_ok());
    fault(ndjson(&format!("{two}{}", patient("3"))), "line 3: more than 2 resources");
    fault(ndjson(&patient("11")), "line 1: larger than 35 bytes");
    fault(ndjson(&" ".repeat(36)), "line 1: larger than 35 bytes");

    let bundle = |text: &str| check(Format::Bundle, limits, text);
    let entry = format!(r#"{{"resource":{}}}"#, patient("1"));
    fault(bundle(&format!(r#"{{"entry":[{entry}]}}"#)), "entry 1: larger than 35 bytes");
    fault(bundle(&format!(r#"{{"text":"{}"}}"#, "x".repeat(40))), "larger than 35 bytes");
    fault(bundle(&format!(r#"{{"{}":1}}"#, "x".repeat(40))), "larger than 35 bytes");
    fault(bundle(&format!(r#"{{"total":{}}}"#, "1".repeat(40))), "larger than 35 bytes");
}

#[test]
fn a_message_echoes_little_of_a_long_text() {
    for member in ["resourceType", "id"] {
        let text = format!(r#"{{"{member}":"{}","resourceType_":1}}"#, "é".repeat(100_000));
        let text = if member == "id" { text.replace("resourceType_\":1", "resourceType\":\"Patient\"") } else { text };
        let message = ndjson(text).unwrap_err().message;
        assert!(message.matches('é').count() <= 80 && message.chars().count() < 200, "{message}");
    }
}

#[test]
fn the_first_error_is_the_last_word() {
    let patient = b"{\"resourceType\":\"Patient\",\"id\":\"1\"}\n";
    let mut refuse = |_: verial_fhir::ingest::Resource<'_>| Err("full");
    let mut ingest = Ingest::new(Format::Ndjson, Limits::default());
    assert_eq!(ingest.push(patient, &mut refuse), Err(IngestError::Sink("full")));
    let stopped = IngestFault { place: InputLocation::Document, message: "the ingest has been stopped".into() };
    assert_eq!(ingest.push(b"", &mut refuse), Err(IngestError::Fault(stopped.clone())));
    assert_eq!(ingest.finish(&mut refuse), Err(IngestError::Fault(stopped)));

    let mut take = |_: verial_fhir::ingest::Resource<'_>| Ok::<(), &str>(());
    let mut ingest = Ingest::new(Format::Ndjson, Limits::default());
    let fault = ingest.push(b"{}\n", &mut take).unwrap_err();
    assert_eq!(ingest.push(patient, &mut take), Err(fault.clone()));
    assert_eq!(ingest.finish(&mut take), Err(fault));
}
