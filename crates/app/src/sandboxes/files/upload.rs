//! Uploads of files. The file appears when the upload is complete and stored.

use bytes::Bytes;
use sims::files::{self, Call, Condition, Parents, StoredContent, TreePath, WrittenFile};
use world::{Context, Outcome, World};

use super::{FileDrop, FileDropError, FilesError};
use crate::upload_buffer::UploadBuffer;
use runtime::{CHUNK_BYTES, Cost, FileReader};

/// The file that a client is going to write.
#[derive(Clone, Debug)]
pub struct Target {
    pub path: TreePath,
    /// The content type that the client sent.
    pub content_type: Option<String>,
    pub condition: Condition,
    pub parents: Parents,
    /// The size that the client announced.
    pub announced: u64,
}

pub struct Upload {
    drop: FileDrop,
    target: Target,
    buffer: UploadBuffer,
    /// A configured failure rejects further bytes after this many.
    short_after: Option<u64>,
    was_cut: bool,
}

impl FileDrop {
    /// Fails if the file could not be written now.
    pub async fn begin_upload(&self, target: Target) -> Result<Upload, FileDropError> {
        let quota = self.quota();
        let most = self.app.limits().file_bytes.min(quota.bytes);
        if target.announced > most {
            return Err(FilesError::Full(format!("a file has at most {most} bytes here")).into());
        }
        let planned = self.planned(&target, unknown(target.announced), false);
        let by_sftp = self.client.protocol == super::Protocol::Sftp;
        let (id, client) = (self.sandbox.id.clone(), self.client.clone());
        let look = move |world: &World, context: &Context<'_>| {
            let call = Call { world, context, sandbox: &id, client: &client };
            let may = files::check_writable(&call, &planned);
            let sandbox = world.sandboxes.get(&id).filter(|_| by_sftp);
            let answer = may.map(|()| sandbox.and_then(files::upload_limit));
            Outcome { answer, changes: Vec::new(), events: Vec::new() }
        };
        let short_after = self.app.runtime().query(&self.sandbox, Cost::Light, look).await??;
        let buffer = self.app.inner.uploads.begin(most)?;
        Ok(Upload { drop: self.clone(), target, buffer, short_after, was_cut: false })
    }

    fn planned(&self, target: &Target, stored: StoredContent, is_short: bool) -> files::Upload {
        files::Upload {
            path: target.path.clone(),
            stored: StoredContent { content_type: target.content_type.clone(), ..stored },
            condition: target.condition.clone(),
            parents: target.parents,
            quota: self.quota(),
            is_short,
        }
    }

    /// The current file, for a client that continues to write it.
    pub(super) async fn peek(&self, path: &TreePath) -> Result<FileReader, FileDropError> {
        let (path, id, client) = (path.clone(), self.sandbox.id.clone(), self.client.clone());
        let look = move |world: &World, context: &Context<'_>| {
            let answer = files::peek(&Call { world, context, sandbox: &id, client: &client }, &path);
            Outcome { answer, changes: Vec::new(), events: Vec::new() }
        };
        Ok(self.app.runtime().file_reader(self.app.runtime().query(&self.sandbox, Cost::Light, look).await??))
    }
}

/// A placeholder for bytes that have not arrived.
fn unknown(size: u64) -> StoredContent {
    StoredContent { sha256: String::new(), size, content_type: None, is_text: false, chunks: Vec::new() }
}

impl Upload {
    pub fn size(&self) -> u64 {
        self.buffer.size()
    }

    pub fn path(&self) -> &TreePath {
        &self.target.path
    }

    /// Whether a file with this path exists.
    pub async fn replaces(&self) -> Result<bool, FileDropError> {
        match self.drop.peek(&self.target.path).await {
            Ok(_) => Ok(true),
            Err(FileDropError::Refused(FilesError::NotFound)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Loads the content of the current file. False if there is none.
    pub async fn load_current(&mut self) -> Result<bool, FileDropError> {
        let reader = match self.drop.peek(&self.target.path).await {
            Ok(reader) => reader,
            Err(FileDropError::Refused(FilesError::NotFound)) => return Ok(false),
            Err(error) => return Err(error),
        };
        self.target.content_type = Some(reader.file.content_type.clone());
        let mut offset = 0;
        loop {
            let part = reader.read(offset, CHUNK_BYTES).await?;
            if part.is_empty() {
                return Ok(true);
            }
            let length = part.len() as u64;
            self.buffer.write(offset, part).await?;
            offset += length;
        }
    }

    pub async fn write(&mut self, offset: u64, mut data: Bytes) -> Result<(), FileDropError> {
        if let Some(most) = self.short_after {
            let room = usize::try_from(most.saturating_sub(offset)).unwrap_or(usize::MAX);
            if data.len() > room {
                self.was_cut = true;
                data.truncate(room);
                if !data.is_empty() {
                    self.buffer.write(offset, data).await?;
                }
                return Err(FilesError::Full("the write was cut short".into()).into());
            }
        }
        Ok(self.buffer.write(offset, data).await?)
    }

    /// Writes at the end.
    pub async fn append(&mut self, data: Bytes) -> Result<(), FileDropError> {
        self.write(self.buffer.size(), data).await
    }

    pub async fn resize(&mut self, size: u64) -> Result<(), FileDropError> {
        Ok(self.buffer.resize(size).await?)
    }

    pub async fn read(&self, offset: u64, most: usize) -> Result<Bytes, FileDropError> {
        Ok(self.buffer.read(offset, most).await?)
    }

    /// Stores the file. It is durable and visible when this returns.
    pub async fn finish(self) -> Result<WrittenFile, FileDropError> {
        let Self { drop, target, buffer, was_cut, .. } = self;
        let stored = buffer.store(&drop.app).await?;
        let upload = drop.planned(&target, stored, was_cut);
        let written = drop.command(move |call| files::write(call, &upload)).await?;
        drop.after_write(&target.path).await;
        Ok(written)
    }
}
