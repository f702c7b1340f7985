//! The benchmark to run: a version on a server, or a folder that is uploaded to the local server as a draft.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context;
use authoring::{Folder, source};
use serde_json::Value;

use super::arguments::RunArgs;
use super::runner::RunCreator;
use crate::exit::usage;
use crate::folders::eprint_finding;
use crate::local_server;

/// The benchmark as given on the command line.
pub(super) enum Target {
    /// `slug@version`.
    Version(String),
    Folder {
        path: PathBuf,
        folder: Box<Folder>,
    },
}

/// The benchmark as the server has it.
pub(super) struct ResolvedTarget {
    /// `slug@version`, or the slug of a folder.
    pub(super) name: String,
    /// The id of the draft that was created from a folder.
    pub(super) draft: Option<String>,
    /// The axes of its criteria and its number of tasks, if known.
    pub(super) axis_names: Option<BTreeSet<String>>,
    pub(super) tasks: Option<usize>,
    /// The tasks that can be selected; empty if not known.
    pub(super) selectable: Vec<SelectableTask>,
}

/// The properties of a task that `--task` and `--tag` select by.
pub(super) struct SelectableTask {
    /// `None` for a task of a folder, which has no ids yet.
    id: Option<String>,
    name: String,
    tags: Vec<String>,
}

impl ResolvedTarget {
    /// How many tasks the arguments select, if known.
    pub(super) fn selected(&self, arguments: &RunArgs) -> Option<usize> {
        let (names, tags) = (&arguments.tasks, &arguments.tags);
        if names.is_empty() && tags.is_empty() {
            return self.tasks;
        }
        let is_selected = |task: &&SelectableTask| {
            let is_named = |name: &String| *name == task.name || task.id.as_ref() == Some(name);
            (names.is_empty() || names.iter().any(is_named))
                && (tags.is_empty() || tags.iter().any(|tag| task.tags.contains(tag)))
        };
        let is_known = !self.selectable.is_empty();
        is_known.then(|| self.selectable.iter().filter(is_selected).count())
    }
}

impl Target {
    /// Reads the folder, if it is one: its errors are reported before a server is started.
    pub(super) fn of(arguments: &RunArgs) -> anyhow::Result<Option<Self>> {
        let Some(named) = &arguments.benchmark else { return Ok(None) };
        let path = Path::new(named);
        if !is_folder(path) {
            return Ok(Some(Target::Version(named.clone())));
        }
        if !arguments.local {
            return Err(usage(format!(
                "`{named}` is a folder: add --local to run it here without publishing it, or publish it by \
                 `verial benchmarks push {named}` and run slug@version"
            )));
        }
        let folder = Box::new(authoring::read(&source::read_directory(path)?)?);
        authoring::lint_or_fail(&folder)?;
        Ok(Some(Target::Folder { path: path.to_owned(), folder }))
    }

    pub(super) fn folder(&self) -> Option<&Path> {
        match self {
            Target::Version(_) => None,
            Target::Folder { path, .. } => Some(path),
        }
    }

    /// Uploads it to the local server, if there is one, and reads its properties.
    pub(super) async fn load(&self, arguments: &RunArgs, creator: &RunCreator) -> anyhow::Result<ResolvedTarget> {
        match self {
            Target::Folder { folder, .. } => push(folder, creator).await,
            Target::Version(reference) => {
                let reference = if arguments.local {
                    load_bundled(arguments, reference, creator).await?
                } else {
                    reference.clone()
                };
                Ok(lookup(creator, &reference).await)
            }
        }
    }
}

/// Whether a path is a benchmark folder. A slug can also be the name of an unrelated folder.
fn is_folder(path: &Path) -> bool {
    let is_path = path.components().count() > 1 || path.starts_with(".") || path.starts_with("..");
    path.is_dir() && (is_path || path.join("benchmark.yaml").is_file())
}

async fn push(folder: &Folder, creator: &RunCreator) -> anyhow::Result<ResolvedTarget> {
    let pushed = authoring::push(creator.client(), folder, false).await?;
    pushed.warnings.iter().filter(|one| one.severity == authoring::Severity::Warning).for_each(eprint_finding);
    let expanded = authoring::expand(folder).map_err(authoring::Error::Findings)?;
    let selectable =
        |(_, task): (String, authoring::folder::Task)| SelectableTask { id: None, name: task.name, tags: task.tags };
    let criteria = folder.tasks.iter().flat_map(|(_, task)| &task.criteria);
    let axis = |criterion: &authoring::folder::Criterion| match &criterion.axis {
        Some(axis) => axis.clone(),
        None => model::score::DEFAULT_AXIS.to_owned(),
    };
    Ok(ResolvedTarget {
        name: pushed.slug,
        draft: Some(pushed.benchmark_id),
        axis_names: Some(criteria.map(axis).collect()),
        tasks: Some(pushed.tasks),
        selectable: expanded.into_iter().map(selectable).collect(),
    })
}

/// Loads a bundled benchmark, which may be named without its version.
async fn load_bundled(arguments: &RunArgs, reference: &str, creator: &RunCreator) -> anyhow::Result<String> {
    let (slug, version) = reference.split_once('@').map_or((reference, None), |(slug, version)| (slug, Some(version)));
    let bundled = agents::bundled::slugs();
    let is_bundled = bundled.contains(&slug);
    if !is_bundled && arguments.data.is_none() {
        return Err(usage(format!(
            "`{slug}` is neither a folder with a benchmark.yaml nor a bundled benchmark; bundled are {}",
            bundled.join(", ")
        )));
    }
    let loaded = local_server::load_benchmarks(creator.client(), Some(slug), |_| ()).await;
    loaded.context("cannot load the bundled benchmarks")?;
    if version.is_some() || !is_bundled {
        return Ok(reference.to_owned());
    }
    let folder = authoring::read(&agents::bundled::files(slug)).with_context(|| slug.to_owned())?;
    Ok(format!("{slug}@{}", folder.benchmark.version.unwrap_or(1)))
}

/// Looks up a version on the server. Errors are ignored here; creating the run reports them.
pub(super) async fn lookup(creator: &RunCreator, reference: &str) -> ResolvedTarget {
    let version: Option<Value> = match creator {
        RunCreator::Solver(client) => client.runnable_version(reference).await.ok(),
        RunCreator::Organization(client, _) => {
            client.get(&format!("/benchmarks/{}", client::segment(reference, false))).await.ok()
        }
    };
    let names = version.as_ref().and_then(|version| version["axis_names"].as_array());
    let axis_names = names.map(|names| names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect());
    let tasks = version.as_ref().and_then(|version| match &version["tasks"] {
        Value::Array(tasks) => Some(tasks.len()),
        count => count.as_u64().and_then(|count| usize::try_from(count).ok()),
    });
    let listed = version.as_ref().and_then(|version| version["tasks"].as_array()).into_iter().flatten();
    let selectable = listed.map(|task| SelectableTask {
        id: task["id"].as_str().map(str::to_owned),
        name: task["name"].as_str().unwrap_or_default().to_owned(),
        tags: task["tags"].as_array().into_iter().flatten().filter_map(|tag| tag.as_str().map(str::to_owned)).collect(),
    });
    let selectable = selectable.collect();
    ResolvedTarget { name: reference.to_owned(), draft: None, axis_names, tasks, selectable }
}
