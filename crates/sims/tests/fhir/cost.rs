//! Performance: reads return stored text, and the largest Bundle is processed in reasonable time.

use serde_json::{Value, json};

use crate::harness::{Server, entry, observation, patient};

/// The text is not parsed.
#[test]
fn a_read_returns_the_stored_text() {
    let mut server = Server::with_dataset(&[patient("a", "Ada")]);
    let text = server.world.sandboxes[&server.sandbox].records.get("Patient", "a").live().unwrap().text().into_owned();
    assert_eq!(server.get("Patient/a").text, text);
}

#[test]
fn the_largest_transaction_succeeds() {
    let mut server = Server::new();
    let mut entries: Vec<Value> = (0..5_000)
        .map(|at| {
            let mut entry = entry("POST", "Patient", Some(json!({"resourceType": "Patient"})));
            entry["fullUrl"] = json!(format!("urn:uuid:{at}"));
            entry
        })
        .collect();
    entries.extend((0..5_000).map(|at| {
        let mut resource = observation("x", "x", "1");
        resource["subject"]["reference"] = json!(format!("urn:uuid:{at}"));
        entry("POST", "Observation", Some(resource))
    }));
    assert_eq!(server.transaction(&entries).expect(200).changes, 10_000);
    assert_eq!(server.get("Observation?subject=Patient/new-4999").body["total"], 1);
}
