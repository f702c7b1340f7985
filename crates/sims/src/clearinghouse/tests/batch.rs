//! Files that are dropped.

use model::simulator::SimulatorType;
use serde_json::{Value, json};

use super::house::{ADA, House, inquiry, record, sandbox_id};
use crate::clearinghouse::dropped::{dropped, takes};

fn put(house: &mut House, path: &str, bytes: &[u8]) -> Vec<String> {
    let files = sandbox_id(SimulatorType::Files);
    house.run(|world, context| dropped(world, context, &files, "agent", path, bytes))
}

fn read(house: &House, path: &str) -> Value {
    let files = &house.world.sandboxes[&sandbox_id(SimulatorType::Files)];
    files.records.get("files", path).live().map(|record| Value::clone(&record.json())).unwrap_or_default()
}

#[test]
fn a_file_in_the_folder_is_answered_with_files() {
    let config = json!({"batch": {"take_from": "edi/out", "answer_to": "edi/in"}});
    let mut house = House::over(&record(), &config);
    assert!(takes(&house.world, "edi/out/a.x12") && !takes(&house.world, "edi/outer/a.x12"));
    let body = inquiry(ADA, "EQ*30");
    assert_eq!(put(&mut house, "edi/out/today/a.x12", body.as_bytes()), ["edi/in/a.000000002.x12"]);
    let file = read(&house, "edi/in/a.000000002.x12");
    let text = file["text"].as_str().unwrap();
    assert!(text.contains("~ST*999*") && text.contains("~ST*271*"), "{text}");
    assert_eq!((&file["size"], &file["content_type"]), (&json!(text.len()), &json!("application/edi-x12")));
    assert_eq!(put(&mut house, "edi/out/b.txt", b"hello"), ["edi/in/b.error.txt"]);
    assert!(put(&mut house, "elsewhere/a.x12", body.as_bytes()).is_empty());
    assert_eq!(house.events.len(), 3, "a request and its answer, and the refusal");
}
