//! Pulls the current draft of an organization's benchmark from a server.

use std::collections::BTreeMap;

use client::Client;
use model::dataset::DatasetType;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::Error;
use crate::collapse::collapse;
use crate::folder::{Benchmark, Content, Criterion, Dataset, DatasetMetadata, Entity, Folder, Task};
use crate::lint::SourceLines;
use crate::push::{Server, text};
use crate::source::Files;

/// Pulls a benchmark by its slug.
pub async fn pull(client: &Client, slug: &str) -> Result<Folder, Error> {
    let server = Server { client };
    let benchmark = server.benchmark(slug).await?;
    let benchmark = benchmark
        .ok_or_else(|| Error::Message(format!("your organization has no benchmark with the slug `{slug}`")))?;
    let tasks = server.list_all("/tasks", &[("benchmark_id", &text(&benchmark["id"]))]).await?;
    let mut datasets =
        DatasetLoader { server: &server, keys: BTreeMap::new(), datasets: BTreeMap::new(), entities: BTreeMap::new() };
    let environment = pull_environment(&server, &benchmark, &mut datasets).await?;
    let mut pulled = Vec::new();
    for task in &tasks {
        pulled.push(pull_task(&server, task, &mut datasets).await?);
    }
    let mut definition = json!({"slug": slug, "environment": environment});
    for name in ["name", "description", "timeout", "concurrency", "visibility"] {
        definition[name] = benchmark[name].clone();
    }
    let benchmark: Benchmark = parse("benchmark", &definition)?;
    Ok(assemble(benchmark, datasets.datasets, &pulled))
}

/// Builds a folder with one file for each task, or for several tasks that `each` can express.
pub(crate) fn assemble(benchmark: Benchmark, datasets: BTreeMap<String, Dataset>, tasks: &[Task]) -> Folder {
    let (other_files, source_lines) = (Vec::new(), SourceLines::default());
    let mut folder = Folder { benchmark, datasets, tasks: Vec::new(), other_files, source_lines };
    let named = |(index, task): (usize, Task)| {
        let plain = task.name.replace("{{", " ").replace("}}", " ");
        (format!("tasks/{:02}-{}.yaml", index + 1, slugify(&plain)), task)
    };
    folder.tasks = collapse(&folder, tasks).into_iter().enumerate().map(named).collect();
    folder
}

/// A folder name for a dataset that no other dataset has.
pub(crate) fn unique_key(name: &str, taken: &BTreeMap<String, Dataset>) -> String {
    let wanted = slugify(name);
    let numbered = (2..).map(|number| format!("{wanted}-{number}"));
    let mut keys = std::iter::once(wanted.clone()).chain(numbered);
    keys.find(|key| !taken.contains_key(key)).unwrap_or(wanted)
}

/// Pulls datasets, each once.
struct DatasetLoader<'a> {
    server: &'a Server<'a>,
    /// Dataset keys by id.
    keys: BTreeMap<String, String>,
    datasets: BTreeMap<String, Dataset>,
    /// Entities as `key/name` by id.
    entities: BTreeMap<String, String>,
}

