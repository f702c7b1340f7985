//! Dataset uploads, streamed in chunks.

use bytes::Bytes;
use futures_util::Stream;
use model::DatasetId;
use model::dataset::Dataset;
use reqwest::Method;
use serde_json::Value;

use crate::{Client, ClientError, segment};

impl Client {
    /// Streams the content of a FHIR dataset, never holding all of it in memory.
    pub async fn upload_data<S>(
        &self,
        dataset: &DatasetId,
        content_type: &str,
        length: u64,
        content: S,
    ) -> Result<Dataset, ClientError>
    where
        S: Stream<Item = Result<Bytes, std::io::Error>> + Send + 'static,
    {
        self.put_stream(&format!("/datasets/{dataset}/data"), content_type, length, content).await
    }

    /// Streams one file into a dataset.
    pub async fn upload_file<S>(
        &self,
        dataset: &DatasetId,
        path: &str,
        content_type: &str,
        length: u64,
        content: S,
    ) -> Result<Value, ClientError>
    where
        S: Stream<Item = Result<Bytes, std::io::Error>> + Send + 'static,
    {
        let path = format!("/datasets/{dataset}/files/{}", segment(path, true));
        self.put_stream(&path, content_type, length, content).await
    }

    async fn put_stream<T, S>(&self, path: &str, content_type: &str, length: u64, content: S) -> Result<T, ClientError>
    where
        T: serde::de::DeserializeOwned,
        S: Stream<Item = Result<Bytes, std::io::Error>> + Send + 'static,
    {
        let request = self.request(Method::PUT, path);
        let request = request
            .header("content-type", content_type)
            .header("content-length", length)
            .body(reqwest::Body::wrap_stream(content));
        self.send(request).await
    }
}
