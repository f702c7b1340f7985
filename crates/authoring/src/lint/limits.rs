//! Lints limits of length and number with the server's own validation.

use model::benchmark::NewBenchmark;
use model::criterion::NewCriterion;
use model::dataset::NewDatasetEntity;
use model::environment::NewEnvironment;
use model::simulator::NewSimulator;
use model::task::NewTask;
use model::{BenchmarkId, DatasetId, FieldErrors, Id, TaskId, Timestamp, Ulid};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Findings;
use crate::folder::{Criterion, Dataset, Folder, Task};

pub(super) fn check(folder: &Folder, tasks: &[(String, Task)], findings: &mut Findings) {
    check_benchmark(folder, findings);
    for (key, one) in &folder.datasets {
        check_dataset(key, one, findings);
    }
    for (path, one) in tasks {
        check_task(path, one, findings);
    }
}

fn check_benchmark(folder: &Folder, findings: &mut Findings) {
    let file = "benchmark.yaml";
    let definition = &folder.benchmark;
    let mut body =
        json!({"name": definition.name, "description": definition.description, "timeout": definition.timeout});
    body["concurrency"] = json!(definition.concurrency);
    let errors = parse(body).map(|new: NewBenchmark| new.into_benchmark(id(), now()).validate());
    add(findings, file, "", errors);
    let body = json!({"name": definition.environment.name, "description": definition.environment.description});
    let errors = parse(body).map(|new: NewEnvironment| new.into_environment(id(), now()).validate());
    add(findings, file, "environment", errors);
    for (index, simulator) in definition.environment.simulators.iter().enumerate() {
        let body = json!({"type": simulator.r#type, "name": simulator.name});
        let errors = parse(body).map(|new: NewSimulator| new.into_simulator(id(), now()).validate());
        add(findings, file, &format!("environment.simulators.{index}"), errors);
    }
}

fn check_dataset(key: &str, dataset: &Dataset, findings: &mut Findings) {
    let file = format!("datasets/{key}/dataset.yaml");
    let metadata = &dataset.metadata;
    let mut errors = FieldErrors::new();
    errors.name("name", &metadata.name);
    if let Some(description) = &metadata.description {
        errors.length("description", description, 0..=1000);
    }
    findings.add_fields(&file, "", &errors);
    for (index, entity) in metadata.entities.iter().enumerate() {
        let body = json!({"name": entity.name, "ref": entity.r#ref, "data": entity.data});
        let errors =
            parse(body).map(|new: NewDatasetEntity| new.into_entity(id(), id::<DatasetId>(), now()).validate());
        add(findings, &file, &format!("entities.{index}"), errors);
    }
}

fn check_task(path: &str, task: &Task, findings: &mut Findings) {
    let mut body = json!({"benchmark_id": id::<BenchmarkId>().to_string(), "name": task.name, "tags": task.tags});
    body["timeout"] = json!(task.timeout);
    body["task_item"].clone_from(&task.task_item);
    let errors = parse(body).map(|new: NewTask| new.into_task(id(), now()).validate());
    add(findings, path, "", errors);
    for (index, one) in task.criteria.iter().enumerate() {
        check_criterion(path, index, one, findings);
    }
}

fn check_criterion(path: &str, index: usize, criterion: &Criterion, findings: &mut Findings) {
    let mut body = json!({"task_id": id::<TaskId>().to_string(), "label": criterion.label});
    body["assertion"].clone_from(&criterion.assertion);
    body["axis"] = json!(criterion.axis);
    let errors = parse(body).map(|new: NewCriterion| new.into_criterion(id(), now()).validate());
    add(findings, path, &format!("criteria.{index}"), errors);
}

/// Parses a request body like the server. Other rules report bodies that cannot be parsed.
fn parse<T: DeserializeOwned>(body: Value) -> Option<T> {
    serde_json::from_value(body).ok()
}

/// A placeholder: the validation ignores ids and times.
fn id<I: Id>() -> I {
    I::from_ulid(Ulid::new(0, 0))
}

fn now() -> Timestamp {
    Timestamp(0)
}

fn add(findings: &mut Findings, file: &str, prefix: &str, errors: Option<Result<(), FieldErrors>>) {
    if let Some(Err(errors)) = errors {
        findings.add_fields(file, prefix, &errors);
    }
}
