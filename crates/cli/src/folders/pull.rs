//! `verial benchmarks pull`: downloads a benchmark as files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context;
use authoring::source::{self, Files};
use clap::Args;
use model::slug::VersionRef;
use serde_json::json;

use super::schema;
use crate::auth::Connection;
use crate::block_on;
use crate::output::text::{counted, sanitize};
use crate::output::{OutputFormat, print, print_wrapped};
use crate::resources::slugs;

#[derive(Args)]
pub(crate) struct Pull {
    #[command(flatten)]
    connection: Connection,
    /// The current draft (slug or bench_…) or a published version (slug@version)
    benchmark: String,
    /// The target folder; default: its slug
    folder: Option<PathBuf>,
    /// Overwrite existing files, and remove task files that the benchmark does not have
    #[arg(long)]
    force: bool,
}

pub(super) fn pull(arguments: &Pull, format: &OutputFormat) -> anyhow::Result<()> {
    let client = arguments.connection.client()?;
    let version = arguments.benchmark.parse::<VersionRef>().ok();
    let slug = match &version {
        Some(reference) => reference.slug.clone(),
        None => block_on(slugs::own_slug(&client, &arguments.benchmark))?,
    };
    let target = arguments.folder.clone().unwrap_or_else(|| PathBuf::from(&slug));
    super::check_empty(&target, arguments.force.then_some(()).ok_or("--force overwrites its files"))?;
    let folder = block_on(async {
        Ok(match &version {
            Some(reference) => authoring::pull_version(&client, reference).await?,
            None => authoring::pull(&client, &slug).await?,
        })
    })?;
    let files = authoring::write(&folder);
    let extra_tasks = find_extra_tasks(&target, &files)?;
    source::write_directory(&target, &schema::with_schemas(files))?;
    remove(&target, &extra_tasks)?;
    let (path_text, tasks, datasets) = (target.display().to_string(), count_tasks(&folder), folder.datasets.len());
    let output =
        json!({"folder": path_text, "slug": slug, "tasks": tasks, "datasets": datasets, "removed": extra_tasks});
    format.print(&output, |_| {
        print(format_args!("{path_text}: {}, {}.", counted(tasks, "task"), counted(datasets, "dataset")));
        let say_removed = |path| print_wrapped(&sanitize(&format!("Removed {path}: {slug} has no such task.")));
        extra_tasks.iter().for_each(say_removed);
    })
}

/// The number of tasks: a file with `each` has several.
fn count_tasks(folder: &authoring::Folder) -> usize {
    folder.tasks.iter().map(|(_, task)| task.each.len().max(1)).sum()
}

/// Task files of the target folder that are not among the pulled files, and would become tasks of the benchmark.
fn find_extra_tasks(target: &Path, files: &Files) -> anyhow::Result<BTreeSet<String>> {
    // Without benchmark.yaml this is not a benchmark folder, and `tasks` is something else.
    let is_folder = target.join("benchmark.yaml").is_file();
    let tasks = target.join("tasks");
    if !is_folder || !tasks.is_dir() {
        return Ok(BTreeSet::new());
    }
    let mut extra_tasks = BTreeSet::new();
    for entry in std::fs::read_dir(&tasks).with_context(|| tasks.display().to_string())? {
        let entry = entry?;
        // Task file names are valid UTF-8.
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = format!("tasks/{name}");
        let is_task = entry.file_type()?.is_file() && name.ends_with(".yaml") && !name.starts_with('.');
        if is_task && !files.contains_key(&path) {
            extra_tasks.insert(path);
        }
    }
    Ok(extra_tasks)
}

fn remove(target: &Path, paths: &BTreeSet<String>) -> anyhow::Result<()> {
    for path in paths {
        let path = target.join(path);
        std::fs::remove_file(&path).with_context(|| path.display().to_string())?;
    }
    Ok(())
}
