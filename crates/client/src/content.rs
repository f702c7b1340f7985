//! Uploads of content that is already in memory.

use bytes::Bytes;
use reqwest::Method;
use serde_json::Value;

use crate::{Client, ClientError};

impl Client {
    /// Sends a PUT request with these bytes as its body.
    pub async fn put_bytes(&self, path: &str, content_type: &str, bytes: Vec<u8>) -> Result<Value, ClientError> {
        self.send(self.request(Method::PUT, path).header("content-type", content_type).body(bytes)).await
    }

    /// Sends a POST request with these bytes as its body and returns the raw response body.
    pub async fn post_bytes(&self, path: &str, content_type: &str, bytes: Vec<u8>) -> Result<Bytes, ClientError> {
        self.send_for_bytes(self.request(Method::POST, path).header("content-type", content_type).body(bytes)).await
    }
}
