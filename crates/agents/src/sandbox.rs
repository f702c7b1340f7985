//! The doors of a task run, as an agent uses them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::{Context, anyhow};
use bytes::Bytes;
use client::{Client, ClientError, Method, segment};
use serde_json::{Value, json};

use crate::Manner;
use crate::mutation::Alteration;

/// What an agent is told of its task, as `verial run` puts it into the environment.
#[derive(Clone, Debug)]
pub struct Assignment {
    pub base_url: String,
    pub token: String,
    pub task_run_id: String,
    /// `slug@version`.
    pub benchmark: String,
    pub item: Value,
}

impl Assignment {
    /// From `VERIAL_…` variables.
    #[expect(clippy::disallowed_methods, reason = "that is how an agent is told its task")]
    pub fn from_environment() -> anyhow::Result<Self> {
        let read =
            |name: &str| std::env::var(name).with_context(|| format!("{name} is not set: start me with `verial run`"));
        Ok(Self {
            base_url: read("VERIAL_BASE_URL")?,
            token: read("VERIAL_RUN_TOKEN")?,
            task_run_id: read("VERIAL_TASK_RUN_ID")?,
            benchmark: read("VERIAL_BENCHMARK")?,
            item: serde_json::from_str(&read("VERIAL_TASK_ITEM")?).context("VERIAL_TASK_ITEM is not JSON")?,
        })
    }
}

pub(crate) struct Sandbox {
    client: Client,
    root: String,
    pub(crate) item: Value,
    manner: Manner,
    altered: AtomicBool,
    writes: AtomicUsize,
}

impl Sandbox {
    pub(crate) fn new(assignment: &Assignment, manner: Manner) -> anyhow::Result<Self> {
        let client = Client::new(&assignment.base_url, &assignment.token)?;
        let root = format!("/v1/task-runs/{}/sandbox", assignment.task_run_id);
        let (altered, writes) = (AtomicBool::new(false), AtomicUsize::new(0));
        Ok(Self { client, root, item: assignment.item.clone(), manner, altered, writes })
    }

    /// A text of the task item.
    pub(crate) fn told(&self, name: &str) -> anyhow::Result<&str> {
        self.item[name].as_str().ok_or_else(|| anyhow!("the task does not say `{name}`"))
    }

    pub(crate) fn was_altered(&self) -> bool {
        self.altered.load(Ordering::Relaxed)
    }

    /// One call of a door. A mutant or variant alters what it sends here.
    pub(crate) async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, ClientError> {
        let place = format!("{}/{path}", self.root);
        let Some(body) = body else {
            return self.client.call(method, &place, &[], None).await;
        };
        let alteration = self.alteration(path, body);
        if alteration.is_left_out {
            return Ok(Value::Null);
        }
        // Putting or answering the same again is the same, and what is refused the second time was done once.
        let counts = method == Method::POST && !path.starts_with("cds/invocations");
        let again = match alteration.again.as_ref().filter(|_| counts) {
            Some(again) => self.client.call(method.clone(), &place, &[], Some(again)).await.is_ok(),
            None => false,
        };
        let answer = self.client.call(method, &place, &[], Some(&alteration.body)).await;
        if again && answer.is_ok() {
            self.altered.store(true, Ordering::Relaxed);
        }
        answer
    }

    fn alteration(&self, path: &str, body: &Value) -> Alteration {
        let number = self.writes.fetch_add(1, Ordering::Relaxed);
        let alteration = Alteration::of(self.manner, path, body, number);
        if alteration.is_left_out || alteration.body != *body {
            self.altered.store(true, Ordering::Relaxed);
        }
        alteration
    }

    /// What a curious agent reads before it begins; none of it may change the score.
    pub(crate) async fn look_around(&self) {
        for path in
            ["fhir/Patient?_count=3", "fhir/metadata", "files/inbox", "hl7/inbox", "messages", "portal/prior-auths"]
        {
            let _ = self.call(Method::GET, path, None).await;
        }
    }

    /// What no task asks for.
    pub(crate) async fn delete_a_patient(&self) -> anyhow::Result<()> {
        let Some(patient) = self.search("Patient?_count=1").await.unwrap_or_default().pop() else {
            return Ok(());
        };
        let path = format!("fhir/Patient/{}", patient["id"].as_str().unwrap_or_default());
        self.call(Method::DELETE, &path, None).await.with_context(|| format!("DELETE {path}"))?;
        self.altered.store(true, Ordering::Relaxed);
        Ok(())
    }

