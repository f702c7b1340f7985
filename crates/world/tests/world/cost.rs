//! Searches over much that was written: their times are shown, not asserted.

use std::time::Instant;

use serde_json::{Value, json};
use verial_world::{Change, Page, Seq, World, Write};

use crate::plain::{BASELINE, records, sandbox_id, world};
use crate::queries::read_text;

const PATIENTS: usize = 1000;
const OBSERVATIONS: usize = 4000;

fn create(world: &mut World, resource: &Value) {
    let seq = world.seq + 1;
    let change = Change {
        sandbox: sandbox_id(1),
        collection: resource["resourceType"].as_str().unwrap().into(),
        key: resource["id"].as_str().unwrap().into(),
        version: 1,
        at: BASELINE.plus_milliseconds(seq),
        write: Write::Create,
        text: Some(resource.to_string().into()),
    };
    world.apply(seq, &change);
}

/// A playground in which an agent was busy.
fn busy() -> World {
    let mut world = world(vec![]);
    for number in 0..PATIENTS {
        let name = ["Smith", "Jones"][number % 2];
        let patient = json!({"resourceType": "Patient", "id": number.to_string(), "name": [{"family": name}]});
        create(&mut world, &patient);
    }
    for number in 0..OBSERVATIONS {
        let subject = format!("Patient/{}", number % PATIENTS);
        let observation = json!({
            "resourceType": "Observation",
            "id": number.to_string(),
            "status": "final",
            "code": {"text": "Pulse"},
            "subject": {"reference": subject},
        });
        create(&mut world, &observation);
    }
    world
}

fn timed(world: &World, search: &str) -> (usize, usize) {
    let (resource_type, text) = search.split_once('?').unwrap();
    let query = read_text(resource_type, text);
    let start = Instant::now();
    let page = Page { offset: 0, count: 200 };
    let found = records(world).search(resource_type.parse().unwrap(), &query, Seq::MAX, page);
    println!("{:>6} ms  {search}", start.elapsed().as_millis());
    (found.total, found.included.len())
}

#[test]
fn searches_over_five_thousand_written_records() {
    let start = Instant::now();
    let world = busy();
    println!("{:>6} ms  to write them", start.elapsed().as_millis());
    let observations = OBSERVATIONS / 2;
    assert_eq!(timed(&world, "Observation?status=final"), (OBSERVATIONS, 0));
    assert_eq!(timed(&world, "Observation?status=final"), (OBSERVATIONS, 0));
    assert_eq!(timed(&world, "Observation?subject:Patient.family=smith"), (observations, 0));
    assert_eq!(timed(&world, "Patient?_has:Observation:patient:status=final&family=smith"), (PATIENTS / 2, 0));
    assert_eq!(timed(&world, "Patient?family=smith&_revinclude=Observation:subject"), (PATIENTS / 2, 800));
    assert_eq!(timed(&world, "Patient?_sort=family&_revinclude:iterate=*"), (PATIENTS, 800));
    assert_eq!(timed(&world, "Observation?_sort=-_lastUpdated&_include=Observation:patient"), (OBSERVATIONS, 200));
}

#[test]
fn a_record_that_is_written_again_and_again() {
    let mut world = world(vec![]);
    let start = Instant::now();
    for _ in 0..OBSERVATIONS {
        create(&mut world, &json!({"resourceType": "Patient", "id": "1"}));
    }
    println!("{:>6} ms  for {OBSERVATIONS} versions of one record", start.elapsed().as_millis());
    assert_eq!(records(&world).history("Patient", "1").len(), OBSERVATIONS);
}
