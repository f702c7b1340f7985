//! An API client with one credential. Every response is checked against the OpenAPI document before the test sees it.

use std::sync::Arc;

use reqwest::Method;
use serde_json::Value;

use crate::{Contract, TestResponse};

#[derive(Clone)]
pub struct Caller {
    http: reqwest::Client,
    base_url: String,
    key: Option<String>,
    contract: Arc<Contract>,
}

impl Caller {
    pub fn new(http: reqwest::Client, base_url: &str, key: Option<&str>, contract: Arc<Contract>) -> Self {
        let base_url = base_url.to_owned();
        Self { http, base_url, key: key.map(ToOwned::to_owned), contract }
    }

    pub fn key(&self) -> &str {
        self.key.as_deref().expect("a caller with a key")
    }

    /// The URL of a path on this server.
    pub fn address(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }

    pub async fn get(&self, path: &str) -> TestResponse {
        self.send(Method::GET, path, &[], None).await
    }

    pub async fn post(&self, path: &str, body: Value) -> TestResponse {
        self.send(Method::POST, path, &[], Some(body)).await
    }

    pub async fn patch(&self, path: &str, body: Value) -> TestResponse {
        self.send(Method::PATCH, path, &[], Some(body)).await
    }

    pub async fn delete(&self, path: &str) -> TestResponse {
        self.send(Method::DELETE, path, &[], None).await
    }

    pub async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<Value>,
    ) -> TestResponse {
        let body = body.map(|body| ("application/json", body.to_string().into_bytes()));
        self.send_bytes(method, path, headers, body).await
    }

    /// Sends a body of any content type. An empty `content_type` omits the header.
    pub async fn put_bytes(&self, path: &str, content_type: &str, body: impl Into<Vec<u8>>) -> TestResponse {
        self.send_bytes(Method::PUT, path, &[], Some((content_type, body.into()))).await
    }

    pub async fn send_bytes(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<(&str, Vec<u8>)>,
    ) -> TestResponse {
        let mut request = self.http.request(method.clone(), format!("{}{path}", self.base_url));
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some((content_type, bytes)) = body {
            if !content_type.is_empty() {
                request = request.header("content-type", content_type);
            }
            request = request.body(bytes);
        }
        let response = TestResponse::read(format!("{method} {path}"), request.send().await.expect("a response")).await;
        self.contract.check(&method, path, &response);
        response
    }
}
