//! `verial benchmarks init | lint | push | pull | audit`: benchmarks as folders of files.

pub(crate) mod bounds;
mod starter;

use std::path::{Path, PathBuf};
use std::time::Duration;

use agents::audit::Depth;
use agents::guess::{Asked, guesses};
use authoring::{Finding, Severity, lint, source};
use clap::{ArgMatches, Args, FromArgMatches, Subcommand};
use model::slug::VersionRef;
use serde_json::{Value, json};

use crate::audit::CommandAgent;
use crate::auth::Connection;
use crate::output::table::Cell;
use crate::output::{Style, Table, say, say_json};
use crate::{block_on, exit};
use bounds::How;

/// What the group of benchmarks can do beside single calls.
#[derive(Subcommand)]
pub(crate) enum FolderCommand {
    /// Make a folder with a small benchmark that works, to begin with
    Init(starter::Init),
    /// Tell what is wrong with a benchmark's folder, without a server
    Lint(Lint),
    /// Put a benchmark's folder on the server and publish it
    Push(Push),
    /// Take a benchmark from the server into a folder
    Pull(Pull),
    /// See that a benchmark cannot be gamed: agents that must not score, the reference, and near misses of it
    Audit(Audit),
}

pub(crate) fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    match FolderCommand::from_arg_matches(matches)? {
        FolderCommand::Init(arguments) => starter::init(&arguments),
        FolderCommand::Lint(arguments) => lint_folder(&arguments),
        FolderCommand::Push(arguments) => push(&arguments),
        FolderCommand::Pull(arguments) => pull(&arguments),
        FolderCommand::Audit(arguments) => audit(&arguments),
    }
}

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
    /// Audit what is published, here, and keep its floor and ceiling with the version
    #[arg(long, conflicts_with = "no_publish")]
    audit: bool,
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
pub(crate) struct Audit {
    #[command(flatten)]
    connection: Connection,
    /// The benchmark's folder, the slug of a bundled one, or slug@version of your own on the server
    #[arg(default_value = ".")]
    benchmark: String,
    /// Of slug@version: keep nothing on the server
    #[arg(long)]
    no_store: bool,
    /// The command of an agent that does the work, run by `sh -c` once per task; near misses of it are made on the way to
    /// the server
    #[arg(long, value_name = "COMMAND")]
    agent: Option<String>,
    /// Seconds for each agent; else until the task's deadline
    #[arg(long, value_name = "SECONDS", requires = "agent", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// Every near miss and every other way, not one in four
    #[arg(long)]
    full: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Audit {
    /// Within the runtime, which tells of interruptions.
    fn how(&self) -> anyhow::Result<How> {
        let timeout = self.timeout.map(Duration::from_secs);
        let agent = self.agent.as_deref().map(|command| CommandAgent::new(command, timeout)).transpose()?;
        Ok(How { depth: if self.full { Depth::Full } else { How::default().depth }, agent })
    }
}

/// On a server of its own, which is gone afterwards. Of a version on the user's server, floor and ceiling are kept there.
fn audit(arguments: &Audit) -> anyhow::Result<()> {
    let path = Path::new(&arguments.benchmark);
    if let (false, Ok(reference)) = (path.is_dir(), arguments.benchmark.parse::<VersionRef>()) {
        return audit_version(arguments, &reference);
    }
    let files = if path.is_dir() { source::directory(path)? } else { agents::bundled::files(&arguments.benchmark) };
    if files.is_empty() {
        let slugs = agents::bundled::slugs().join(", ");
        let words = format!(
            "`{}` is no folder, no slug@version, and no bundled benchmark: those are {slugs}",
            arguments.benchmark
        );
        return Err(exit::usage(words));
    }
    let folder = authoring::read(&files)?;
    let audit = block_on(async { bounds::audited(&folder, None, &arguments.how()?).await })?;
    show_audit(&folder, &audit, None, arguments.json)
}

fn audit_version(arguments: &Audit, reference: &VersionRef) -> anyhow::Result<()> {
    let client = arguments.connection.client()?;
    let (folder, audit, kept) = block_on(async {
        let version: Value = client.get(&format!("/benchmarks/{reference}")).await?;
        let folder = authoring::pull(&client, &reference.slug).await?;
        let audit = bounds::audited(&folder, Some(&version), &arguments.how()?).await?;
        if arguments.no_store {
            return Ok((folder, audit, None));
        }
        bounds::keep(&client, &version, &audit.record()).await?;
        Ok((folder, audit, Some(reference.to_string())))
    })?;
    show_audit(&folder, &audit, kept.as_deref(), arguments.json)
}

/// `kept` is the version that it is kept with.
fn show_audit(
    folder: &authoring::Folder,
    audit: &agents::audit::Audit,
    kept: Option<&str>,
    as_json: bool,
) -> anyhow::Result<()> {
    let (slug, guesses) = (&folder.benchmark.slug, guesses(&asked(folder)));
    let audit = agents::audit::Audit { guesses, ..audit.clone() };
    let criteria = audit.criteria();
    if as_json {
        say_json(&summary(slug, &audit, kept, &criteria));
    } else {
        say(table(&criteria).render(Style::of_stdout()));
        say(in_words(&audit));
        if let Some(kept) = kept {
            say(format_args!("Floor and ceiling are kept with {kept}."));
        }
    }
    let is_free = |row: &&Value| row["nothing"] == true || row["reference"] == false;
    match criteria.iter().filter(is_free).count() {
        0 => Ok(()),
        count => Err(exit::no(format!("{count} criteria are passed by doing nothing, or failed by the reference"))),
    }
}

fn summary(slug: &str, audit: &agents::audit::Audit, kept: Option<&str>, criteria: &[Value]) -> Value {
    let ((told, near), (grave_told, grave), (accepted, ways)) = (audit.told(), audit.told_grave(), audit.accepted());
    let (weak, checks, tasks) = audit.weak();
    json!({"benchmark": slug, "kept_with": kept, "floor": audit.floor(), "ceiling": audit.ceiling(),
        "near_misses": {"told": told, "of": near}, "grave_near_misses": {"told": grave_told, "of": grave},
        "other_ways": {"accepted": accepted, "of": ways}, "weak_checks": {"count": weak, "of": checks},
        "tasks_to_guess": tasks, "passed_near_misses": audit.passed(), "refused_ways": audit.refused(),
        "criteria": criteria})
}

fn table(criteria: &[Value]) -> Table {
    let mut table = Table::new(["TASK", "CRITERION", "NOTHING", "SPRAY", "REFERENCE", "NEAR MISSES FAIL IT", "BITS"]);
    for row in criteria {
        let word =
            |name: &str| row[name].as_bool().map_or("-", |passed| if passed { "pass" } else { "fail" }).to_owned();
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let failed = format!("{} of {}", row["failed_by"], row["near_misses"]);
        let bits = match (row["bits"].as_f64(), row["weak"] == true) {
            (None, _) => "guard".to_owned(),
            (Some(bits), true) => format!("{bits:.0} weak"),
            (Some(bits), false) => format!("{bits:.0}"),
        };
        let cells = [text("task"), text("criterion"), word("nothing"), word("spray"), word("reference"), failed, bits];
        table.row(cells.into_iter().map(Cell::new).collect());
    }
    table
}

fn in_words(audit: &agents::audit::Audit) -> String {
    let Some(ceiling) = audit.ceiling() else {
        let (weak, checks, _) = audit.weak();
        return format!(
            "floor {:.2}, {weak} of {checks} checks weak\nNo reference agent: give yours with --agent to see the ceiling and near misses of it.",
            audit.floor()
        );
    };
    let ((told, near), (accepted, ways), (weak, checks, _)) = (audit.told(), audit.accepted(), audit.weak());
    let mut lines: Vec<String> = audit.passed().iter().map(|passed| format!("passes: {passed}")).collect();
    lines.extend(audit.refused().iter().map(|refused| format!("refused: {refused}")));
    lines.push(format!(
        "floor {:.2}, ceiling {ceiling:.2}, {told} of {near} near misses told, {accepted} of {ways} other ways accepted, {weak} of \
         {checks} checks weak",
        audit.floor()
    ));
    lines.join("\n")
}

/// Tasks as an agent that only reads them would see them, with what is wanted.
fn asked(folder: &authoring::Folder) -> Vec<Asked> {
    let tasks = authoring::expand(folder).unwrap_or_default();
    let bound = tasks.iter().filter_map(|(_, task)| authoring::bound(folder, task).ok());
    bound.map(|(item, assertions)| Asked { item, assertions }).collect()
}

fn lint_folder(arguments: &Lint) -> anyhow::Result<()> {
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
        1 => Err(exit::no("1 fault")),
        count => Err(exit::no(format!("{count} faults"))),
    }
}

