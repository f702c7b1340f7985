//! A typed client of the HTTP API, for the command line and for tests.

use bytes::Bytes;
use futures_util::Stream;
use model::DatasetId;
use model::dataset::{Dataset, DatasetType};
use reqwest::{Method, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The server understood and said no.
    #[error("{0}")]
    Refused(Box<Refusal>),
    #[error("{url} cannot be reached: {reason}")]
    Unreachable { url: String, reason: String },
    #[error("the server's answer cannot be understood: {0}")]
    Garbled(String),
}

/// The error of an answer.
#[derive(Debug, Clone)]
pub struct Refusal {
    pub status: u16,
    pub code: String,
    pub message: String,
    /// Field name to what is wrong with it.
    pub details: Value,
    pub request_id: String,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}, request {})", self.message, self.code, self.request_id)
    }
}

/// One server, with one key.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    base_url: String,
    api_key: String,
}

impl Client {
    pub fn new(base_url: &str, api_key: &str) -> Result<Self, ClientError> {
        let http = reqwest::Client::builder().user_agent(concat!("verial/", env!("CARGO_PKG_VERSION"))).build();
        let http = http.map_err(|error| ClientError::Garbled(error.to_string()))?;
        Ok(Self { http, base_url: base_url.trim_end_matches('/').to_owned(), api_key: api_key.to_owned() })
    }

    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        self.send(self.request(Method::GET, path)).await
    }

    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, ClientError> {
        self.send(self.request(Method::POST, path).json(body)).await
    }

    pub async fn create_dataset(&self, name: &str, kind: DatasetType) -> Result<Dataset, ClientError> {
        self.post("/datasets", &json!({"name": name, "type": kind})).await
    }

    pub async fn dataset(&self, dataset: &DatasetId) -> Result<Dataset, ClientError> {
        self.get(&format!("/datasets/{dataset}")).await
    }

    /// Streams the content of a FHIR dataset; nothing is held as a whole.
    pub async fn upload_data<S>(
        &self,
        dataset: &DatasetId,
        content_type: &str,
        length: u64,
        content: S,
    ) -> Result<Dataset, ClientError>
    where
        S: Stream<Item = Result<Bytes, std::io::Error>> + Send + 'static,
    {
        let request = self.request(Method::PUT, &format!("/datasets/{dataset}/data"));
        let request = request
            .header("content-type", content_type)
            .header("content-length", length)
            .body(reqwest::Body::wrap_stream(content));
        self.send(request).await
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base_url)).bearer_auth(&self.api_key)
    }

    async fn send<T: DeserializeOwned>(&self, request: reqwest::RequestBuilder) -> Result<T, ClientError> {
        let unreachable = |error: reqwest::Error| ClientError::Unreachable {
            url: self.base_url.clone(),
            reason: innermost(&error.without_url()),
        };
        let answer = request.send().await.map_err(unreachable)?;
        let status = answer.status();
        let body = answer.bytes().await.map_err(unreachable)?;
        if status.is_success() {
            serde_json::from_slice(&body).map_err(|error| ClientError::Garbled(error.to_string()))
        } else {
            Err(refusal(status, &body))
        }
    }
}

/// The reason that a person can act on is at the end of the chain.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut deepest = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}

fn refusal(status: StatusCode, body: &[u8]) -> ClientError {
    let envelope: Value = serde_json::from_slice(body).unwrap_or_default();
    let error = &envelope["error"];
    let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
    if error.is_null() {
        return ClientError::Garbled(format!("status {status} without an error in the body"));
    }
    ClientError::Refused(Box::new(Refusal {
        status: status.as_u16(),
        code: text("code"),
        message: text("message"),
        details: error["details"].clone(),
        request_id: text("request_id"),
    }))
}
