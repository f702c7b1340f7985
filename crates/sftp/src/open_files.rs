//! Open handles of a session: files being read or written, and directory listings.

use std::collections::HashMap;

use app::AppError;
use app::sandboxes::files::{Condition, FileDrop, FileReader, Parents, Target, TreeEntry, TreePath, Upload};
use bytes::{Bytes, BytesMut};
use russh_sftp::protocol::{File, FileAttributes, OpenFlags, StatusCode};

use crate::attributes;
use crate::status::Status;

/// The maximum number of open handles of one session.
pub(crate) const MAX_HANDLES: usize = 64;
/// Directory entries in one response.
const ENTRIES_PER_RESPONSE: usize = 100;
/// Bytes in the response to one read.
pub(crate) const MAX_READ_BYTES: usize = 255 * 1024;

#[derive(Default)]
pub(crate) struct Handles {
    open: HashMap<String, OpenHandle>,
    last_handle: u64,
}

enum OpenHandle {
    Reading(FileReader),
    /// Boxed because it is much larger than the other variants.
    Writing {
        upload: Box<Upload>,
        appends: bool,
    },
    Listing(std::vec::IntoIter<File>),
}

impl Handles {
    pub(crate) async fn open(&mut self, files: &FileDrop, path: TreePath, flags: OpenFlags) -> Result<String, Status> {
        self.check_limit()?;
        let creates_new = flags.contains(OpenFlags::CREATE | OpenFlags::EXCLUDE);
        let opened = if creates_new || flags.intersects(OpenFlags::WRITE | OpenFlags::APPEND) {
            let upload = Box::new(begin_upload(files, path, flags).await?);
            OpenHandle::Writing { upload, appends: flags.contains(OpenFlags::APPEND) }
        } else {
            OpenHandle::Reading(files.open(&path).await?)
        };
        Ok(self.insert(opened))
    }

    pub(crate) async fn open_directory(&mut self, files: &FileDrop, path: &TreePath) -> Result<String, Status> {
        self.check_limit()?;
        let entries: Vec<TreeEntry> = files.directory(path).await?;
        let dots = [".", ".."].map(attributes::named_directory);
        let listing: Vec<File> = dots.into_iter().chain(entries.iter().map(attributes::directory_entry)).collect();
        Ok(self.insert(OpenHandle::Listing(listing.into_iter())))
    }

    fn check_limit(&self) -> Result<(), Status> {
        if self.open.len() < MAX_HANDLES {
            return Ok(());
        }
        Err(Status::new(StatusCode::Failure, format!("a session can have at most {MAX_HANDLES} open handles")))
    }

    fn insert(&mut self, opened: OpenHandle) -> String {
        self.last_handle += 1;
        let handle = format!("{:x}", self.last_handle);
        self.open.insert(handle.clone(), opened);
        handle
    }

    /// Reads as many bytes as requested; fewer only at the end of the file.
    pub(crate) async fn read(&self, handle: &str, offset: u64, length: u32) -> Result<Bytes, Status> {
        let length = usize::try_from(length).unwrap_or(MAX_READ_BYTES).min(MAX_READ_BYTES);
        let data = match self.open.get(handle) {
            Some(OpenHandle::Reading(reader)) => read_fully(reader, offset, length).await?,
            Some(OpenHandle::Writing { upload, .. }) => upload.read(offset, length).await?,
            Some(OpenHandle::Listing(_)) | None => return Err(Status::invalid_handle()),
        };
        if data.is_empty() && length > 0 { Err(Status::end_of_file()) } else { Ok(data) }
    }

    pub(crate) async fn write(&mut self, handle: &str, offset: u64, data: Vec<u8>) -> Result<(), Status> {
        match self.open.get_mut(handle) {
            Some(OpenHandle::Writing { upload, appends: true }) => Ok(upload.append(data.into()).await?),
            Some(OpenHandle::Writing { upload, appends: false }) => Ok(upload.write(offset, data.into()).await?),
            Some(OpenHandle::Reading(_)) => {
                Err(Status::new(StatusCode::PermissionDenied, "the file is open for reading"))
            }
            Some(OpenHandle::Listing(_)) | None => Err(Status::invalid_handle()),
        }
    }

    pub(crate) async fn resize(&mut self, handle: &str, size: u64) -> Result<(), Status> {
        match self.open.get_mut(handle) {
            Some(OpenHandle::Writing { upload, .. }) => Ok(upload.resize(size).await?),
            _ => Err(Status::invalid_handle()),
        }
    }

    pub(crate) fn is_open(&self, handle: &str) -> bool {
        self.open.contains_key(handle)
    }

    pub(crate) fn attributes(&self, handle: &str) -> Result<FileAttributes, Status> {
        match self.open.get(handle) {
            Some(OpenHandle::Reading(reader)) => Ok(attributes::of_file(&reader.file)),
            Some(OpenHandle::Writing { upload, .. }) => Ok(attributes::of_upload(upload.size())),
            Some(OpenHandle::Listing(_)) => Ok(attributes::of_directory()),
            None => Err(Status::invalid_handle()),
        }
    }

    pub(crate) fn next_entries(&mut self, handle: &str) -> Result<Vec<File>, Status> {
        let Some(OpenHandle::Listing(entries)) = self.open.get_mut(handle) else {
            return Err(Status::invalid_handle());
        };
        let next: Vec<File> = entries.by_ref().take(ENTRIES_PER_RESPONSE).collect();
        if next.is_empty() { Err(Status::end_of_file()) } else { Ok(next) }
    }

    /// Closes a handle. A written file is stored when this returns.
    pub(crate) async fn close(&mut self, handle: &str) -> Result<(), Status> {
        match self.open.remove(handle) {
            Some(OpenHandle::Writing { upload, .. }) => {
                upload.finish().await?;
                Ok(())
            }
            Some(OpenHandle::Reading(_) | OpenHandle::Listing(_)) => Ok(()),
            None => Err(Status::invalid_handle()),
        }
    }
}

async fn begin_upload(files: &FileDrop, path: TreePath, flags: OpenFlags) -> Result<Upload, Status> {
    let creates = flags.contains(OpenFlags::CREATE);
    let is_exclusive = creates && flags.contains(OpenFlags::EXCLUDE);
    let condition = if is_exclusive { Condition::absent() } else { Condition::default() };
    let target = Target { path, content_type: None, condition, parents: Parents::Required, announced: 0 };
    let mut upload = files.begin_upload(target).await?;
    let exists =
        if flags.contains(OpenFlags::TRUNCATE) { upload.replaces().await? } else { upload.load_current().await? };
    if !exists && !creates {
        return Err(Status::new(StatusCode::NoSuchFile, "no such file"));
    }
    Ok(upload)
}

/// Reads across chunk borders, because some clients take a short response for the end of the file.
async fn read_fully(reader: &FileReader, offset: u64, length: usize) -> Result<Bytes, Status> {
    let first = reader.read(offset, length).await.map_err(AppError::from)?;
    if first.len() == length || first.is_empty() {
        return Ok(first);
    }
    let mut data = BytesMut::from(&first[..]);
    while data.len() < length {
        let part = reader.read(offset + data.len() as u64, length - data.len()).await.map_err(AppError::from)?;
        if part.is_empty() {
            break;
        }
        data.extend_from_slice(&part);
    }
    Ok(data.freeze())
}
