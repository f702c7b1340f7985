//! SFTP attributes and directory entries of files and directories.

use app::sandboxes::files::TreeEntry;
use model::Timestamp;
use model::dataset::DatasetFile;
use russh_sftp::protocol::{File, FileAttributes};

const FILE_MODE: u32 = 0o100_644;
const DIRECTORY_MODE: u32 = 0o040_755;
/// User and group id. They do not refer to accounts of the host.
const OWNER_ID: u32 = 1000;

pub(crate) fn of_file(file: &DatasetFile) -> FileAttributes {
    attributes(FILE_MODE, file.size, file.modified_at)
}

/// Attributes of an upload in progress.
pub(crate) fn of_upload(size: u64) -> FileAttributes {
    attributes(FILE_MODE, size, Timestamp(0))
}

/// Directories have no modification time.
pub(crate) fn of_directory() -> FileAttributes {
    attributes(DIRECTORY_MODE, 0, Timestamp(0))
}

pub(crate) fn of(entry: &TreeEntry) -> FileAttributes {
    match entry {
        TreeEntry::File(file) => of_file(file),
        TreeEntry::Directory { .. } => of_directory(),
    }
}

/// An entry of a directory listing.
pub(crate) fn directory_entry(entry: &TreeEntry) -> File {
    let name = entry.path().rsplit('/').next().unwrap_or_default();
    File::new(name, of(entry))
}

pub(crate) fn named_directory(name: &str) -> File {
    File::new(name, of_directory())
}

fn attributes(permissions: u32, size: u64, modified_at: Timestamp) -> FileAttributes {
    let seconds = u32::try_from(modified_at.milliseconds() / 1000).unwrap_or_default();
    FileAttributes {
        size: Some(size),
        uid: Some(OWNER_ID),
        gid: Some(OWNER_ID),
        permissions: Some(permissions),
        atime: Some(seconds),
        mtime: Some(seconds),
        ..FileAttributes::default()
    }
}
