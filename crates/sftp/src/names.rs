//! Files and directories as SFTP describes them.

use app::sandboxes::files::Entry;
use model::Timestamp;
use model::dataset::DatasetFile;
use russh_sftp::protocol::{File, FileAttributes};

const FILE: u32 = 0o100_644;
const DIRECTORY: u32 = 0o040_755;
/// Nobody on this machine has them.
const OWNER: u32 = 1000;

pub(crate) fn of_file(file: &DatasetFile) -> FileAttributes {
    attributes(FILE, file.size, file.modified_at)
}

/// Of an upload that is under way.
pub(crate) fn of_upload(size: u64) -> FileAttributes {
    attributes(FILE, size, Timestamp(0))
}

/// Directories have no time of their own.
pub(crate) fn of_directory() -> FileAttributes {
    attributes(DIRECTORY, 0, Timestamp(0))
}

pub(crate) fn of(entry: &Entry) -> FileAttributes {
    match entry {
        Entry::File(file) => of_file(file),
        Entry::Directory { .. } => of_directory(),
    }
}

/// A line of a directory.
pub(crate) fn line(entry: &Entry) -> File {
    let name = entry.path().rsplit('/').next().unwrap_or_default();
    File::new(name, of(entry))
}

pub(crate) fn directory(name: &str) -> File {
    File::new(name, of_directory())
}

fn attributes(permissions: u32, size: u64, modified_at: Timestamp) -> FileAttributes {
    let seconds = u32::try_from(modified_at.milliseconds() / 1000).unwrap_or_default();
    FileAttributes {
        size: Some(size),
        uid: Some(OWNER),
        gid: Some(OWNER),
        permissions: Some(permissions),
        atime: Some(seconds),
        mtime: Some(seconds),
        ..FileAttributes::default()
    }
}
