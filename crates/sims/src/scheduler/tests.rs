//! Which deferred work is settled when a task is completed.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use model::fax::NewFax;
use model::message::NewMessage;
use model::simulator::SimulatorType;
use model::{Id, SandboxId, Ulid};
use world::{Records, Sandbox};

use super::*;
use crate::fax::FaxText;
use crate::fax::send::FaxDocument;

const START: Timestamp = Timestamp(1_776_945_600_000);

/// One sandbox. Outcomes are recorded like the store does it.
struct Playground {
    world: World,
    ids: Cell<u64>,
    events: Vec<NewEvent>,
}

fn id() -> SandboxId {
    SandboxId::from_ulid(Ulid(1))
}

impl Playground {
    fn new(kind: SimulatorType, config: Value) -> Self {
        let records = Records::new(Vec::new(), START);
        let sandbox = Sandbox { id: id(), kind, config: Arc::new(config), created_at: START, is_active: true, records };
        let world = World { seq: 0, oldest: 0, sandboxes: BTreeMap::from([(id(), sandbox)]) };
        Self { world, ids: Cell::new(0), events: Vec::new() }
    }

    fn run<T>(&mut self, message: impl FnOnce(&World, &Context<'_>) -> Outcome<T>) -> T {
        let new_id = || {
            self.ids.set(self.ids.get() + 1);
            format!("{:026}", self.ids.get())
        };
        let Outcome { answer, changes, events } = message(&self.world, &Context { now: START, new_id: &new_id });
        let seq = self.world.seq + 1;
        changes.iter().for_each(|change| self.world.apply(seq, change));
        self.world.seq += i64::try_from(events.len()).unwrap();
        self.events.extend(events);
        answer
    }

    fn fax(&mut self, to: &str) {
        let new: NewFax = serde_json::from_value(json!({"to_number": to})).unwrap();
        let document = FaxDocument {
            content_type: "application/pdf",
            pages: 1,
            size: 1,
            sha256: String::new(),
            text: FaxText::default(),
        };
        let sent = self.run(|world, context| {
            crate::fax::send::send(world, &world.sandboxes[&id()], "agent", context, (&new, &document), None)
        });
        assert!(sent.is_ok());
    }

    fn rows(&self, collection: &str) -> Vec<Value> {
        let rows = self.world.sandboxes[&id()].records.own(collection);
        rows.map(|record| Value::clone(&record.json())).collect()
    }

    fn statuses(&self) -> Vec<String> {
        self.rows("faxes").iter().map(|fax| fax["status"].as_str().unwrap().to_owned()).collect()
    }
}

#[test]
fn pending_faxes_are_settled_with_their_retries() {
    let mut line = Playground::new(
        SimulatorType::Fax,
        json!({
            "default_outcome": {"status": "sent", "delay_seconds": 10},
            "retries": {"count": 2, "after_seconds": 60},
            "outcomes": [
                {"number": "+15550100199", "status": "failed", "reason": "busy", "delay_seconds": 30},
                {"number": "+15550100198", "status": "sent", "failing_attempts": 2, "delay_seconds": 5},
            ],
        }),
    );
    for to in ["+15550100199", "+15550100198", "+15550100100"] {
        line.fax(to);
    }
    assert_eq!(line.statuses(), ["queued", "queued", "queued"]);
    let completed = line.world.clone();
    line.events.clear();
    line.run(settle_pending);
    assert_eq!(line.statuses(), ["failed", "sent", "sent"]);
    assert_eq!(line.rows("faxes")[0]["failed_at"], START.plus_milliseconds(210_000).to_string(), "30, 120 and 210 s");
    assert!(line.rows("scheduled").is_empty() && !has_pending(&line.world));
    for event in &line.events {
        assert_eq!((event.actor.as_str(), &event.payload.json()["system"]), ("system", &json!({"settled": true})));
    }
    let times: Vec<Value> = line.events.iter().map(|event| event.payload.json()["at"].clone()).collect();
    assert!(times.is_sorted_by_key(|time| time.as_str().unwrap().to_owned()), "{times:?}");
    line.world = line.world.at(completed.seq);
    assert_eq!(line.statuses(), ["queued", "queued", "queued"], "the state at completion is still known");
    assert_eq!(line.rows("scheduled").len(), 3);
}

#[test]
fn settling_ends_after_thirty_days() {
    let week = 7 * 24 * 60 * 60;
    let slow = json!({"default_outcome": {"status": "failed", "delay_seconds": week},
        "retries": {"count": 10, "after_seconds": week}});
    let mut line = Playground::new(SimulatorType::Fax, slow);
    line.fax("+15550100100");
    line.run(settle_pending);
    assert_eq!((line.statuses(), &line.rows("faxes")[0]["attempts"]), (vec!["queued".to_owned()], &json!(2)));
}

#[test]
fn many_faxes_are_settled() {
    let outcomes: Vec<Value> = (0..120)
        .map(|number| {
            json!({"number": format!("+1555010{number:04}"), "status": "failed", "delay_seconds": 1 + number * 7})
        })
        .collect();
    let busy = json!({"outcomes": outcomes, "retries": {"count": 10, "after_seconds": 1}});
    let mut line = Playground::new(SimulatorType::Fax, busy);
    (0..120).for_each(|number| line.fax(&format!("+1555010{number:04}")));
    line.run(settle_pending);
    assert!(line.statuses().iter().all(|status| status == "failed"));
    assert_eq!(line.events.len(), 120 + 120 * 11);
}

#[test]
fn persona_replies_are_not_settled() {
    let config = json!({"personas": [{"name": "Ada", "replies": [
        {"phrases": ["tuesday"], "reply": "Tuesday works.", "delay_seconds": 45}]}]});
    let mut messages = Playground::new(SimulatorType::Message, config);
    let new: NewMessage =
        serde_json::from_value(json!({"channel": "sms", "to": "+15550100100", "body": "Tuesday?"})).unwrap();
    let sent = messages
        .run(|world, context| crate::message::send::send(world, &world.sandboxes[&id()], "agent", context, &new, None));
    assert_eq!(sent.unwrap()["status"], "delivered");
    assert_eq!(next_due(&messages.world), Some(START.plus_milliseconds(45_000)));
    messages.run(settle_pending);
    assert_eq!((messages.rows("messages").len(), messages.rows("scheduled").len()), (1, 1));
}
