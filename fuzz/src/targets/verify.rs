//! The checks: any assertion over a fixed playground, fixed assertions over whatever an agent left, and the notations.

use std::fmt::{Debug, Display};
use std::sync::LazyLock;

use model::event::EventType;
use model::score::Score;
use model::simulator::SimulatorType;
use serde_json::{Value, json};
use verify::authored::Notation;
use verify::glob::Glob;
use verify::path::fhirpath::FhirPath;
use verify::path::hl7::Hl7Path;
use verify::path::json::JsonPath;
use verify::path::x12::X12Path;
use verify::{Outcome, catalog, parse};

use crate::fixture::{PLAYGROUND, Playground};
use crate::json::{first_line, read, reversed};

static EXAMPLES: LazyLock<Vec<Value>> =
    LazyLock::new(|| catalog().iter().filter_map(|info| serde_json::from_str(info.example).ok()).collect());

/// Passed is a whole score, and what is said of it stays short.
fn bounded(outcome: &Outcome) {
    assert_eq!(outcome.passed, outcome.score == Score::one(), "{outcome:?}");
    assert!(outcome.details.len() < 10_000 && outcome.evidence.to_string().len() < 1_000_000);
}

/// The order of members does not count.
pub(crate) fn assertion(bytes: &[u8]) {
    let Some(assertion) = read(bytes) else { return };
    let outcome = PLAYGROUND.evaluate(&assertion);
    bounded(&outcome);
    assert_eq!(PLAYGROUND.evaluate(&reversed(&assertion)), outcome);
    if parse(&assertion).is_err() {
        assert!(outcome.details.starts_with("unsupported assertion") && !outcome.passed, "{outcome:?}");
    }
}

/// A list of `[simulator, collection, key, record]` and `[simulator, event, payload]`, in order.
pub(crate) fn agent_data(bytes: &[u8]) {
    let Some(Value::Array(items)) = read(bytes) else { return };
    let (playground, turned) = (worked(&items), worked(&items.iter().map(reversed).collect::<Vec<_>>()));
    for example in EXAMPLES.iter() {
        let outcome = playground.evaluate(example);
        bounded(&outcome);
        assert_eq!(turned.evaluate(example), outcome);
    }
}

fn worked(items: &[Value]) -> Playground {
    let mut playground = Playground::fresh();
    for item in items.iter().take(20) {
        let text = |at: usize| item[at].as_str().unwrap_or_default();
        let Ok(kind) = text(0).parse::<SimulatorType>() else { continue };
        if let Ok(event) = text(1).parse::<EventType>() {
            playground.happen(kind, event, item[2].clone());
        } else {
            playground.write(kind, text(1), text(2), &item[3]);
        }
    }
    playground
}

/// A file that the agent wrote, read in every way.
pub(crate) fn file_content(bytes: &[u8]) {
    let Ok(content) = std::str::from_utf8(bytes) else { return };
    let playground = with_file("a", content);
    for (parse, path) in
        [("json", "a.*[k=v]"), ("csv", "*.a"), ("hl7", "PID[1].3[2].1"), ("x12", "2110C.EB[1=1].3"), ("x12", "ISA")]
    {
        let assertion = json!({"assert": "sftp-file-present", "path": "a", "parse": parse,
            "fields": [{"path": path, "op": "exists"}], "contains": ["a"]});
        assert!(verify::parse(&assertion).is_ok(), "{assertion}");
        bounded(&playground.evaluate(&assertion));
    }
}

fn with_file(path: &str, content: &str) -> Playground {
    let mut playground = Playground::fresh();
    let file = json!({"sha256": "00", "size": content.len(), "content_type": "text/plain", "text": content});
    playground.write(SimulatorType::Files, "files", path, &file);
    playground
}

