//! Blobs: immutable bytes named by the SHA-256 of their content, compressed, in a directory, an S3 bucket or a GCS bucket.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use model::canonical;
use object_store::path::Path as ObjectPath;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};

use crate::StoreError;

/// Fast, and small enough: datasets are text.
const ZSTD_LEVEL: i32 = 3;

/// Where blobs are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlobUrl {
    Directory(PathBuf),
    S3 { bucket: String, prefix: String },
    Gcs { bucket: String, prefix: String },
}

impl std::str::FromStr for BlobUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bucket_and_prefix = |rest: &str| -> Result<(String, String), String> {
            let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
            let prefix = prefix.trim_matches('/').to_owned();
            if bucket.is_empty() { Err("a bucket name is missing".into()) } else { Ok((bucket.to_owned(), prefix)) }
        };
        if let Some(rest) = text.strip_prefix("s3://") {
            return bucket_and_prefix(rest).map(|(bucket, prefix)| Self::S3 { bucket, prefix });
        }
        if let Some(rest) = text.strip_prefix("gs://") {
            return bucket_and_prefix(rest).map(|(bucket, prefix)| Self::Gcs { bucket, prefix });
        }
        match text.strip_prefix("file:") {
            Some(path) => {
                let path = path.strip_prefix("//").unwrap_or(path);
                if path.is_empty() { Err("file: needs a path".into()) } else { Ok(Self::Directory(path.into())) }
            }
            None => Err("must be file:PATH, s3://BUCKET[/PREFIX] or gs://BUCKET[/PREFIX]".into()),
        }
    }
}

#[derive(Clone)]
pub struct Blobs {
    store: Arc<dyn ObjectStore>,
    prefix: String,
}

impl Blobs {
    /// S3 and GCS take their credentials and endpoint from the usual environment variables (`AWS_…`, `GOOGLE_…`).
    pub fn open(url: &BlobUrl) -> Result<Self, StoreError> {
        // The HTTP client of `object_store` needs it. Fails if it is already installed, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        match url {
            BlobUrl::Directory(path) => Self::directory(path),
            BlobUrl::S3 { bucket, prefix } => {
                let builder = object_store::aws::AmazonS3Builder::from_env().with_bucket_name(bucket);
                Ok(Self { store: Arc::new(builder.build().map_err(failed)?), prefix: prefix.clone() })
            }
            BlobUrl::Gcs { bucket, prefix } => {
                let builder = object_store::gcp::GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket);
                Ok(Self { store: Arc::new(builder.build().map_err(failed)?), prefix: prefix.clone() })
            }
        }
    }

    fn directory(path: &Path) -> Result<Self, StoreError> {
        std::fs::create_dir_all(path).map_err(|error| StoreError::Blob(format!("{}: {error}", path.display())))?;
        let store = object_store::local::LocalFileSystem::new_with_prefix(path).map_err(failed)?;
        Ok(Self { store: Arc::new(store.with_fsync(true)), prefix: String::new() })
    }

    /// Stores the bytes and returns their name. Storing the same bytes again changes nothing.
    pub async fn put(&self, content: Bytes) -> Result<String, StoreError> {
        let (name, compressed) = tokio::task::spawn_blocking(move || {
            let name = canonical::sha256_hex(&content);
            zstd::bulk::compress(&content, ZSTD_LEVEL).map(|compressed| (name, compressed))
        })
        .await
        .map_err(|_| StoreError::Panicked)?
        .map_err(|error| StoreError::Blob(error.to_string()))?;
        let options = PutOptions::from(PutMode::Create);
        match self.store.put_opts(&self.place(&name), PutPayload::from(compressed), options).await {
            Ok(_) | Err(object_store::Error::AlreadyExists { .. }) => Ok(name),
            Err(error) => Err(failed(error)),
        }
    }

    /// The bytes of a name that `put` returned. They are verified against the name.
    pub async fn get(&self, name: &str) -> Result<Bytes, StoreError> {
        let compressed = self.store.get(&self.place(name)).await.map_err(failed)?.bytes().await.map_err(failed)?;
        let expected = name.to_owned();
        tokio::task::spawn_blocking(move || {
            let content = zstd::stream::decode_all(compressed.as_ref())
                .map_err(|error| StoreError::Corrupt(error.to_string()))?;
            if canonical::sha256_hex(&content) == expected {
                Ok(Bytes::from(content))
            } else {
                Err(StoreError::Corrupt(format!("blob {expected} does not have the content that its name says")))
            }
        })
        .await
        .map_err(|_| StoreError::Panicked)?
    }

    /// Whether the blob store responds.
    pub async fn ping(&self) -> Result<(), StoreError> {
        match self.store.head(&self.place("ping")).await {
            Ok(_) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }

    /// Two levels, which limits the size of each directory.
    fn place(&self, name: &str) -> ObjectPath {
        let shard = name.get(..2).unwrap_or("xx");
        ObjectPath::from(format!("{}/{shard}/{name}.zst", self.prefix))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
fn failed(error: object_store::Error) -> StoreError {
    StoreError::Blob(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls() {
        assert_eq!("file:/var/blobs".parse(), Ok(BlobUrl::Directory("/var/blobs".into())));
        assert_eq!("s3://bucket/a/b/".parse(), Ok(BlobUrl::S3 { bucket: "bucket".into(), prefix: "a/b".into() }));
        assert_eq!("gs://bucket".parse(), Ok(BlobUrl::Gcs { bucket: "bucket".into(), prefix: String::new() }));
        for bad in ["", "file:", "s3://", "gs:///x", "ftp://x", "/var/blobs"] {
            assert!(bad.parse::<BlobUrl>().is_err(), "{bad}");
        }
    }
}
