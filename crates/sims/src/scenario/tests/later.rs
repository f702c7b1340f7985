//! Deferred steps, which have `after_seconds`.

use model::simulator::SimulatorType;
use serde_json::{Value, json};
use world::{Context, World};

use super::playground::{Playground, START, sandbox_id};
use crate::scenario::{catch_up, next_due};

fn note(path: &str, after_seconds: i64) -> Value {
    json!({"do": "drop_file_inbox", "path": path, "content": "for {{entity.name}}", "after_seconds": after_seconds})
}

fn paths(playground: &Playground) -> Vec<String> {
    let records = &playground.world.sandboxes[&sandbox_id(SimulatorType::Files)].records;
    records.own("files").map(|record| record.key.to_owned()).collect()
}

#[test]
fn a_deferred_step_is_executed_when_it_is_due() {
    let mut playground = Playground::new(&[]).begin(&json!([note("now", 0), note("later", 60)]));
    assert_eq!(playground.event_names(), ["drop_file_inbox done", "drop_file_inbox scheduled"]);
    assert_eq!(playground.written(), ["create files/now 1", "create scheduled/000001 1"]);
    let deferred = playground.row(SimulatorType::Files, "scheduled", "000001").unwrap();
    let due_at = START.plus_milliseconds(60_000).to_string();
    let step = json!({"do": "drop_file_inbox", "path": "later", "content": "for Ada Stone"});
    assert_eq!(deferred, json!({"due_at": due_at, "index": 1, "step": step}));
    assert_eq!(playground.next_due(), Some(60));
    assert_eq!((playground.catch_up_after(0), playground.catch_up_after(59)), (0, 0));
    assert_eq!(paths(&playground), ["now"]);
    assert_eq!(playground.catch_up_after(60), 1);
    assert_eq!(paths(&playground), ["later", "now"]);
    assert_eq!(playground.written()[2..], ["create files/later 1", "delete scheduled/000001 2"]);
    let (_, event) = playground.events.last().unwrap();
    assert_eq!((&event.payload.json()["due_at"], &event.payload.json()["outcome"]), (&json!(due_at), &json!("done")));
    assert_eq!(playground.next_due(), None);
    assert_eq!((playground.catch_up_after(61), playground.catch_up_after(1000)), (0, 0), "the step is executed once");
}

#[test]
fn arrivals_have_the_time_when_they_were_due() {
    let text = json!({"do": "message_inbound", "channel": "sms", "from": "+15550100123", "body": "Hi",
        "after_seconds": 5});
    let mut playground = Playground::new(&[]).begin(&json!([text]));
    playground.catch_up_after(500);
    let row = &playground.rows(SimulatorType::Message, "messages")[0];
    assert_eq!(row["received_at"], START.plus_milliseconds(5000).to_string());
    assert_eq!(playground.event_names(), ["message_inbound scheduled", "message_inbound done", "message_inbound"]);
}

#[test]
fn due_steps_are_executed_by_due_time_and_index() {
    let write = |content: &str, after_seconds: i64| json!({"do": "drop_file_inbox", "path": "a", "content": content, "after_seconds": after_seconds});
    let steps = json!([write("third", 30), write("first", 10), write("second", 20), write("last", 30), note("b", 99)]);
    let mut playground = Playground::new(&[]).begin(&steps);
    assert_eq!(playground.next_due(), Some(10));
    assert_eq!(playground.catch_up_after(30), 4);
    let order: Vec<i64> =
        playground.events[5..].iter().map(|(_, event)| event.payload.json()["index"].as_i64().unwrap()).collect();
    assert_eq!(order, [1, 2, 0, 3]);
    assert_eq!(playground.row(SimulatorType::Files, "files", "a").unwrap()["text"], "last");
    let written = playground.written();
    assert_eq!(written.iter().filter(|change| change.contains("files/a")).count(), 1, "{written:?}");
    assert!(
        playground.changes[5..].iter().all(|(seq, _)| *seq == 6),
        "all changes have the sequence number of the first event"
    );
    assert_eq!(playground.next_due(), Some(99));
    playground.catch_up_after(10_000);
    assert_eq!((playground.next_due(), paths(&playground)), (None, vec!["a".to_owned(), "b".to_owned()]));
}

