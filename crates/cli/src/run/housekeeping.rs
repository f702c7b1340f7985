//! Removes old journals and logs, and keeps them out of version control because they contain tokens.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::journal::{FOLDER, lock_of, logs_of};

/// How long journals in the default folders are kept.
const MAX_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Makes git ignore the `.verial` folder of the working directory, unless the user has a file of their own there.
pub(super) fn keep_out_of_git(journal: &Path) {
    let Some(folder) = journal.parent().filter(|folder| folder.ends_with(FOLDER)).and_then(Path::parent) else {
        return;
    };
    let ignore = folder.join(".gitignore");
    if !ignore.exists() {
        // Ignore errors: the file is optional.
        let _ = std::fs::write(ignore, "*\n");
    }
}

/// Removes journals in the same folder that are older than a month, with their logs, and locks without a journal.
/// Only in a `.verial/runs`: other folders are the user's own.
pub(super) fn remove_old(journal: &Path) {
    let Some(folder) = journal.parent().filter(|folder| folder.ends_with(FOLDER)) else { return };
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let modified = entry.metadata().and_then(|about| about.modified());
        let is_old = modified.is_ok_and(|modified| is_older(modified, now(), MAX_AGE));
        if path == *journal || !is_old {
            continue;
        }
        match path.extension().and_then(OsStr::to_str) {
            Some("json") if is_free(&path) => {
                let _ = std::fs::remove_file(&path);
                let _ = std::fs::remove_dir_all(logs_of(&path));
                let _ = std::fs::remove_file(lock_of(&path));
            }
            Some("lock") if !path.with_extension("").exists() => {
                let _ = std::fs::remove_file(&path);
            }
            _ => {}
        }
    }
}

/// Whether a path still refers to the opened file.
pub(super) fn is_same_file(file: &File, path: &Path) -> bool {
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(opened), Ok(current)) => (opened.dev(), opened.ino()) == (current.dev(), current.ino()),
        _ => false,
    }
}

fn is_free(journal: &Path) -> bool {
    File::open(lock_of(journal)).map_or(true, |lock| lock.try_lock().is_ok())
}

fn is_older(modified: SystemTime, now: SystemTime, age: Duration) -> bool {
    now.duration_since(modified).is_ok_and(|since| since > age)
}

#[expect(clippy::disallowed_methods, reason = "the age of a file depends on the machine's clock")]
fn now() -> SystemTime {
    SystemTime::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_old_journals_are_removed() {
        let home = tempfile::tempdir().unwrap();
        let runs = home.path().join(FOLDER);
        std::fs::create_dir_all(runs.join("old.logs")).unwrap();
        for name in
            ["old.json", "old.json.lock", "new.json", "busy.json", "busy.json.lock", "gone.json.lock", "note.txt"]
        {
            let file = File::create(runs.join(name)).unwrap();
            if name != "new.json" {
                file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
            }
        }
        let busy = File::open(runs.join("busy.json.lock")).unwrap();
        busy.try_lock().unwrap();
        remove_old(&runs.join("this.json"));
        let mut left: Vec<String> =
            std::fs::read_dir(&runs).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        left.sort();
        assert_eq!(left, ["busy.json", "busy.json.lock", "new.json", "note.txt"]);
        // Folders other than `.verial/runs` belong to the user.
        let own = home.path().join("runs");
        std::fs::create_dir(&own).unwrap();
        File::create(own.join("data.json")).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        remove_old(&own.join("this.json"));
        assert!(own.join("data.json").exists());
        keep_out_of_git(&runs.join("this.json"));
        assert_eq!(std::fs::read_to_string(home.path().join(".verial/.gitignore")).unwrap(), "*\n");
    }
}
