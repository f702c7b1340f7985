//! FHIR data: values that R4 does not allow, and references to resources that are not there.

use std::collections::BTreeSet;

use fhir::ResourceType;
use model::simulator::SimulatorType;
use serde_json::Value;

use super::data::{Records, bound_scenario, made_by_scenario};
use super::{Finding, Findings};
use crate::folder::{Content, Dataset, Folder, Task};

/// More findings of one file would not help its author.
const MOST_FINDINGS: usize = 20;

pub(super) fn judge(folder: &Folder, tasks: &[(String, Task)], findings: &mut Findings) {
    let mut records = Records::new();
    let read: Vec<(String, Vec<(usize, Value)>)> =
        folder.datasets.iter().filter_map(|(key, dataset)| resources(key, dataset)).collect();
    for (_, resources) in &read {
        resources.iter().for_each(|(_, resource)| made_by_scenario(resource, &mut records));
    }
    tasks.iter().for_each(|(_, task)| made_by_scenario(&bound_scenario(folder, task), &mut records));
    let is_fhir = |kind: SimulatorType| kind == SimulatorType::Fhir;
    let is_whole = folder.benchmark.environment.simulators.iter().any(|simulator| is_fhir(simulator.r#type));
    for (file, resources) in &read {
        let mut found = Vec::new();
        for (line, resource) in resources {
            invalid(file, *line, resource, &mut found);
            if is_whole {
                dangling(file, *line, resource, &records, &mut found);
            }
            if found.len() > MOST_FINDINGS {
                break;
            }
        }
        found.into_iter().take(MOST_FINDINGS).for_each(|finding| findings.add(finding));
    }
}

/// What can be read, each with its line; of a Bundle every resource is on line 1. Other rules report what cannot be read.
fn resources(key: &str, dataset: &Dataset) -> Option<(String, Vec<(usize, Value)>)> {
    let Content::Fhir { content_type, bytes } = &dataset.content else { return None };
    if content_type.ends_with("ndjson") {
        let lines = bytes.split(|byte| *byte == b'\n').zip(1..);
        let read = lines.filter_map(|(line, number)| Some((number, serde_json::from_slice(line).ok()?)));
        return Some((format!("datasets/{key}/data.ndjson"), read.collect()));
    }
    let bundle: Value = serde_json::from_slice(bytes).ok()?;
    let entries = bundle["entry"].as_array().into_iter().flatten();
    let read = entries.map(|entry| (1, entry["resource"].clone()));
    Some((format!("datasets/{key}/data.json"), read.collect()))
}

fn invalid(file: &str, line: usize, resource: &Value, found: &mut Vec<Finding>) {
    // Without a known type it cannot be read at all, which another rule reports.
    let is_known = resource["resourceType"].as_str().and_then(ResourceType::named).is_some();
    let Some(Err(faults)) = is_known.then(|| fhir::validate(resource)) else { return };
    for fault in faults.iter().take(MOST_FINDINGS) {
        let message = format!("{}: {}", named(resource), fault);
        found.push(Finding::warning(file, message).at(line));
    }
}

fn dangling(file: &str, line: usize, resource: &Value, records: &Records, found: &mut Vec<Finding>) {
    let mut references = BTreeSet::new();
    collect(resource, &mut references);
    for reference in references.into_iter().filter(|reference| !records.contains(*reference)) {
        let message = format!("{}: it refers to {reference}, which is in no data and no scenario", named(resource));
        found.push(Finding::warning(file, message).at(line));
    }
}

/// References as `Patient/ada`; those within the resource and to other servers lead elsewhere.
fn collect<'a>(value: &'a Value, references: &mut BTreeSet<&'a str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, references)),
        Value::Object(members) => {
            let reference = members.get("reference").and_then(Value::as_str);
            references.extend(reference.filter(|reference| is_local(reference)));
            members.values().for_each(|member| collect(member, references));
        }
        _ => {}
    }
}

fn is_local(reference: &str) -> bool {
    let parts: Vec<&str> = reference.split('/').collect();
    matches!(parts[..], [kind, id] if ResourceType::named(kind).is_some() && fhir::is_id(id))
}

fn named(resource: &Value) -> String {
    format!("{}/{}", resource["resourceType"].as_str().unwrap_or("?"), resource["id"].as_str().unwrap_or("?"))
}
