//! `verial benchmarks preview | schema | install`, `rescore RUN FOLDER`, and `serve --bundled`.

use serde_json::Value;

use crate::arena::{Arena, ended, wait_for};
use crate::process::{Site, output, verial};

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_is_previewed_installed_pulled_and_tried_on_a_run() {
    let arena = Arena::open().await;
    let call = |words: &[&str]| output(&mut arena.verial(words));
    call(&["benchmarks", "init", "x-rays"]);
    let shown = call(&["benchmarks", "preview", "x-rays", "--task", "ben"]);
    assert!(shown.contains("Order a chest X-ray for Ben Wells") && shown.contains("record number 10002"), "{shown}");
    assert!(!shown.contains("{{") && !shown.contains("Ada"), "{shown}");
    let schema: Value = serde_json::from_str(&call(&["benchmarks", "schema", "task"])).unwrap();
    assert!(schema["properties"]["criteria"].is_object(), "{schema}");
    let task = std::fs::read_to_string(arena.folder().join("x-rays/tasks/10-order.yaml")).unwrap();
    assert!(task.starts_with("# yaml-language-server: $schema=../.schemas/task.json\n"), "{task}");
    assert!(arena.folder().join("x-rays/.schemas/task.json").is_file());
    // What is pulled is one file for both tasks again.
    call(&["benchmarks", "push", "x-rays"]);
    call(&["benchmarks", "pull", "x-rays", "pulled"]);
    let files: Vec<_> = std::fs::read_dir(arena.folder().join("pulled/tasks")).unwrap().collect();
    let pulled = std::fs::read_to_string(files[0].as_ref().unwrap().path()).unwrap();
    assert_eq!(files.len(), 1);
    assert!(pulled.contains("name: \"Order a chest X-ray for {{entity.name}}\"\neach:\n"), "{pulled}");
    assert!(call(&["benchmarks", "push", "pulled"]).contains("Nothing new"));
    // Other criteria are tried on a run by the folder that has them.
    ended(&mut arena.verial(&["run", "x-rays@1", "--agent", "true", "--min-score", "0"]), 0);
    let run = call(&["runs", "list", "--get", "data.0.id"]);
    let changed = task.replace("count: 1\n", "count: 0\n").replace("      only: true\n", "");
    std::fs::write(arena.folder().join("x-rays/tasks/10-order.yaml"), changed).unwrap();
    let tried = call(&["rescore", run.trim(), "x-rays"]);
    assert!(tried.contains("FLIPPED to pass"), "{tried}");
    // A bundled benchmark on a server, by name.
    assert!(call(&["benchmarks", "install", "cds-triage"]).contains("Installed: cds-triage."));
    assert!(call(&["benchmarks", "list"]).contains("cds-triage"));
    let (_, words) = ended(&mut arena.verial(&["benchmarks", "install", "cds"]), 2);
    assert!(words.contains("`cds` is not bundled; there are cds-triage"), "{words}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_starts_with_the_bundled_benchmarks() {
    let site = Site::new(testkit::Database::Sqlite);
    let serving = site.serve_with(&["--bundled"]);
    let key = serving.first_key.clone().unwrap();
    let listed = || {
        let mut list = verial(&["benchmarks", "list", "--json", "--url", &serving.base_url, "--api-key", &key]);
        output(list.env("HOME", site.directory()))
    };
    wait_for("the bundled benchmarks", || listed().contains("records-release"));
    assert!(listed().contains("cds-triage"));
}
