//! Where the files of a folder are: on disk, or inside the binary.

use std::collections::BTreeMap;
use std::path::Path;

use crate::Error;

/// Relative paths with `/`, in order, with their content.
pub type Files = BTreeMap<String, Vec<u8>>;

/// A benchmark folder is small; a mistaken `push /` must end.
const MOST_FILES: usize = 20_000;
const MOST_BYTES: u64 = 1 << 30;

/// All files of a directory. What starts with a dot, and links, are left out.
pub fn directory(root: &Path) -> Result<Files, Error> {
    is_folder(root)?;
    let mut files = Files::new();
    let mut left = MOST_BYTES;
    walk(root, "", &mut files, &mut left)?;
    Ok(files)
}

fn is_folder(root: &Path) -> Result<(), Error> {
    let fault = match std::fs::metadata(root) {
        Ok(about) if !about.is_dir() => "is no folder",
        Err(reason) if reason.kind() == std::io::ErrorKind::NotFound => "is not there",
        _ => return Ok(()),
    };
    Err(Error::Missing(format!("`{}` {fault}: give the folder of the benchmark", root.display())))
}

fn walk(folder: &Path, prefix: &str, files: &mut Files, left: &mut u64) -> Result<(), Error> {
    let failed = |reason| Error::File { path: folder.display().to_string(), reason };
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        let path = format!("{prefix}{name}");
        let kind = entry.file_type().map_err(failed)?;
        if kind.is_dir() {
            walk(&entry.path(), &format!("{path}/"), files, left)?;
        } else if kind.is_file() {
            let content = read(&entry.path(), left)?;
            files.insert(path, content);
        }
        if files.len() > MOST_FILES {
            return Err(Error::Missing(format!("more than {MOST_FILES} files: this is no benchmark folder")));
        }
    }
    Ok(())
}

fn read(path: &Path, left: &mut u64) -> Result<Vec<u8>, Error> {
    let failed = |reason| Error::File { path: path.display().to_string(), reason };
    let size = std::fs::metadata(path).map_err(failed)?.len();
    *left = left
        .checked_sub(size)
        .ok_or_else(|| Error::Missing("more than 1 GiB: this is no benchmark folder".to_owned()))?;
    std::fs::read(path).map_err(failed)
}

/// Writes files below a directory; those that are there already are replaced.
pub fn save(root: &Path, files: &Files) -> Result<(), Error> {
    for (path, content) in files {
        // The names may come from a server: none may lead out of the folder.
        if !Path::new(path).components().all(|part| matches!(part, std::path::Component::Normal(_))) {
            return Err(Error::Missing(format!("`{path}` is no path inside a folder")));
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
    fn what_is_no_folder_is_told() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        for (path, said) in
            [("nope", "nope` is not there: give the folder"), ("Cargo.toml", "Cargo.toml` is no folder")]
        {
            let fault = directory(&here.join(path)).unwrap_err().to_string();
            assert!(fault.contains(said), "{fault}");
        }
        assert!(directory(here).unwrap().contains_key("src/source.rs"));
    }
}
