//! Which parts of the file system a confined agent can access.
//!
//! Landlock knows only permissions: one on a folder holds for everything below it, and nothing can be excluded. So a folder
//! with something hidden below it gets no permission itself; its other entries get theirs one by one. In such a folder the
//! agent can use what is there, but it can neither list it nor create new entries.

use std::path::{Path, PathBuf};

/// Folders of `/` that hold the system: they can be read and executed. All others can also be changed, as far as the user
/// may.
const SYSTEM: [&str; 14] =
    ["bin", "boot", "etc", "lib", "lib32", "lib64", "libx32", "nix", "proc", "run", "sbin", "sys", "usr", "var"];

/// Devices that every program may need, and those of graphics processors. Disks, memory and the like stay out of reach,
/// also for root.
const DEVICES: [&str; 11] = ["dri", "full", "kfd", "null", "ptmx", "pts", "random", "shm", "tty", "urandom", "zero"];
const DEVICE_PREFIX: &str = "nvidia";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Access {
    /// Read, list and execute.
    Read,
    /// Also create, change and remove.
    Write,
}

/// A permission on a file, or on a folder and everything below it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Grant {
    pub(super) path: PathBuf,
    pub(super) access: Access,
}

/// `hidden` and `writable` are canonical. `readable` are files that may lie in a hidden folder.
pub(super) fn grants(hidden: &[PathBuf], readable: &[PathBuf], writable: &[PathBuf]) -> Vec<Grant> {
    let mut grants = Vec::new();
    for (name, path) in entries(Path::new("/")) {
        match name.as_str() {
            "dev" => devices(&path, &mut grants),
            name if SYSTEM.contains(&name) => grant_tree(&path, Access::Read, hidden, &mut grants),
            _ => grant_tree(&path, Access::Write, hidden, &mut grants),
        }
    }
    for path in writable {
        grant_tree(path, Access::Write, hidden, &mut grants);
    }
    grants.extend(readable.iter().map(|path| Grant { path: path.clone(), access: Access::Read }));
    grants
}

/// The folders that programs expect to be writable.
#[expect(clippy::disallowed_methods, reason = "these variables are how a system names its folders")]
pub(super) fn writable_folders() -> Vec<PathBuf> {
    let from_variables =
        ["HOME", "XDG_RUNTIME_DIR", "CARGO_HOME"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let temporary = [std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()];
    let working = std::env::current_dir();
    let all = from_variables.chain(temporary).chain(working).filter(|path| path.is_absolute());
    // Ignore `/` as home directory, as in some containers.
    let mut folders: Vec<PathBuf> =
        all.filter_map(|path| path.canonicalize().ok()).filter(|path| path.parent().is_some()).collect();
    folders.sort();
    folders.dedup();
    folders
}

/// Grants access to everything below `path` except what is hidden.
fn grant_tree(path: &Path, access: Access, hidden: &[PathBuf], grants: &mut Vec<Grant>) {
    if hidden.iter().any(|hidden| path.starts_with(hidden)) {
        return;
    }
    if hidden.iter().any(|hidden| hidden.starts_with(path)) {
        entries(path).for_each(|(_, entry)| grant_tree(&entry, access, hidden, grants));
    } else {
        grants.push(Grant { path: path.to_owned(), access });
    }
}

fn devices(folder: &Path, grants: &mut Vec<Grant>) {
    let is_allowed = |name: &str| DEVICES.contains(&name) || name.starts_with(DEVICE_PREFIX);
    let devices = entries(folder).filter(|(name, _)| is_allowed(name));
    grants.extend(devices.map(|(_, path)| Grant { path, access: Access::Write }));
}

/// Without symbolic links: a permission on one would be a permission on its target, which has its own where it lies.
fn entries(folder: &Path) -> impl Iterator<Item = (String, PathBuf)> {
    let all = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let real = all.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
    real.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn granted_paths(root: &Path, hidden: &[&str]) -> Vec<String> {
        let hidden: Vec<PathBuf> = hidden.iter().map(|path| root.join(path)).collect();
        let mut grants = Vec::new();
        grant_tree(root, Access::Write, &hidden, &mut grants);
        let relative = |grant: &Grant| grant.path.strip_prefix(root).unwrap().display().to_string();
        let mut paths: Vec<String> = grants.iter().map(relative).collect();
        paths.sort();
        paths
    }

    #[test]
    fn everything_but_what_is_hidden_is_granted() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for path in ["agent/src", "bench/tasks", "bench/notes", "other"] {
            std::fs::create_dir_all(root.join(path)).unwrap();
        }
        std::fs::write(root.join("agent.py"), "").unwrap();
        // Permissions on links would reach what they point to.
        std::os::unix::fs::symlink("/", root.join("everything")).unwrap();
        std::os::unix::fs::symlink("bench", root.join("alias")).unwrap();
        assert_eq!(granted_paths(&root, &[]), [""]);
        assert_eq!(granted_paths(&root, &["elsewhere/deep"]), ["agent", "agent.py", "bench", "other"]);
        assert_eq!(granted_paths(&root, &["bench"]), ["agent", "agent.py", "other"]);
        assert_eq!(granted_paths(&root, &["bench/tasks"]), ["agent", "agent.py", "bench/notes", "other"]);
        assert_eq!(granted_paths(&root, &["bench/tasks", "bench"]), ["agent", "agent.py", "other"]);
        assert!(granted_paths(&root, &[""]).is_empty());
    }

    #[test]
    fn a_writable_folder_inside_a_hidden_one_stays_hidden() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("hidden/inner")).unwrap();
        let grants = grants(&[root.join("hidden")], &[], &[root.join("hidden/inner")]);
        assert!(grants.iter().all(|grant| !root.join("hidden/inner").starts_with(&grant.path)), "{grants:?}");
    }

    #[test]
    fn agents_cannot_access_disks_and_memory() {
        let grants = grants(&[], &[], &[]);
        let has = |path: &str| grants.iter().any(|grant| Path::new(path).starts_with(&grant.path));
        assert!(has("/dev/null") && has("/usr/bin/env") && has("/proc/self/status"));
        for device in ["/dev/mem", "/dev/sda", "/dev/vda", "/dev/nvme0n1", "/dev/kmsg"] {
            assert!(!has(device), "{device}");
        }
        let is_changed =
            |path: &str| grants.iter().any(|grant| grant.path == Path::new(path) && grant.access == Access::Write);
        assert!(!is_changed("/proc") && !is_changed("/sys") && !is_changed("/etc"));
    }
}
