//! Puts a folder on a server: everything new beside what is there, then the benchmark is turned to it, what it used before
//! is taken away where nothing else uses it, and its tasks are made. A push that was cut off is taken up by the next one.

use std::collections::BTreeMap;
use std::time::Duration;

use client::{Client, ClientError, Method};
use serde::Serialize;
use serde_json::{Value, json};

use crate::expand::expand;
use crate::folder::{Content, Dataset, Folder, Task};
use crate::keys::Keys;
use crate::lint::{has_errors, lint};
use crate::{Error, Finding, Severity};

/// What a push came to.
#[derive(Clone, Debug, Serialize)]
pub struct Pushed {
    pub benchmark_id: String,
    pub slug: String,
    /// None when nothing was published.
    pub version: Option<u64>,
    /// Whether the server had this content already under that version.
    pub unchanged: bool,
    pub tasks: usize,
    pub criteria: usize,
    pub warnings: Vec<Finding>,
}

/// Pushes, and publishes when asked to.
pub async fn push(client: &Client, folder: &Folder, publish: bool) -> Result<Pushed, Error> {
    let findings = lint(folder);
    if has_errors(&findings) {
        return Err(Error::Faults(findings.into_iter().filter(|one| one.severity == Severity::Error).collect()));
    }
    let tasks = expand(folder).map_err(Error::Faults)?;
    let server = Server { client };
    let before = server.benchmark(&folder.benchmark.slug).await?;
    let old = match &before {
        Some(benchmark) => server.parts(benchmark).await?,
        None => Parts::default(),
    };
    let taken_up = server.environment(folder, &Keys::of(folder, before.as_ref())).await;
    let (environment, entities) = match taken_up {
        // Something of what an earlier push had made was deleted since: all of it is made anew.
        Err(error) if error.is_missing() => server.environment(folder, &Keys::none()).await?,
        other => other?,
    };
    let benchmark_id = server.settle(folder, before.as_ref(), &environment).await?;
    for task in &old.tasks {
        server.delete(&format!("/tasks/{task}")).await?;
    }
    server.clear(&old).await;
    for (path, task) in &tasks {
        server.task(path, task, &benchmark_id, &entities).await?;
    }
    let (version, unchanged) =
        if publish { server.publish(&benchmark_id, folder.benchmark.version).await? } else { (None, false) };
    let criteria = tasks.iter().map(|(_, task)| task.criteria.len()).sum();
    let slug = folder.benchmark.slug.clone();
    Ok(Pushed { benchmark_id, slug, version, unchanged, tasks: tasks.len(), criteria, warnings: findings })
}

/// Ids of entities by `dataset/name`.
type Entities = BTreeMap<String, String>;

/// What a benchmark was made of before.
#[derive(Default)]
struct Parts {
    environment: Option<String>,
    simulators: Vec<String>,
    datasets: Vec<String>,
    tasks: Vec<String>,
}

/// An upload may take its time; a creation does not.
const LONGEST: Duration = Duration::from_secs(120);

pub(crate) struct Server<'a> {
    pub(crate) client: &'a Client,
}

