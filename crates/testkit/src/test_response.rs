//! An HTTP response with the assertions that tests need.

use std::ops::Index;

use reqwest::header::HeaderMap;
use serde_json::Value;

pub struct TestResponse {
    /// Method and path of the request, for failure messages.
    pub request: String,
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    pub json: Value,
}

impl TestResponse {
    pub(crate) async fn read(request: String, response: reqwest::Response) -> Self {
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let body = response.bytes().await.expect("a complete body").to_vec();
        let json = serde_json::from_slice(&body).unwrap_or(Value::Null);
        Self { request, status, headers, body, json }
    }

    /// Asserts the status.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}: {}", self.request, self.text());
        self
    }

    /// Asserts the status and the error code of an error response.
    #[track_caller]
    pub fn expect_error(self, status: u16, code: &str) -> Self {
        let response = self.expect(status);
        assert_eq!(response["error"]["code"], code, "{}: {}", response.request, response.text());
        response
    }

    pub fn id(&self) -> String {
        self["id"].as_str().expect("an id").to_owned()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The items of a list.
    pub fn data(&self) -> &[Value] {
        self["data"].as_array().expect("a list")
    }

    /// The message of an error response.
    pub fn message(&self) -> &str {
        self["error"]["message"].as_str().expect("a message")
    }

    /// The fields that an error response names, in order.
    pub fn invalid_fields(&self) -> Vec<&str> {
        self["error"]["details"]
            .as_object()
            .map(|details| details.keys().map(String::as_str).collect())
            .unwrap_or_default()
    }

    pub fn etag(&self) -> &str {
        self.header("etag").unwrap_or_else(|| panic!("{}: no ETag", self.request))
    }

    /// The body without the error's request id, to compare two error responses.
    pub fn without_request_id(&self) -> Value {
        let mut json = self.json.clone();
        if let Some(error) = json["error"].as_object_mut() {
            error.remove("request_id");
        }
        json
    }
}

impl Index<&str> for TestResponse {
    type Output = Value;

    fn index(&self, member: &str) -> &Value {
        &self.json[member]
    }
}
