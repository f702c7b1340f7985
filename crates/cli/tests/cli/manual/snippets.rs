//! Checks examples by passing them to the code that reads them.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use testkit::{Caller, Database};

use super::blocks::Block;
use super::root;
use crate::process::ServerData;

const SIMULATORS: [&str; 9] = ["Fhir", "Hl7", "X12", "Files", "Payer", "Voice", "Fax", "Message", "CdsHooks"];

pub(super) async fn check(page: &str, block: &Block, format: &str, author: &Caller) {
    let location = format!("{page}:{}", block.line);
    match format.strip_suffix(" config") {
        Some(simulator_type) => config(&location, simulator_type, &parse_json(&location, block), author).await,
        None if format == "step" => step(&parse_json(&location, block), author).await,
        None if format == "assertion" => assertion(&location, &parse_json(&location, block)),
        None if format == "settings" => settings(&block.text),
        None if format == "workflow" => workflow(&location, &block.text),
        None => panic!("{location}: what is `{format}`?"),
    }
}

fn parse_json(location: &str, block: &Block) -> Value {
    serde_json::from_str(&block.text).unwrap_or_else(|error| panic!("{location}: {error}"))
}

async fn config(location: &str, simulator_type: &str, config: &Value, author: &Caller) {
    let response =
        author.post("/simulators", json!({"type": simulator_type, "name": "Example", "config": config})).await;
    assert_eq!(response.status, 201, "{location}: {}", response.text());
}

async fn step(step: &Value, author: &Caller) {
    let environment = author.post("/environments", json!({"name": "Everything"})).await.expect(201).id();
    for simulator_type in SIMULATORS {
        let simulator =
            author.post("/simulators", json!({"type": simulator_type, "name": simulator_type})).await.expect(201).id();
        author.post(&format!("/environments/{environment}/simulators/{simulator}"), json!({})).await;
    }
    let benchmark = json!({"name": "Steps", "environment_id": environment});
    let benchmark = author.post("/benchmarks", benchmark).await.expect(201).id();
    let task = json!({"benchmark_id": benchmark, "name": "Step", "task_item": {}, "scenario": {"steps": [step]}});
    author.post("/tasks", task).await.expect(201);
}

fn assertion(location: &str, assertion: &Value) {
    match verify::parse(assertion) {
        Ok(verify::Parsed::Known(_)) => {}
        other => panic!("{location}: {other:?}"),
    }
}

/// Checks that a server starts with the settings.
fn settings(text: &str) {
    let data = ServerData::new(Database::Sqlite);
    let file = crate::process::write_file(data.directory(), "verial.toml", text);
    let blobs = format!("file:{}", data.directory().join("blobs").display());
    data.serve_with(&["--config", file.to_str().unwrap(), "--blobs", &blobs]);
}

/// Checks that a GitHub workflow only uses existing inputs of the action.
fn workflow(location: &str, text: &str) {
    let workflow = authoring::yaml::parse(text).unwrap_or_else(|error| panic!("{location}: {error}"));
    let action = std::fs::read_to_string(root().join("action.yml")).unwrap();
    let jobs = workflow["jobs"].as_object().unwrap().values();
    let steps: Vec<&Value> = jobs.flat_map(|job| job["steps"].as_array().unwrap()).collect();
    let action_step = steps.iter().find(|step| step["uses"].as_str().is_some_and(|uses| uses.starts_with("verial/")));
    let inputs: BTreeSet<&String> = action_step.unwrap()["with"].as_object().unwrap().keys().collect();
    assert!(inputs.len() > 2);
    for name in inputs {
        assert!(action.contains(&format!("\n  {name}:\n")), "{location}: the action has no input {name}");
    }
}