/// A phrase on the first line, what was said on those after it. Whatever is said has been said.
pub(crate) fn transcript(bytes: &[u8]) {
    let Some((phrase, said)) = first_line(bytes) else { return };
    let assertion = |phrase: &str| json!({"assert": "voice-transcript", "contains": [phrase], "in_order": true});
    let spoken = |text: &str| {
        let mut playground = Playground::fresh();
        for (index, turn) in text.split('\n').enumerate() {
            let payload = json!({"speaker": "agent", "text": turn, "index": index});
            playground.happen(SimulatorType::Voice, EventType::VoiceTurn, payload);
        }
        playground
    };
    let is_sound = parse(&assertion(phrase)).is_ok() && !phrase.contains("{{");
    bounded(&spoken(said).evaluate(&assertion(phrase)));
    let strict =
        json!({"assert": "voice-transcript", "contains": [phrase], "not_contains": [phrase], "negation": "reject"});
    let strict = spoken(said).evaluate(&strict);
    bounded(&strict);
    assert!(!strict.passed, "a phrase cannot be both there and not there: {strict:?}");
    let itself = spoken(phrase).evaluate(&assertion(phrase));
    assert!(!is_sound || itself.passed, "{itself:?}");
}

/// `{op, expected, tolerance, actual}`. A value equals itself, and is either equal to another or not; null is neither.
pub(crate) fn comparison(bytes: &[u8]) {
    let Some(Value::Object(mut members)) = read(bytes) else { return };
    let actual = members.remove("actual").unwrap_or_default();
    let mut playground = Playground::fresh();
    playground.write(SimulatorType::Payer, "rows", "r", &json!({"id": "r", "value": actual}));
    let hold = |field: Value| {
        let correlate_by = json!({"resource": "rows", "key": "id", "value": "r"});
        let assertion = json!({"assert": "portal-state-match", "correlate_by": correlate_by, "assertions": [field]});
        let is_sound = parse(&assertion).is_ok() && !assertion.to_string().contains("{{");
        let outcome = playground.evaluate(&assertion);
        bounded(&outcome);
        is_sound.then_some(outcome.passed)
    };
    let expected = members.get("expected").cloned().unwrap_or_default();
    members.insert("path".to_owned(), "value".into());
    hold(Value::Object(members));
    assert_ne!(hold(json!({"path": "value", "expected": actual})), Some(false), "{actual} is itself");
    let held = |op: &str| hold(json!({"path": "value", "op": op, "expected": expected}));
    let (equal, unequal) = (held("equals"), held("not_equals"));
    assert!(actual.is_null() || equal.is_none() || equal != unequal, "{actual} against {expected}");
}

/// A pattern on the first line, a path on the second.
pub(crate) fn glob(bytes: &[u8]) {
    let Some((pattern, path)) = first_line(bytes) else { return };
    round_trip::<Glob>(pattern);
    let assertion = json!({"assert": "sftp-file-present", "path": pattern});
    bounded(&with_file(path, "").evaluate(&assertion));
}

/// A path on the first line, a document on those after it.
pub(crate) fn json_path(bytes: &[u8]) {
    let Some((path, document)) = first_line(bytes) else { return };
    round_trip::<JsonPath>(path);
    let fields = json!([{"path": path, "op": "exists"}]);
    let assertion = json!({"assert": "sftp-file-present", "path": "a", "parse": "json", "fields": fields});
    bounded(&with_file("a", document).evaluate(&assertion));
}

/// One text in every notation, over the fixed files and resources.
pub(crate) fn notation(bytes: &[u8]) {
    let Ok(path) = std::str::from_utf8(bytes) else { return };
    round_trip::<Hl7Path>(path);
    round_trip::<X12Path>(path);
    round_trip::<FhirPath>(path);
    for parse in ["hl7", "x12", "csv"] {
        let fields = json!([{"path": path, "op": "exists"}]);
        let file = format!("outbox/a.{parse}");
        let assertion = json!({"assert": "sftp-file-present", "path": file, "parse": parse, "fields": fields});
        bounded(&PLAYGROUND.evaluate(&assertion));
    }
    for field in [json!({"fhirpath": path, "op": "exists"}), json!({"path": path, "op": "absent"})] {
        let assertion = json!({"assert": "fhir-resource-state", "resource_type": "Patient", "fields": [field]});
        bounded(&PLAYGROUND.evaluate(&assertion));
    }
}

/// What is read and written is read again as the same.
fn round_trip<T: Notation + Display + Debug + PartialEq>(text: &str) {
    if let Ok(value) = T::read(text) {
        let written = value.to_string();
        assert_eq!(T::read(&written), Ok(value), "{text:?} written as {written:?}");
    }
}
