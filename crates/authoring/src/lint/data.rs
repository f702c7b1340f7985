//! Datasets: whether their data is there, can be read, and has what the entities stand for.

use std::collections::BTreeSet;
use std::convert::Infallible;

use fhir::ingest::{Fault, Format, Ingest, IngestError, Limits, Place, Resource};
use model::dataset::DatasetType;
use model::simulator::SimulatorType;
use model::template::{self, Bindings, Root};
use serde_json::Value;

use super::{Finding, Findings};
use crate::expand::{about, input};
use crate::folder::{Content, Dataset, Folder, Task};

/// References of resources, as `Patient/ada`.
pub(super) type Records = BTreeSet<String>;

pub(super) fn judge(folder: &Folder, tasks: &[(String, Task)], findings: &mut Findings) {
    let mut records = Records::new();
    let mut is_whole = true;
    for (key, dataset) in &folder.datasets {
        if let Err(finding) = gather(folder, key, dataset, &mut records) {
            findings.add(finding);
            is_whole = false;
        }
    }
    let simulators = &folder.benchmark.environment.simulators;
    if is_whole && simulators.iter().any(|simulator| simulator.r#type == SimulatorType::Fhir) {
        tasks.iter().for_each(|(_, task)| made_by_scenario(&bound_scenario(folder, task), &mut records));
        entities(folder, tasks, &records, findings);
    }
}

fn gather(folder: &Folder, key: &str, dataset: &Dataset, records: &mut Records) -> Result<(), Finding> {
    match &dataset.content {
        Content::Empty if dataset.about.r#type == DatasetType::Fhir && is_attached(folder, key) => {
            let message = "is missing, and a simulator starts from it: an empty file says that there is no data";
            Err(Finding::error(format!("datasets/{key}/data.ndjson"), message))
        }
        Content::Empty | Content::Files(_) => Ok(()),
        Content::Fhir { content_type, bytes } => {
            let is_lines = content_type.ends_with("ndjson");
            let (format, name) = if is_lines { (Format::Ndjson, "data.ndjson") } else { (Format::Bundle, "data.json") };
            ingest(format, bytes, records).map_err(|fault| told(&format!("datasets/{key}/{name}"), fault))
        }
    }
}

fn is_attached(folder: &Folder, key: &str) -> bool {
    let simulators = &folder.benchmark.environment.simulators;
    simulators.iter().any(|simulator| simulator.datasets.iter().any(|one| one == key))
}

fn ingest(format: Format, bytes: &[u8], records: &mut Records) -> Result<(), Fault> {
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

fn told(file: &str, fault: Fault) -> Finding {
    match fault.place {
        Place::Line(line) => Finding::error(file, fault.message).at(usize::try_from(line).unwrap_or(usize::MAX)),
        Place::Entry(_) | Place::Document => Finding::error(file, fault.to_string()),
    }
}

pub(super) fn bound_scenario(folder: &Folder, task: &Task) -> Value {
    let (entity, about) = (input(folder, task.entities.first()), about(task));
    let bindings = Bindings { entity: entity.as_ref(), task: Some(&about) };
    template::bind(&task.scenario, &bindings).unwrap_or_default()
}

/// Wherever in a step it stands, a resource with an id is one that may come.
pub(super) fn made_by_scenario(value: &Value, records: &mut Records) {
    if let (Some(kind), Some(id)) = (value["resourceType"].as_str(), value["id"].as_str()) {
        records.insert(format!("{kind}/{id}"));
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| made_by_scenario(item, records)),
        Value::Object(members) => members.values().for_each(|member| made_by_scenario(member, records)),
        _ => {}
    }
}

/// An entity may stand for somebody who is not on record, as long as nothing looks for the record.
fn entities(folder: &Folder, tasks: &[(String, Task)], records: &Records, findings: &mut Findings) {
    let looked_for: BTreeSet<&String> = tasks.iter().flat_map(|(_, task)| looked_for(task)).collect();
    for (key, dataset) in folder.datasets.iter().filter(|(_, dataset)| dataset.about.r#type == DatasetType::Fhir) {
        for entity in dataset.about.entities.iter().filter(|entity| !records.contains(&entity.r#ref)) {
            if looked_for.contains(&format!("{key}/{}", entity.name)) {
                let message = format!("the ref of `{}`, {}, is in no data and no scenario", entity.name, entity.r#ref);
                findings.add(Finding::warning(format!("datasets/{key}/dataset.yaml"), message));
            }
        }
    }
}

/// The entities whose `id` or `ref` the task or a criterion of it names.
fn looked_for(task: &Task) -> impl Iterator<Item = &String> {
    let own = task.entities.first().filter(|_| names_record(&task.task_item) || names_record(&task.scenario));
    let inputs = task.criteria.iter().filter(|criterion| names_record(&criterion.assertion));
    own.into_iter().chain(inputs.filter_map(|criterion| criterion.entity.as_ref()))
}

fn names_record(value: &Value) -> bool {
    match value {
        Value::String(text) => template::parse(text).is_ok_and(|templates| {
            templates.iter().any(|one| one.root == Root::Entity && matches!(one.path[..], ["id" | "ref"]))
        }),
        Value::Array(items) => items.iter().any(names_record),
        Value::Object(members) => members.values().any(names_record),
        _ => false,
    }
}
