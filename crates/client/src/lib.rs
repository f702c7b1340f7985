//! A typed client for the HTTP API, used by the command line and by tests.

mod content;
mod datasets;
mod error;
mod exchange;
mod runs;

use std::time::Duration;

use bytes::Bytes;
pub use error::{ClientError, ErrorResponse};
pub use exchange::ApiResponse;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
pub use reqwest::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use error::{error_response, root_cause};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection to one server with one API key.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    base_url: String,
    api_key: String,
}

impl Client {
    pub fn new(base_url: &str, api_key: &str) -> Result<Self, ClientError> {
        // Fails if it is already installed, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .user_agent(concat!("verial/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .build();
        let http = http.map_err(|error| ClientError::InvalidResponse(error.to_string()))?;
        Ok(Self { http, base_url: base_url.trim_end_matches('/').to_owned(), api_key: api_key.to_owned() })
    }

    /// Returns a client for the same server with another key or token.
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

    /// Sends a POST request with an idempotency key, so that it can be retried: for a repeated key the server returns the
    /// first response.
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

    /// Makes any call of the API. Returns null for a response without a body.
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
        let body = self.send_for_bytes(request).await?;
        if body.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&body).map_err(|error| ClientError::InvalidResponse(error.to_string()))
    }

    /// Sends a GET request and returns the raw response body.
    pub async fn get_bytes(&self, path: &str) -> Result<Bytes, ClientError> {
        self.send_for_bytes(self.request(Method::GET, path)).await
    }

    /// Whether the server's health check succeeds.
    pub async fn is_healthy(&self, timeout: Duration) -> bool {
        let request = self.http.get(format!("{}/healthz", self.base_url)).timeout(timeout);
        request.send().await.is_ok_and(|response| response.status().is_success())
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base_url)).bearer_auth(&self.api_key)
    }

    async fn send<T: DeserializeOwned>(&self, request: reqwest::RequestBuilder) -> Result<T, ClientError> {
        let body = self.send_for_bytes(request).await?;
        serde_json::from_slice(&body).map_err(|error| ClientError::InvalidResponse(error.to_string()))
    }

    async fn send_for_bytes(&self, request: reqwest::RequestBuilder) -> Result<Bytes, ClientError> {
        let unreachable = |error: reqwest::Error| ClientError::Unreachable {
            url: self.base_url.clone(),
            reason: root_cause(&error.without_url()),
        };
        let response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let body = response.bytes().await.map_err(unreachable)?;
        if status.is_success() { Ok(body) } else { Err(error_response(status, &body)) }
    }
}

/// Percent-encodes a text for use as a URL path segment. `keep_slashes` leaves slashes as they are, for file paths.
pub fn segment(text: &str, keep_slashes: bool) -> String {
    const SEGMENT: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b'@');
    const PATH: AsciiSet = SEGMENT.remove(b'/');
    utf8_percent_encode(text, if keep_slashes { &PATH } else { &SEGMENT }).to_string()
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
    fn user_input_is_escaped_in_paths_and_queries() {
        assert_eq!(segment("../a b?c#d", false), "..%2Fa%20b%3Fc%23d");
        assert_eq!(segment("inbox/é.pdf", true), "inbox/%C3%A9.pdf");
        assert_eq!(with_query("/x", &[("a".into(), "1&2".into())]), "/x?a=1%262");
    }
}
