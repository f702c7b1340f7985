//! The files of a benchmark folder, and how they are read.
//!
//! ```text
//! benchmark.yaml               slug, name, limits, the environment with its simulators
//! datasets/<key>/dataset.yaml  name, type, entities
//! datasets/<key>/data.ndjson   FHIR resources, one per line (or data.json, a Bundle)
//! datasets/<key>/files/…       the files of a `files` dataset
//! tasks/<any>.yaml             a task with its criteria, or a template for one task per entity
//! ```

use std::collections::BTreeMap;

use model::dataset::DatasetType;
use model::reading::{self, Hints};
use model::simulator::SimulatorType;
use model::weight::Weight;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::lint::{Finding, Findings, SourceLines};
use crate::source::Files;
use crate::{Error, lint, yaml};

/// The content of a benchmark folder. Tasks are ordered by file name.
#[derive(Clone, Debug, PartialEq)]
pub struct Folder {
    pub benchmark: Benchmark,
    pub datasets: BTreeMap<String, Dataset>,
    pub tasks: Vec<(String, Task)>,
    /// Files that are not part of the benchmark, such as a README.
    pub other_files: Vec<String>,
    /// The line numbers of all values, for findings.
    pub source_lines: SourceLines,
}

/// The content of `benchmark.yaml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Benchmark {
    pub slug: String,
    /// The version number to publish this content under. Defaults to the next one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Time limit of each task, in seconds.
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
    /// Dataset keys.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub datasets: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    pub metadata: DatasetMetadata,
    pub content: Content,
}

/// The content of `dataset.yaml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatasetMetadata {
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
    /// FHIR data, with the content type of its upload.
    Fhir {
        content_type: &'static str,
        bytes: Vec<u8>,
    },
    Files(Files),
}

/// The content of a task file. With `each` it is a template for one task per entity. The entity is then also the input of the
/// criteria, and the name may contain `{{entity.…}}`.
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
    /// The entities of the task, as `dataset/Entity name`. Templates of the task read the first one as `{{entity.…}}`.
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
    /// Whether failing the criterion means harm to a patient.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub critical: bool,
    /// The label that agents see instead of `label` in scored runs.
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
    /// Finds an entity by `dataset/Entity name`.
    pub fn entity(&self, reference: &str) -> Option<&Entity> {
        let (key, name) = reference.split_once('/')?;
        self.datasets.get(key)?.metadata.entities.iter().find(|entity| entity.name == name)
    }
}

/// Reads a folder. Reports the format errors of all files together.
pub fn read(files: &Files) -> Result<Folder, Error> {
    let mut findings = Findings::default();
    let bytes = files.get("benchmark.yaml").ok_or_else(|| missing_benchmark_file(files))?;
    let benchmark: Option<Benchmark> = read_file("benchmark.yaml", bytes, &mut findings);
    let datasets = read_datasets(files, &mut findings);
    let tasks = files.iter().filter(|(path, _)| is_task(path));
    let tasks: Vec<(String, Task)> =
        tasks.filter_map(|(path, bytes)| Some((path.clone(), read_file(path, bytes, &mut findings)?))).collect();
    let other_files = files.keys().filter(|path| !is_benchmark_file(path, &datasets)).cloned().collect();
    match benchmark {
        Some(benchmark) if findings.is_empty() => {
            Ok(Folder { benchmark, datasets, tasks, other_files, source_lines: SourceLines::of(files) })
        }
        _ => {
            lint_assertions(files, &mut findings);
            Err(Error::Findings(findings.into_sorted(&SourceLines::of(files))))
        }
    }
}

fn missing_benchmark_file(files: &Files) -> Error {
    let message = match files.contains_key("benchmark.yml") {
        true => "benchmark.yaml not found: rename benchmark.yml to benchmark.yaml",
        false => "benchmark.yaml not found; `verial benchmarks init DIR` creates one",
    };
    Error::Message(message.to_owned())
}

/// Lints the assertions of all tasks, so that a format error does not hide errors in the criteria.
fn lint_assertions(files: &Files, findings: &mut Findings) {
    for (path, bytes) in files.iter().filter(|(path, _)| is_task(path)) {
        let task = parse(bytes).unwrap_or_default();
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

fn is_benchmark_file(path: &str, datasets: &BTreeMap<String, Dataset>) -> bool {
    path == "benchmark.yaml" || is_task(path) || is_dataset_file(path, datasets).unwrap_or(false)
}

fn is_dataset_file(path: &str, datasets: &BTreeMap<String, Dataset>) -> Option<bool> {
    let (key, name) = path.strip_prefix("datasets/")?.split_once('/')?;
    let is_content = match datasets.get(key)?.metadata.r#type {
        DatasetType::Fhir => matches!(name, "data.ndjson" | "data.json"),
        DatasetType::Files => name.starts_with("files/"),
    };
    Some(name == "dataset.yaml" || is_content)
}

fn read_datasets(files: &Files, findings: &mut Findings) -> BTreeMap<String, Dataset> {
    let metadata_files = files.iter().filter_map(|(path, bytes)| {
        let key = path.strip_prefix("datasets/")?.strip_suffix("/dataset.yaml")?;
        (!key.contains('/')).then_some((key, path, bytes))
    });
    let mut datasets = BTreeMap::new();
    for (key, path, bytes) in metadata_files {
        if let Some(metadata) = read_file::<DatasetMetadata>(path, bytes, findings) {
            let content = read_content(key, &metadata, files, findings);
            datasets.insert(key.to_owned(), Dataset { metadata, content });
        }
    }
    datasets
}

fn read_content(key: &str, metadata: &DatasetMetadata, files: &Files, findings: &mut Findings) -> Content {
    let root = format!("datasets/{key}/");
    match metadata.r#type {
        DatasetType::Files => {
            let prefix = format!("{root}files/");
            let contents = files.iter().filter_map(|(path, bytes)| Some((path.strip_prefix(&prefix)?, bytes)));
            let contents: Files = contents.map(|(path, bytes)| (path.to_owned(), bytes.clone())).collect();
            if contents.is_empty() { Content::Empty } else { Content::Files(contents) }
        }
        DatasetType::Fhir => {
            let ndjson = files.get(&format!("{root}data.ndjson"));
            let bundle = files.get(&format!("{root}data.json"));
            match (ndjson, bundle) {
                (Some(_), Some(_)) => {
                    findings.add(Finding::error(
                        format!("{root}data.json"),
                        "cannot be combined with data.ndjson: remove one of them",
                    ));
                    Content::Empty
                }
                (Some(bytes), None) => Content::Fhir { content_type: "application/fhir+ndjson", bytes: bytes.clone() },
                (None, Some(bytes)) => Content::Fhir { content_type: "application/fhir+json", bytes: bytes.clone() },
                (None, None) => Content::Empty,
            }
        }
    }
}

/// Reads a YAML file. Reports what is wrong with it as findings.
fn read_file<T: DeserializeOwned>(path: &str, bytes: &[u8], findings: &mut Findings) -> Option<T> {
    match parse(bytes).map(|value| reading::read_owned::<T>(value, Hints::default()).into_result()) {
        Ok(Ok(read)) => Some(read),
        Ok(Err(errors)) => {
            findings.add_fields(path, "", &errors);
            None
        }
        Err(error) => {
            findings.add(Finding::error(path, error));
            None
        }
    }
}

fn parse(bytes: &[u8]) -> Result<Value, String> {
    std::str::from_utf8(bytes).map_err(|_| "is not UTF-8".to_owned()).and_then(yaml::parse)
}
