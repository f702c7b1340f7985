//! Pulls a published version that the organization owns, from its frozen content.

use std::collections::BTreeMap;

use client::{Client, segment};
use model::dataset::DatasetType;
use model::slug::VersionRef;
use serde_json::{Value, json};

use crate::Error;
use crate::folder::{Benchmark, Content, Criterion, Dataset, DatasetMetadata, Entity, Folder, Task};
use crate::pull::{assemble, parse, unique_key};
use crate::push::{Server, text};
use crate::source::Files;

/// Pulls a version. Pushing and publishing the result gives the content of this version again. The descriptions of the
/// environment and of datasets are not part of a version, so the folder has none.
pub async fn pull_version(client: &Client, reference: &VersionRef) -> Result<Folder, Error> {
    let server = Server { client };
    let root = format!("/benchmarks/{}/content", segment(&reference.to_string(), false));
    let version = match server.get(&root).await {
        Err(error) if error.is_not_found() => {
            let message =
                format!("your organization has not published `{reference}`: only the owner can pull a version");
            return Err(Error::Message(message));
        }
        other => other?,
    };
    let content = &version["content"];
    let mut puller = VersionPuller { server: &server, root, keys: BTreeMap::new(), entities: BTreeMap::new() };
    let datasets = puller.datasets(content).await?;
    let mut definition = json!({"slug": reference.slug, "visibility": version["visibility"]});
    definition["environment"] = puller.environment(&content["environment"]);
    for name in ["name", "description", "timeout", "concurrency"] {
        definition[name] = content[name].clone();
    }
    let benchmark: Benchmark = parse("benchmark", &definition)?;
    let tasks = items(&content["tasks"]).map(|task| puller.task(task)).collect::<Result<Vec<_>, _>>()?;
    Ok(assemble(benchmark, datasets, &tasks))
}

struct VersionPuller<'a> {
    server: &'a Server<'a>,
    /// The path of the version's content.
    root: String,
    /// Dataset keys by id.
    keys: BTreeMap<String, String>,
    /// Entities as `key/name` by id.
    entities: BTreeMap<String, String>,
}

impl VersionPuller<'_> {
    async fn datasets(&mut self, content: &Value) -> Result<BTreeMap<String, Dataset>, Error> {
        let mut datasets = BTreeMap::new();
        for dataset in items(&content["datasets"]) {
            let key = unique_key(&text(&dataset["name"]), &datasets);
            let dataset_entities = items(&content["entities"]).filter(|entity| entity["dataset_id"] == dataset["id"]);
            let mut entities = Vec::new();
            for entity in dataset_entities {
                let name = text(&entity["name"]);
                self.entities.insert(text(&entity["id"]), format!("{key}/{name}"));
                entities.push(Entity { name, r#ref: text(&entity["ref"]), data: entity["data"].clone() });
            }
            let r#type: DatasetType = parse("dataset type", &dataset["type"])?;
            let metadata = DatasetMetadata { name: text(&dataset["name"]), description: None, r#type, entities };
            let content = self.content(r#type, &dataset["manifest"]).await?;
            self.keys.insert(text(&dataset["id"]), key.clone());
            datasets.insert(key, Dataset { metadata, content });
        }
        Ok(datasets)
    }

    async fn content(&self, dataset_type: DatasetType, manifest: &Value) -> Result<Content, Error> {
        if dataset_type == DatasetType::Fhir {
            let mut bytes = Vec::new();
            for chunk in items(&manifest["chunks"]) {
                bytes.extend(self.blob(&chunk["sha256"]).await?);
            }
            return Ok(Content::Fhir { content_type: "application/fhir+ndjson", bytes });
        }
        let mut files = Files::new();
        for (path, file) in manifest["files"].as_object().into_iter().flatten() {
            files.insert(path.clone(), self.blob(&file["sha256"]).await?);
        }
        Ok(if files.is_empty() { Content::Empty } else { Content::Files(files) })
    }

    async fn blob(&self, sha256: &Value) -> Result<Vec<u8>, Error> {
        let path = format!("{}/{}", self.root, segment(&text(sha256), false));
        let bytes = self.server.client.get_bytes(&path).await;
        bytes.map(|bytes| bytes.to_vec()).map_err(|reason| Error::Server { path, reason })
    }

    fn environment(&self, environment: &Value) -> Value {
        let simulator = |simulator: &Value| {
            let keys = items(&simulator["datasets"]).filter_map(|id| self.keys.get(&text(id)));
            json!({
                "name": simulator["name"], "type": simulator["type"], "config": simulator["config"],
                "datasets": keys.collect::<Vec<_>>(),
            })
        };
        let simulators: Vec<Value> = items(&environment["simulators"]).map(simulator).collect();
        json!({"name": environment["name"], "simulators": simulators})
    }

    fn task(&self, task: &Value) -> Result<Task, Error> {
        let entities = items(&task["entities"]).map(|id| self.entity(id)).collect::<Result<Vec<_>, _>>()?;
        let mut definition = json!({"entities": entities});
        for name in ["name", "timeout", "tags", "task_item", "scenario"] {
            definition[name] = task[name].clone();
        }
        let mut parsed: Task = parse("task", &definition)?;
        parsed.criteria = items(&task["criteria"]).map(|one| self.criterion(one)).collect::<Result<_, _>>()?;
        Ok(parsed)
    }

    fn criterion(&self, criterion: &Value) -> Result<Criterion, Error> {
        let mut definition = json!({});
        for name in ["label", "assertion", "weight", "axis", "public_label"] {
            definition[name] = criterion[name].clone();
        }
        definition["critical"] = criterion["critical"].as_bool().unwrap_or_default().into();
        if criterion["input_entity_id"].is_string() {
            definition["entity"] = self.entity(&criterion["input_entity_id"])?.into();
        }
        parse("criterion", &definition)
    }

    fn entity(&self, id: &Value) -> Result<String, Error> {
        let known = self.entities.get(&text(id)).cloned();
        known.ok_or_else(|| Error::Message(format!("the entity {id} is in none of the version's datasets")))
    }
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}
