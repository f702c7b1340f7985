//! Lints FHIR data: values that R4 does not allow, and references to missing resources.

use std::collections::BTreeSet;

use fhir::ResourceType;
use model::simulator::SimulatorType;
use serde_json::Value;

use super::data::{Records, collect_from_json, rendered_scenario};
use super::{Finding, Findings};
use crate::folder::{Content, Dataset, Folder, Task};

/// The maximum number of findings per file.
const MAX_FINDINGS: usize = 20;

pub(super) fn check(folder: &Folder, tasks: &[(String, Task)], findings: &mut Findings) {
    let mut records = Records::new();
    let datasets: Vec<(String, Vec<(usize, Value)>)> =
        folder.datasets.iter().filter_map(|(key, dataset)| resources(key, dataset)).collect();
    for (_, resources) in &datasets {
        resources.iter().for_each(|(_, resource)| collect_from_json(resource, &mut records));
    }
    tasks.iter().for_each(|(_, task)| collect_from_json(&rendered_scenario(folder, task), &mut records));
    let simulators = &folder.benchmark.environment.simulators;
    let has_fhir = simulators.iter().any(|simulator| simulator.r#type == SimulatorType::Fhir);
    for (file, resources) in &datasets {
        let mut found = Vec::new();
        for (line, resource) in resources {
            find_invalid(file, *line, resource, &mut found);
            if has_fhir {
                find_dangling_references(file, *line, resource, &records, &mut found);
            }
            if found.len() > MAX_FINDINGS {
                break;
            }
        }
        found.into_iter().take(MAX_FINDINGS).for_each(|finding| findings.add(finding));
    }
}

/// The resources of a dataset that can be parsed, with their lines. All resources of a Bundle have line 1. Other rules report
/// data that cannot be parsed.
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

fn find_invalid(file: &str, line: usize, resource: &Value, found: &mut Vec<Finding>) {
    // Another rule reports unknown resource types.
    let is_known = resource["resourceType"].as_str().and_then(ResourceType::named).is_some();
    let Some(Err(errors)) = is_known.then(|| fhir::validate(resource)) else { return };
    for error in errors.iter().take(MAX_FINDINGS) {
        let message = format!("{}: {}", reference_to(resource), error);
        found.push(Finding::warning(file, message).at(line));
    }
}

fn find_dangling_references(file: &str, line: usize, resource: &Value, records: &Records, found: &mut Vec<Finding>) {
    let mut references = BTreeSet::new();
    collect_references(resource, &mut references);
    for reference in references.into_iter().filter(|reference| !records.contains(*reference)) {
        let message = format!(
            "{}: it refers to {reference}, which is neither in the data nor in a scenario",
            reference_to(resource)
        );
        found.push(Finding::warning(file, message).at(line));
    }
}

/// Collects local references such as `Patient/ada`, not those to contained resources or other servers.
fn collect_references<'a>(value: &'a Value, references: &mut BTreeSet<&'a str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, references)),
        Value::Object(members) => {
            let reference = members.get("reference").and_then(Value::as_str);
            references.extend(reference.filter(|reference| is_local(reference)));
            members.values().for_each(|member| collect_references(member, references));
        }
        _ => {}
    }
}

fn is_local(reference: &str) -> bool {
    let parts: Vec<&str> = reference.split('/').collect();
    matches!(parts[..], [resource_type, id] if ResourceType::named(resource_type).is_some() && fhir::is_id(id))
}

fn reference_to(resource: &Value) -> String {
    format!("{}/{}", resource["resourceType"].as_str().unwrap_or("?"), resource["id"].as_str().unwrap_or("?"))
}