    pub(crate) async fn get(&self, path: &str) -> anyhow::Result<Value> {
        self.call(Method::GET, path, None).await.with_context(|| format!("GET {path}"))
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        self.call(Method::POST, path, Some(body)).await.with_context(|| format!("POST {path}"))
    }

    pub(crate) async fn bytes(&self, path: &str) -> anyhow::Result<Bytes> {
        self.client.bytes(&format!("{}/{path}", self.root)).await.with_context(|| format!("GET {path}"))
    }

    /// The resources that a FHIR search finds.
    pub(crate) async fn search(&self, query: &str) -> anyhow::Result<Vec<Value>> {
        let bundle = self.get(&format!("fhir/{query}")).await?;
        let entries = bundle["entry"].as_array().cloned().unwrap_or_default();
        Ok(entries.into_iter().map(|mut entry| entry["resource"].take()).collect())
    }

    pub(crate) async fn create(&self, resource: &Value) -> anyhow::Result<Value> {
        let kind = resource["resourceType"].as_str().unwrap_or_default();
        self.post(&format!("fhir/{kind}"), resource).await
    }

    /// Writes a resource in the place of what is there.
    pub(crate) async fn replace(&self, resource: &Value) -> anyhow::Result<Value> {
        let text = |name: &str| resource[name].as_str().unwrap_or_default();
        let path = format!("fhir/{}/{}", text("resourceType"), text("id"));
        self.call(Method::PUT, &path, Some(resource)).await.with_context(|| format!("PUT {path}"))
    }

    pub(crate) async fn send_hl7(&self, message: &str) -> anyhow::Result<()> {
        let answer = self.post("hl7/outbound", &json!({"payload": message})).await?;
        match answer["ack_code"].as_str() {
            Some("AA" | "CA") => Ok(()),
            _ => Err(anyhow!("the interface refused the message: {}", answer["ack"])),
        }
    }

    /// Sends interchanges to the clearinghouse; its answer.
    pub(crate) async fn send_x12(&self, interchange: &str) -> anyhow::Result<String> {
        let path = "x12/transactions";
        let alteration = self.alteration(path, &json!({"payload": interchange}));
        if alteration.is_left_out {
            return Ok(String::new());
        }
        if let Some(again) = &alteration.again {
            let _ = self.post_x12(path, again).await;
        }
        let answer = self.post_x12(path, &alteration.body).await.with_context(|| format!("POST {path}"))?;
        String::from_utf8(answer.to_vec()).context("the answer is not UTF-8")
    }

    async fn post_x12(&self, path: &str, body: &Value) -> Result<Bytes, ClientError> {
        let text = body["payload"].as_str().unwrap_or_default();
        let place = format!("{}/{path}", self.root);
        self.client.post_bytes(&place, "application/edi-x12", text.as_bytes().to_vec()).await
    }

    /// Paths of what lies in the inbox.
    pub(crate) async fn inbox(&self) -> anyhow::Result<Vec<String>> {
        let listed = self.get("files/inbox").await?;
        let items = listed.as_array().or_else(|| listed["data"].as_array()).cloned().unwrap_or_default();
        Ok(items.iter().filter_map(|item| item["path"].as_str()).map(str::to_owned).collect())
    }

    pub(crate) async fn file(&self, path: &str) -> anyhow::Result<Bytes> {
        self.bytes(&format!("files/{}", segment(path, true))).await
    }

    pub(crate) async fn put_file(&self, path: &str, kind: &str, bytes: Vec<u8>) -> anyhow::Result<()> {
        let bytes = match serde_json::from_slice::<Value>(&bytes) {
            Ok(json) => {
                let alteration = self.alteration(&format!("files/{path}"), &json);
                if alteration.is_left_out {
                    return Ok(());
                }
                if let Some(again) = &alteration.again {
                    self.altered.store(true, Ordering::Relaxed);
                    let place = format!("{}/files/{}-2", self.root, segment(path, true));
                    let _ = self.client.put_bytes(&place, kind, again.to_string().into_bytes()).await;
                }
                alteration.body.to_string().into_bytes()
            }
            Err(_) => bytes,
        };
        let place = format!("{}/files/{}", self.root, segment(path, true));
        self.client.put_bytes(&place, kind, bytes).await.map(drop).with_context(|| format!("PUT files/{path}"))
    }
}