impl Server<'_> {
    pub(crate) async fn get(&self, path: &str) -> Result<Value, Error> {
        self.client.get(path).await.map_err(|reason| failed(path, reason))
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Value, Error> {
        let answer = self.client.call(Method::POST, path, &[], Some(body)).await;
        answer.map_err(|reason| failed(path, reason))
    }

    /// Where the same key was sent with it before, what was made then.
    async fn post_once(&self, path: &str, body: &Value, key: Option<String>) -> Result<Value, Error> {
        let Some(key) = key else { return self.post(path, body).await };
        let answer = self.client.post_once(path, Some(body), &key, LONGEST).await;
        answer.map_err(|reason| failed(path, reason))
    }

    async fn delete(&self, path: &str) -> Result<(), Error> {
        match self.client.call(Method::DELETE, path, &[], None).await {
            Ok(_) => Ok(()),
            Err(reason) if reason.status() == Some(404) => Ok(()),
            Err(reason) => Err(failed(path, reason)),
        }
    }

    /// All items of a list, oldest first.
    pub(crate) async fn all(&self, path: &str, query: &[(&str, &str)]) -> Result<Vec<Value>, Error> {
        let query: Vec<(String, String)> =
            query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut items = self.client.all(path, &query).await.map_err(|reason| failed(path, reason))?;
        items.reverse();
        Ok(items)
    }

    /// The organization's own benchmark with this slug.
    pub(crate) async fn benchmark(&self, slug: &str) -> Result<Option<Value>, Error> {
        let is_it = |one: &Value| one["slug"].as_str() == Some(slug) && one["owned"].as_bool() == Some(true);
        Ok(self.all("/benchmarks", &[]).await?.into_iter().find(is_it))
    }

    async fn parts(&self, benchmark: &Value) -> Result<Parts, Error> {
        let mut parts = Parts::default();
        if let Some(environment) = benchmark["environment_id"].as_str() {
            let environment = self.get(&format!("/environments/{environment}")).await?;
            parts.environment = environment["id"].as_str().map(str::to_owned);
            for simulator in environment["simulators"].as_array().into_iter().flatten() {
                parts.simulators.extend(simulator["id"].as_str().map(str::to_owned));
                parts.datasets.extend(ids(&simulator["datasets"]));
            }
        }
        let tasks = self.all("/tasks", &[("benchmark_id", &text(&benchmark["id"]))]).await?;
        parts.tasks = tasks.iter().map(|task| text(&task["id"])).collect();
        // Entities may stand in datasets that no simulator starts from.
        for task in &parts.tasks {
            let entities = self.all(&format!("/tasks/{task}/entities"), &[]).await?;
            parts.datasets.extend(entities.iter().map(|entity| text(&entity["dataset_id"])));
        }
        parts.datasets.sort();
        parts.datasets.dedup();
        Ok(parts)
    }

    async fn environment(&self, folder: &Folder, keys: &Keys) -> Result<(String, Entities), Error> {
        let mut entities = Entities::new();
        let mut datasets = BTreeMap::new();
        for (key, dataset) in &folder.datasets {
            datasets.insert(key.as_str(), self.dataset(key, dataset, keys, &mut entities).await?);
        }
        let about = &folder.benchmark.environment;
        let body = json!({"name": about.name, "description": about.description});
        let environment = text(&self.post_once("/environments", &body, keys.of_part("environment")).await?["id"]);
        for (place, simulator) in about.simulators.iter().enumerate() {
            let body = json!({"type": simulator.r#type, "name": simulator.name, "config": simulator.config});
            let key = keys.of_part(&format!("simulator {place}"));
            let made = text(&self.post_once("/simulators", &body, key).await?["id"]);
            for dataset in simulator.datasets.iter().filter_map(|key| datasets.get(key.as_str())) {
                self.post(&format!("/simulators/{made}/datasets/{dataset}"), &Value::Null).await?;
            }
            self.post(&format!("/environments/{environment}/simulators/{made}"), &Value::Null).await?;
        }
        Ok((environment, entities))
    }

    async fn dataset(
        &self,
        key: &str,
        dataset: &Dataset,
        keys: &Keys,
        entities: &mut Entities,
    ) -> Result<String, Error> {
        let about = &dataset.about;
        let body = json!({"name": about.name, "description": about.description, "type": about.r#type});
        let made = text(&self.post_once("/datasets", &body, keys.of_part(&format!("dataset {key}"))).await?["id"]);
        match &dataset.content {
            Content::Empty => {}
            // As a new dataset is.
            Content::Fhir { bytes, .. } if bytes.is_empty() => {}
            Content::Fhir { content_type, bytes } => {
                self.put(&format!("/datasets/{made}/data"), content_type, bytes).await?;
            }
            Content::Files(files) => {
                for (path, bytes) in files {
                    let place = format!("/datasets/{made}/files/{}", client::segment(path, true));
                    self.put(&place, content_type(path), bytes).await?;
                }
            }
        }
        for entity in &about.entities {
            let data = if entity.data.is_null() { json!({}) } else { entity.data.clone() };
            let body = json!({"name": entity.name, "ref": entity.r#ref, "data": data});
            let part = format!("entity {key}/{}", entity.name);
            let id = self.post_once(&format!("/datasets/{made}/entities"), &body, keys.of_part(&part)).await?;
            entities.insert(format!("{key}/{}", entity.name), text(&id["id"]));
        }
        Ok(made)
    }

    async fn put(&self, path: &str, content_type: &str, bytes: &[u8]) -> Result<(), Error> {
        let answer = self.client.put_bytes(path, content_type, bytes.to_vec()).await;
        answer.map(drop).map_err(|reason| failed(path, reason))
    }

    async fn settle(&self, folder: &Folder, before: Option<&Value>, environment: &str) -> Result<String, Error> {
        let about = &folder.benchmark;
        let mut body = json!({"name": about.name, "description": about.description, "environment_id": environment});
        body["timeout"] = about.timeout.unwrap_or(3600).into();
        body["concurrency"] = about.concurrency.unwrap_or(1).into();
        body["visibility"] = json!(about.visibility.unwrap_or(model::benchmark::Visibility::Private));
        match before {
            None => {
                body["slug"] = about.slug.as_str().into();
                Ok(text(&self.post("/benchmarks", &body).await?["id"]))
            }
            Some(benchmark) => {
                let path = format!("/benchmarks/{}", text(&benchmark["id"]));
                let answer = self.client.call(Method::PATCH, &path, &[], Some(&body)).await;
                answer.map(|benchmark| text(&benchmark["id"])).map_err(|reason| failed(&path, reason))
            }
        }
    }

    async fn task(&self, path: &str, task: &Task, benchmark: &str, entities: &Entities) -> Result<(), Error> {
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
            entities.get(reference).ok_or_else(|| Error::Missing(format!("{path}: there is no entity `{reference}`")))
        };
        let made = text(&self.post("/tasks", &body).await?["id"]);
        for reference in &task.entities {
            self.post(&format!("/tasks/{made}/entities"), &json!({"entity_id": id(reference)?})).await?;
        }
        for criterion in &task.criteria {
            let mut body = json!({"task_id": made, "label": criterion.label, "assertion": criterion.assertion});
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

    /// What something else uses stays, and that is no fault.
    async fn clear(&self, old: &Parts) {
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
            Err(ClientError::Refused(refusal)) if refusal.status == 409 => match equal_version(&refusal.message) {
                Some(version) => Ok((Some(version), true)),
                None => Err(failed(&path, ClientError::Refused(refusal))),
            },
            Err(reason) => Err(failed(&path, reason)),
        }
    }
}

/// The version that a refusal to publish says this content has: `nothing has changed: this is `slug@3``.
fn equal_version(message: &str) -> Option<u64> {
    let (_, after) = message.strip_prefix("nothing has changed")?.split_once('@')?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

fn failed(path: &str, reason: ClientError) -> Error {
    Error::Server { doing: path.to_owned(), reason }
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Ids, or the ids of objects.
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
