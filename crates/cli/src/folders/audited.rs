//! `verial benchmarks audit`, and what every audit shows.

use std::path::Path;
use std::time::Duration;

use agents::audit::Depth;
use agents::guess::{Asked, guesses};
use authoring::source;
use clap::Args;
use model::slug::VersionRef;
use serde_json::{Value, json};

use super::bounds::{self, How};
use crate::audit::CommandAgent;
use crate::auth::Connection;
use crate::output::table::Cell;
use crate::output::text::harmless;
use crate::output::{Form, Style, Table, say, say_wrapped};
use crate::{block_on, exit};

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
pub(super) fn audit(arguments: &Audit, form: &Form) -> anyhow::Result<()> {
    let path = Path::new(&arguments.benchmark);
    if let (false, Ok(reference)) = (path.is_dir(), arguments.benchmark.parse::<VersionRef>()) {
        return audit_version(arguments, &reference, form);
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
    show_audit(&folder, &audit, None, form)
}

fn audit_version(arguments: &Audit, reference: &VersionRef, form: &Form) -> anyhow::Result<()> {
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
    show_audit(&folder, &audit, kept.as_deref(), form)
}

/// `kept` is the version that it is kept with.
fn show_audit(
    folder: &authoring::Folder,
    audit: &agents::audit::Audit,
    kept: Option<&str>,
    form: &Form,
) -> anyhow::Result<()> {
    let (audit, criteria) = with_guesses(folder, audit);
    form.print(&summary(&folder.benchmark.slug, &audit, kept, &criteria), |_| tell_audit(&audit, kept, &criteria))?;
    judged(&criteria)
}

pub(super) fn with_guesses(
    folder: &authoring::Folder,
    audit: &agents::audit::Audit,
) -> (agents::audit::Audit, Vec<Value>) {
    let audit = agents::audit::Audit { guesses: guesses(&asked(folder)), ..audit.clone() };
    let criteria = audit.criteria();
    (audit, criteria)
}

pub(super) fn tell_audit(audit: &agents::audit::Audit, kept: Option<&str>, criteria: &[Value]) {
    say(table(criteria).render(Style::of_stdout()));
    say("");
    in_words(audit).iter().for_each(|line| say_wrapped(line));
    if let Some(kept) = kept {
        say_wrapped(&format!("Floor and ceiling are kept with {kept}."));
    }
}

pub(super) fn judged(criteria: &[Value]) -> anyhow::Result<()> {
    let is_free = |row: &&Value| row["nothing"] == true || row["reference"] == false;
    match criteria.iter().filter(is_free).count() {
        0 => Ok(()),
        1 => Err(exit::no("1 criterion is passed by doing nothing, or failed by the reference")),
        count => Err(exit::no(format!("{count} criteria are passed by doing nothing, or failed by the reference"))),
    }
}

pub(super) fn summary(slug: &str, audit: &agents::audit::Audit, kept: Option<&str>, criteria: &[Value]) -> Value {
    let ((told, near), (grave_told, grave), (accepted, ways)) = (audit.told(), audit.told_grave(), audit.accepted());
    let (weak, checks, tasks) = audit.weak();
    json!({"benchmark": slug, "kept_with": kept, "floor": audit.floor(), "ceiling": audit.ceiling(),
        "near_misses": {"told": told, "of": near}, "grave_near_misses": {"told": grave_told, "of": grave},
        "other_ways": {"accepted": accepted, "of": ways}, "weak_checks": {"count": weak, "of": checks},
        "tasks_to_guess": tasks, "passed_near_misses": audit.passed(), "refused_ways": audit.refused(),
        "criteria": criteria})
}

/// The criteria of each task below its name, which would leave them no room beside it.
fn table(criteria: &[Value]) -> Table {
    let table = Table::new(["  CRITERION", "NOTHING", "SPRAY", "REFERENCE", "NEAR MISSES", "BITS"]);
    let mut table = (1..6).fold(table, Table::keep_whole);
    let mut task = None;
    for row in criteria {
        let text = |name: &str| row[name].as_str().unwrap_or_default();
        if task != Some(text("task")) {
            table.heading(text("task"));
            task = Some(text("task"));
        }
        let word =
            |name: &str| row[name].as_bool().map_or("-", |passed| if passed { "pass" } else { "fail" }).to_owned();
        let failed = match row["near_misses"].as_u64() {
            None | Some(0) => "-".to_owned(),
            Some(near) => format!("{} of {near}", row["failed_by"]),
        };
        let bits = match (row["bits"].as_f64(), row["weak"] == true) {
            (None, _) => "guard".to_owned(),
            (Some(bits), true) => format!("{bits:.0} weak"),
            (Some(bits), false) => format!("{bits:.0}"),
        };
        let label = format!("  {}", text("criterion"));
        let cells = [label, word("nothing"), word("spray"), word("reference"), failed, bits];
        table.row(cells.into_iter().map(Cell::new).collect());
    }
    table
}

fn in_words(audit: &agents::audit::Audit) -> Vec<String> {
    let ((told, near), (accepted, ways), (weak, checks, _)) = (audit.told(), audit.accepted(), audit.weak());
    let Some(ceiling) = audit.ceiling() else {
        return vec![
            format!("floor {:.2}, {weak} of {checks} checks weak", audit.floor()),
            "No reference agent: give yours with --agent to see the ceiling and near misses of it.".to_owned(),
        ];
    };
    let mut lines: Vec<String> = audit.passed().iter().map(|passed| harmless(&format!("passes: {passed}"))).collect();
    lines.extend(audit.refused().iter().map(|refused| harmless(&format!("refused: {refused}"))));
    lines.push(format!(
        "floor {:.2}, ceiling {ceiling:.2}, {told} of {near} near misses told, {accepted} of {ways} other ways accepted, {weak} of \
         {checks} checks weak",
        audit.floor()
    ));
    lines
}

/// Tasks as an agent that only reads them would see them, with what is wanted.
fn asked(folder: &authoring::Folder) -> Vec<Asked> {
    let tasks = authoring::expand(folder).unwrap_or_default();
    let bound = tasks.iter().filter_map(|(_, task)| authoring::bound(folder, task).ok());
    bound.map(|(item, assertions)| Asked { item, assertions }).collect()
}
