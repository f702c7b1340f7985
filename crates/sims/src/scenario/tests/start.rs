//! Steps that are executed when the task starts.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::canonical::sha256_hex;
use model::simulator::SimulatorType;
use model::{Id, SandboxId, Ulid};
use serde_json::{Value, json};

use super::playground::{Playground, START};
use crate::scenario::{DatasetFile, ScenarioContext, ScenarioSandbox, prepare};

/// For each step, what its example creates: the collection, the event after the step event, and members of the row.
fn expected_rows() -> Vec<(&'static str, &'static str, Option<&'static str>, Value)> {
    let at = START.to_string();
    vec![
        (
            "fhir",
            "Observation",
            None,
            json!({"subject": {"reference": "Patient/p1"}, "valueQuantity": {"value": 6.1,
            "unit": "mmol/L"}}),
        ),
        (
            "hl7_inbound",
            "inbox",
            Some("hl7_inbound"),
            json!({"message_type": "ORU^R01", "control_id": "LAB0001",
            "received_at": at, "read": false}),
        ),
        ("drop_file_inbox", "files", None, json!({"content_type": "application/pdf", "modified_at": at})),
        ("portal_row", "providers", None, json!({"npi": "1234567893", "name": "Lakeside Imaging"})),
        ("voicemail", "voicemails", Some("voice_turn"), json!({"caller_name": "Ada Stone", "heard": false})),
        (
            "inbound_call",
            "calls",
            Some("voice_turn"),
            json!({"direction": "inbound", "status": "ringing",
            "started_at": at}),
        ),
        (
            "fax_inbound",
            "faxes",
            Some("fax_inbound"),
            json!({"direction": "inbound", "from_number": "+15550100142",
            "status": "received", "content_type": "application/pdf", "read": false}),
        ),
        (
            "message_inbound",
            "messages",
            Some("message_inbound"),
            json!({"direction": "inbound", "channel": "sms",
            "patient_id": "p1", "body": "Can I move my appointment to Friday?", "read": false}),
        ),
        (
            "cds_hook",
            "invocations",
            Some("cds_invoke"),
            json!({"hook": "patient-view", "service_id": "triage", "answered_by": "agent", "fired_by": "scenario",
            "status": "pending", "fired_at": at}),
        ),
    ]
}

#[test]
fn every_example_creates_a_row_and_an_event() {
    let mut seen: Vec<&str> = Vec::new();
    for (name, collection, event, members) in expected_rows() {
        let info = crate::catalog().iter().find(|info| info.steps.iter().any(|step| step.name == name)).unwrap();
        let mut example = info.steps.iter().find(|step| step.name == name).unwrap().example();
        example["after_seconds"] = json!(0);
        let patient = json!({"resourceType": "Patient", "id": "p1"});
        let playground = Playground::new(&[patient]).begin(&json!([example]));
        let rows = playground.rows(info.kind, collection);
        let [row] = rows.as_slice() else { panic!("{name}: {rows:?}") };
        for (member, value) in members.as_object().unwrap() {
            assert_eq!(row[member], *value, "{name}.{member}: {row}");
        }
        let mut events = vec![format!("{name} done")];
        events.extend(event.map(ToOwned::to_owned));
        assert_eq!(playground.event_names(), events);
        let (_, step) = &playground.events[0];
        assert_eq!((step.actor.as_str(), &step.payload.json()["index"]), ("scenario", &json!(0)));
        assert!(step.summary.starts_with(&format!("step 0 {name}: ")), "{}", step.summary);
        assert!(!step.payload.text().contains("{{"));
        for (_, arrival) in &playground.events[1..] {
            assert_eq!((arrival.actor.as_str(), &arrival.payload.json()["scenario_step"]), ("scenario", &json!(0)));
        }
        seen.push(name);
    }
    let all: Vec<&str> = crate::catalog().iter().flat_map(|info| info.steps).map(|step| step.name).collect();
    assert!(all.iter().all(|name| seen.contains(name) || ["file_delete", "page_inbound"].contains(name)), "{all:?}");
}

#[test]
fn a_file_is_deleted() {
    let example = |name: &str| {
        let mut steps = crate::catalog().iter().flat_map(|info| info.steps);
        let mut example = steps.find(|step| step.name == name).unwrap().example();
        example["after_seconds"] = json!(0);
        example
    };
    let (mut drop, delete) = (example("drop_file_inbox"), example("file_delete"));
    drop["path"] = delete["path"].clone();
    let playground = Playground::new(&[]).begin(&json!([drop])).begin(&json!([delete]));
    assert_eq!(playground.event_names(), ["drop_file_inbox done", "file_delete done"]);
    assert_eq!(playground.written()[1], "delete files/inbox/referral-1.pdf 2");
    assert!(playground.rows(SimulatorType::Files, "files").is_empty());
}

