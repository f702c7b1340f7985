//! Batch processing of files.

use model::simulator::SimulatorType;
use serde_json::{Value, json};

use super::fixture::{ADA, Fixture, fhir_resources, inquiry, sandbox_id};
use crate::clearinghouse::batch_files::{is_batch_input, process_file};

fn write_file(fixture: &mut Fixture, path: &str, bytes: &[u8]) -> Vec<String> {
    let files = sandbox_id(SimulatorType::Files);
    fixture.run(|world, context| process_file(world, context, &files, "agent", path, bytes))
}

fn read_file(fixture: &Fixture, path: &str) -> Value {
    let files = &fixture.world.sandboxes[&sandbox_id(SimulatorType::Files)];
    files.records.get("files", path).live().map(|record| Value::clone(&record.json())).unwrap_or_default()
}

#[test]
fn files_in_the_input_folder_get_response_files() {
    let config = json!({"batch": {"take_from": "edi/out", "answer_to": "edi/in"}});
    let mut fixture = Fixture::new(&fhir_resources(), &config);
    assert!(is_batch_input(&fixture.world, "edi/out/a.x12") && !is_batch_input(&fixture.world, "edi/outer/a.x12"));
    let body = inquiry(ADA, "EQ*30");
    assert_eq!(write_file(&mut fixture, "edi/out/today/a.x12", body.as_bytes()), ["edi/in/a.000000002.x12"]);
    let file = read_file(&fixture, "edi/in/a.000000002.x12");
    let text = file["text"].as_str().unwrap();
    assert!(text.contains("~ST*999*") && text.contains("~ST*271*"), "{text}");
    assert_eq!((&file["size"], &file["content_type"]), (&json!(text.len()), &json!("application/edi-x12")));
    assert_eq!(write_file(&mut fixture, "edi/out/b.txt", b"hello"), ["edi/in/b.error.txt"]);
    assert!(write_file(&mut fixture, "elsewhere/a.x12", body.as_bytes()).is_empty());
    assert_eq!(fixture.events.len(), 3, "a request, its response, and the rejected file");
}
