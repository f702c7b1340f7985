//! What a client has open: files to read or to write, and directories.

use std::collections::HashMap;

use app::sandboxes::files::{Condition, Entry, FileDrop, Parents, Reader, Target, TreePath, Upload};
use bytes::{Bytes, BytesMut};
use russh_sftp::protocol::{File, FileAttributes, OpenFlags, StatusCode};

use crate::fault::Status;
use crate::names;

/// Handles of one session.
pub(crate) const MOST_HANDLES: usize = 64;
/// Names that one packet has.
const NAMES_AT_ONCE: usize = 100;
/// Bytes that one answer has.
pub(crate) const MOST_READ: usize = 255 * 1024;

#[derive(Default)]
pub(crate) struct Handles {
    open: HashMap<String, Open>,
    made: u64,
}

enum Open {
    Reading(Reader),
    /// Boxed, because it is much larger than the others.
    Writing {
        upload: Box<Upload>,
        appends: bool,
    },
    Listing(std::vec::IntoIter<File>),
}

impl Handles {
    pub(crate) async fn open(&mut self, files: &FileDrop, path: TreePath, flags: OpenFlags) -> Result<String, Status> {
        self.check_room()?;
        let makes = flags.contains(OpenFlags::CREATE | OpenFlags::EXCLUDE);
        let opened = if makes || flags.intersects(OpenFlags::WRITE | OpenFlags::APPEND) {
            let upload = Box::new(begin(files, path, flags).await?);
            Open::Writing { upload, appends: flags.contains(OpenFlags::APPEND) }
        } else {
            Open::Reading(files.open(&path).await?)
        };
        Ok(self.keep(opened))
    }

    pub(crate) async fn open_directory(&mut self, files: &FileDrop, path: &TreePath) -> Result<String, Status> {
        self.check_room()?;
        let entries: Vec<Entry> = files.directory(path).await?;
        let own = [".", ".."].map(names::directory);
        let lines: Vec<File> = own.into_iter().chain(entries.iter().map(names::line)).collect();
        Ok(self.keep(Open::Listing(lines.into_iter())))
    }

    fn check_room(&self) -> Result<(), Status> {
        if self.open.len() < MOST_HANDLES {
            return Ok(());
        }
        Err(Status::new(StatusCode::Failure, format!("a session has at most {MOST_HANDLES} files open")))
    }

    fn keep(&mut self, opened: Open) -> String {
        self.made += 1;
        let handle = format!("{:x}", self.made);
        self.open.insert(handle.clone(), opened);
        handle
    }

    /// As many bytes as are asked for; fewer only at the end.
    pub(crate) async fn read(&self, handle: &str, offset: u64, length: u32) -> Result<Bytes, Status> {
        let wanted = usize::try_from(length).unwrap_or(MOST_READ).min(MOST_READ);
        let found = match self.open.get(handle) {
            Some(Open::Reading(reader)) => read_fully(reader, offset, wanted).await?,
            Some(Open::Writing { upload, .. }) => upload.read(offset, wanted).await?,
            Some(Open::Listing(_)) | None => return Err(Status::no_handle()),
        };
        if found.is_empty() && wanted > 0 { Err(Status::end()) } else { Ok(found) }
    }

    pub(crate) async fn write(&mut self, handle: &str, offset: u64, data: Vec<u8>) -> Result<(), Status> {
        match self.open.get_mut(handle) {
            Some(Open::Writing { upload, appends: true }) => Ok(upload.append(data.into()).await?),
            Some(Open::Writing { upload, appends: false }) => Ok(upload.write(offset, data.into()).await?),
            Some(Open::Reading(_)) => Err(Status::new(StatusCode::PermissionDenied, "the file is open for reading")),
            Some(Open::Listing(_)) | None => Err(Status::no_handle()),
        }
    }

    pub(crate) async fn resize(&mut self, handle: &str, size: u64) -> Result<(), Status> {
        match self.open.get_mut(handle) {
            Some(Open::Writing { upload, .. }) => Ok(upload.resize(size).await?),
            _ => Err(Status::no_handle()),
        }
    }

    pub(crate) fn is_open(&self, handle: &str) -> bool {
        self.open.contains_key(handle)
    }

    pub(crate) fn attributes(&self, handle: &str) -> Result<FileAttributes, Status> {
        match self.open.get(handle) {
            Some(Open::Reading(reader)) => Ok(names::of_file(&reader.file)),
            Some(Open::Writing { upload, .. }) => Ok(names::of_upload(upload.size())),
            Some(Open::Listing(_)) => Ok(names::of_directory()),
            None => Err(Status::no_handle()),
        }
    }

    pub(crate) fn next_names(&mut self, handle: &str) -> Result<Vec<File>, Status> {
        let Some(Open::Listing(lines)) = self.open.get_mut(handle) else { return Err(Status::no_handle()) };
        let names: Vec<File> = lines.by_ref().take(NAMES_AT_ONCE).collect();
        if names.is_empty() { Err(Status::end()) } else { Ok(names) }
    }

    /// A file that was written is there, whole, when this answers.
    pub(crate) async fn close(&mut self, handle: &str) -> Result<(), Status> {
        match self.open.remove(handle) {
            Some(Open::Writing { upload, .. }) => {
                upload.finish().await?;
                Ok(())
            }
            Some(Open::Reading(_) | Open::Listing(_)) => Ok(()),
            None => Err(Status::no_handle()),
        }
    }
}

async fn begin(files: &FileDrop, path: TreePath, flags: OpenFlags) -> Result<Upload, Status> {
    let creates = flags.contains(OpenFlags::CREATE);
    let is_exclusive = creates && flags.contains(OpenFlags::EXCLUDE);
    let condition = if is_exclusive { Condition::absent() } else { Condition::default() };
    let target = Target { path, content_type: None, condition, parents: Parents::Needed, announced: 0 };
    let mut upload = files.begin_upload(target).await?;
    let is_there =
        if flags.contains(OpenFlags::TRUNCATE) { upload.replaces().await? } else { upload.load_current().await? };
    if !is_there && !creates {
        return Err(Status::new(StatusCode::NoSuchFile, "no such file"));
    }
    Ok(upload)
}

/// Over the borders of pieces: some clients take a short answer for the end.
async fn read_fully(reader: &Reader, offset: u64, wanted: usize) -> Result<Bytes, Status> {
    let first = reader.read(offset, wanted).await?;
    if first.len() == wanted || first.is_empty() {
        return Ok(first);
    }
    let mut found = BytesMut::from(&first[..]);
    while found.len() < wanted {
        let part = reader.read(offset + found.len() as u64, wanted - found.len()).await?;
        if part.is_empty() {
            break;
        }
        found.extend_from_slice(&part);
    }
    Ok(found.freeze())
}
