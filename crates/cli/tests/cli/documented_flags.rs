//! Documented alternatives: ids as flags, aliases of flags and settings, flags before the command.

use serde_json::{Value, json};
use testkit::Database;

use crate::fixture::expect_exit;
use crate::process::{ServerData, output, verial};

#[tokio::test(flavor = "multi_thread")]
async fn sandbox_commands_accept_the_documented_flags() {
    let data = ServerData::new(Database::Sqlite);
    let server = data.serve();
    let key = server.first_key.clone().unwrap();
    let author = server.first_caller();
    let simulator = author.post("/simulators", json!({"type": "Fhir", "name": "EHR"})).await.expect(201).id();
    let dataset = author.post("/datasets", json!({"type": "fhir", "name": "Chart"})).await.expect(201).id();
    // Global flags before the command.
    let call = |arguments: &[&str]| -> Value {
        let global = ["--api-key", &key, "--base-url", &server.base_url, "--json"];
        let text = output(verial(&[&global, arguments].concat()).env("HOME", data.directory()));
        serde_json::from_str(&text).unwrap()
    };
    let created = call(&["sandboxes", "create", "--simulator-id", &simulator]);
    let sandbox = created["id"].as_str().unwrap();
    assert_eq!(call(&["sandboxes", "get", "--id", sandbox])["id"], created["id"]);
    assert_eq!(call(&["sandboxes", "get", sandbox])["id"], created["id"]);
    let flags = ["--id", sandbox, "--dataset-id", &dataset];
    call(&[&["sandboxes", "add-dataset"][..], &flags].concat());
    call(&[&["sandboxes", "remove-dataset"][..], &flags].concat());
    call(&["sandboxes", "events", "--id", sandbox]);
    call(&["sandboxes", "teardown", "--id", sandbox]);
    let (_, output_text) =
        expect_exit(verial(&["sandboxes", "get", sandbox, "--id", sandbox]).env("HOME", data.directory()), 2);
    assert!(output_text.contains("cannot be used with"), "{output_text}");
    expect_exit(verial(&["sandboxes", "get"]).env("HOME", data.directory()), 2);
}

#[test]
fn settings_have_their_documented_names() {
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let mut command = verial(arguments);
        command.env("HOME", home.path());
        command
    };
    let (_, text) = expect_exit(&mut run(&["auth", "status"]), 1);
    assert!(text.contains("No API key configured. Run: verial auth set-key <key>"), "{text}");
    output(&mut run(&["config", "set", "base-url", "http://127.0.0.1:9"]));
    assert_eq!(output(&mut run(&["config", "get", "base-url"])).trim(), "http://127.0.0.1:9");
    let path = home.path().join(".verial/config.json");
    std::fs::write(&path, r#"{"base-url": "http://127.0.0.1:8"}"#).unwrap();
    assert_eq!(output(&mut run(&["config", "get", "url"])).trim(), "http://127.0.0.1:8");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_narrow_list_shows_the_agent_and_a_wide_one_everything() {
    let fixture = crate::fixture::RunFixture::open().await;
    expect_exit(&mut fixture.run("true", &["--agent-name", "careful-bot", "--min-score", "0"]), 0);
    let (narrow, _) = expect_exit(fixture.verial(&["runs", "list"]).env("COLUMNS", "80"), 0);
    assert!(narrow.contains("careful-bot") && narrow.contains("br_"), "{narrow}");
    assert!(narrow.lines().all(|line| line.chars().count() <= 80) && !narrow.contains("CREATED"), "{narrow}");
    let (wide, _) = expect_exit(fixture.verial(&["runs", "list", "--wide"]).env("COLUMNS", "80"), 0);
    assert!(wide.contains("CREATED") && !wide.contains('…'), "{wide}");
}
