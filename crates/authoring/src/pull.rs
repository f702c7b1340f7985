//! Takes a benchmark of the organization, as it is now, from a server.

use std::collections::BTreeMap;

use client::Client;
use model::dataset::DatasetType;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::Error;
use crate::collapse::collapse;
use crate::folder::{Benchmark, Content, Criterion, Dataset, DatasetAbout, Entity, Folder, Task};
use crate::lint::Places;
use crate::push::{Server, text};
use crate::source::Files;

/// By its slug.
pub async fn pull(client: &Client, slug: &str) -> Result<Folder, Error> {
    let server = Server { client };
    let benchmark = server.benchmark(slug).await?;
    let benchmark = benchmark
        .ok_or_else(|| Error::Missing(format!("your organization has no benchmark with the slug `{slug}`")))?;
    let tasks = server.all("/tasks", &[("benchmark_id", &text(&benchmark["id"]))]).await?;
    let mut known =
        Datasets { server: &server, keys: BTreeMap::new(), datasets: BTreeMap::new(), entities: BTreeMap::new() };
    let environment = environment(&server, &benchmark, &mut known).await?;
    let mut whole = Vec::new();
    for task in &tasks {
        whole.push(whole_task(&server, task, &mut known).await?);
    }
    let mut about = json!({"slug": slug, "environment": environment});
    for name in ["name", "description", "timeout", "concurrency", "visibility"] {
        about[name] = benchmark[name].clone();
    }
    let benchmark: Benchmark = typed("benchmark", &about)?;
    let (tasks, others, places) = (Vec::new(), Vec::new(), Places::default());
    let mut folder = Folder { benchmark, datasets: known.datasets, tasks, others, places };
    let named = |(index, task): (usize, Task)| {
        let plain = task.name.replace("{{", " ").replace("}}", " ");
        (format!("tasks/{:02}-{}.yaml", index + 1, slugged(&plain)), task)
    };
    folder.tasks = collapse(&folder, &whole).into_iter().enumerate().map(named).collect();
    Ok(folder)
}

struct Datasets<'a> {
    server: &'a Server<'a>,
    /// From id to key.
    keys: BTreeMap<String, String>,
    datasets: BTreeMap<String, Dataset>,
    /// From id to `key/name`.
    entities: BTreeMap<String, String>,
}