fn push(arguments: &Push) -> anyhow::Result<()> {
    let folder = authoring::read(&source::directory(&arguments.folder)?)?;
    let client = arguments.connection.client()?;
    let pushed = block_on(async { Ok(authoring::push(&client, &folder, !arguments.no_publish).await?) })?;
    show_pushed(arguments, &pushed)?;
    match pushed.version {
        Some(version) if arguments.audit => {
            let reference = VersionRef { slug: pushed.slug, version: i64::try_from(version)? };
            let audit = block_on(async {
                let version: Value = client.get(&format!("/benchmarks/{reference}")).await?;
                let audit = bounds::audited(&folder, Some(&version), &How::default()).await?;
                bounds::keep(&client, &version, &audit.record()).await?;
                Ok(audit)
            })?;
            show_audit(&folder, &audit, Some(&reference.to_string()), arguments.json)
        }
        _ => Ok(()),
    }
}

fn show_pushed(arguments: &Push, pushed: &authoring::Pushed) -> anyhow::Result<()> {
    if arguments.json {
        say(serde_json::to_string(pushed)?);
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

fn pull(arguments: &Pull) -> anyhow::Result<()> {
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
        return Err(exit::usage(format!("{} is not empty; --force writes over its files", target.display())));
    }
    Ok(())
}
