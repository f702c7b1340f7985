//! `verial benchmarks init | lint | push | pull`: benchmarks as folders of files.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use authoring::{Finding, Severity, lint, source};
use clap::Args;

use crate::auth::Connection;
use crate::block_on;
use crate::output::say;

#[derive(Args)]
pub(crate) struct Lint {
    /// The benchmark's folder
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// Warnings count as faults too
    #[arg(long)]
    strict: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(crate) struct Push {
    #[command(flatten)]
    connection: Connection,
    /// The benchmark's folder
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// Leave it as a draft
    #[arg(long)]
    no_publish: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(crate) struct Pull {
    #[command(flatten)]
    connection: Connection,
    /// The benchmark's slug
    slug: String,
    /// Where its folder is to be; its slug without it
    folder: Option<PathBuf>,
    /// Write over files that are there
    #[arg(long)]
    force: bool,
}

#[derive(Args)]
pub(crate) struct Init {
    /// The new folder; its name becomes the slug
    folder: PathBuf,
}

pub(crate) fn lint_folder(arguments: &Lint) -> anyhow::Result<()> {
    let findings = match authoring::read(&source::directory(&arguments.folder)?) {
        Ok(folder) => lint(&folder),
        Err(authoring::Error::Faults(findings)) => findings,
        Err(other) => return Err(other.into()),
    };
    if arguments.json {
        say(serde_json::to_string(&findings)?);
    } else {
        findings.iter().for_each(say);
    }
    let counts = |finding: &&Finding| arguments.strict || finding.severity == Severity::Error;
    match findings.iter().filter(counts).count() {
        0 if arguments.json => Ok(()),
        0 => {
            say(format!("{} is sound.", arguments.folder.display()));
            Ok(())
        }
        count => Err(crate::exit::no(format!("{count} faults"))),
    }
}

pub(crate) fn push(arguments: &Push) -> anyhow::Result<()> {
    let folder = authoring::read(&source::directory(&arguments.folder)?)?;
    let client = arguments.connection.client()?;
    let pushed = block_on(async { Ok(authoring::push(&client, &folder, !arguments.no_publish).await?) })?;
    if arguments.json {
        say(serde_json::to_string(&pushed)?);
        return Ok(());
    }
    pushed.warnings.iter().for_each(say);
    let content = format!("{} tasks, {} criteria", pushed.tasks, pushed.criteria);
    match (pushed.version, pushed.unchanged) {
        (Some(version), false) => say(format!("Published {}@{version}: {content}.", pushed.slug)),
        (Some(version), true) => say(format!("Nothing new: this is {}@{version}.", pushed.slug)),
        (None, _) => say(format!("Pushed {} as a draft: {content}.", pushed.slug)),
    }
    Ok(())
}

pub(crate) fn pull(arguments: &Pull) -> anyhow::Result<()> {
    let target = arguments.folder.clone().unwrap_or_else(|| PathBuf::from(&arguments.slug));
    check_free(&target, arguments.force)?;
    let client = arguments.connection.client()?;
    let folder = block_on(async { Ok(authoring::pull(&client, &arguments.slug).await?) })?;
    source::save(&target, &authoring::write(&folder))?;
    say(format!("{}: {} tasks, {} datasets.", target.display(), folder.tasks.len(), folder.datasets.len()));
    Ok(())
}

fn check_free(target: &Path, force: bool) -> anyhow::Result<()> {
    let is_used = std::fs::read_dir(target).is_ok_and(|mut entries| entries.next().is_some());
    if is_used && !force {
        bail!("{} is not empty; --force writes over its files", target.display());
    }
    Ok(())
}

/// A small benchmark that works, to begin with.
pub(crate) fn init(arguments: &Init) -> anyhow::Result<()> {
    let target = &arguments.folder;
    check_free(target, false)?;
    let name = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let slug = model::slug::from_name(&name)
        .with_context(|| format!("`{name}` cannot become a slug: use letters and digits"))?;
    let files =
        STARTER.iter().map(|(path, text)| ((*path).to_owned(), text.replace("SLUG", &slug).into_bytes())).collect();
    source::save(target, &files)?;
    let shown = target.display();
    say(format!(
        "{shown} has a benchmark with one task. Next: verial benchmarks lint {shown}, then verial benchmarks push {shown}"
    ));
    Ok(())
}

const STARTER: [(&str, &str); 4] = [
    ("benchmark.yaml", include_str!("folders/benchmark.yaml")),
    ("datasets/chart/dataset.yaml", include_str!("folders/dataset.yaml")),
    ("datasets/chart/data.ndjson", include_str!("folders/data.ndjson")),
    ("tasks/10-order.yaml", include_str!("folders/task.yaml")),
];
