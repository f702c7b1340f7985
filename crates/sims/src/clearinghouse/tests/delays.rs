//! Deferred responses.

use model::event::EventType;
use model::simulator::SimulatorType;
use serde_json::json;

use super::claims::claim;
use super::fixture::{ADA, Fixture, inquiry, sandbox_id, sender};
use crate::clearinghouse::responses::{list, list_and_mark_delivered};

fn available(fixture: &mut Fixture) -> Vec<Vec<String>> {
    let id = sandbox_id(SimulatorType::Clearinghouse);
    let found = match fixture.run(|world, context| list(world, &id, &sender(), context)) {
        Some(found) => found,
        None => fixture.run(|world, context| list_and_mark_delivered(world, &id, &sender(), context)),
    };
    found.into_iter().map(|response| response.transaction_sets).collect()
}

#[test]
fn a_response_is_deferred_until_it_is_due() {
    let mut fixture =
        Fixture::with_rules(&json!([{"match": {"service_type": "98"}, "status": "active", "delay_seconds": 30}]));
    assert_eq!(fixture.response_lines(&inquiry(ADA, "EQ*98"), &["AAA", "EB"]), ["AAA*Y**42*Y"]);
    assert_eq!(available(&mut fixture), [["271"]]);
    fixture.set_seconds(29);
    assert_eq!(
        fixture.response_lines(&inquiry(ADA, "EQ*98"), &["AAA", "EB"]),
        ["AAA*Y**42*Y"],
        "the second request is deferred too"
    );
    fixture.set_seconds(30);
    assert_eq!(available(&mut fixture).len(), 4, "the immediate and deferred responses of both requests");
    let responses = fixture.events.iter().filter(|event| event.r#type == EventType::X12Response);
    assert_eq!(responses.filter(|event| event.payload.text().contains("EB*1*IND*98")).count(), 2);
    let before = fixture.events.len();
    assert_eq!(available(&mut fixture).len(), 4);
    assert_eq!(fixture.events.len(), before + 1, "listing again adds one event and delivers nothing");
    assert_eq!(
        fixture.response_lines(&inquiry(ADA, "EQ*98"), &["EB"])[0],
        "EB*1*IND*98*PR*GOLD PPO",
        "the delay is over"
    );
}

#[test]
fn a_payment_is_available_when_it_is_due() {
    let mut fixture = Fixture::with_rules(&json!([{"match": {}, "status": "paid", "delay_seconds": 60}]));
    assert!(fixture.response_lines(&claim("C1", "99213", "85"), &["BPR"]).is_empty());
    fixture.set_seconds(60);
    assert_eq!(available(&mut fixture), [vec!["835"], vec!["999", "277"]]);
}

#[test]
fn control_numbers_are_unique() {
    let mut fixture = Fixture::with_rules(&json!([{"match": {}, "status": "paid", "delay_seconds": 1}]));
    for number in 0..5 {
        fixture.send(&claim(&format!("C{number}"), "99213", "85"));
        fixture.send(&inquiry(ADA, "EQ*30"));
    }
    fixture.set_seconds(1);
    let id = sandbox_id(SimulatorType::Clearinghouse);
    let found = fixture.run(|world, context| list_and_mark_delivered(world, &id, &sender(), context));
    let mut controls: Vec<&str> = found.iter().map(|response| response.control_number.as_str()).collect();
    let count = controls.len();
    controls.sort_unstable();
    controls.dedup();
    assert_eq!((controls.len(), count), (20, 20));
}
