//! Lints datasets: whether their data exists, can be read, and contains the records of the entities.

use std::collections::BTreeSet;
use std::convert::Infallible;

use fhir::ingest::{Format, Ingest, IngestError, IngestFault, InputLocation, Limits, Resource};
use model::dataset::DatasetType;
use model::simulator::SimulatorType;
use model::template::{self, Bindings, Root};
use serde_json::Value;

use super::{Finding, Findings};
use crate::expansion::{entity_value, task_value};
use crate::folder::{Content, Dataset, Folder, Task};

/// References of resources, as `Patient/ada`.
pub(super) type Records = BTreeSet<String>;

pub(super) fn check(folder: &Folder, tasks: &[(String, Task)], findings: &mut Findings) {
    let mut records = Records::new();
    let mut is_complete = true;
    for (key, dataset) in &folder.datasets {
        if let Err(finding) = collect_records(folder, key, dataset, &mut records) {
            findings.add(finding);
            is_complete = false;
        }
    }
    let simulators = &folder.benchmark.environment.simulators;
    if is_complete && simulators.iter().any(|simulator| simulator.r#type == SimulatorType::Fhir) {
        tasks.iter().for_each(|(_, task)| collect_from_json(&rendered_scenario(folder, task), &mut records));
        check_entities(folder, tasks, &records, findings);
    }
}

/// Collects the references of a dataset's resources.
fn collect_records(folder: &Folder, key: &str, dataset: &Dataset, records: &mut Records) -> Result<(), Finding> {
    match &dataset.content {
        Content::Empty if dataset.metadata.r#type == DatasetType::Fhir && is_attached(folder, key) => {
            let message = "is missing, but a simulator starts from it. Create an empty file if there is no data";
            Err(Finding::error(format!("datasets/{key}/data.ndjson"), message))
        }
        Content::Empty | Content::Files(_) => Ok(()),
        Content::Fhir { content_type, bytes } => {
            let is_ndjson = content_type.ends_with("ndjson");
            let (format, name) =
                if is_ndjson { (Format::Ndjson, "data.ndjson") } else { (Format::Bundle, "data.json") };
            ingest(format, bytes, records).map_err(|fault| ingest_finding(&format!("datasets/{key}/{name}"), fault))
        }
    }
}

fn is_attached(folder: &Folder, key: &str) -> bool {
    let simulators = &folder.benchmark.environment.simulators;
    simulators.iter().any(|simulator| simulator.datasets.iter().any(|dataset| dataset == key))
}

fn ingest(format: Format, bytes: &[u8], records: &mut Records) -> Result<(), IngestFault> {
    let mut ingest = Ingest::new(format, Limits::default());
    let mut sink = |resource: Resource<'_>| {
        records.insert(format!("{}/{}", resource.resource_type, resource.id));
        Ok::<(), Infallible>(())
    };
    let read = ingest.push(bytes, &mut sink).and_then(|()| ingest.finish(&mut sink));
    match read {
        Err(IngestError::Fault(fault)) => Err(fault),
        Err(IngestError::Sink(never)) => match never {},
        Ok(_) => Ok(()),
    }
}

fn ingest_finding(file: &str, fault: IngestFault) -> Finding {
    match fault.place {
        InputLocation::Line(line) => {
            Finding::error(file, fault.message).at(usize::try_from(line).unwrap_or(usize::MAX))
        }
        InputLocation::Entry(_) | InputLocation::Document => Finding::error(file, fault.to_string()),
    }
}

/// The scenario of a task with its templates rendered.
pub(super) fn rendered_scenario(folder: &Folder, task: &Task) -> Value {
    let (entity, task_value) = (entity_value(folder, task.entities.first()), task_value(task));
    let bindings = Bindings { entity: entity.as_ref(), task: Some(&task_value) };
    template::bind(&task.scenario, &bindings).unwrap_or_default()
}

/// Collects the references of all resources with an id in a JSON value, at any depth.
pub(super) fn collect_from_json(value: &Value, records: &mut Records) {
    if let (Some(resource_type), Some(id)) = (value["resourceType"].as_str(), value["id"].as_str()) {
        records.insert(format!("{resource_type}/{id}"));
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_from_json(item, records)),
        Value::Object(members) => members.values().for_each(|member| collect_from_json(member, records)),
        _ => {}
    }
}

/// Reports entities without a record, if a task or criterion uses the record. Other entities need none.
fn check_entities(folder: &Folder, tasks: &[(String, Task)], records: &Records, findings: &mut Findings) {
    let used: BTreeSet<&String> = tasks.iter().flat_map(|(_, task)| entities_with_used_record(task)).collect();
    for (key, dataset) in folder.datasets.iter().filter(|(_, dataset)| dataset.metadata.r#type == DatasetType::Fhir) {
        for entity in dataset.metadata.entities.iter().filter(|entity| !records.contains(&entity.r#ref)) {
            if used.contains(&format!("{key}/{}", entity.name)) {
                let message =
                    format!("the ref of `{}`, {}, is neither in the data nor in a scenario", entity.name, entity.r#ref);
                findings.add(Finding::warning(format!("datasets/{key}/dataset.yaml"), message));
            }
        }
    }
}

/// The entities whose `id` or `ref` the task or one of its criteria uses.
fn entities_with_used_record(task: &Task) -> impl Iterator<Item = &String> {
    let own = task.entities.first().filter(|_| uses_record(&task.task_item) || uses_record(&task.scenario));
    let inputs = task.criteria.iter().filter(|criterion| uses_record(&criterion.assertion));
    own.into_iter().chain(inputs.filter_map(|criterion| criterion.entity.as_ref()))
}

fn uses_record(value: &Value) -> bool {
    match value {
        Value::String(text) => template::parse(text).is_ok_and(|templates| {
            templates.iter().any(|one| one.root == Root::Entity && matches!(one.path[..], ["id" | "ref"]))
        }),
        Value::Array(items) => items.iter().any(uses_record),
        Value::Object(members) => members.values().any(uses_record),
        _ => false,
    }
}
