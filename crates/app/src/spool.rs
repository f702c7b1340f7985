//! Uploads on their way: bytes that come in any order wait outside of memory until they are whole, and then become blobs.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use sha2::{Digest, Sha256};
use sims::files::Stored;

use crate::{App, AppError};

/// The pieces that files are kept in: small enough that many can be in memory, large enough that a file has few.
pub(crate) const CHUNK_BYTES: usize = 1024 * 1024;
/// Pieces that are stored at the same time.
const AT_ONCE: usize = 4;
/// Uploads of all clients that are under way.
const MOST_SPOOLS: usize = 2048;

/// Where uploads wait.
pub(crate) struct Spools {
    directory: Option<PathBuf>,
    open: Arc<AtomicUsize>,
}

impl Spools {
    pub(crate) fn new(directory: Option<PathBuf>) -> Self {
        Self { directory, open: Arc::default() }
    }

    /// A place for at most so many bytes.
    pub(crate) fn begin(&self, most: u64) -> Result<Spool, AppError> {
        let counted = Counted(Arc::clone(&self.open));
        if self.open.fetch_add(1, Ordering::Relaxed) >= MOST_SPOOLS {
            return Err(AppError::conflict(format!("{MOST_SPOOLS} uploads are under way; try again later")));
        }
        let directory = self.directory.clone();
        Ok(Spool { place: Place::Memory(Vec::new()), size: 0, most, directory, _counted: counted })
    }
}

struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One upload. Nobody sees it before it is stored; dropping it leaves nothing.
pub(crate) struct Spool {
    place: Place,
    size: u64,
    most: u64,
    directory: Option<PathBuf>,
    _counted: Counted,
}

/// A file without a name, once there is more than a piece of it.
enum Place {
    Memory(Vec<u8>),
    Disk(Arc<File>),
}

impl Spool {
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Writes at an offset; what is left out before it is zeros.
    pub(crate) async fn write(&mut self, offset: u64, data: Bytes) -> Result<(), AppError> {
        let end = offset.saturating_add(data.len() as u64);
        if end > self.most {
            return Err(AppError::TooLarge(format!("a file has at most {} bytes here", self.most)));
        }
        if end > CHUNK_BYTES as u64 {
            self.move_to_disk().await?;
        }
        match &mut self.place {
            Place::Memory(bytes) => {
                let (start, end) = (place(offset)?, place(end)?);
                if bytes.len() < end {
                    bytes.resize(end, 0);
                }
                if let Some(target) = bytes.get_mut(start..end) {
                    target.copy_from_slice(&data);
                }
            }
            Place::Disk(file) => {
                let file = Arc::clone(file);
                on_disk(move || file.write_all_at(&data, offset)).await?;
            }
        }
        self.size = self.size.max(end);
        Ok(())
    }

    /// Makes it longer, with zeros, or shorter.
    pub(crate) async fn resize(&mut self, size: u64) -> Result<(), AppError> {
        if size > self.most {
            return Err(AppError::TooLarge(format!("a file has at most {} bytes here", self.most)));
        }
        if size > CHUNK_BYTES as u64 {
            self.move_to_disk().await?;
        }
        match &mut self.place {
            Place::Memory(bytes) => bytes.resize(place(size)?, 0),
            Place::Disk(file) => {
                let file = Arc::clone(file);
                on_disk(move || file.set_len(size)).await?;
            }
        }
        self.size = size;
        Ok(())
    }

    /// At most so many bytes from an offset; fewer only at the end.
    pub(crate) async fn read(&self, offset: u64, most: usize) -> Result<Bytes, AppError> {
        let length = usize::try_from(self.size.saturating_sub(offset)).unwrap_or(usize::MAX).min(most);
        match &self.place {
            Place::Memory(bytes) => {
                let start = place(offset.min(self.size))?;
                Ok(Bytes::copy_from_slice(bytes.get(start..start + length).unwrap_or_default()))
            }
            Place::Disk(file) => {
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
        let Place::Memory(bytes) = &mut self.place else { return Ok(()) };
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
        self.place = Place::Disk(Arc::new(file.await?));
        Ok(())
    }

    /// Makes blobs of it.
    pub(crate) async fn store(&self, app: &App) -> Result<Stored, AppError> {
        let mut whole = Sha256::new();
        let (mut offset, mut is_text) = (0, true);
        let (mut chunks, mut storing) = (Vec::new(), FuturesOrdered::new());
        loop {
            let piece = self.read(offset, CHUNK_BYTES).await?;
            if offset == 0 {
                is_text = looks_like_text(&piece);
            } else if piece.is_empty() {
                break;
            }
            whole.update(&piece);
            offset += piece.len() as u64;
            let is_last = piece.len() < CHUNK_BYTES;
            if storing.len() >= AT_ONCE
                && let Some(stored) = storing.next().await
            {
                chunks.push(stored?);
            }
            let blobs = app.blobs().clone();
            storing.push_back(async move { blobs.put(piece).await });
            if is_last {
                break;
            }
        }
        while let Some(stored) = storing.next().await {
            chunks.push(stored?);
        }
        let sha256: String = whole.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        // One piece is the whole file, and has its name.
        if chunks.len() == 1 {
            chunks.clear();
        }
        Ok(Stored { sha256, size: self.size, content_type: None, is_text, chunks })
    }
}

fn place(offset: u64) -> Result<usize, AppError> {
    usize::try_from(offset).map_err(|_| AppError::TooLarge("the offset is too large".into()))
}

/// UTF-8 without NUL, as far as it was looked at; a character may be cut at the end.
fn looks_like_text(start: &[u8]) -> bool {
    let is_utf8 = str::from_utf8(start).err().is_none_or(|error| error.error_len().is_none());
    is_utf8 && !start.contains(&0)
}

async fn on_disk<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> Result<T, AppError> {
    let done = tokio::task::spawn_blocking(work).await.map_err(|_| AppError::Internal("spooling panicked".into()))?;
    done.map_err(|error| AppError::Store(store::StoreError::Blob(format!("the spool: {error}"))))
}
