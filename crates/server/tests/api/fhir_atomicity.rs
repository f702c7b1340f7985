//! R6: a transaction with one invalid entry at any position changes nothing.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use testkit::both_databases;

use crate::dice::Dice;
use crate::fhir_client::{Ehr, entry, observation, patient, transaction};

/// The number of cases in continuous integration; the test without HTTP has a thousand.
const BUNDLES: usize = 250;

both_databases! {
    async fn a_transaction_with_one_invalid_entry_changes_nothing(server: TestServer) {
        let twins = |number: usize| json!({"resourceType": "Patient", "id": format!("twin{number}"), "gender": "other"});
        let records: Vec<Value> = ["p1", "p2", "p3"].map(patient).into_iter().chain([twins(1), twins(2)]).collect();
        let ehr = Ehr::over(&server.organization("Acme").await, &records).await;
        ehr.put("Patient/p1", &patient("p1")).await.expect(200);
        let before = ehr.content("Observation").await;
        let (mut dice, mut statuses) = (Dice(6), BTreeMap::new());
        for _ in 0..BUNDLES {
            let bundle = transaction_with_bad_entry(&mut dice);
            let response = ehr.post("", &bundle).await;
            assert!((400..500).contains(&response.status), "{} {bundle}: {}", response.status, response.text());
            assert_eq!(response["resourceType"], "OperationOutcome");
            *statuses.entry(response.status).or_insert(0) += 1;
            assert_eq!(ehr.content("Observation").await, before, "{bundle}");
        }
        let sound = transaction(sound_entries(&mut dice, 12));
        ehr.post("", &sound).await.expect(200);
        assert_ne!(ehr.content("Observation").await, before, "the entries would change nothing by themselves");
        eprintln!("{BUNDLES} bundles with one bad entry: {statuses:?}");
    }
}

fn transaction_with_bad_entry(dice: &mut Dice) -> Value {
    let count = 1 + dice.below(12);
    let mut entries = sound_entries(dice, count);
    let bad = bad_entry(dice);
    entries.insert(dice.below(entries.len() + 1), bad);
    transaction(entries)
}

/// Creations, and at most one change of each existing patient.
fn sound_entries(dice: &mut Dice, count: usize) -> Vec<Value> {
    let mut free = vec!["p1", "p2", "p3"];
    let mut sound = |number: usize| {
        if free.is_empty() || dice.below(3) > 0 {
            let mut made = entry("POST", "Observation", Some(observation("x", "p1")));
            made["fullUrl"] = json!(format!("urn:uuid:00000000-0000-4000-8000-{number:012}"));
            return made;
        }
        let id = free.remove(dice.below(free.len()));
        match dice.below(2) {
            0 => entry("DELETE", &format!("Patient/{id}"), None),
            _ => entry(
                "PUT",
                &format!("Patient/{id}"),
                Some(json!({"resourceType": "Patient", "id": id, "gender": "male"})),
            ),
        }
    };
    (0..count).map(&mut sound).collect()
}

fn bad_entry(dice: &mut Dice) -> Value {
    let with = |mut entry: Value, member: &str, value: &str| {
        entry["request"][member] = json!(value);
        entry
    };
    let dangling = json!({"resourceType": "Observation", "status": "final", "code": {"text": "x"},
        "subject": {"reference": "urn:uuid:99999999-0000-4000-8000-000000000000"}});
    let searching = json!({"resourceType": "Observation", "status": "final", "code": {"text": "x"},
        "subject": {"reference": "Patient?gender=other"}});
    let mut twice = entry("PUT", "Patient/twin1", Some(patient("twin2")));
    twice["fullUrl"] = json!("urn:uuid:12345678-0000-4000-8000-000000000000");
    let all = [
        entry("POST", "Observation", Some(json!({"resourceType": "Observation", "status": "fnial"}))),
        entry("POST", "Observation", Some(json!({"resourceType": "Patient"}))),
        entry("POST", "Observation", None),
        entry("POST", "Observation", Some(dangling)),
        entry("POST", "Observation", Some(searching)),
        entry("POST", "Sandwich", Some(patient("x"))),
        twice,
        with(entry("PUT", "Patient/twin1", Some(patient("twin1"))), "ifMatch", "W/\"7\""),
        with(entry("POST", "Patient", Some(patient("x"))), "ifNoneExist", "gender=other"),
        entry("DELETE", "Patient", None),
        entry("GET", "Patient/nobody", None),
        entry(
            "PATCH",
            "Patient/twin1",
            Some(json!({"resourceType": "Binary", "contentType": "text/plain", "data": "eA=="})),
        ),
        json!({"resource": patient("x")}),
    ];
    dice.pick(&all)
}
