//! Content that is in memory already.

use bytes::Bytes;
use reqwest::Method;
use serde_json::Value;

use crate::{Client, ClientError};

impl Client {
    /// Puts these bytes at a path of the API.
    pub async fn put_bytes(&self, path: &str, content_type: &str, bytes: Vec<u8>) -> Result<Value, ClientError> {
        self.send(self.request(Method::PUT, path).header("content-type", content_type).body(bytes)).await
    }

    /// Sends these bytes to a path of the API; the answer is as it is.
    pub async fn post_bytes(&self, path: &str, content_type: &str, bytes: Vec<u8>) -> Result<Bytes, ClientError> {
        self.bytes_of(self.request(Method::POST, path).header("content-type", content_type).body(bytes)).await
    }
}
