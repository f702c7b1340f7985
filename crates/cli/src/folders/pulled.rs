//! `verial benchmarks pull`: a benchmark of the server as files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context;
use authoring::source::{self, Files};
use clap::Args;
use serde_json::json;

use super::schemas;
use crate::auth::Connection;
use crate::block_on;
use crate::output::text::{counted, harmless};
use crate::output::{Form, say, say_wrapped};
use crate::resources::slugs;

#[derive(Args)]
pub(crate) struct Pull {
    #[command(flatten)]
    connection: Connection,
    /// The benchmark: its slug or bench_…
    benchmark: String,
    /// Where its folder is to be; its slug without it
    folder: Option<PathBuf>,
    /// Write over files that are there, and remove task files of the folder that the benchmark does not have
    #[arg(long)]
    force: bool,
}

pub(super) fn pull(arguments: &Pull, form: &Form) -> anyhow::Result<()> {
    let client = arguments.connection.client()?;
    let slug = block_on(slugs::own(&client, &arguments.benchmark))?;
    let target = arguments.folder.clone().unwrap_or_else(|| PathBuf::from(&slug));
    super::check_free(&target, arguments.force.then_some(()).ok_or("--force writes over its files"))?;
    let folder = block_on(async { Ok(authoring::pull(&client, &slug).await?) })?;
    let files = authoring::write(&folder);
    let others = other_tasks(&target, &files)?;
    source::save(&target, &schemas::with_schemas(files))?;
    remove(&target, &others)?;
    let (shown, tasks, datasets) = (target.display().to_string(), tasks_of(&folder), folder.datasets.len());
    let answer = json!({"folder": shown, "slug": slug, "tasks": tasks, "datasets": datasets, "removed": others});
    form.print(&answer, |_| {
        say(format_args!("{shown}: {}, {}.", counted(tasks, "task"), counted(datasets, "dataset")));
        let say_removed = |path| say_wrapped(&harmless(&format!("Removed {path}: {slug} has no such task.")));
        others.iter().for_each(say_removed);
    })
}

/// One file can stand for several.
fn tasks_of(folder: &authoring::Folder) -> usize {
    folder.tasks.iter().map(|(_, task)| task.each.len().max(1)).sum()
}

/// Task files of a folder that are not among the files: beside those, they would be tasks of the benchmark too.
fn other_tasks(target: &Path, files: &Files) -> anyhow::Result<BTreeSet<String>> {
    // Without it this is no benchmark's folder, and what is below `tasks` is something else.
    let is_folder = target.join("benchmark.yaml").is_file();
    let tasks = target.join("tasks");
    if !is_folder || !tasks.is_dir() {
        return Ok(BTreeSet::new());
    }
    let mut others = BTreeSet::new();
    for entry in std::fs::read_dir(&tasks).with_context(|| tasks.display().to_string())? {
        let entry = entry?;
        // A name that is no text is none that a folder's reader would take for a task.
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = format!("tasks/{name}");
        let is_task = entry.file_type()?.is_file() && name.ends_with(".yaml") && !name.starts_with('.');
        if is_task && !files.contains_key(&path) {
            others.insert(path);
        }
    }
    Ok(others)
}

fn remove(target: &Path, paths: &BTreeSet<String>) -> anyhow::Result<()> {
    for path in paths {
        let path = target.join(path);
        std::fs::remove_file(&path).with_context(|| path.display().to_string())?;
    }
    Ok(())
}
