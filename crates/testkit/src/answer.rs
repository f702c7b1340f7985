//! An answer as a test looks at it.

use std::ops::Index;

use reqwest::header::HeaderMap;
use serde_json::Value;

pub struct Answer {
    pub asked: String,
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    pub json: Value,
}

impl Answer {
    pub(crate) async fn read(asked: String, response: reqwest::Response) -> Self {
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let body = response.bytes().await.expect("a whole body").to_vec();
        let json = serde_json::from_slice(&body).unwrap_or(Value::Null);
        Self { asked, status, headers, body, json }
    }

    /// Goes on only with this status.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}: {}", self.asked, self.text());
        self
    }

    /// The refusal's code and nothing of the state.
    #[track_caller]
    pub fn refused(self, status: u16, code: &str) -> Self {
        let answer = self.expect(status);
        assert_eq!(answer["error"]["code"], code, "{}: {}", answer.asked, answer.text());
        answer
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

    /// The words of a refusal.
    pub fn message(&self) -> &str {
        self["error"]["message"].as_str().expect("a message")
    }

    /// The fields that a refusal names, in order.
    pub fn faulty_fields(&self) -> Vec<&str> {
        self["error"]["details"]
            .as_object()
            .map(|details| details.keys().map(String::as_str).collect())
            .unwrap_or_default()
    }

    pub fn etag(&self) -> &str {
        self.header("etag").unwrap_or_else(|| panic!("{}: no ETag", self.asked))
    }

    /// An error without its request id: what a prober could compare.
    pub fn without_request_id(&self) -> Value {
        let mut json = self.json.clone();
        if let Some(error) = json["error"].as_object_mut() {
            error.remove("request_id");
        }
        json
    }
}

impl Index<&str> for Answer {
    type Output = Value;

    fn index(&self, member: &str) -> &Value {
        &self.json[member]
    }
}