/// Puts a template into every text of an example but the step's name.
fn with_templates(value: &mut Value, template: &str) {
    match value {
        Value::String(text) => template.clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(|item| with_templates(item, template)),
        Value::Object(members) => {
            let own = members.iter_mut().filter(|(key, _)| *key != "do");
            own.for_each(|(_, member)| with_templates(member, template));
        }
        _ => {}
    }
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(16))]

    #[test]
    fn no_data_panics_or_executes_half_of_a_step(data in "(MSH\\|\\^~|)\\PC{0,20}", before in "(|MSH\\|\\^~|a/)", seconds in 0..2) {
        for step in crate::catalog().iter().flat_map(|info| info.steps) {
            for member in step.example().as_object().unwrap().keys().filter(|member| *member != "do") {
                let mut example = step.example();
                with_templates(&mut example[member], &format!("{before}{{{{entity.any}}}}"));
                example["after_seconds"] = json!(seconds);
                let mut playground = Playground::new(&[]);
                playground.entity = json!({"data": {"any": data, "id": "p1", "name": "x", "number": 1, "mrn": "1",
                    "birth_date": "1"}, "ref": "Patient/p1"});
                let begun = playground.try_begin(&json!([example]));
                proptest::prop_assert_eq!(begun.is_err(), playground.events.is_empty());
                playground.catch_up_after(1);
                proptest::prop_assert!(begun.is_ok() || playground.changes.is_empty());
                proptest::prop_assert_eq!(playground.next_due(), None);
            }
        }
    }
}

