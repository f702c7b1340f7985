//! Commands as the documented product has them: ids by flag, names of flags and settings, flags before the command.

use serde_json::{Value, json};
use testkit::Database;

use crate::arena::ended;
use crate::process::{Site, output, verial};

#[tokio::test(flavor = "multi_thread")]
async fn sandboxes_are_used_by_the_documented_flags() {
    let site = Site::new(Database::Sqlite);
    let serving = site.serve();
    let key = serving.first_key.clone().unwrap();
    let author = serving.first_caller();
    let simulator = author.post("/simulators", json!({"type": "Fhir", "name": "EHR"})).await.expect(201).id();
    let dataset = author.post("/datasets", json!({"type": "fhir", "name": "Chart"})).await.expect(201).id();
    // Global flags before the command.
    let call = |words: &[&str]| -> Value {
        let global = ["--api-key", &key, "--base-url", &serving.base_url, "--json"];
        let text = output(verial(&[&global, words].concat()).env("HOME", site.directory()));
        serde_json::from_str(&text).unwrap()
    };
    let made = call(&["sandboxes", "create", "--simulator-id", &simulator]);
    let sandbox = made["id"].as_str().unwrap();
    assert_eq!(call(&["sandboxes", "get", "--id", sandbox])["id"], made["id"]);
    assert_eq!(call(&["sandboxes", "get", sandbox])["id"], made["id"]);
    let flags = ["--id", sandbox, "--dataset-id", &dataset];
    call(&[&["sandboxes", "add-dataset"][..], &flags].concat());
    call(&[&["sandboxes", "remove-dataset"][..], &flags].concat());
    call(&["sandboxes", "events", "--id", sandbox]);
    call(&["sandboxes", "teardown", "--id", sandbox]);
    let (_, words) = ended(verial(&["sandboxes", "get", sandbox, "--id", sandbox]).env("HOME", site.directory()), 2);
    assert!(words.contains("cannot be used with"), "{words}");
    ended(verial(&["sandboxes", "get"]).env("HOME", site.directory()), 2);
}

#[test]
fn settings_have_their_documented_names() {
    let home = tempfile::tempdir().unwrap();
    let run = |words: &[&str]| {
        let mut command = verial(words);
        command.env("HOME", home.path());
        command
    };
    let (_, words) = ended(&mut run(&["auth", "status"]), 1);
    assert!(words.contains("No API key configured. Run: verial auth set-key <key>"), "{words}");
    output(&mut run(&["config", "set", "base-url", "http://127.0.0.1:9"]));
    assert_eq!(output(&mut run(&["config", "get", "base-url"])).trim(), "http://127.0.0.1:9");
    let path = home.path().join(".verial/config.json");
    std::fs::write(&path, r#"{"base-url": "http://127.0.0.1:8"}"#).unwrap();
    assert_eq!(output(&mut run(&["config", "get", "url"])).trim(), "http://127.0.0.1:8");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_narrow_list_shows_the_agent_and_a_wide_one_everything() {
    let arena = crate::arena::Arena::open().await;
    ended(&mut arena.run("true", &["--agent-name", "careful-bot", "--min-score", "0"]), 0);
    let (narrow, _) = ended(arena.verial(&["runs", "list"]).env("COLUMNS", "80"), 0);
    assert!(narrow.contains("careful-bot") && narrow.contains("br_"), "{narrow}");
    assert!(narrow.lines().all(|line| line.chars().count() <= 80) && !narrow.contains("CREATED"), "{narrow}");
    let (wide, _) = ended(arena.verial(&["runs", "list", "--wide"]).env("COLUMNS", "80"), 0);
    assert!(wide.contains("CREATED") && !wide.contains('…'), "{wide}");
}
