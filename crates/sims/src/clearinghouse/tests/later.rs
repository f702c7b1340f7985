//! Answers that take their time.

use model::event::EventType;
use model::simulator::SimulatorType;
use serde_json::json;

use super::claims::claim;
use super::house::{ADA, House, inquiry, sandbox_id, sender};
use crate::clearinghouse::responses::{look, pick_up};

fn available(house: &mut House) -> Vec<Vec<String>> {
    let id = sandbox_id(SimulatorType::Clearinghouse);
    let found = match house.run(|world, context| look(world, &id, &sender(), context)) {
        Some(found) => found,
        None => house.run(|world, context| pick_up(world, &id, &sender(), context)),
    };
    found.into_iter().map(|response| response.transaction_sets).collect()
}

#[test]
fn an_answer_is_held_until_it_is_due() {
    let mut house =
        House::with_rules(&json!([{"match": {"service_type": "98"}, "status": "active", "delay_seconds": 30}]));
    assert_eq!(house.told(&inquiry(ADA, "EQ*98"), &["AAA", "EB"]), ["AAA*Y**42*Y"]);
    assert_eq!(available(&mut house), [["271"]]);
    house.after(29);
    assert_eq!(house.told(&inquiry(ADA, "EQ*98"), &["AAA", "EB"]), ["AAA*Y**42*Y"], "asked again, still held");
    house.after(30);
    assert_eq!(available(&mut house).len(), 4, "both questions and their answers");
    let told = house.events.iter().filter(|event| event.r#type == EventType::X12Response);
    assert_eq!(told.filter(|event| event.payload.text().contains("EB*1*IND*98")).count(), 2);
    let before = house.events.len();
    assert_eq!(available(&mut house).len(), 4);
    assert_eq!(house.events.len(), before + 1, "looking again is one event, and gives nothing new");
    assert_eq!(house.told(&inquiry(ADA, "EQ*98"), &["EB"])[0], "EB*1*IND*98*PR*GOLD PPO", "the delay is over");
}

#[test]
fn a_payment_follows_when_it_is_due() {
    let mut house = House::with_rules(&json!([{"match": {}, "status": "paid", "delay_seconds": 60}]));
    assert!(house.told(&claim("C1", "99213", "85"), &["BPR"]).is_empty());
    house.after(60);
    assert_eq!(available(&mut house), [vec!["835"], vec!["999", "277"]]);
}

#[test]
fn control_numbers_are_never_used_twice() {
    let mut house = House::with_rules(&json!([{"match": {}, "status": "paid", "delay_seconds": 1}]));
    for number in 0..5 {
        house.send(&claim(&format!("C{number}"), "99213", "85"));
        house.send(&inquiry(ADA, "EQ*30"));
    }
    house.after(1);
    let id = sandbox_id(SimulatorType::Clearinghouse);
    let found = house.run(|world, context| pick_up(world, &id, &sender(), context));
    let mut controls: Vec<&str> = found.iter().map(|response| response.control_number.as_str()).collect();
    let count = controls.len();
    controls.sort_unstable();
    controls.dedup();
    assert_eq!((controls.len(), count), (20, 20));
}
