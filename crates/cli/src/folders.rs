//! `verial benchmarks init | lint | push | pull`: benchmarks as folders of files.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agents::Ours;
use agents::audit::Depth;
use agents::guess::{Asked, guesses};
use anyhow::Context;
use authoring::{Finding, Severity, lint, source};
use clap::{ArgMatches, Args, FromArgMatches, Subcommand};
use serde_json::{Value, json};

use crate::audit::CommandAgent;
use crate::auth::Connection;
use crate::local::Local;
use crate::output::table::Cell;
use crate::output::{Style, Table, say, say_json, tell};
use crate::{block_on, exit};

/// What the group of benchmarks can do beside single calls.
#[derive(Subcommand)]
pub(crate) enum FolderCommand {
    /// Make a folder with a small benchmark that works, to begin with
    Init(Init),
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
        FolderCommand::Init(arguments) => init(&arguments),
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

#[derive(Args)]
pub(crate) struct Audit {
    /// The benchmark's folder, or the slug of a bundled one
    #[arg(default_value = ".")]
    benchmark: String,
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

/// On a server of its own, which is gone afterwards.
fn audit(arguments: &Audit) -> anyhow::Result<()> {
    let files = match Path::new(&arguments.benchmark) {
        path if path.is_dir() => source::directory(path)?,
        _ => agents::bundled::files(&arguments.benchmark),
    };
    if files.is_empty() {
        let slugs = agents::bundled::slugs().join(", ");
        let words = format!("`{}` is no folder, and no bundled benchmark: those are {slugs}", arguments.benchmark);
        return Err(exit::usage(words));
    }
    let folder = authoring::read(&files)?;
    let audit = block_on(async {
        let local = Local::start(None, SocketAddr::from(([127, 0, 0, 1], 0))).await?;
        let client = local.client()?;
        let pushed = authoring::push(&client, &folder, true).await?;
        let reference = format!("{}@{}", pushed.slug, pushed.version.unwrap_or(1));
        let told = |what: &str| tell(format_args!("  {what}"));
        let depth = if arguments.full { Depth::Full } else { Depth::OneIn(4) };
        let audit = match &arguments.agent {
            Some(command) => {
                let agent = CommandAgent::new(command, arguments.timeout.map(Duration::from_secs))?;
                agents::audit::audit(&client, &reference, Some(&agent), depth, told).await
            }
            None => {
                let ours = agents::has_reference(&reference).then_some(&Ours);
                agents::audit::audit(&client, &reference, ours, depth, told).await
            }
        };
        local.stop().await;
        audit
    })?;
    let audit = agents::audit::Audit { guesses: guesses(&asked(&folder)), ..audit };
    show_audit(arguments, &folder.benchmark.slug, &audit)
}

fn show_audit(arguments: &Audit, slug: &str, audit: &agents::audit::Audit) -> anyhow::Result<()> {
    let criteria = audit.criteria();
    if arguments.json {
        say_json(&summary(slug, audit, &criteria));
    } else {
        say(table(&criteria).render(Style::of_stdout()));
        say(in_words(audit));
    }
    let is_free = |row: &&Value| row["nothing"] == true || row["reference"] == false;
    match criteria.iter().filter(is_free).count() {
        0 => Ok(()),
        count => Err(exit::no(format!("{count} criteria are passed by doing nothing, or failed by the reference"))),
    }
}

fn summary(slug: &str, audit: &agents::audit::Audit, criteria: &[Value]) -> Value {
    let ((told, near), (grave_told, grave), (accepted, ways)) = (audit.told(), audit.told_grave(), audit.accepted());
    let (weak, checks, tasks) = audit.weak();
    json!({"benchmark": slug, "floor": audit.floor(), "ceiling": audit.ceiling(),
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
    let ceiling =
        audit.ceiling().map_or_else(|| "no reference agent".to_owned(), |ceiling| format!("ceiling {ceiling:.2}"));
    let ((told, near), (accepted, ways), (weak, checks, _)) = (audit.told(), audit.accepted(), audit.weak());
    let mut lines: Vec<String> = audit.passed().iter().map(|passed| format!("passes: {passed}")).collect();
    lines.extend(audit.refused().iter().map(|refused| format!("refused: {refused}")));
    lines.push(format!(
        "floor {:.2}, {ceiling}, {told} of {near} near misses told, {accepted} of {ways} other ways accepted, {weak} of \
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

/// A small benchmark that works, to begin with.
fn init(arguments: &Init) -> anyhow::Result<()> {
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
