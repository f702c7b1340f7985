//! A client for the sandboxes of a task run, as the reference agents use it.

use anyhow::{Context, anyhow};
use bytes::Bytes;
use client::{Client, ClientError, Method, segment};
use serde_json::{Value, json};

use crate::AgentMode;
use crate::message::Message;
use crate::mutating_proxy::MutatingProxy;

/// What an agent learns about its task, as `verial run` passes it in environment variables.
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
    /// Reads the `VERIAL_…` environment variables.
    #[expect(clippy::disallowed_methods, reason = "agents receive their task in environment variables")]
    pub fn from_environment() -> anyhow::Result<Self> {
        let read = |name: &str| {
            std::env::var(name).with_context(|| format!("{name} is not set: start this agent with `verial run`"))
        };
        Ok(Self {
            base_url: read("VERIAL_BASE_URL")?,
            token: read("VERIAL_RUN_TOKEN")?,
            task_run_id: read("VERIAL_TASK_RUN_ID")?,
            benchmark: read("VERIAL_BENCHMARK")?,
            item: serde_json::from_str(&read("VERIAL_TASK_ITEM")?).context("VERIAL_TASK_ITEM is not JSON")?,
        })
    }
}

/// The sandboxes of one task run.
pub(crate) struct Sandbox {
    proxy: MutatingProxy,
    pub(crate) item: Value,
}

impl Sandbox {
    pub(crate) fn new(assignment: &Assignment, mode: AgentMode) -> anyhow::Result<Self> {
        let client = Client::new(&assignment.base_url, &assignment.token)?;
        let proxy = MutatingProxy::new(client, &assignment.task_run_id, mode);
        Ok(Self { proxy, item: assignment.item.clone() })
    }

    pub(crate) fn proxy(&self) -> &MutatingProxy {
        &self.proxy
    }

    /// A text member of the task item.
    pub(crate) fn item_text(&self, name: &str) -> anyhow::Result<&str> {
        self.item[name].as_str().ok_or_else(|| anyhow!("the task item has no text member `{name}`"))
    }

    /// Sends a request and returns the JSON response, or null if it has no body.
    pub(crate) async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, ClientError> {
        let message = match body {
            Some(body) => Message::json(method, path, body),
            None => Message { method, ..Message::read(path) },
        };
        let body = self.proxy.forward(message).await?.into_success()?;
        if body.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&body).map_err(|error| ClientError::InvalidResponse(error.to_string()))
    }

    pub(crate) async fn get(&self, path: &str) -> anyhow::Result<Value> {
        self.call(Method::GET, path, None).await.with_context(|| format!("GET {path}"))
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        self.call(Method::POST, path, Some(body)).await.with_context(|| format!("POST {path}"))
    }

    pub(crate) async fn bytes(&self, path: &str) -> anyhow::Result<Bytes> {
        let response = self.proxy.forward(Message::read(path)).await;
        response.and_then(client::ApiResponse::into_success).with_context(|| format!("GET {path}"))
    }

    /// The resources that a FHIR search finds.
    pub(crate) async fn search(&self, query: &str) -> anyhow::Result<Vec<Value>> {
        let bundle = self.get(&format!("fhir/{query}")).await?;
        let entries = bundle["entry"].as_array().cloned().unwrap_or_default();
        Ok(entries.into_iter().map(|mut entry| entry["resource"].take()).collect())
    }

    pub(crate) async fn create(&self, resource: &Value) -> anyhow::Result<Value> {
        let resource_type = resource["resourceType"].as_str().unwrap_or_default();
        self.post(&format!("fhir/{resource_type}"), resource).await
    }

    /// Replaces a resource with a PUT request.
    pub(crate) async fn replace(&self, resource: &Value) -> anyhow::Result<Value> {
        let text = |name: &str| resource[name].as_str().unwrap_or_default();
        let path = format!("fhir/{}/{}", text("resourceType"), text("id"));
        self.call(Method::PUT, &path, Some(resource)).await.with_context(|| format!("PUT {path}"))
    }

    pub(crate) async fn send_hl7(&self, message: &str) -> anyhow::Result<()> {
        let response = self.post("hl7/outbound", &json!({"payload": message})).await?;
        match response["ack_code"].as_str() {
            Some("AA" | "CA") => Ok(()),
            _ => Err(anyhow!("the interface rejected the message: {}", response["ack"])),
        }
    }

    /// Sends an interchange to the clearinghouse and returns its response.
    pub(crate) async fn send_x12(&self, interchange: &str) -> anyhow::Result<String> {
        let response =
            self.send(Method::POST, "x12/transactions", "application/edi-x12", interchange.to_owned()).await?;
        String::from_utf8(response.to_vec()).context("the response is not UTF-8")
    }

    /// The paths of the files in the inbox.
    pub(crate) async fn inbox(&self) -> anyhow::Result<Vec<String>> {
        let listed = self.get("files/inbox").await?;
        let items = listed.as_array().or_else(|| listed["data"].as_array()).cloned().unwrap_or_default();
        Ok(items.iter().filter_map(|item| item["path"].as_str()).map(str::to_owned).collect())
    }

    pub(crate) async fn file(&self, path: &str) -> anyhow::Result<Bytes> {
        self.bytes(&format!("files/{}", segment(path, true))).await
    }

    pub(crate) async fn put_file(&self, path: &str, content_type: &str, bytes: Vec<u8>) -> anyhow::Result<()> {
        self.send(Method::PUT, &format!("files/{}", segment(path, true)), content_type, bytes).await.map(drop)
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        content_type: &str,
        body: impl Into<Bytes>,
    ) -> anyhow::Result<Bytes> {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        let message = Message { method, root: None, path: path.to_owned(), headers, body: body.into() };
        let request = format!("{} {path}", message.method);
        self.proxy.forward(message).await.and_then(client::ApiResponse::into_success).context(request)
    }
}
