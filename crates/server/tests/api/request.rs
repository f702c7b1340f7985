//! Requests that are collected first and then sent concurrently.

use futures_util::{StreamExt, stream};
use reqwest::Method;
use serde_json::Value;
use testkit::{Caller, TestResponse};

/// Concurrent requests.
pub(crate) const AT_ONCE: usize = 16;

#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    /// Type and bytes of the body.
    pub(crate) content: Option<(&'static str, Vec<u8>)>,
}

impl Request {
    pub(crate) fn new(method: Method, path: impl Into<String>) -> Self {
        Self { method, path: path.into(), headers: Vec::new(), content: None }
    }

    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path)
    }

    pub(crate) fn post(path: impl Into<String>, body: &Value) -> Self {
        Self::new(Method::POST, path).json(body)
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.content("application/json", body.to_string())
    }

    pub(crate) fn content(self, media: &'static str, bytes: impl Into<Vec<u8>>) -> Self {
        Self { content: Some((media, bytes.into())), ..self }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) async fn send(self, caller: &Caller) -> TestResponse {
        let headers: Vec<(&str, &str)> = self.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        caller.send_bytes(self.method, &self.path, &headers, self.content).await
    }
}

/// Sends all requests as the caller and passes each response to a function, in any order.
pub(crate) async fn send_all(
    caller: &Caller,
    requests: impl IntoIterator<Item = Request>,
    mut look: impl FnMut(&TestResponse),
) {
    let mut answers = stream::iter(requests).map(|request| request.send(caller)).buffer_unordered(AT_ONCE);
    while let Some(response) = answers.next().await {
        look(&response);
    }
}
