//! Reads and writes the files of a folder on disk.

use std::collections::BTreeMap;
use std::path::Path;

use crate::Error;

/// File contents by relative path, with `/` as separator.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Limits of a benchmark folder, so that a mistaken `push /` fails.
const MAX_FILES: usize = 20_000;
const MAX_BYTES: u64 = 1 << 30;

/// Reads all files of a directory, except symbolic links and names that start with a dot.
pub fn read_directory(root: &Path) -> Result<Files, Error> {
    check_folder(root)?;
    let mut files = Files::new();
    let mut remaining_bytes = MAX_BYTES;
    walk(root, "", &mut files, &mut remaining_bytes)?;
    Ok(files)
}

fn check_folder(root: &Path) -> Result<(), Error> {
    let problem = match std::fs::metadata(root) {
        Ok(metadata) if !metadata.is_dir() => "is not a folder",
        Err(reason) if reason.kind() == std::io::ErrorKind::NotFound => "does not exist",
        _ => return Ok(()),
    };
    Err(Error::Message(format!("`{}` {problem}: specify the folder of the benchmark", root.display())))
}

fn walk(folder: &Path, prefix: &str, files: &mut Files, remaining_bytes: &mut u64) -> Result<(), Error> {
    let failed = |reason| Error::File { path: folder.display().to_string(), reason };
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        let path = format!("{prefix}{name}");
        let file_type = entry.file_type().map_err(failed)?;
        if file_type.is_dir() {
            walk(&entry.path(), &format!("{path}/"), files, remaining_bytes)?;
        } else if file_type.is_file() {
            let content = read(&entry.path(), remaining_bytes)?;
            files.insert(path, content);
        }
        if files.len() > MAX_FILES {
            return Err(Error::Message(format!("more than {MAX_FILES} files: this is not a benchmark folder")));
        }
    }
    Ok(())
}

fn read(path: &Path, remaining_bytes: &mut u64) -> Result<Vec<u8>, Error> {
    let failed = |reason| Error::File { path: path.display().to_string(), reason };
    let size = std::fs::metadata(path).map_err(failed)?.len();
    *remaining_bytes = remaining_bytes
        .checked_sub(size)
        .ok_or_else(|| Error::Message("more than 1 GiB: this is not a benchmark folder".to_owned()))?;
    std::fs::read(path).map_err(failed)
}

/// Writes files to a directory. Replaces existing files.
pub fn write_directory(root: &Path, files: &Files) -> Result<(), Error> {
    for (path, content) in files {
        // Paths may come from a server: none may point outside the folder.
        if !Path::new(path).components().all(|part| matches!(part, std::path::Component::Normal(_))) {
            return Err(Error::Message(format!("`{path}` is not a relative path inside the folder")));
        }
        let target = root.join(path);
        let failed = |reason| Error::File { path: target.display().to_string(), reason };
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent).map_err(failed)?;
        }
        std::fs::write(&target, content).map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_something_other_than_a_folder_fails() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        for (path, expected) in
            [("nope", "nope` does not exist: specify the folder"), ("Cargo.toml", "Cargo.toml` is not a folder")]
        {
            let error = read_directory(&here.join(path)).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        assert!(read_directory(here).unwrap().contains_key("src/source.rs"));
    }
}
