//! Buffers uploads: bytes arrive in any order, are kept on disk until the upload is complete, and are then stored as blobs.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use runtime::CHUNK_BYTES;
use sha2::{Digest, Sha256};
use sims::files::StoredContent;

use crate::{App, AppError};

/// Chunks that are stored at the same time.
const MAX_STORING: usize = 4;
/// Maximum number of uploads in progress, of all clients.
const MAX_UPLOADS: usize = 2048;

/// Creates upload buffers, and limits their number.
pub(crate) struct UploadBuffers {
    directory: Option<PathBuf>,
    open: Arc<AtomicUsize>,
}

impl UploadBuffers {
    pub(crate) fn new(directory: Option<PathBuf>) -> Self {
        Self { directory, open: Arc::default() }
    }

    /// A buffer for at most `max` bytes.
    pub(crate) fn begin(&self, max: u64) -> Result<UploadBuffer, AppError> {
        let counted = Counted(Arc::clone(&self.open));
        if self.open.fetch_add(1, Ordering::Relaxed) >= MAX_UPLOADS {
            return Err(AppError::conflict(format!("{MAX_UPLOADS} uploads are in progress; try again later")));
        }
        let directory = self.directory.clone();
        Ok(UploadBuffer { content: Content::Memory(Vec::new()), size: 0, max, directory, _counted: counted })
    }
}

struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One upload. It is invisible until it is stored; dropping it discards it.
pub(crate) struct UploadBuffer {
    content: Content,
    size: u64,
    max: u64,
    directory: Option<PathBuf>,
    _counted: Counted,
}

/// In memory up to one chunk, beyond that in a temporary file without a name.
enum Content {
    Memory(Vec<u8>),
    Disk(Arc<File>),
}

impl UploadBuffer {
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Writes at an offset. A gap before it is filled with zeros.
    pub(crate) async fn write(&mut self, offset: u64, data: Bytes) -> Result<(), AppError> {
        let end = offset.saturating_add(data.len() as u64);
        if end > self.max {
            return Err(AppError::TooLarge(format!("a file has at max {} bytes here", self.max)));
        }
        if end > CHUNK_BYTES as u64 {
            self.move_to_disk().await?;
        }
        match &mut self.content {
            Content::Memory(bytes) => {
                let (start, end) = (index(offset)?, index(end)?);
                if bytes.len() < end {
                    bytes.resize(end, 0);
                }
                if let Some(target) = bytes.get_mut(start..end) {
                    target.copy_from_slice(&data);
                }
            }
            Content::Disk(file) => {
                let file = Arc::clone(file);
                on_disk(move || file.write_all_at(&data, offset)).await?;
            }
        }
        self.size = self.size.max(end);
        Ok(())
    }

    /// Truncates it, or extends it with zeros.
    pub(crate) async fn resize(&mut self, size: u64) -> Result<(), AppError> {
        if size > self.max {
            return Err(AppError::TooLarge(format!("a file has at max {} bytes here", self.max)));
        }
        if size > CHUNK_BYTES as u64 {
            self.move_to_disk().await?;
        }
        match &mut self.content {
            Content::Memory(bytes) => bytes.resize(index(size)?, 0),
            Content::Disk(file) => {
                let file = Arc::clone(file);
                on_disk(move || file.set_len(size)).await?;
            }
        }
        self.size = size;
        Ok(())
    }

    /// At most `max` bytes from an offset; fewer only at the end.
    pub(crate) async fn read(&self, offset: u64, max: usize) -> Result<Bytes, AppError> {
        let length = usize::try_from(self.size.saturating_sub(offset)).unwrap_or(usize::MAX).min(max);
        match &self.content {
            Content::Memory(bytes) => {
                let start = index(offset.min(self.size))?;
                Ok(Bytes::copy_from_slice(bytes.get(start..start + length).unwrap_or_default()))
            }
            Content::Disk(file) => {
                let file = Arc::clone(file);
                on_disk(move || {
                    let mut bytes = vec![0; length];
                    file.read_exact_at(&mut bytes, offset)?;
                    Ok(Bytes::from(bytes))
                })
                .await
            }
        }
    }

    async fn move_to_disk(&mut self) -> Result<(), AppError> {
        let Content::Memory(bytes) = &mut self.content else { return Ok(()) };
        let (bytes, directory) = (std::mem::take(bytes), self.directory.clone());
        let file = on_disk(move || {
            let file = match directory {
                Some(directory) => {
                    std::fs::create_dir_all(&directory)?;
                    tempfile::tempfile_in(directory)?
                }
                None => tempfile::tempfile()?,
            };
            file.write_all_at(&bytes, 0)?;
            Ok(file)
        });
        self.content = Content::Disk(Arc::new(file.await?));
        Ok(())
    }

    /// Stores it as blobs.
    pub(crate) async fn store(&self, app: &App) -> Result<StoredContent, AppError> {
        let mut whole = Sha256::new();
        let (mut offset, mut is_text) = (0, true);
        let (mut chunks, mut storing) = (Vec::new(), FuturesOrdered::new());
        loop {
            let chunk = self.read(offset, CHUNK_BYTES).await?;
            if offset == 0 {
                is_text = looks_like_text(&chunk);
            } else if chunk.is_empty() {
                break;
            }
            whole.update(&chunk);
            offset += chunk.len() as u64;
            let is_last = chunk.len() < CHUNK_BYTES;
            if storing.len() >= MAX_STORING
                && let Some(stored) = storing.next().await
            {
                chunks.push(stored?);
            }
            let blobs = app.blobs().clone();
            storing.push_back(async move { blobs.put(chunk).await });
            if is_last {
                break;
            }
        }
        while let Some(stored) = storing.next().await {
            chunks.push(stored?);
        }
        let sha256: String = whole.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        // A single chunk has the same name as the whole file.
        if chunks.len() == 1 {
            chunks.clear();
        }
        Ok(StoredContent { sha256, size: self.size, content_type: None, is_text, chunks })
    }
}

fn index(offset: u64) -> Result<usize, AppError> {
    usize::try_from(offset).map_err(|_| AppError::TooLarge("the offset is too large".into()))
}

/// UTF-8 without NUL. The last character may be incomplete.
fn looks_like_text(start: &[u8]) -> bool {
    let is_utf8 = str::from_utf8(start).err().is_none_or(|error| error.error_len().is_none());
    is_utf8 && !start.contains(&0)
}

async fn on_disk<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> Result<T, AppError> {
    let done = tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| AppError::Internal("buffering an upload panicked".into()))?;
    done.map_err(|error| AppError::Store(store::StoreError::Blob(format!("the upload buffer: {error}"))))
}