#[test]
fn a_deferred_step_that_fails_is_dropped_with_an_event() {
    let delete = |path: &str| json!({"do": "file_delete", "path": path, "after_seconds": 10});
    let mut playground = Playground::new(&[]).begin(&json!([delete("gone"), note("a", 10), delete("a")]));
    assert_eq!(playground.catch_up_after(10), 3);
    assert_eq!(playground.event_names()[3..], ["file_delete dropped", "drop_file_inbox done", "file_delete done"]);
    assert_eq!(playground.events[3].1.payload.json()["reason"], "path: there is no such file");
    assert_eq!((playground.next_due(), playground.catch_up_after(20)), (None, 0));
    assert!(paths(&playground).is_empty());
}

#[test]
fn deferred_steps_are_validated_at_the_start() {
    let mut playground = Playground::new(&[]);
    for (step, expected) in [
        (json!({"do": "drop_file_inbox", "path": "a", "dataset_file": "none", "after_seconds": 5}), "dataset_file: "),
        (json!({"do": "hl7_inbound", "message": "MSH|^~\\&|A\rx", "after_seconds": 5}), "message: "),
        (json!({"do": "voicemail", "text": "{{entity.none}}", "after_seconds": 5}), "text: "),
    ] {
        let error = playground.begin_error(&json!([step]));
        assert!(error.starts_with(&format!("steps.0.{expected}")), "{error}");
    }
}

#[test]
fn every_example_has_the_same_result_when_deferred() {
    for info in crate::catalog() {
        for step in info.steps.iter().filter(|step| step.name != "file_delete") {
            let [mut now, mut later] = [step.example(), step.example()];
            now["after_seconds"] = json!(0);
            later["after_seconds"] = json!(7);
            let patient = [json!({"resourceType": "Patient", "id": "p1"})];
            let now = Playground::new(&patient).begin(&json!([now]));
            let mut playground = Playground::new(&patient).begin(&json!([later]));
            assert_eq!(playground.written(), ["create scheduled/000000 1"], "{}", step.name);
            playground.catch_up_after(7);
            assert_eq!(playground.event_names()[1..], now.event_names());
            let written: Vec<String> =
                playground.written().into_iter().filter(|change| !change.contains("scheduled")).collect();
            assert_eq!(written, now.written());
        }
    }
}

#[test]
fn deferred_steps_can_be_restored_from_their_records() {
    let mut playground = Playground::new(&[]);
    let file = crate::scenario::DatasetFile {
        sha256: "cd".repeat(32),
        size: 2,
        content_type: "text/plain".to_owned(),
        text: Some("hi".to_owned()),
    };
    playground.files.insert("x".to_owned(), file);
    let step = json!({"do": "drop_file_inbox", "path": "a", "dataset_file": "x", "after_seconds": 5});
    let row = json!({"do": "portal_row", "resource": "drafts", "key": "k", "after_seconds": 5,
        "row": {"value": "{{entity.low}}"}});
    let playground = playground.begin(&json!([step, row]));
    let mut folded: World = Playground::new(&[]).world;
    playground.changes.iter().for_each(|(seq, change)| folded.apply(*seq, change));
    let now = START.plus_milliseconds(5000);
    assert_eq!(next_due(&folded), Some(now));
    let outcome = catch_up(&folded, &Context { now, new_id: &|| "1".to_owned() });
    let texts: Vec<&str> = outcome.changes.iter().filter_map(|change| change.text.as_deref()).collect();
    assert!(texts[0].contains("\"text\":\"hi\""), "{texts:?}");
    assert_eq!(texts[1], r#"{"value":6.1}"#);
    outcome.changes.iter().for_each(|change| folded.apply(3, change));
    assert_eq!(next_due(&folded), None);
}

#[test]
fn inactive_sandboxes_have_nothing_due() {
    let mut playground = Playground::new(&[]).begin(&json!([note("a", 5)]));
    playground.world.sandboxes.values_mut().for_each(|sandbox| sandbox.is_active = false);
    assert_eq!((playground.next_due(), playground.catch_up_after(5)), (None, 0));
}
