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

impl Client {
    pub async fn create_dataset(
        &self,
        name: &str,
        kind: model::dataset::DatasetType,
    ) -> Result<model::dataset::Dataset, ClientError> {
        self.post("/datasets", &serde_json::json!({"name": name, "type": kind})).await
    }

    pub async fn dataset(&self, dataset: &model::DatasetId) -> Result<model::dataset::Dataset, ClientError> {
        self.get(&format!("/datasets/{dataset}")).await
    }
}
