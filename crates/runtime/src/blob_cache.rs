//! Reads any part of a file, from blobs of which the most recently used stay in memory.

use std::sync::Mutex;

use bytes::Bytes;
use futures_util::{Stream, stream};
use model::dataset::DatasetFile;
use sims::files::{Content, OpenedFile};
use tokio::sync::Semaphore;

use crate::{LruCache, Runtime, RuntimeError, lock};

/// Files are stored in chunks of this size: small enough to have many in memory, large enough that a file has few.
pub const CHUNK_BYTES: usize = 1024 * 1024;
const MAX_CACHED_BYTES: usize = 64 * 1024 * 1024;
const MAX_CACHED_BLOBS: usize = 1024;
/// Blobs that are read at the same time: the largest has 64 MiB.
const MAX_LOADING: usize = 4;

pub(crate) struct BlobCache {
    cached: Mutex<LruCache<String, Bytes>>,
    loading: Semaphore,
}

impl Default for BlobCache {
    fn default() -> Self {
        Self { cached: Mutex::new(LruCache::new(MAX_CACHED_BYTES)), loading: Semaphore::new(MAX_LOADING) }
    }
}

impl BlobCache {
    fn get(&self, name: &str) -> Option<Bytes> {
        lock(&self.cached).get(name).cloned()
    }

    fn insert(&self, name: &str, bytes: &Bytes) {
        let weight = bytes.len().max(MAX_CACHED_BYTES / MAX_CACHED_BLOBS);
        lock(&self.cached).insert(name.to_owned(), bytes.clone(), weight);
    }
}

impl Runtime {
    /// A blob that may be read again soon.
    pub async fn blob(&self, name: &str) -> Result<Bytes, RuntimeError> {
        let cache = &self.inner.blob_cache;
        if let Some(bytes) = cache.get(name) {
            return Ok(bytes);
        }
        let closed = |_| RuntimeError::Internal("the blob cache is closed".into());
        let _permit = cache.loading.acquire().await.map_err(closed)?;
        // Another reader may have loaded it meanwhile.
        if let Some(bytes) = cache.get(name) {
            return Ok(bytes);
        }
        let bytes = self.blobs().get(name).await?;
        cache.insert(name, &bytes);
        Ok(bytes)
    }

    pub fn file_reader(&self, opened: OpenedFile) -> FileReader {
        FileReader { runtime: self.clone(), file: opened.file, content: opened.content }
    }
}

/// A file that is being read. Writes to its path do not change what it reads.
#[derive(Clone)]
pub struct FileReader {
    runtime: Runtime,
    pub file: DatasetFile,
    content: Content,
}

impl FileReader {
    /// At most `max` bytes from an offset, and none only at the end of the file.
    pub async fn read(&self, offset: u64, max: usize) -> Result<Bytes, RuntimeError> {
        let left = self.file.size.saturating_sub(offset);
        let max = usize::try_from(left).unwrap_or(usize::MAX).min(max);
        if max == 0 {
            return Ok(Bytes::new());
        }
        match &self.content {
            Content::Inline(bytes) => Ok(part(&Bytes::copy_from_slice(bytes), offset, max)),
            Content::Blobs(names) => {
                // A file in one blob may be longer than a chunk.
                let chunk = if names.len() == 1 { u64::MAX } else { CHUNK_BYTES as u64 };
                let index = usize::try_from(offset / chunk).unwrap_or(usize::MAX);
                let missing = || RuntimeError::Internal("a file has too few chunks".into());
                let blob = self.runtime.blob(names.get(index).ok_or_else(missing)?).await?;
                Ok(part(&blob, offset % chunk, max))
            }
        }
    }

    /// The bytes from `start` to before `end`.
    pub fn stream(self, start: u64, end: u64) -> impl Stream<Item = Result<Bytes, RuntimeError>> + Send {
        stream::try_unfold((self, start), move |(reader, offset)| async move {
            let max = usize::try_from(end.saturating_sub(offset)).unwrap_or(usize::MAX).min(CHUNK_BYTES);
            let part = reader.read(offset, max).await?;
            let next = offset + part.len() as u64;
            Ok((!part.is_empty()).then_some((part, (reader, next))))
        })
    }
}

fn part(bytes: &Bytes, offset: u64, max: usize) -> Bytes {
    let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
    bytes.slice(start..bytes.len().min(start.saturating_add(max)))
}
