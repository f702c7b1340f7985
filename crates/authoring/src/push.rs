//! Pushes a folder to a server.
//!
//! A push creates a new environment with its datasets, points the benchmark to it, deletes the old parts that nothing else
//! uses, and creates the tasks. If a push is interrupted, the next one continues it.

use std::collections::BTreeMap;
use std::time::Duration;

use client::{Client, ClientError, Method};
use serde::Serialize;
use serde_json::{Value, json};

use crate::expansion::expand;
use crate::folder::{Content, Dataset, Folder, Task};
use crate::idempotency_keys::IdempotencyKeys;
use crate::{Error, Finding, lint_or_fail};

/// The result of a push.
#[derive(Clone, Debug, Serialize)]
pub struct PushResult {
    pub benchmark_id: String,
    pub slug: String,
    /// The published version, if the push published one.
    pub version: Option<u64>,
    /// Whether that version already had this content.
    pub unchanged: bool,
    pub tasks: usize,
    pub criteria: usize,
    pub warnings: Vec<Finding>,
}

/// Pushes a folder, and publishes it if `publish`.
pub async fn push(client: &Client, folder: &Folder, publish: bool) -> Result<PushResult, Error> {
    let findings = lint_or_fail(folder)?;
    let tasks = expand(folder).map_err(Error::Findings)?;
    let server = Server { client };
    let before = server.benchmark(&folder.benchmark.slug).await?;
    let old = match &before {
        Some(benchmark) => server.existing_parts(benchmark).await?,
        None => ExistingParts::default(),
    };
    let environment = server.create_environment(folder, &IdempotencyKeys::of(folder, before.as_ref())).await;
    let (environment, entities) = match environment {
        // Some of what an interrupted push created was deleted since: create all of it again.
        Err(error) if error.is_not_found() => server.create_environment(folder, &IdempotencyKeys::none()).await?,
        other => other?,
    };
    let benchmark_id = server.save_benchmark(folder, before.as_ref(), &environment).await?;
    for task in &old.tasks {
        server.delete(&format!("/tasks/{task}")).await?;
    }
    server.delete_unused(&old).await;
    for (path, task) in &tasks {
        server.create_task(path, task, &benchmark_id, &entities).await?;
    }
    let (version, unchanged) =
        if publish { server.publish(&benchmark_id, folder.benchmark.version).await? } else { (None, false) };
    let criteria = tasks.iter().map(|(_, task)| task.criteria.len()).sum();
    let slug = folder.benchmark.slug.clone();
    Ok(PushResult { benchmark_id, slug, version, unchanged, tasks: tasks.len(), criteria, warnings: findings })
}

/// Entity ids by `dataset/name`.
type EntityIds = BTreeMap<String, String>;

/// The ids of the parts that an existing benchmark consists of.
#[derive(Default)]
struct ExistingParts {
    environment: Option<String>,
    simulators: Vec<String>,
    datasets: Vec<String>,
    tasks: Vec<String>,
}

/// Timeout of a create request.
const CREATE_TIMEOUT: Duration = Duration::from_secs(120);

/// The server's API, with errors that name the path.
pub(crate) struct Server<'a> {
    pub(crate) client: &'a Client,
}

