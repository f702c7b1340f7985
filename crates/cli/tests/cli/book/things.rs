//! What an example shows, read by whoever reads it in earnest.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use testkit::{Caller, Database};

use super::blocks::Block;
use super::root;
use crate::process::Site;

const SIMULATORS: [&str; 9] = ["Fhir", "Hl7", "X12", "Files", "Payer", "Voice", "Fax", "Message", "CdsHooks"];

pub(super) async fn check(page: &str, block: &Block, thing: &str, author: &Caller) {
    let place = format!("{page}:{}", block.line);
    match thing.strip_suffix(" config") {
        Some(kind) => config(&place, kind, &json_of(&place, block), author).await,
        None if thing == "step" => step(&json_of(&place, block), author).await,
        None if thing == "assertion" => assertion(&place, &json_of(&place, block)),
        None if thing == "settings" => settings(&block.text),
        None if thing == "workflow" => workflow(&place, &block.text),
        None => panic!("{place}: what is `{thing}`?"),
    }
}

fn json_of(place: &str, block: &Block) -> Value {
    serde_json::from_str(&block.text).unwrap_or_else(|error| panic!("{place}: {error}"))
}

async fn config(place: &str, kind: &str, config: &Value, author: &Caller) {
    let answer = author.post("/simulators", json!({"type": kind, "name": "Example", "config": config})).await;
    assert_eq!(answer.status, 201, "{place}: {}", answer.text());
}

async fn step(step: &Value, author: &Caller) {
    let environment = author.post("/environments", json!({"name": "Everything"})).await.expect(201).id();
    for kind in SIMULATORS {
        let simulator = author.post("/simulators", json!({"type": kind, "name": kind})).await.expect(201).id();
        author.post(&format!("/environments/{environment}/simulators/{simulator}"), json!({})).await;
    }
    let benchmark = json!({"name": "Steps", "environment_id": environment});
    let benchmark = author.post("/benchmarks", benchmark).await.expect(201).id();
    let task = json!({"benchmark_id": benchmark, "name": "Step", "task_item": {}, "scenario": {"steps": [step]}});
    author.post("/tasks", task).await.expect(201);
}

fn assertion(place: &str, assertion: &Value) {
    match verify::parse(assertion) {
        Ok(verify::Parsed::Known(_)) => {}
        other => panic!("{place}: {other:?}"),
    }
}

/// A server starts with them; where it stores and listens is the test's.
fn settings(text: &str) {
    let site = Site::new(Database::Sqlite);
    let file = crate::process::write_file(site.directory(), "verial.toml", text);
    let blobs = format!("file:{}", site.directory().join("blobs").display());
    site.serve_with(&["--config", file.to_str().unwrap(), "--blobs", &blobs]);
}

/// A workflow of GitHub's that gives our action what it takes.
fn workflow(place: &str, text: &str) {
    let workflow = authoring::yaml::parse(text).unwrap_or_else(|fault| panic!("{place}: {fault}"));
    let action = std::fs::read_to_string(root().join("action.yml")).unwrap();
    let jobs = workflow["jobs"].as_object().unwrap().values();
    let steps: Vec<&Value> = jobs.flat_map(|job| job["steps"].as_array().unwrap()).collect();
    let ours = steps.iter().find(|step| step["uses"].as_str().is_some_and(|uses| uses.starts_with("verial/")));
    let given: BTreeSet<&String> = ours.unwrap()["with"].as_object().unwrap().keys().collect();
    assert!(given.len() > 2);
    for name in given {
        assert!(action.contains(&format!("\n  {name}:\n")), "{place}: the action has no input {name}");
    }
}
