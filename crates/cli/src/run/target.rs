//! What is run: a version on a server, or a benchmark folder that is put on the local server as a draft.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context;
use authoring::{Folder, source};
use serde_json::Value;

use super::arguments::Arguments;
use super::drive::Asker;
use crate::exit::usage;
use crate::folders::tell_finding;
use crate::local;

/// As the command line names it.
pub(super) enum Target {
    /// `slug@version`.
    Version(String),
    Folder {
        path: PathBuf,
        folder: Box<Folder>,
    },
}

/// As the server has it.
pub(super) struct Runnable {
    /// `slug@version`; of a folder its slug.
    pub(super) name: String,
    /// The id of the draft that a folder has become.
    pub(super) draft: Option<String>,
    /// The axes of its criteria and how many tasks it has, where that is known.
    pub(super) axis_names: Option<BTreeSet<String>>,
    pub(super) tasks: Option<usize>,
}

impl Target {
    /// Reads the folder, if it is one: its errors are reported before a server is started.
    pub(super) fn of(arguments: &Arguments) -> anyhow::Result<Option<Self>> {
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
        let folder = Box::new(authoring::read(&source::directory(path)?)?);
        Ok(Some(Target::Folder { path: path.to_owned(), folder }))
    }

    pub(super) fn folder(&self) -> Option<&Path> {
        match self {
            Target::Version(_) => None,
            Target::Folder { path, .. } => Some(path),
        }
    }

    /// Puts it on the local server, if there is one, and reads what is known about it.
    pub(super) async fn load(&self, arguments: &Arguments, asker: &Asker) -> anyhow::Result<Runnable> {
        match self {
            Target::Folder { folder, .. } => push(folder, asker).await,
            Target::Version(reference) => {
                let reference =
                    if arguments.local { load_bundled(arguments, reference, asker).await? } else { reference.clone() };
                Ok(known(asker, &reference).await)
            }
        }
    }
}

/// A slug could be the name of a folder by chance: only one with a benchmark in it is meant.
fn is_folder(path: &Path) -> bool {
    let is_path = path.components().count() > 1 || path.starts_with(".") || path.starts_with("..");
    path.is_dir() && (is_path || path.join("benchmark.yaml").is_file())
}

async fn push(folder: &Folder, asker: &Asker) -> anyhow::Result<Runnable> {
    let pushed = authoring::push(asker.client(), folder, false).await?;
    pushed.warnings.iter().filter(|one| one.severity == authoring::Severity::Warning).for_each(tell_finding);
    let criteria = folder.tasks.iter().flat_map(|(_, task)| &task.criteria);
    let axis = |criterion: &authoring::folder::Criterion| match &criterion.axis {
        Some(axis) => axis.clone(),
        None => model::score::DEFAULT_AXIS.to_owned(),
    };
    Ok(Runnable {
        name: pushed.slug,
        draft: Some(pushed.benchmark_id),
        axis_names: Some(criteria.map(axis).collect()),
        tasks: Some(pushed.tasks),
    })
}

/// A bundled benchmark may be named without its version.
async fn load_bundled(arguments: &Arguments, reference: &str, asker: &Asker) -> anyhow::Result<String> {
    let (slug, version) = reference.split_once('@').map_or((reference, None), |(slug, version)| (slug, Some(version)));
    let bundled = agents::bundled::slugs();
    let is_bundled = bundled.contains(&slug);
    if !is_bundled && arguments.data.is_none() {
        return Err(usage(format!(
            "`{slug}` is neither a folder with a benchmark.yaml nor a bundled benchmark: those are {}",
            bundled.join(", ")
        )));
    }
    let loaded = local::load_benchmarks(asker.client(), Some(slug), |_| ()).await;
    loaded.context("cannot load the bundled benchmarks")?;
    if version.is_some() || !is_bundled {
        return Ok(reference.to_owned());
    }
    let folder = authoring::read(&agents::bundled::files(slug)).with_context(|| slug.to_owned())?;
    Ok(format!("{slug}@{}", folder.benchmark.version.unwrap_or(1)))
}

/// What the server says about a version. An error is reported when the run is created, which asks for it again.
pub(super) async fn known(asker: &Asker, reference: &str) -> Runnable {
    let answer: Option<Value> = match asker {
        Asker::Solver(client) => client.runnable_version(reference).await.ok(),
        Asker::Organization(client, _) => {
            client.get(&format!("/benchmarks/{}", client::segment(reference, false))).await.ok()
        }
    };
    let names = answer.as_ref().and_then(|version| version["axis_names"].as_array());
    let axis_names = names.map(|names| names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect());
    let tasks = answer.as_ref().and_then(|version| match &version["tasks"] {
        Value::Array(tasks) => Some(tasks.len()),
        count => count.as_u64().and_then(|count| usize::try_from(count).ok()),
    });
    Runnable { name: reference.to_owned(), draft: None, axis_names, tasks }
}
