//! Steps with `after_seconds`.

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
fn a_step_shows_when_it_is_due_and_not_before() {
    let mut playground = Playground::new(&[]).begin(&json!([note("now", 0), note("later", 60)]));
    assert_eq!(playground.told(), ["drop_file_inbox done", "drop_file_inbox scheduled"]);
    assert_eq!(playground.written(), ["create files/now 1", "create scheduled/000001 1"]);
    let put_by = playground.row(SimulatorType::Files, "scheduled", "000001").unwrap();
    let due_at = START.plus_milliseconds(60_000).to_string();
    let step = json!({"do": "drop_file_inbox", "path": "later", "content": "for Ada Stone"});
    assert_eq!(put_by, json!({"due_at": due_at, "index": 1, "step": step}));
    assert_eq!(playground.next_due(), Some(60));
    assert_eq!((playground.look(0), playground.look(59)), (0, 0));
    assert_eq!(paths(&playground), ["now"]);
    assert_eq!(playground.look(60), 1);
    assert_eq!(paths(&playground), ["later", "now"]);
    assert_eq!(playground.written()[2..], ["create files/later 1", "delete scheduled/000001 2"]);
    let (_, told) = playground.events.last().unwrap();
    assert_eq!((&told.payload.json()["due_at"], &told.payload.json()["outcome"]), (&json!(due_at), &json!("done")));
    assert_eq!(playground.next_due(), None);
    assert_eq!((playground.look(61), playground.look(1000)), (0, 0), "once is enough");
}

#[test]
fn what_arrived_unseen_has_the_time_when_it_was_due() {
    let text = json!({"do": "message_inbound", "channel": "sms", "from": "+15550100123", "body": "Hi",
        "after_seconds": 5});
    let mut playground = Playground::new(&[]).begin(&json!([text]));
    playground.look(500);
    let row = &playground.rows(SimulatorType::Message, "messages")[0];
    assert_eq!(row["received_at"], START.plus_milliseconds(5000).to_string());
    assert_eq!(playground.told(), ["message_inbound scheduled", "message_inbound done", "message_inbound"]);
}

#[test]
fn steps_that_are_due_together_happen_by_time_and_then_by_number() {
    let write = |content: &str, after_seconds: i64| json!({"do": "drop_file_inbox", "path": "a", "content": content, "after_seconds": after_seconds});
    let steps = json!([write("third", 30), write("first", 10), write("second", 20), write("last", 30), note("b", 99)]);
    let mut playground = Playground::new(&[]).begin(&steps);
    assert_eq!(playground.next_due(), Some(10));
    assert_eq!(playground.look(30), 4);
    let order: Vec<i64> =
        playground.events[5..].iter().map(|(_, event)| event.payload.json()["index"].as_i64().unwrap()).collect();
    assert_eq!(order, [1, 2, 0, 3]);
    assert_eq!(playground.row(SimulatorType::Files, "files", "a").unwrap()["text"], "last");
    let written = playground.written();
    assert_eq!(written.iter().filter(|change| change.contains("files/a")).count(), 1, "{written:?}");
    assert!(playground.changes[5..].iter().all(|(seq, _)| *seq == 6), "at the first event of what was caught up");
    assert_eq!(playground.next_due(), Some(99));
    playground.look(10_000);
    assert_eq!((playground.next_due(), paths(&playground)), (None, vec!["a".to_owned(), "b".to_owned()]));
}

#[test]
fn a_step_that_cannot_be_any_more_is_told_and_dropped() {
    let delete = |path: &str| json!({"do": "file_delete", "path": path, "after_seconds": 10});
    let mut playground = Playground::new(&[]).begin(&json!([delete("gone"), note("a", 10), delete("a")]));
    assert_eq!(playground.look(10), 3);
    assert_eq!(playground.told()[3..], ["file_delete dropped", "drop_file_inbox done", "file_delete done"]);
    assert_eq!(playground.events[3].1.payload.json()["reason"], "path: there is no such file");
    assert_eq!((playground.next_due(), playground.look(20)), (None, 0));
    assert!(paths(&playground).is_empty());
}

#[test]
fn later_steps_are_checked_at_the_start() {
    let mut playground = Playground::new(&[]);
    for (step, fault) in [
        (json!({"do": "drop_file_inbox", "path": "a", "dataset_file": "none", "after_seconds": 5}), "dataset_file: "),
        (json!({"do": "hl7_inbound", "message": "MSH|^~\\&|A\rx", "after_seconds": 5}), "message: "),
        (json!({"do": "voicemail", "text": "{{entity.none}}", "after_seconds": 5}), "text: "),
    ] {
        let said = playground.refuses(&json!([step]));
        assert!(said.starts_with(&format!("steps.0.{fault}")), "{said}");
    }
}

#[test]
fn every_example_is_the_same_later() {
    for info in crate::catalog() {
        for step in info.steps.iter().filter(|step| step.name != "file_delete") {
            let [mut now, mut later] = [step.example(), step.example()];
            now["after_seconds"] = json!(0);
            later["after_seconds"] = json!(7);
            let patient = [json!({"resourceType": "Patient", "id": "p1"})];
            let now = Playground::new(&patient).begin(&json!([now]));
            let mut playground = Playground::new(&patient).begin(&json!([later]));
            assert_eq!(playground.written(), ["create scheduled/000000 1"], "{}", step.name);
            playground.look(7);
            assert_eq!(playground.told()[1..], now.told());
            let written: Vec<String> =
                playground.written().into_iter().filter(|change| !change.contains("scheduled")).collect();
            assert_eq!(written, now.written());
        }
    }
}

#[test]
fn what_was_put_by_survives_as_its_records() {
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
fn sandboxes_that_are_torn_down_have_nothing_due() {
    let mut playground = Playground::new(&[]).begin(&json!([note("a", 5)]));
    playground.world.sandboxes.values_mut().for_each(|sandbox| sandbox.is_active = false);
    assert_eq!((playground.next_due(), playground.look(5)), (None, 0));
}
