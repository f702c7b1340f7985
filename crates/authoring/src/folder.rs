//! What the files of a benchmark say.
//!
//! ```text
//! benchmark.yaml               slug, name, limits, the environment with its simulators
//! datasets/<key>/dataset.yaml  name, type, entities
//! datasets/<key>/data.ndjson   FHIR resources, one a line (or data.json, a Bundle)
//! datasets/<key>/files/…       the files of a `files` dataset
//! tasks/<any>.yaml             a task with its criteria, or one for each of several entities
//! ```

use std::collections::BTreeMap;

use model::dataset::DatasetType;
use model::reading::{self, Hints};
use model::simulator::SimulatorType;
use model::weight::Weight;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::lint::{Finding, Findings, Places};
use crate::source::Files;
use crate::{Error, lint, yaml};

/// A benchmark as its files have it; tasks in the order of their files' names.
#[derive(Clone, Debug, PartialEq)]
pub struct Folder {
    pub benchmark: Benchmark,
    pub datasets: BTreeMap<String, Dataset>,
    pub tasks: Vec<(String, Task)>,
    /// Files that are no part of the benchmark, such as a README.
    pub others: Vec<String>,
    /// Where in the files everything stands.
    pub places: Places,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Benchmark {
    pub slug: String,
    /// The number that this content is published under; without it the next one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Seconds for each task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visibility: Option<model::benchmark::Visibility>,
    pub environment: Environment,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Environment {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub simulators: Vec<Simulator>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Simulator {
    pub name: String,
    pub r#type: SimulatorType,
    #[serde(default, skip_serializing_if = "is_empty")]
    pub config: Value,
    /// Keys of datasets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub datasets: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    pub about: DatasetAbout,
    pub content: Content,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatasetAbout {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub r#type: DatasetType,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<Entity>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entity {
    pub name: String,
    pub r#ref: String,
    #[serde(default, skip_serializing_if = "is_empty")]
    pub data: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    Empty,
    /// With the type it is uploaded as.
    Fhir {
        content_type: &'static str,
        bytes: Vec<u8>,
    },
    Files(Files),
}

/// A task file. With `each` it stands for one task for each of these entities, which then also is the input of its
/// criteria; `{{entity.…}}` may then stand in the name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    pub name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub each: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<i64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Bound to the task, as `dataset/Entity name`; the first is `{{entity.…}}` of the task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<String>,
    #[serde(default, skip_serializing_if = "is_empty")]
    pub task_item: Value,
    #[serde(default, skip_serializing_if = "is_empty")]
    pub scenario: Value,
    #[serde(default)]
    pub criteria: Vec<Criterion>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Criterion {
    pub label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<Weight>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis: Option<String>,
    /// Failing it means harm.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub critical: bool,
    /// What agents read in place of the label in scored runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_label: Option<String>,
    /// The input entity, as `dataset/Entity name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity: Option<String>,
    pub assertion: Value,
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty)
}

impl Folder {
    /// The entity that `dataset/Entity name` names.
    pub fn entity(&self, reference: &str) -> Option<&Entity> {
        let (key, name) = reference.split_once('/')?;
        self.datasets.get(key)?.about.entities.iter().find(|entity| entity.name == name)
    }
}

/// Reads a folder; all faults of form in all files together.
pub fn read(files: &Files) -> Result<Folder, Error> {
    let mut findings = Findings::default();
    let bytes = files.get("benchmark.yaml").ok_or_else(|| without_benchmark(files))?;
    let benchmark: Option<Benchmark> = file("benchmark.yaml", bytes, &mut findings);
    let datasets = datasets(files, &mut findings);
    let tasks = files.iter().filter(|(path, _)| is_task(path));
    let tasks: Vec<(String, Task)> =
        tasks.filter_map(|(path, bytes)| Some((path.clone(), file(path, bytes, &mut findings)?))).collect();
    let others = files.keys().filter(|path| !is_part(path, &datasets)).cloned().collect();
    match benchmark {
        Some(benchmark) if findings.is_empty() => {
            Ok(Folder { benchmark, datasets, tasks, others, places: Places::of(files) })
        }
        _ => {
            assertions(files, &mut findings);
            Err(Error::Faults(findings.into_list(&Places::of(files))))
        }
    }
}

fn without_benchmark(files: &Files) -> Error {
    let message = match files.contains_key("benchmark.yml") {
        true => "there is no benchmark.yaml: benchmark.yml must be called that",
        false => "there is no benchmark.yaml; `verial benchmarks init DIR` makes one",
    };
    Error::Missing(message.to_owned())
}

/// A fault of form must not hide what is wrong with the criteria beside it.
fn assertions(files: &Files, findings: &mut Findings) {
    for (path, bytes) in files.iter().filter(|(path, _)| is_task(path)) {
        let task = parsed(bytes).unwrap_or_default();
        for (index, criterion) in task["criteria"].as_array().into_iter().flatten().enumerate() {
            if let Some(assertion) = criterion.get("assertion") {
                lint::criteria::read(path, index, assertion, findings);
            }
        }
    }
}

fn is_task(path: &str) -> bool {
    path.starts_with("tasks/") && path.ends_with(".yaml")
}

fn is_part(path: &str, datasets: &BTreeMap<String, Dataset>) -> bool {
    path == "benchmark.yaml" || is_task(path) || is_of_dataset(path, datasets).unwrap_or(false)
}

fn is_of_dataset(path: &str, datasets: &BTreeMap<String, Dataset>) -> Option<bool> {
    let (key, name) = path.strip_prefix("datasets/")?.split_once('/')?;
    let is_content = match datasets.get(key)?.about.r#type {
        DatasetType::Fhir => matches!(name, "data.ndjson" | "data.json"),
        DatasetType::Files => name.starts_with("files/"),
    };
    Some(name == "dataset.yaml" || is_content)
}

fn datasets(files: &Files, findings: &mut Findings) -> BTreeMap<String, Dataset> {
    let abouts = files.iter().filter_map(|(path, bytes)| {
        let key = path.strip_prefix("datasets/")?.strip_suffix("/dataset.yaml")?;
        (!key.contains('/')).then_some((key, path, bytes))
    });
    let mut datasets = BTreeMap::new();
    for (key, path, bytes) in abouts {
        if let Some(about) = file::<DatasetAbout>(path, bytes, findings) {
            let content = content(key, &about, files, findings);
            datasets.insert(key.to_owned(), Dataset { about, content });
        }
    }
    datasets
}

fn content(key: &str, about: &DatasetAbout, files: &Files, findings: &mut Findings) -> Content {
    let root = format!("datasets/{key}/");
    match about.r#type {
        DatasetType::Files => {
            let prefix = format!("{root}files/");
            let inside = files.iter().filter_map(|(path, bytes)| Some((path.strip_prefix(&prefix)?, bytes)));
            let inside: Files = inside.map(|(path, bytes)| (path.to_owned(), bytes.clone())).collect();
            if inside.is_empty() { Content::Empty } else { Content::Files(inside) }
        }
        DatasetType::Fhir => {
            let lines = files.get(&format!("{root}data.ndjson"));
            let bundle = files.get(&format!("{root}data.json"));
            match (lines, bundle) {
                (Some(_), Some(_)) => {
                    findings.add(Finding::error(format!("{root}data.json"), "stands beside data.ndjson: keep one"));
                    Content::Empty
                }
                (Some(bytes), None) => Content::Fhir { content_type: "application/fhir+ndjson", bytes: bytes.clone() },
                (None, Some(bytes)) => Content::Fhir { content_type: "application/fhir+json", bytes: bytes.clone() },
                (None, None) => Content::Empty,
            }
        }
    }
}

fn file<T: DeserializeOwned>(path: &str, bytes: &[u8], findings: &mut Findings) -> Option<T> {
    match parsed(bytes).map(|value| reading::read_owned::<T>(value, Hints::default()).into_result()) {
        Ok(Ok(read)) => Some(read),
        Ok(Err(faults)) => {
            findings.add_fields(path, "", &faults);
            None
        }
        Err(fault) => {
            findings.add(Finding::error(path, fault));
            None
        }
    }
}

fn parsed(bytes: &[u8]) -> Result<Value, String> {
    std::str::from_utf8(bytes).map_err(|_| "is not UTF-8".to_owned()).and_then(yaml::parse)
}
