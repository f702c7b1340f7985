//! A typed client of the HTTP API, for the command line and for tests.

mod content;
mod datasets;
mod error;
mod exchange;
mod runs;

use std::time::Duration;

use bytes::Bytes;
pub use error::{ClientError, Refusal};
pub use exchange::Answer;
pub use reqwest::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use error::{innermost, refusal};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// One server, with one key.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    base_url: String,
    api_key: String,
}

impl Client {
    pub fn new(base_url: &str, api_key: &str) -> Result<Self, ClientError> {
        let http = reqwest::Client::builder()
            .user_agent(concat!("verial/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .build();
        let http = http.map_err(|error| ClientError::Garbled(error.to_string()))?;
        Ok(Self { http, base_url: base_url.trim_end_matches('/').to_owned(), api_key: api_key.to_owned() })
    }

    /// The same server with another key or token.
    pub fn with_key(&self, api_key: &str) -> Self {
        Self { api_key: api_key.to_owned(), ..self.clone() }
    }

    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        self.send(self.request(Method::GET, path)).await
    }

    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, ClientError> {
        self.send(self.request(Method::POST, path).json(body)).await
    }

    /// A POST that may be sent again: the server answers the same key with the first answer.
    pub async fn post_once<T: DeserializeOwned>(
        &self,
        path: &str,
        body: Option<&Value>,
        key: &str,
        timeout: Duration,
    ) -> Result<T, ClientError> {
        let mut request = self.request(Method::POST, path).header("idempotency-key", key).timeout(timeout);
        if let Some(body) = body {
            request = request.json(body);
        }
        self.send(request).await
    }

    /// Any call of the API. Null stands for an answer without a body.
    pub async fn call(
        &self,
        method: Method,
        path: &str,
        query: &[(String, String)],
        body: Option<&Value>,
    ) -> Result<Value, ClientError> {
        let mut request = self.request(method, &with_query(path, query));
        if let Some(body) = body {
            request = request.json(body);
        }
        let answer = self.bytes_of(request).await?;
        if answer.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&answer).map_err(|error| ClientError::Garbled(error.to_string()))
    }

    /// The body of an answer as it is.
    pub async fn bytes(&self, path: &str) -> Result<Bytes, ClientError> {
        self.bytes_of(self.request(Method::GET, path)).await
    }

    /// Whether the server answers that it is well.
    pub async fn is_well(&self, timeout: Duration) -> bool {
        let request = self.http.get(format!("{}/healthz", self.base_url)).timeout(timeout);
        request.send().await.is_ok_and(|answer| answer.status().is_success())
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base_url)).bearer_auth(&self.api_key)
    }

    async fn send<T: DeserializeOwned>(&self, request: reqwest::RequestBuilder) -> Result<T, ClientError> {
        let body = self.bytes_of(request).await?;
        serde_json::from_slice(&body).map_err(|error| ClientError::Garbled(error.to_string()))
    }

    async fn bytes_of(&self, request: reqwest::RequestBuilder) -> Result<Bytes, ClientError> {
        let unreachable = |error: reqwest::Error| ClientError::Unreachable {
            url: self.base_url.clone(),
            reason: innermost(&error.without_url()),
        };
        let answer = request.send().await.map_err(unreachable)?;
        let status = answer.status();
        let body = answer.bytes().await.map_err(unreachable)?;
        if status.is_success() { Ok(body) } else { Err(refusal(status, &body)) }
    }
}

/// A text as one segment of a path; what is a slash in it stays one when it is the path of a file.
pub fn segment(text: &str, keep_slashes: bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'@' => escaped.push(byte as char),
            b'/' if keep_slashes => escaped.push('/'),
            _ => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

fn with_query(path: &str, query: &[(String, String)]) -> String {
    let pairs: Vec<String> =
        query.iter().map(|(name, value)| format!("{}={}", segment(name, false), segment(value, false))).collect();
    if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_user_writes_cannot_leave_its_place_in_the_path() {
        assert_eq!(segment("../a b?c#d", false), "..%2Fa%20b%3Fc%23d");
        assert_eq!(segment("inbox/é.pdf", true), "inbox/%C3%A9.pdf");
        assert_eq!(with_query("/x", &[("a".into(), "1&2".into())]), "/x?a=1%262");
    }
}
