//! `verial benchmarks preview | schema | install`, `rescore RUN FOLDER`, and `serve --bundled`.

use serde_json::Value;

use crate::fixture::{RunFixture, expect_exit, wait_for};
use crate::process::{ServerData, output, verial};

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_is_previewed_pushed_pulled_and_used_for_rescoring() {
    let fixture = RunFixture::open().await;
    let call = |arguments: &[&str]| output(&mut fixture.verial(arguments));
    call(&["benchmarks", "init", "x-rays"]);
    let shown = call(&["benchmarks", "preview", "x-rays", "--task", "ben"]);
    assert!(shown.contains("Order a chest X-ray for Ben Wells") && shown.contains("record number 10002"), "{shown}");
    assert!(!shown.contains("{{") && !shown.contains("Ada"), "{shown}");
    let schema: Value = serde_json::from_str(&call(&["benchmarks", "schema", "task"])).unwrap();
    assert!(schema["properties"]["criteria"].is_object(), "{schema}");
    let task = std::fs::read_to_string(fixture.folder().join("x-rays/tasks/10-order.yaml")).unwrap();
    assert!(task.starts_with("# yaml-language-server: $schema=../.schemas/task.json\n"), "{task}");
    assert!(fixture.folder().join("x-rays/.schemas/task.json").is_file());
    // Pulling gives one file for both tasks again.
    call(&["benchmarks", "push", "x-rays"]);
    call(&["benchmarks", "pull", "x-rays", "pulled"]);
    let files: Vec<_> = std::fs::read_dir(fixture.folder().join("pulled/tasks")).unwrap().collect();
    let pulled = std::fs::read_to_string(files[0].as_ref().unwrap().path()).unwrap();
    assert_eq!(files.len(), 1);
    assert!(pulled.contains("name: \"Order a chest X-ray for {{entity.name}}\"\neach:\n"), "{pulled}");
    assert!(call(&["benchmarks", "push", "pulled"]).contains("No changes"));
    // Rescore a run with the changed criteria of the folder.
    expect_exit(&mut fixture.verial(&["run", "x-rays@1", "--agent", "true", "--min-score", "0"]), 0);
    let run = call(&["runs", "list", "--get", "data.0.id"]);
    let changed = task.replace("count: 1\n", "count: 0\n").replace("      only: true\n", "");
    std::fs::write(fixture.folder().join("x-rays/tasks/10-order.yaml"), changed).unwrap();
    let tried = call(&["rescore", run.trim(), "x-rays"]);
    assert!(tried.contains("FLIPPED to pass"), "{tried}");
    // Install a bundled benchmark by name.
    assert!(call(&["benchmarks", "install", "cds-triage"]).contains("Installed: cds-triage."));
    assert!(call(&["benchmarks", "list"]).contains("cds-triage"));
    let (_, text) = expect_exit(&mut fixture.verial(&["benchmarks", "install", "cds"]), 2);
    assert!(text.contains("`cds` is not bundled; bundled are cds-triage"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_starts_with_the_bundled_benchmarks() {
    let data = ServerData::new(testkit::Database::Sqlite);
    let server = data.serve_with(&["--bundled"]);
    let key = server.first_key.clone().unwrap();
    let listed = || {
        let mut list = verial(&["benchmarks", "list", "--json", "--url", &server.base_url, "--api-key", &key]);
        output(list.env("HOME", data.directory()))
    };
    wait_for("the bundled benchmarks", || listed().contains("records-release"));
    assert!(listed().contains("cds-triage"));
}