#[test]
fn arrivals_have_all_members() {
    let playground = Playground::new(&[]).begin(&json!([
        {"do": "hl7_inbound", "message": "MSH|^~\\&|LAB|||||| ADT^A01|1|P|2.5\r\nPID|1||{{entity.mrn}}\nPV1|1"},
        {"do": "inbound_call", "opening": "Hello", "answers": [{"phrases": ["born"], "answer": "In {{entity.birth_date}}"}]},
        {"do": "fax_inbound", "document": {"title": "Referral", "header": {"Patient": "{{entity.name}}"},
            "signature": "missing", "signer": "Dr. Lee"}},
    ]));
    let inbox = playground.rows(SimulatorType::Hl7, "inbox");
    assert_eq!(inbox[0]["payload"], "MSH|^~\\&|LAB|||||| ADT^A01|1|P|2.5\rPID|1||A\\F\\1\rPV1|1");
    let call = &playground.rows(SimulatorType::Voice, "calls")[0];
    assert_eq!(call["status"], "ringing");
    assert!(!call.to_string().contains("1980"), "the script is not in the call");
    let script = playground.row(SimulatorType::Voice, "call_scripts", call["id"].as_str().unwrap()).unwrap();
    assert_eq!(
        script,
        json!({"opening": "Hello", "answers": [{"phrases": ["born"], "answer": "In 1980-02-03"}], "fallback": null})
    );
    let turn = playground.events.iter().find(|(_, event)| event.r#type.name() == "voice_turn").unwrap();
    assert_eq!((&turn.1.payload.json()["call_id"], &turn.1.payload.json()["action"]), (&call["id"], &json!("ring")));
    assert!(turn.1.payload.json().get("text").is_none(), "nobody has answered yet");
    let fax = &playground.rows(SimulatorType::Fax, "faxes")[0];
    assert_eq!(fax["text"], "Referral\nPatient: Ada Stone\nSignature:\nDr. Lee");
    assert_eq!(fax["document"]["signature"], "missing");
    assert_eq!((&fax["pages"], &fax["content_type"]), (&json!(1), &json!("application/pdf")));
    let arrived = playground.events.iter().find(|(_, event)| event.r#type.name() == "fax_inbound").unwrap();
    let payload = arrived.1.payload.json();
    assert_eq!((&payload["text"], &payload["sha256"]), (&fax["text"], &fax["sha256"]));
    assert!(payload.get("base64").is_none() && payload.get("document").is_none(), "only the row has the bytes");
}

#[test]
fn files_are_described_by_their_bytes() {
    let mut playground = Playground::new(&[]);
    let scan = DatasetFile { sha256: "ab".repeat(32), size: 9, content_type: "image/tiff".to_owned(), text: None };
    playground.files.insert("scans/1.tiff".to_owned(), scan);
    let playground = playground.begin(&json!([
        {"do": "drop_file_inbox", "path": "/inbox/{{entity.number}}.txt", "content": "for {{entity.name}}"},
        {"do": "drop_file_inbox", "path": "inbox/b.bin", "base64": "/9j/"},
        {"do": "drop_file_inbox", "path": "inbox/c.tiff", "dataset_file": "scans/1.tiff"},
        {"do": "drop_file_inbox", "path": "inbox/d.pdf", "document": {"title": "Order"}},
        {"do": "drop_file_inbox", "path": "inbox/e.tif", "document": {"title": "Order", "format": "tiff"}},
        {"do": "file_delete", "path": "scans/1.tiff"},
    ]));
    let at = START.to_string();
    let file = |path: &str| playground.row(SimulatorType::Files, "files", path).unwrap();
    assert_eq!(
        file("inbox/7.txt"),
        json!({"sha256": sha256_hex(b"for Ada Stone"), "size": 13, "content_type": "text/plain",
            "text": "for Ada Stone", "modified_at": at})
    );
    assert_eq!(file("inbox/b.bin")["base64"], "/9j/");
    let copied = json!({"sha256": "ab".repeat(32), "size": 9, "content_type": "image/tiff", "modified_at": at});
    assert_eq!(file("inbox/c.tiff"), copied);
    assert_eq!(file("inbox/d.pdf")["text"], "Order\nSignature: /s/");
    let letter = STANDARD.decode(file("inbox/d.pdf")["base64"].as_str().unwrap()).unwrap();
    assert_eq!(file("inbox/d.pdf")["sha256"], sha256_hex(&letter));
    assert_eq!(documents::text(&letter).unwrap().pages, ["Order\nSignature:\t/s/\nPage 1 of 1"]);
    let scan = file("inbox/e.tif");
    assert_eq!((&scan["content_type"], &scan["pages"], scan.get("text")), (&json!("image/tiff"), &json!(1), None));
    assert_eq!(
        playground.written().last().unwrap(),
        "delete files/scans/1.tiff 1",
        "the deletion hides the dataset file"
    );
    assert_eq!(playground.event_names().len(), 6);
}

#[test]
fn steps_see_previous_changes_and_a_record_changes_once() {
    let drop = |content: &str| json!({"do": "drop_file_inbox", "path": "a", "content": content});
    let delete = json!({"do": "file_delete", "path": "a"});
    let playground = Playground::new(&[]).begin(&json!([drop("1"), delete, drop("2"), drop("3")]));
    assert_eq!(playground.written(), ["create files/a 1"]);
    assert_eq!(playground.row(SimulatorType::Files, "files", "a").unwrap()["text"], "3");
    assert_eq!(playground.event_names().len(), 4);
    let playground = playground.begin(&json!([drop("4"), delete]));
    assert_eq!(playground.written()[1..], ["delete files/a 2"]);
    let row = |name: &str| json!({"do": "portal_row", "resource": "drafts", "key": "k", "row": {"name": name}});
    let playground = Playground::new(&[]).begin(&json!([row("x"), row("y"), row("z")]));
    assert_eq!(playground.written(), ["create drafts/k 1"]);
    assert_eq!(playground.row(SimulatorType::Payer, "drafts", "k"), Some(json!({"name": "z"})));
}

#[test]
fn a_failing_step_undoes_all_steps() {
    let mut playground = Playground::new(&[]);
    for (step, expected) in [
        (json!({"do": "file_delete", "path": "b"}), "steps.1.path: there is no such file"),
        (
            json!({"do": "drop_file_inbox", "path": "a/b", "content": ""}),
            "steps.1.path: `a` is a file, and no directory",
        ),
        (
            json!({"do": "drop_file_inbox", "path": "c", "dataset_file": "x"}),
            "steps.1.dataset_file: the datasets have no",
        ),
        (json!({"do": "hl7_inbound", "message": "MSH|^~\\&|A\rlower|x"}), "steps.1.message: cannot be read"),
    ] {
        let error = playground.begin_error(&json!([{"do": "drop_file_inbox", "path": "a", "content": ""}, step]));
        assert!(error.starts_with(expected), "{error}");
        assert_eq!((playground.events.len(), playground.changes.len(), playground.world.seq), (0, 0, 0));
    }
    let error = playground.begin_error(&json!([
        {"do": "drop_file_inbox", "path": "a/b", "content": ""},
        {"do": "drop_file_inbox", "path": "a", "content": ""},
    ]));
    assert_eq!(error, "steps.1.path: there is a directory of that name");
    assert_eq!(playground.begin(&json!([])).events.len(), 0);
}

#[test]
fn an_inactive_sandbox_executes_no_step() {
    let mut playground = Playground::new(&[]);
    playground.world.sandboxes.values_mut().for_each(|sandbox| sandbox.is_active = false);
    for after_seconds in [0, 5] {
        let error = playground.begin_error(
            &json!([{"do": "drop_file_inbox", "path": "a", "content": "", "after_seconds": after_seconds}]),
        );
        assert_eq!(error, "steps.0.sandbox: does not exist or is not active any more");
    }
}

#[test]
fn all_template_errors_are_reported_together() {
    let mut playground = Playground::new(&[]);
    let error = playground.begin_error(&json!([
        {"do": "drop_file_inbox", "path": "a", "content": "{{entity.none}} {{task.name}}"},
        {"do": "message_inbound", "channel": "sms", "from": "+15550100123", "body": "{{entity.evil}}"},
        {"do": "portal_row", "resource": "drafts", "row": {"a": {"b": "{{task.task_item}}"}}},
    ]));
    let fields: Vec<&str> = error.split("; ").map(|error| error.split(": ").next().unwrap()).collect();
    assert_eq!(fields, ["steps.0.content", "steps.1.body", "steps.2.row.a.b"], "{error}");
    assert!(error.contains("`{{entity.evil}}` is filled with looks like a template itself"), "{error}");
}

#[test]
fn template_values_must_be_valid_for_their_step() {
    let mut playground = Playground::new(&[]);
    playground.entity = json!({"name": "x", "ref": "Patient/p1", "data": {"path": "../../etc/passwd", "phone": "home",
        "text": "not HL7", "long": "x".repeat(2000)}});
    for (step, field) in [
        (json!({"do": "drop_file_inbox", "path": "{{entity.path}}", "content": ""}), "steps.0.path"),
        (json!({"do": "drop_file_inbox", "path": "a", "base64": "{{entity.phone}}!"}), "steps.0.base64"),
        (json!({"do": "voicemail", "from_number": "{{entity.phone}}", "text": "x"}), "steps.0.from_number"),
        (json!({"do": "hl7_inbound", "message": "{{entity.text}}"}), "steps.0.message"),
        (
            json!({"do": "message_inbound", "channel": "sms", "from": "+15550100123", "body": "{{entity.long}}"}),
            "steps.0.body",
        ),
    ] {
        let error = playground.begin_error(&json!([step]));
        assert!(error.starts_with(&format!("{field}: ")), "{error}");
    }
}

#[test]
fn the_sandbox_is_found_by_name_or_type() {
    let ids: Vec<SandboxId> = (1..=3).map(|number| SandboxId::from_ulid(Ulid(number))).collect();
    let sandbox =
        |index: usize, kind: SimulatorType, name: &'static str| ScenarioSandbox { id: &ids[index], kind, name };
    let two = [
        sandbox(0, SimulatorType::Files, "North"),
        sandbox(1, SimulatorType::Files, "South"),
        sandbox(2, SimulatorType::Fax, "Files"),
    ];
    let files = BTreeMap::new();
    for (sandboxes, name, expected) in [
        (&two[..], json!("South"), Ok(1)),
        (&two[..], json!("North"), Ok(0)),
        (&two[1..2], json!(null), Ok(1)),
        (&two[1..2], json!("sftp"), Ok(1)),
        (&two[..], json!(null), Err("steps.0.sandbox: must name one")),
        (&two[1..], json!("Files"), Err("steps.0.sandbox: is a Fax simulator")),
        (&two[2..], json!(null), Err("steps.0.do: needs a Files simulator")),
    ] {
        let context = ScenarioContext { sandboxes, entity: None, task: &Value::Null, dataset_files: &files };
        let scenario = json!({"steps": [{"do": "drop_file_inbox", "path": "a", "content": "", "sandbox": name}]});
        let result = prepare(&scenario, &context);
        match expected {
            Ok(index) => assert_eq!(result.unwrap()[0].sandbox, ids[index], "{name}"),
            Err(error) => assert!(result.unwrap_err().to_string().starts_with(error), "{name}"),
        }
    }
    let context = ScenarioContext { sandboxes: &two, entity: None, task: &Value::Null, dataset_files: &files };
    for nothing in [Value::Null, json!({}), json!({"steps": []})] {
        assert!(prepare(&nothing, &context).unwrap().is_empty());
    }
}
