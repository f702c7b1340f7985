//! The doors of a task run, as an agent uses them.

use anyhow::{Context, anyhow};
use bytes::Bytes;
use client::{Client, ClientError, Method, segment};
use serde_json::{Value, json};

use crate::Manner;
use crate::courier::Courier;
use crate::message::Message;

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
    courier: Courier,
    pub(crate) item: Value,
}

impl Sandbox {
    pub(crate) fn new(assignment: &Assignment, manner: Manner) -> anyhow::Result<Self> {
        let client = Client::new(&assignment.base_url, &assignment.token)?;
        let courier = Courier::new(client, &assignment.task_run_id, manner);
        Ok(Self { courier, item: assignment.item.clone() })
    }

    pub(crate) fn courier(&self) -> &Courier {
        &self.courier
    }

    /// A text of the task item.
    pub(crate) fn told(&self, name: &str) -> anyhow::Result<&str> {
        self.item[name].as_str().ok_or_else(|| anyhow!("the task does not say `{name}`"))
    }

    /// One call of a door.
    pub(crate) async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, ClientError> {
        let message = match body {
            Some(body) => Message::json(method, path, body),
            None => Message { method, ..Message::read(path) },
        };
        let answer = self.courier.carry(message).await?.checked()?;
        if answer.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&answer).map_err(|error| ClientError::Garbled(error.to_string()))
    }

    pub(crate) async fn get(&self, path: &str) -> anyhow::Result<Value> {
        self.call(Method::GET, path, None).await.with_context(|| format!("GET {path}"))
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        self.call(Method::POST, path, Some(body)).await.with_context(|| format!("POST {path}"))
    }

    pub(crate) async fn bytes(&self, path: &str) -> anyhow::Result<Bytes> {
        let answer = self.courier.carry(Message::read(path)).await;
        answer.and_then(client::Answer::checked).with_context(|| format!("GET {path}"))
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
        let answer = self.send(Method::POST, "x12/transactions", "application/edi-x12", interchange.to_owned()).await?;
        String::from_utf8(answer.to_vec()).context("the answer is not UTF-8")
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
        self.send(Method::PUT, &format!("files/{}", segment(path, true)), kind, bytes).await.map(drop)
    }

    async fn send(&self, method: Method, path: &str, kind: &str, body: impl Into<Bytes>) -> anyhow::Result<Bytes> {
        let headers = vec![("content-type".to_owned(), kind.to_owned())];
        let message = Message { method, root: None, path: path.to_owned(), headers, body: body.into() };
        let told = format!("{} {path}", message.method);
        self.courier.carry(message).await.and_then(client::Answer::checked).context(told)
    }
}
