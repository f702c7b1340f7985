//! Requests and answers as they are, for whoever passes them on.

use bytes::Bytes;
use reqwest::{Method, StatusCode};

use crate::error::{innermost, refusal};
use crate::{Client, ClientError};

/// An answer as it came, a refusal as well.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

impl Answer {
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The body of a success.
    pub fn checked(self) -> Result<Bytes, ClientError> {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::BAD_GATEWAY);
        if status.is_success() { Ok(self.body) } else { Err(refusal(status, &self.body)) }
    }
}

impl Client {
    /// The client's own key is sent unless the headers have one.
    pub async fn exchange(
        &self,
        method: Method,
        path: &str,
        headers: &[(String, String)],
        body: Bytes,
    ) -> Result<Answer, ClientError> {
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
            reason: innermost(&error.without_url()),
        };
        let answer = request.send().await.map_err(unreachable)?;
        let told = |(name, value): (&reqwest::header::HeaderName, &reqwest::header::HeaderValue)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        };
        let (status, headers) = (answer.status().as_u16(), answer.headers().iter().filter_map(told).collect());
        let body = answer.bytes().await.map_err(unreachable)?;
        Ok(Answer { status, headers, body })
    }
}
