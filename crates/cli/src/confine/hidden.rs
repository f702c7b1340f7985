//! What a confined agent must not read: the server's data, the criteria, and the user's keys.

use std::path::{Path, PathBuf};

use crate::exit::usage;
use crate::run::journal;
use crate::user_config::UserConfig;

/// The file that identifies a benchmark folder, and the other parts of such a folder.
const BENCHMARK_FILE: &str = "benchmark.yaml";
const BENCHMARK_PARTS: [&str; 3] = [BENCHMARK_FILE, "datasets", "tasks"];

/// How deep to search for benchmark folders below the working directory.
const MAX_DEPTH: usize = 4;
const MAX_FOLDERS: usize = 20_000;
/// Folders of tools, in which no author keeps a benchmark.
const TOOL_FOLDERS: [&str; 7] = [".git", ".venv", "__pycache__", "node_modules", "site-packages", "target", "venv"];

/// Parts of Verial's own source that hold the bundled benchmarks, the reference agents and builds of both.
const CHECKOUT_PARTS: [&str; 4] = ["benchmarks", "crates", "target", ".git"];

/// The files of a run that its agent must not read.
pub(crate) struct Secrets<'a> {
    /// The folder of the local server.
    pub(crate) data: &'a Path,
    pub(crate) journal: &'a Path,
    /// The benchmark folder that is run.
    pub(crate) folder: Option<&'a Path>,
    /// This binary contains the benchmark that is run, with its criteria and a reference agent.
    pub(crate) binary_has_criteria: bool,
    /// Paths that the user wants to hide in addition.
    pub(crate) more: &'a [PathBuf],
}

impl Secrets<'_> {
    /// The canonical paths to hide. Not all of them need to exist.
    pub(crate) fn hidden(&self) -> anyhow::Result<Vec<PathBuf>> {
        let mut hidden = vec![canonical(self.data)];
        hidden.extend([self.journal.to_owned(), journal::lock_of(self.journal), journal::logs_of(self.journal)]);
        if let Some(folder) = UserConfig::path()?.parent() {
            hidden.extend(folder.exists().then(|| folder.to_owned()));
        }
        let working = std::env::current_dir()?;
        hidden.extend(Some(working.join(".verial")).filter(|folder| folder.exists()));
        hidden.extend(benchmarks_around(&working));
        benchmarks_below(&working, &mut hidden);
        // If the agent works inside the folder, only the benchmark's own parts are hidden, as above.
        hidden.extend(self.folder.map(canonical).filter(|folder| !canonical(&working).starts_with(folder)));
        let binary = std::env::current_exe()?;
        hidden.extend(checkout_parts(&working).chain(checkout_parts(&binary)));
        if self.binary_has_criteria {
            hidden.extend(binaries(&binary));
        }
        for path in self.more {
            if !path.exists() {
                return Err(usage(format!("--hide: {} does not exist", path.display())));
            }
            hidden.push(path.clone());
        }
        let mut hidden: Vec<PathBuf> = hidden.iter().map(|path| canonical(path)).collect();
        hidden.sort();
        hidden.dedup_by(|path, before| path.starts_with(before));
        Ok(hidden)
    }
}

/// The path without symbolic links, even if its last part does not exist.
fn canonical(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    absolute.canonicalize().unwrap_or_else(|_| match (absolute.parent(), absolute.file_name()) {
        (Some(parent), Some(name)) => canonical(parent).join(name),
        _ => absolute,
    })
}

/// Benchmark folders around the working directory. Only their benchmark files are hidden, because the agent may be in
/// the folder.
fn benchmarks_around(working: &Path) -> Vec<PathBuf> {
    let around = working.ancestors().filter(|folder| folder.join(BENCHMARK_FILE).is_file());
    around.flat_map(|folder| BENCHMARK_PARTS.map(|part| folder.join(part))).filter(|path| path.exists()).collect()
}

fn benchmarks_below(working: &Path, hidden: &mut Vec<PathBuf>) {
    let mut waiting = vec![(working.to_owned(), 0)];
    let mut seen = 0;
    while let Some((folder, depth)) = waiting.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let is_tools = entry.file_name().to_str().is_some_and(|name| TOOL_FOLDERS.contains(&name));
            if is_tools || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            seen += 1;
            if entry.path().join(BENCHMARK_FILE).is_file() {
                hidden.push(entry.path());
            } else if depth + 1 < MAX_DEPTH && seen < MAX_FOLDERS {
                waiting.push((entry.path(), depth + 1));
            }
        }
    }
}

/// If the path is in a checkout of Verial: the parts that reveal how bundled benchmarks are scored.
fn checkout_parts(path: &Path) -> impl Iterator<Item = PathBuf> {
    let is_checkout = |folder: &&Path| folder.join("crates/agents").is_dir() && folder.join("benchmarks").is_dir();
    let roots = path.ancestors().filter(is_checkout).map(Path::to_owned);
    roots.flat_map(|root| CHECKOUT_PARTS.map(|part| root.join(part))).filter(|path| path.exists())
}

/// This program, others with its name on `PATH`, and its build folder, which contains copies.
#[expect(clippy::disallowed_methods, reason = "PATH is where agents find programs")]
fn binaries(this: &Path) -> Vec<PathBuf> {
    let mut found = vec![this.to_owned()];
    found.extend(this.parent().filter(|folder| folder.join(".fingerprint").is_dir()).map(Path::to_owned));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let named = std::env::split_paths(&path).filter_map(|folder| Some(folder.join(this.file_name()?)));
    found.extend(named.filter(|path| path.is_file()));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn benchmark_folders_are_found_below_and_around() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for path in ["agents/mine", "work/chest/tasks", "node_modules/x/tasks", "a/b/c/d/e/tasks"] {
            std::fs::create_dir_all(root.join(path)).unwrap();
        }
        for path in ["work/chest", "node_modules/x", "a/b/c/d/e"] {
            std::fs::write(root.join(path).join(BENCHMARK_FILE), "").unwrap();
        }
        let mut below = Vec::new();
        benchmarks_below(root, &mut below);
        assert_eq!(below, [root.join("work/chest")]);
        let around = benchmarks_around(&root.join("work/chest/tasks"));
        assert_eq!(around, [root.join("work/chest/benchmark.yaml"), root.join("work/chest/tasks")]);
        assert!(benchmarks_around(&root.join("agents")).is_empty());
    }

    #[test]
    fn a_path_that_does_not_exist_yet_has_its_folders_resolved() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("real")).unwrap();
        std::os::unix::fs::symlink("real", root.join("link")).unwrap();
        assert_eq!(canonical(&root.join("link/not/yet")), root.join("real/not/yet"));
    }
}