impl Datasets<'_> {
    async fn key(&mut self, id: &str) -> Result<String, Error> {
        if let Some(key) = self.keys.get(id) {
            return Ok(key.clone());
        }
        let dataset = self.server.get(&format!("/datasets/{id}")).await?;
        let wanted = slugged(&text(&dataset["name"]));
        let taken = |key: &String| self.datasets.contains_key(key);
        let numbered = (2..).map(|number| format!("{wanted}-{number}"));
        let key = std::iter::once(wanted.clone()).chain(numbered).find(|key| !taken(key)).unwrap_or(wanted.clone());
        let mut entities = Vec::new();
        for entity in self.server.all(&format!("/datasets/{id}/entities"), &[]).await? {
            self.entities.insert(text(&entity["id"]), format!("{key}/{}", text(&entity["name"])));
            let data = entity["data"].clone();
            entities.push(Entity { name: text(&entity["name"]), r#ref: text(&entity["ref"]), data });
        }
        let r#type: DatasetType = typed("dataset type", &dataset["type"])?;
        let description = dataset["description"].as_str().map(str::to_owned);
        let about = DatasetAbout { name: text(&dataset["name"]), description, r#type, entities };
        let content = self.content(id, r#type, &dataset).await?;
        self.datasets.insert(key.clone(), Dataset { about, content });
        self.keys.insert(id.to_owned(), key.clone());
        Ok(key)
    }

    async fn content(&self, id: &str, kind: DatasetType, dataset: &Value) -> Result<Content, Error> {
        let has_data = dataset["revision"].as_u64() != Some(0);
        if kind == DatasetType::Fhir {
            // An empty file says that no data is meant, where none would be a file forgotten.
            let bytes = if has_data { self.bytes(&format!("/datasets/{id}/data")).await? } else { Vec::new() };
            return Ok(Content::Fhir { content_type: "application/fhir+ndjson", bytes });
        }
        if !has_data {
            return Ok(Content::Empty);
        }
        let mut files = Files::new();
        for file in self.server.all(&format!("/datasets/{id}/files"), &[]).await? {
            let path = text(&file["path"]);
            let bytes = self.bytes(&format!("/datasets/{id}/files/{}", client::segment(&path, true))).await?;
            files.insert(path, bytes);
        }
        Ok(if files.is_empty() { Content::Empty } else { Content::Files(files) })
    }

    async fn bytes(&self, path: &str) -> Result<Vec<u8>, Error> {
        let bytes = self.server.client.bytes(path).await;
        bytes.map(|bytes| bytes.to_vec()).map_err(|reason| Error::Server { doing: path.to_owned(), reason })
    }

    async fn entity(&mut self, dataset: &str, entity: &str) -> Result<String, Error> {
        self.key(dataset).await?;
        let known = self.entities.get(entity).cloned();
        known.ok_or_else(|| Error::Missing(format!("the entity {entity} is in none of the benchmark's datasets")))
    }
}

async fn environment(server: &Server<'_>, benchmark: &Value, known: &mut Datasets<'_>) -> Result<Value, Error> {
    let id = benchmark["environment_id"].as_str();
    let id = id.ok_or_else(|| Error::Missing("the benchmark has no environment yet".to_owned()))?;
    let environment = server.get(&format!("/environments/{id}")).await?;
    let mut simulators = Vec::new();
    for simulator in environment["simulators"].as_array().into_iter().flatten() {
        let whole = server.get(&format!("/simulators/{}", text(&simulator["id"]))).await?;
        let mut keys = Vec::new();
        for dataset in whole["datasets"].as_array().into_iter().flatten() {
            let id = dataset.as_str().or_else(|| dataset["id"].as_str()).unwrap_or_default();
            keys.push(known.key(id).await?);
        }
        simulators.push(json!({
            "name": whole["name"], "type": whole["type"], "config": whole["config"], "datasets": keys
        }));
    }
    Ok(json!({"name": environment["name"], "description": environment["description"], "simulators": simulators}))
}

async fn whole_task(server: &Server<'_>, task: &Value, known: &mut Datasets<'_>) -> Result<Task, Error> {
    let id = text(&task["id"]);
    let whole = server.get(&format!("/tasks/{id}")).await?;
    let mut entities = Vec::new();
    for entity in server.all(&format!("/tasks/{id}/entities"), &[]).await? {
        entities.push(known.entity(&text(&entity["dataset_id"]), &text(&entity["id"])).await?);
    }
    let mut criteria: Vec<Criterion> = Vec::new();
    for criterion in whole["criteria"].as_array().into_iter().flatten() {
        let mut about = json!({"label": criterion["label"], "assertion": criterion["assertion"]});
        about["weight"] = criterion["weight"].clone();
        about["axis"] = criterion["axis"].clone();
        // A server of an earlier version has neither.
        about["critical"] = criterion["critical"].as_bool().unwrap_or_default().into();
        about["public_label"] = criterion["public_label"].clone();
        if let Some(entity) = criterion["input_entity_id"].as_str() {
            let known = known.entities.get(entity).cloned();
            about["entity"] = known.ok_or_else(|| Error::Missing(format!("{entity} is in no known dataset")))?.into();
        }
        criteria.push(typed("criterion", &about)?);
    }
    let mut about = json!({"entities": entities});
    for name in ["name", "timeout", "tags", "task_item", "scenario"] {
        about[name] = whole[name].clone();
    }
    let mut task: Task = typed("task", &about)?;
    task.criteria = criteria;
    Ok(task)
}

fn typed<T: DeserializeOwned>(what: &str, value: &Value) -> Result<T, Error> {
    serde_json::from_value(value.clone()).map_err(|error| Error::Missing(format!("the server's {what}: {error}")))
}

/// A name as part of a file's name: lower-case letters, digits and hyphens, at most 60.
pub fn slugged(name: &str) -> String {
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
