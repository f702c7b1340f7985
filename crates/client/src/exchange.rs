//! Raw requests and responses, for callers that forward them (such as the audit's proxy).

use bytes::Bytes;
use reqwest::{Method, StatusCode};

use crate::error::{error_response, root_cause};
use crate::{Client, ClientError};

/// A raw HTTP response of the API, with any status.
#[derive(Clone, Debug)]
pub struct ApiResponse {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

impl ApiResponse {
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns the body of a successful response, or an error.
    pub fn into_success(self) -> Result<Bytes, ClientError> {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::BAD_GATEWAY);
        if status.is_success() { Ok(self.body) } else { Err(error_response(status, &self.body)) }
    }
}

impl Client {
    /// Sends a request and returns the response whatever its status is. Adds the client's own API key unless `headers`
    /// contains `Authorization`.
    pub async fn exchange(
        &self,
        method: Method,
        path: &str,
        headers: &[(String, String)],
        body: Bytes,
    ) -> Result<ApiResponse, ClientError> {
        let mut request = self.http.request(method, format!("{}{path}", self.base_url));
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization")) {
            request = request.bearer_auth(&self.api_key);
        }
        for (name, value) in headers {
            request = request.header(name, value);
        }
        if !body.is_empty() {
            request = request.body(body);
        }
        let unreachable = |error: reqwest::Error| ClientError::Unreachable {
            url: self.base_url.clone(),
            reason: root_cause(&error.without_url()),
        };
        let response = request.send().await.map_err(unreachable)?;
        let header = |(name, value): (&reqwest::header::HeaderName, &reqwest::header::HeaderValue)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        };
        let (status, headers) = (response.status().as_u16(), response.headers().iter().filter_map(header).collect());
        let body = response.bytes().await.map_err(unreachable)?;
        Ok(ApiResponse { status, headers, body })
    }
}
