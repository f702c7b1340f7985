//! The bytes of files as readers want them: any part, from blobs of which the last used stay in memory.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use futures_util::{Stream, stream};
use model::dataset::DatasetFile;
use sims::files::{Content, Opened};
use tokio::sync::Semaphore;

use crate::spool::CHUNK_BYTES;
use crate::{App, AppError};

/// Bytes of blobs that stay in memory, and how many blobs.
const CACHED_BYTES: usize = 64 * 1024 * 1024;
const CACHED_BLOBS: usize = 1024;
/// Blobs that are read at the same time: the largest has 64 MiB.
const LOADED_AT_ONCE: usize = 4;

pub(crate) struct Contents {
    cached: Mutex<Cached>,
    loading: Semaphore,
}

#[derive(Default)]
struct Cached {
    blobs: HashMap<String, (u64, Bytes)>,
    bytes: usize,
    /// Rises with every use.
    uses: u64,
}

impl Default for Contents {
    fn default() -> Self {
        Self { cached: Mutex::default(), loading: Semaphore::new(LOADED_AT_ONCE) }
    }
}

impl Contents {
    fn find(&self, name: &str) -> Option<Bytes> {
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        cached.uses += 1;
        let now = cached.uses;
        let (used, bytes) = cached.blobs.get_mut(name)?;
        *used = now;
        Some(bytes.clone())
    }

    fn keep(&self, name: &str, bytes: &Bytes) {
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        cached.uses += 1;
        let now = cached.uses;
        if cached.blobs.insert(name.to_owned(), (now, bytes.clone())).is_none() {
            cached.bytes += bytes.len();
        }
        while cached.blobs.len() > 1 && (cached.bytes > CACHED_BYTES || cached.blobs.len() > CACHED_BLOBS) {
            let oldest = cached.blobs.iter().min_by_key(|(_, (used, _))| *used).map(|(name, _)| name.clone());
            let gone = oldest.and_then(|name| cached.blobs.remove(&name));
            cached.bytes -= gone.map_or(0, |(_, bytes)| bytes.len());
        }
    }
}

/// A file that is being read. What it reads stays the same, whatever is written meanwhile.
#[derive(Clone)]
pub struct Reader {
    app: App,
    pub file: DatasetFile,
    content: Content,
}

impl Reader {
    pub(crate) fn new(app: &App, opened: Opened) -> Self {
        Self { app: app.clone(), file: opened.file, content: opened.content }
    }

    /// At most so many bytes from an offset, none at the end; there may be fewer before it.
    pub async fn read(&self, offset: u64, most: usize) -> Result<Bytes, AppError> {
        let left = self.file.size.saturating_sub(offset);
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(most);
        if most == 0 {
            return Ok(Bytes::new());
        }
        match &self.content {
            Content::Inline(bytes) => Ok(part(&Bytes::copy_from_slice(bytes), offset, most)),
            Content::Blobs(names) if names.len() == 1 => {
                let name = names.first().map(String::as_str).unwrap_or_default();
                Ok(part(&self.app.blob(name).await?, offset, most))
            }
            Content::Blobs(names) => {
                let chunk = CHUNK_BYTES as u64;
                let index = usize::try_from(offset / chunk).unwrap_or(usize::MAX);
                let name = names.get(index).ok_or_else(|| AppError::Internal("a file has too few pieces".into()))?;
                Ok(part(&self.app.blob(name).await?, offset % chunk, most))
            }
        }
    }

    /// The bytes from `start` to before `end`.
    pub fn stream(self, start: u64, end: u64) -> impl Stream<Item = Result<Bytes, AppError>> + Send {
        stream::try_unfold((self, start), move |(reader, offset)| async move {
            let most = usize::try_from(end.saturating_sub(offset)).unwrap_or(usize::MAX).min(CHUNK_BYTES);
            let part = reader.read(offset, most).await?;
            let next = offset + part.len() as u64;
            Ok((!part.is_empty()).then_some((part, (reader, next))))
        })
    }
}

fn part(bytes: &Bytes, offset: u64, most: usize) -> Bytes {
    let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
    bytes.slice(start..bytes.len().min(start.saturating_add(most)))
}

impl App {
    /// A blob that someone may want again soon.
    pub(crate) async fn blob(&self, name: &str) -> Result<Bytes, AppError> {
        let contents = &self.inner.contents;
        if let Some(bytes) = contents.find(name) {
            return Ok(bytes);
        }
        let _loading = contents.loading.acquire().await.map_err(|_| AppError::Internal("reading has ended".into()))?;
        // Another reader may have wanted the same.
        if let Some(bytes) = contents.find(name) {
            return Ok(bytes);
        }
        let bytes = self.blobs().get(name).await?;
        contents.keep(name, &bytes);
        Ok(bytes)
    }
}
