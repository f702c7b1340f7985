//! `verial benchmarks init | lint | preview | schema | install | push | pull | audit`: benchmarks as folders of files.

mod audit;
mod audit_report;
pub(crate) mod bounds;
mod init;
mod install;
mod preview;
mod pull;
mod schema;

use std::path::{Path, PathBuf};

use authoring::{Finding, PushResult, Severity, lint, source};
use clap::{ArgMatches, Args, FromArgMatches, Subcommand};
use model::slug::VersionRef;
use serde_json::Value;

use crate::auth::Connection;
use crate::output::style::Color;
use crate::output::text::{counted, sanitize};
use crate::output::{OutputFormat, eprint_labeled, print, print_wrapped};
use crate::{block_on, exit};
use audit_report::AuditReport;
use bounds::AuditOptions;

/// Commands of the `benchmarks` group that work with folders.
#[derive(Subcommand)]
pub(crate) enum FolderCommand {
    /// Create a folder with a small working benchmark
    Init(init::Init),
    /// Check a benchmark folder for errors (works offline)
    Lint(Lint),
    /// Show the tasks of a benchmark folder with all templates filled in
    Preview(preview::Preview),
    /// Print the JSON Schema of a benchmark file, for editors
    Schema(schema::Schema),
    /// Publish the bundled benchmarks on the server
    Install(install::Install),
    /// Upload a benchmark folder to the server and publish it
    Push(Push),
    /// Download a benchmark from the server into a folder
    Pull(pull::Pull),
    /// Check that a benchmark cannot be gamed, with agents that must not score, the reference, and near misses of it
    Audit(audit::Audit),
}

pub(crate) fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let format = &matches.subcommand().map_or(OutputFormat::Human, |(_, matches)| OutputFormat::from_matches(matches));
    match FolderCommand::from_arg_matches(matches)? {
        FolderCommand::Init(arguments) => init::init(&arguments, format),
        FolderCommand::Lint(arguments) => lint_folder(&arguments, format),
        FolderCommand::Preview(arguments) => preview::preview(&arguments, format),
        FolderCommand::Schema(arguments) => schema::print_schema(&arguments, format),
        FolderCommand::Install(arguments) => install::install(&arguments, format),
        FolderCommand::Push(arguments) => push(&arguments, format),
        FolderCommand::Pull(arguments) => pull::pull(&arguments, format),
        FolderCommand::Audit(arguments) => audit::audit(&arguments, format),
    }
}

#[derive(Args)]
pub(crate) struct Lint {
    /// The benchmark folder
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// Treat warnings as errors
    #[arg(long)]
    strict: bool,
}

#[derive(Args)]
pub(crate) struct Push {
    #[command(flatten)]
    connection: Connection,
    /// The benchmark folder
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// Do not publish; leave it as a draft
    #[arg(long)]
    no_publish: bool,
    /// Audit the published version locally, and store its floor and ceiling with the version
    #[arg(long, conflicts_with = "no_publish")]
    audit: bool,
}

fn lint_folder(arguments: &Lint, format: &OutputFormat) -> anyhow::Result<()> {
    let findings = match authoring::read(&source::read_directory(&arguments.folder)?) {
        Ok(folder) => lint(&folder),
        Err(authoring::Error::Findings(findings)) => findings,
        Err(other) => return Err(other.into()),
    };
    let counts = |finding: &&Finding| match finding.severity {
        Severity::Error => true,
        Severity::Warning => arguments.strict,
        Severity::Hint => false,
    };
    let errors = findings.iter().filter(counts).count();
    format.print(&serde_json::to_value(&findings)?, |_| {
        findings.iter().for_each(print_finding);
        if errors == 0 {
            print(format_args!("{} is valid.", arguments.folder.display()));
        }
    })?;
    if errors == 0 { Ok(()) } else { Err(exit::failure(exit::count_errors(errors))) }
}

/// Prints a finding of `lint` to standard output.
fn print_finding(finding: &Finding) {
    print_wrapped(&sanitize(&finding.to_string()));
}

/// Prints a finding of other commands to standard error.
pub(crate) fn eprint_finding(finding: &Finding) {
    let (label, color) = match finding.severity {
        Severity::Error => ("error:", Color::Bad),
        Severity::Warning => ("warning:", Color::Warning),
        Severity::Hint => ("hint:", Color::Warning),
    };
    eprint_labeled(label, color, &sanitize(&format!("{}: {}", finding.location(), finding.message)));
}

fn push(arguments: &Push, format: &OutputFormat) -> anyhow::Result<()> {
    let folder = authoring::read(&source::read_directory(&arguments.folder)?)?;
    let client = arguments.connection.client()?;
    let pushed = block_on(async { Ok(authoring::push(&client, &folder, !arguments.no_publish).await?) })?;
    let mut output = serde_json::to_value(&pushed)?;
    let version = match pushed.version {
        Some(version) if arguments.audit => version,
        _ => return format.print(&output, |_| print_pushed(&pushed)),
    };
    if let OutputFormat::Human = format {
        print_pushed(&pushed);
    }
    let reference = VersionRef { slug: pushed.slug, version: i64::try_from(version)? };
    let audited = block_on(async {
        let version: Value = client.get(&format!("/benchmarks/{reference}")).await?;
        let audit = bounds::run_audit(&folder, Some(&version), &AuditOptions::default()).await?;
        AuditReport::new(&folder, audit).store(&client, &version).await
    });
    // JSON output is one object: the pushed benchmark with its audit.
    let report = match audited {
        Ok(report) => report,
        Err(error) => {
            output["audit"] = Value::Null;
            format.print(&output, |_| ())?;
            return Err(error);
        }
    };
    output["audit"] = report.summary();
    format.print(&output, |_| report.print())?;
    report.result()
}

fn print_pushed(pushed: &PushResult) {
    pushed.warnings.iter().for_each(eprint_finding);
    let content = format!("{}, {}", counted(pushed.tasks, "task"), counted(pushed.criteria, "criterion"));
    match (pushed.version, pushed.unchanged) {
        (Some(version), false) => print(format_args!("Published {}@{version}: {content}.", pushed.slug)),
        (Some(version), true) => print(format_args!("No changes: this is {}@{version}.", pushed.slug)),
        (None, _) => print(format_args!("Pushed {} as a draft: {content}.", pushed.slug)),
    }
}

/// Fails with a hint if the target folder is not empty and must not be overwritten.
fn check_empty(target: &Path, overwrite: Result<(), &str>) -> anyhow::Result<()> {
    let is_used = std::fs::read_dir(target).is_ok_and(|mut entries| entries.next().is_some());
    match overwrite {
        Err(hint) if is_used => Err(exit::usage(format!("{} is not empty; {hint}", target.display()))),
        _ => Ok(()),
    }
}