impl Server<'_> {
    pub(crate) async fn get(&self, path: &str) -> Result<Value, Error> {
        self.client.get(path).await.map_err(|reason| failed(path, reason))
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Value, Error> {
        let response = self.client.call(Method::POST, path, &[], Some(body)).await;
        response.map_err(|reason| failed(path, reason))
    }

    /// Creates something, or returns what an earlier request with the same idempotency key created.
    async fn post_once(&self, path: &str, body: &Value, key: Option<String>) -> Result<Value, Error> {
        let Some(key) = key else { return self.post(path, body).await };
        let response = self.client.post_once(path, Some(body), &key, CREATE_TIMEOUT).await;
        response.map_err(|reason| failed(path, reason))
    }

    async fn delete(&self, path: &str) -> Result<(), Error> {
        match self.client.call(Method::DELETE, path, &[], None).await {
            Ok(_) => Ok(()),
            Err(reason) if reason.status() == Some(404) => Ok(()),
            Err(reason) => Err(failed(path, reason)),
        }
    }

    /// All items of a list, oldest first.
    pub(crate) async fn list_all(&self, path: &str, query: &[(&str, &str)]) -> Result<Vec<Value>, Error> {
        let query: Vec<(String, String)> =
            query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut items = self.client.list_all(path, &query).await.map_err(|reason| failed(path, reason))?;
        items.reverse();
        Ok(items)
    }

    /// Finds the organization's own benchmark with this slug.
    pub(crate) async fn benchmark(&self, slug: &str) -> Result<Option<Value>, Error> {
        let is_match = |one: &Value| one["slug"].as_str() == Some(slug) && one["owned"].as_bool() == Some(true);
        Ok(self.list_all("/benchmarks", &[]).await?.into_iter().find(is_match))
    }

    /// Lists the parts of an existing benchmark.
    async fn existing_parts(&self, benchmark: &Value) -> Result<ExistingParts, Error> {
        let mut parts = ExistingParts::default();
        if let Some(environment) = benchmark["environment_id"].as_str() {
            let environment = self.get(&format!("/environments/{environment}")).await?;
            parts.environment = environment["id"].as_str().map(str::to_owned);
            for simulator in environment["simulators"].as_array().into_iter().flatten() {
                parts.simulators.extend(simulator["id"].as_str().map(str::to_owned));
                parts.datasets.extend(ids(&simulator["datasets"]));
            }
        }
        let tasks = self.list_all("/tasks", &[("benchmark_id", &text(&benchmark["id"]))]).await?;
        parts.tasks = tasks.iter().map(|task| text(&task["id"])).collect();
        // Entities may be in datasets that no simulator uses.
        for task in &parts.tasks {
            let entities = self.list_all(&format!("/tasks/{task}/entities"), &[]).await?;
            parts.datasets.extend(entities.iter().map(|entity| text(&entity["dataset_id"])));
        }
        parts.datasets.sort();
        parts.datasets.dedup();
        Ok(parts)
    }

    async fn create_environment(&self, folder: &Folder, keys: &IdempotencyKeys) -> Result<(String, EntityIds), Error> {
        let mut entities = EntityIds::new();
        let mut datasets = BTreeMap::new();
        for (key, dataset) in &folder.datasets {
            datasets.insert(key.as_str(), self.create_dataset(key, dataset, keys, &mut entities).await?);
        }
        let definition = &folder.benchmark.environment;
        let body = json!({"name": definition.name, "description": definition.description});
        let environment = text(&self.post_once("/environments", &body, keys.for_part("environment")).await?["id"]);
        for (index, simulator) in definition.simulators.iter().enumerate() {
            let body = json!({"type": simulator.r#type, "name": simulator.name, "config": simulator.config});
            let key = keys.for_part(&format!("simulator {index}"));
            let simulator_id = text(&self.post_once("/simulators", &body, key).await?["id"]);
            for dataset in simulator.datasets.iter().filter_map(|key| datasets.get(key.as_str())) {
                self.post(&format!("/simulators/{simulator_id}/datasets/{dataset}"), &Value::Null).await?;
            }
            self.post(&format!("/environments/{environment}/simulators/{simulator_id}"), &Value::Null).await?;
        }
        Ok((environment, entities))
    }

    async fn create_dataset(
        &self,
        key: &str,
        dataset: &Dataset,
        keys: &IdempotencyKeys,
        entities: &mut EntityIds,
    ) -> Result<String, Error> {
        let metadata = &dataset.metadata;
        let body = json!({"name": metadata.name, "description": metadata.description, "type": metadata.r#type});
        let id = text(&self.post_once("/datasets", &body, keys.for_part(&format!("dataset {key}"))).await?["id"]);
        match &dataset.content {
            Content::Empty => {}
            // A new dataset is empty already.
            Content::Fhir { bytes, .. } if bytes.is_empty() => {}
            Content::Fhir { content_type, bytes } => {
                self.put(&format!("/datasets/{id}/data"), content_type, bytes).await?;
            }
            Content::Files(files) => {
                for (path, bytes) in files {
                    let url_path = format!("/datasets/{id}/files/{}", client::segment(path, true));
                    self.put(&url_path, content_type(path), bytes).await?;
                }
            }
        }
        for entity in &metadata.entities {
            let data = if entity.data.is_null() { json!({}) } else { entity.data.clone() };
            let body = json!({"name": entity.name, "ref": entity.r#ref, "data": data});
            let part = format!("entity {key}/{}", entity.name);
            let created = self.post_once(&format!("/datasets/{id}/entities"), &body, keys.for_part(&part)).await?;
            entities.insert(format!("{key}/{}", entity.name), text(&created["id"]));
        }
        Ok(id)
    }

    async fn put(&self, path: &str, content_type: &str, bytes: &[u8]) -> Result<(), Error> {
        let response = self.client.put_bytes(path, content_type, bytes.to_vec()).await;
        response.map(drop).map_err(|reason| failed(path, reason))
    }

    /// Creates the benchmark, or updates it to the new environment.
    async fn save_benchmark(
        &self,
        folder: &Folder,
        before: Option<&Value>,
        environment: &str,
    ) -> Result<String, Error> {
        let definition = &folder.benchmark;
        let mut body =
            json!({"name": definition.name, "description": definition.description, "environment_id": environment});
        body["timeout"] = definition.timeout.unwrap_or(3600).into();
        body["concurrency"] = definition.concurrency.unwrap_or(1).into();
        body["visibility"] = json!(definition.visibility.unwrap_or(model::benchmark::Visibility::Private));
        match before {
            None => {
                body["slug"] = definition.slug.as_str().into();
                Ok(text(&self.post("/benchmarks", &body).await?["id"]))
            }
            Some(benchmark) => {
                let path = format!("/benchmarks/{}", text(&benchmark["id"]));
                let response = self.client.call(Method::PATCH, &path, &[], Some(&body)).await;
                response.map(|benchmark| text(&benchmark["id"])).map_err(|reason| failed(&path, reason))
            }
        }
    }

    async fn create_task(&self, path: &str, task: &Task, benchmark: &str, entities: &EntityIds) -> Result<(), Error> {
        let mut body = json!({"benchmark_id": benchmark, "name": task.name, "tags": task.tags});
        for (name, value) in [("task_item", &task.task_item), ("scenario", &task.scenario)] {
            if !value.is_null() {
                body[name] = value.clone();
            }
        }
        if let Some(timeout) = task.timeout {
            body["timeout"] = timeout.into();
        }
        let id = |reference: &String| {
            entities.get(reference).ok_or_else(|| Error::Message(format!("{path}: there is no entity `{reference}`")))
        };
        let task_id = text(&self.post("/tasks", &body).await?["id"]);
        for reference in &task.entities {
            self.post(&format!("/tasks/{task_id}/entities"), &json!({"entity_id": id(reference)?})).await?;
        }
        for criterion in &task.criteria {
            let mut body = json!({"task_id": task_id, "label": criterion.label, "assertion": criterion.assertion});
            if let Some(weight) = criterion.weight {
                body["weight"] = json!(weight);
            }
            if let Some(axis) = &criterion.axis {
                body["axis"] = axis.as_str().into();
            }
            if criterion.critical {
                body["critical"] = true.into();
            }
            if let Some(public_label) = &criterion.public_label {
                body["public_label"] = public_label.as_str().into();
            }
            if let Some(reference) = &criterion.entity {
                body["input_entity_id"] = id(reference)?.as_str().into();
            }
            self.post("/criteria", &body).await?;
        }
        Ok(())
    }

    /// Deletes old parts. Those that something else uses cannot be deleted; that is not an error.
    async fn delete_unused(&self, old: &ExistingParts) {
        let environment = old.environment.iter().map(|id| format!("/environments/{id}"));
        let simulators = old.simulators.iter().map(|id| format!("/simulators/{id}"));
        let datasets = old.datasets.iter().map(|id| format!("/datasets/{id}"));
        for path in environment.chain(simulators).chain(datasets) {
            let _ = self.client.call(Method::DELETE, &path, &[], None).await;
        }
    }

    async fn publish(&self, benchmark: &str, version: Option<i64>) -> Result<(Option<u64>, bool), Error> {
        let path = format!("/benchmarks/{benchmark}/publish");
        let body = version.map_or_else(|| json!({}), |version| json!({"version": version}));
        match self.client.call(Method::POST, &path, &[], Some(&body)).await {
            Ok(version) => Ok((version["version"].as_u64(), false)),
            Err(ClientError::Rejected(rejection)) if rejection.status == 409 => match equal_version(&rejection.message)
            {
                Some(version) => Ok((Some(version), true)),
                None => Err(failed(&path, ClientError::Rejected(rejection))),
            },
            Err(reason) => Err(failed(&path, reason)),
        }
    }
}

/// The version number in the message with which the server refuses to publish unchanged content:
/// `nothing has changed: this is `slug@3``.
fn equal_version(message: &str) -> Option<u64> {
    let (_, after) = message.strip_prefix("nothing has changed")?.split_once('@')?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

fn failed(path: &str, reason: ClientError) -> Error {
    Error::Server { path: path.to_owned(), reason }
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The ids of a list of ids or of objects with ids.
fn ids(list: &Value) -> Vec<String> {
    let items = list.as_array().into_iter().flatten();
    items.filter_map(|item| item.as_str().or_else(|| item["id"].as_str())).map(str::to_owned).collect()
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).as_deref() {
        Some("pdf") => "application/pdf",
        Some("tif" | "tiff") => "image/tiff",
        Some("json") => "application/json",
        Some("csv") => "text/csv",
        Some("txt" | "md" | "hl7" | "edi" | "x12") => "text/plain",
        Some("xml") => "application/xml",
        _ => "application/octet-stream",
    }
}
