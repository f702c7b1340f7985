//! Limits of length and number that the server has: everything it would refuse is refused here first.

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

pub(super) fn judge(folder: &Folder, tasks: &[(String, Task)], findings: &mut Findings) {
    benchmark(folder, findings);
    for (key, one) in &folder.datasets {
        dataset(key, one, findings);
    }
    for (path, one) in tasks {
        task(path, one, findings);
    }
}

fn benchmark(folder: &Folder, findings: &mut Findings) {
    let file = "benchmark.yaml";
    let about = &folder.benchmark;
    let mut body = json!({"name": about.name, "description": about.description, "timeout": about.timeout});
    body["concurrency"] = json!(about.concurrency);
    let faults = read(body).map(|new: NewBenchmark| new.into_benchmark(id(), now()).validate());
    add(findings, file, "", faults);
    let body = json!({"name": about.environment.name, "description": about.environment.description});
    let faults = read(body).map(|new: NewEnvironment| new.into_environment(id(), now()).validate());
    add(findings, file, "environment", faults);
    for (index, simulator) in about.environment.simulators.iter().enumerate() {
        let body = json!({"type": simulator.r#type, "name": simulator.name});
        let faults = read(body).map(|new: NewSimulator| new.into_simulator(id(), now()).validate());
        add(findings, file, &format!("environment.simulators.{index}"), faults);
    }
}

fn dataset(key: &str, dataset: &Dataset, findings: &mut Findings) {
    let file = format!("datasets/{key}/dataset.yaml");
    let about = &dataset.about;
    let mut errors = FieldErrors::new();
    errors.name("name", &about.name);
    if let Some(description) = &about.description {
        errors.length("description", description, 0..=1000);
    }
    findings.add_fields(&file, "", &errors);
    for (index, entity) in about.entities.iter().enumerate() {
        let body = json!({"name": entity.name, "ref": entity.r#ref, "data": entity.data});
        let faults = read(body).map(|new: NewDatasetEntity| new.into_entity(id(), id::<DatasetId>(), now()).validate());
        add(findings, &file, &format!("entities.{index}"), faults);
    }
}

fn task(path: &str, task: &Task, findings: &mut Findings) {
    let mut body = json!({"benchmark_id": id::<BenchmarkId>().to_string(), "name": task.name, "tags": task.tags});
    body["timeout"] = json!(task.timeout);
    body["task_item"].clone_from(&task.task_item);
    let faults = read(body).map(|new: NewTask| new.into_task(id(), now()).validate());
    add(findings, path, "", faults);
    for (index, one) in task.criteria.iter().enumerate() {
        criterion(path, index, one, findings);
    }
}

fn criterion(path: &str, index: usize, criterion: &Criterion, findings: &mut Findings) {
    let mut body = json!({"task_id": id::<TaskId>().to_string(), "label": criterion.label});
    body["assertion"].clone_from(&criterion.assertion);
    body["axis"] = json!(criterion.axis);
    let faults = read(body).map(|new: NewCriterion| new.into_criterion(id(), now()).validate());
    add(findings, path, &format!("criteria.{index}"), faults);
}

/// The body of a request as the server reads it. Other rules report what cannot be read.
fn read<T: DeserializeOwned>(body: Value) -> Option<T> {
    serde_json::from_value(body).ok()
}

/// Ids and times are not looked at.
fn id<I: Id>() -> I {
    I::from_ulid(Ulid::new(0, 0))
}

fn now() -> Timestamp {
    Timestamp(0)
}

fn add(findings: &mut Findings, file: &str, prefix: &str, faults: Option<Result<(), FieldErrors>>) {
    if let Some(Err(faults)) = faults {
        findings.add_fields(file, prefix, &faults);
    }
}
