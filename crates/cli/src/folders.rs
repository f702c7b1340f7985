//! `verial benchmarks init | lint | preview | schema | install | push | pull | audit`: benchmarks as folders of files.

mod audited;
pub(crate) mod bounds;
mod installed;
mod preview;
mod pulled;
mod schemas;
mod starter;
mod verdict;

use std::path::{Path, PathBuf};

use authoring::{Finding, Pushed, Severity, lint, source};
use clap::{ArgMatches, Args, FromArgMatches, Subcommand};
use model::slug::VersionRef;
use serde_json::Value;

use crate::auth::Connection;
use crate::output::style::Colour;
use crate::output::text::{counted, harmless};
use crate::output::{Form, say, say_wrapped, tell_labelled};
use crate::{block_on, exit};
use bounds::How;
use verdict::Verdict;

/// What the group of benchmarks can do beside single calls.
#[derive(Subcommand)]
pub(crate) enum FolderCommand {
    /// Make a folder with a small benchmark that works, to begin with
    Init(starter::Init),
    /// Check a benchmark folder for errors (works offline)
    Lint(Lint),
    /// Show the tasks of a benchmark folder with all templates filled in
    Preview(preview::Preview),
    /// Print the JSON Schema of a benchmark file, for editors
    Schema(schemas::Schema),
    /// Put the bundled benchmarks on the server
    Install(installed::Install),
    /// Put a benchmark's folder on the server and publish it
    Push(Push),
    /// Take a benchmark from the server into a folder
    Pull(pulled::Pull),
    /// See that a benchmark cannot be gamed: agents that must not score, the reference, and near misses of it
    Audit(audited::Audit),
}

pub(crate) fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let form = &matches.subcommand().map_or(Form::People, |(_, words)| Form::of(words));
    match FolderCommand::from_arg_matches(matches)? {
        FolderCommand::Init(arguments) => starter::init(&arguments, form),
        FolderCommand::Lint(arguments) => lint_folder(&arguments, form),
        FolderCommand::Preview(arguments) => preview::preview(&arguments, form),
        FolderCommand::Schema(arguments) => schemas::print(&arguments, form),
        FolderCommand::Install(arguments) => installed::install(&arguments, form),
        FolderCommand::Push(arguments) => push(&arguments, form),
        FolderCommand::Pull(arguments) => pulled::pull(&arguments, form),
        FolderCommand::Audit(arguments) => audited::audit(&arguments, form),
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
}

fn lint_folder(arguments: &Lint, form: &Form) -> anyhow::Result<()> {
    let findings = match authoring::read(&source::directory(&arguments.folder)?) {
        Ok(folder) => lint(&folder),
        Err(authoring::Error::Faults(findings)) => findings,
        Err(other) => return Err(other.into()),
    };
    let counts = |finding: &&Finding| match finding.severity {
        Severity::Error => true,
        Severity::Warning => arguments.strict,
        Severity::Hint => false,
    };
    let faults = findings.iter().filter(counts).count();
    form.print(&serde_json::to_value(&findings)?, |_| {
        findings.iter().for_each(say_finding);
        if faults == 0 {
            say(format_args!("{} is sound.", arguments.folder.display()));
        }
    })?;
    if faults == 0 { Ok(()) } else { Err(exit::no(exit::faults(faults))) }
}

/// What was found is the answer of `lint`.
fn say_finding(finding: &Finding) {
    say_wrapped(&harmless(&finding.to_string()));
}

/// Elsewhere it is beside the answer, or instead of it.
pub(crate) fn tell_finding(finding: &Finding) {
    let (label, colour) = match finding.severity {
        Severity::Error => ("error:", Colour::Bad),
        Severity::Warning => ("warning:", Colour::Warning),
        Severity::Hint => ("hint:", Colour::Warning),
    };
    tell_labelled(label, colour, &harmless(&format!("{}: {}", finding.place(), finding.message)));
}

fn push(arguments: &Push, form: &Form) -> anyhow::Result<()> {
    let folder = authoring::read(&source::directory(&arguments.folder)?)?;
    let client = arguments.connection.client()?;
    let pushed = block_on(async { Ok(authoring::push(&client, &folder, !arguments.no_publish).await?) })?;
    let mut answer = serde_json::to_value(&pushed)?;
    let version = match pushed.version {
        Some(version) if arguments.audit => version,
        _ => return form.print(&answer, |_| say_pushed(&pushed)),
    };
    if let Form::People = form {
        say_pushed(&pushed);
    }
    let reference = VersionRef { slug: pushed.slug, version: i64::try_from(version)? };
    let audited = block_on(async {
        let version: Value = client.get(&format!("/benchmarks/{reference}")).await?;
        let audit = bounds::audited(&folder, Some(&version), &How::default()).await?;
        Verdict::of(&folder, audit).keep(&client, &version).await
    });
    // One answer for a program: what was pushed, and in it what was found.
    let verdict = match audited {
        Ok(verdict) => verdict,
        Err(error) => {
            answer["audit"] = Value::Null;
            form.print(&answer, |_| ())?;
            return Err(error);
        }
    };
    answer["audit"] = verdict.summary();
    form.print(&answer, |_| verdict.say())?;
    verdict.judged()
}

fn say_pushed(pushed: &Pushed) {
    pushed.warnings.iter().for_each(tell_finding);
    let content = format!("{}, {}", counted(pushed.tasks, "task"), counted(pushed.criteria, "criterion"));
    match (pushed.version, pushed.unchanged) {
        (Some(version), false) => say(format_args!("Published {}@{version}: {content}.", pushed.slug)),
        (Some(version), true) => say(format_args!("Nothing new: this is {}@{version}.", pushed.slug)),
        (None, _) => say(format_args!("Pushed {} as a draft: {content}.", pushed.slug)),
    }
}

/// The error says what helps.
fn check_free(target: &Path, may_write_over: Result<(), &str>) -> anyhow::Result<()> {
    let is_used = std::fs::read_dir(target).is_ok_and(|mut entries| entries.next().is_some());
    match may_write_over {
        Err(step) if is_used => Err(exit::usage(format!("{} is not empty; {step}", target.display()))),
        _ => Ok(()),
    }
}
