//! Content that is in memory already.

use reqwest::Method;
use serde_json::Value;

use crate::{Client, ClientError};

impl Client {
    /// Puts these bytes at a path of the API.
    pub async fn put_bytes(&self, path: &str, content_type: &str, bytes: Vec<u8>) -> Result<Value, ClientError> {
        self.send(self.request(Method::PUT, path).header("content-type", content_type).body(bytes)).await
    }
}