impl DatasetLoader<'_> {
    /// The key of a dataset, which is pulled if it is not known yet.
    async fn key(&mut self, id: &str) -> Result<String, Error> {
        if let Some(key) = self.keys.get(id) {
            return Ok(key.clone());
        }
        let dataset = self.server.get(&format!("/datasets/{id}")).await?;
        let key = unique_key(&text(&dataset["name"]), &self.datasets);
        let mut entities = Vec::new();
        for entity in self.server.list_all(&format!("/datasets/{id}/entities"), &[]).await? {
            self.entities.insert(text(&entity["id"]), format!("{key}/{}", text(&entity["name"])));
            let data = entity["data"].clone();
            entities.push(Entity { name: text(&entity["name"]), r#ref: text(&entity["ref"]), data });
        }
        let r#type: DatasetType = parse("dataset type", &dataset["type"])?;
        let description = dataset["description"].as_str().map(str::to_owned);
        let metadata = DatasetMetadata { name: text(&dataset["name"]), description, r#type, entities };
        let content = self.content(id, r#type, &dataset).await?;
        self.datasets.insert(key.clone(), Dataset { metadata, content });
        self.keys.insert(id.to_owned(), key.clone());
        Ok(key)
    }

    async fn content(&self, id: &str, dataset_type: DatasetType, dataset: &Value) -> Result<Content, Error> {
        let has_data = dataset["revision"].as_u64() != Some(0);
        if dataset_type == DatasetType::Fhir {
            // An empty file says that there is no data. A missing file would be a lint error.
            let bytes = if has_data { self.bytes(&format!("/datasets/{id}/data")).await? } else { Vec::new() };
            return Ok(Content::Fhir { content_type: "application/fhir+ndjson", bytes });
        }
        if !has_data {
            return Ok(Content::Empty);
        }
        let mut files = Files::new();
        for file in self.server.list_all(&format!("/datasets/{id}/files"), &[]).await? {
            let path = text(&file["path"]);
            let bytes = self.bytes(&format!("/datasets/{id}/files/{}", client::segment(&path, true))).await?;
            files.insert(path, bytes);
        }
        Ok(if files.is_empty() { Content::Empty } else { Content::Files(files) })
    }

    async fn bytes(&self, path: &str) -> Result<Vec<u8>, Error> {
        let bytes = self.server.client.get_bytes(path).await;
        bytes.map(|bytes| bytes.to_vec()).map_err(|reason| Error::Server { path: path.to_owned(), reason })
    }

    async fn entity(&mut self, dataset: &str, entity: &str) -> Result<String, Error> {
        self.key(dataset).await?;
        let known = self.entities.get(entity).cloned();
        known.ok_or_else(|| Error::Message(format!("the entity {entity} is in none of the benchmark's datasets")))
    }
}

async fn pull_environment(
    server: &Server<'_>,
    benchmark: &Value,
    datasets: &mut DatasetLoader<'_>,
) -> Result<Value, Error> {
    let id = benchmark["environment_id"].as_str();
    let id = id.ok_or_else(|| Error::Message("the benchmark has no environment yet".to_owned()))?;
    let environment = server.get(&format!("/environments/{id}")).await?;
    let mut simulators = Vec::new();
    for simulator in environment["simulators"].as_array().into_iter().flatten() {
        let details = server.get(&format!("/simulators/{}", text(&simulator["id"]))).await?;
        let mut keys = Vec::new();
        for dataset in details["datasets"].as_array().into_iter().flatten() {
            let id = dataset.as_str().or_else(|| dataset["id"].as_str()).unwrap_or_default();
            keys.push(datasets.key(id).await?);
        }
        simulators.push(json!({
            "name": details["name"], "type": details["type"], "config": details["config"], "datasets": keys
        }));
    }
    Ok(json!({"name": environment["name"], "description": environment["description"], "simulators": simulators}))
}

async fn pull_task(server: &Server<'_>, task: &Value, datasets: &mut DatasetLoader<'_>) -> Result<Task, Error> {
    let id = text(&task["id"]);
    let details = server.get(&format!("/tasks/{id}")).await?;
    let mut entities = Vec::new();
    for entity in server.list_all(&format!("/tasks/{id}/entities"), &[]).await? {
        entities.push(datasets.entity(&text(&entity["dataset_id"]), &text(&entity["id"])).await?);
    }
    let mut criteria: Vec<Criterion> = Vec::new();
    for criterion in details["criteria"].as_array().into_iter().flatten() {
        let mut definition = json!({"label": criterion["label"], "assertion": criterion["assertion"]});
        definition["weight"] = criterion["weight"].clone();
        definition["axis"] = criterion["axis"].clone();
        // Servers of earlier versions have neither of these.
        definition["critical"] = criterion["critical"].as_bool().unwrap_or_default().into();
        definition["public_label"] = criterion["public_label"].clone();
        if let Some(entity) = criterion["input_entity_id"].as_str() {
            let name = datasets.entities.get(entity).cloned();
            definition["entity"] =
                name.ok_or_else(|| Error::Message(format!("{entity} is in no known dataset")))?.into();
        }
        criteria.push(parse("criterion", &definition)?);
    }
    let mut definition = json!({"entities": entities});
    for name in ["name", "timeout", "tags", "task_item", "scenario"] {
        definition[name] = details[name].clone();
    }
    let mut task: Task = parse("task", &definition)?;
    task.criteria = criteria;
    Ok(task)
}

/// Parses a value from the server.
pub(crate) fn parse<T: DeserializeOwned>(what: &str, value: &Value) -> Result<T, Error> {
    serde_json::from_value(value.clone()).map_err(|error| Error::Message(format!("the server's {what}: {error}")))
}

/// Converts a name to a file name part: lower-case letters, digits and hyphens, at most 60 characters.
pub fn slugify(name: &str) -> String {
    let mut slug = String::new();
    for character in name.chars() {
        if character.is_ascii_alphanumeric() {
            slug.push(character.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug: String = slug.trim_end_matches('-').chars().take(60).collect();
    if slug.is_empty() { "data".to_owned() } else { slug.trim_end_matches('-').to_owned() }
}
