//! What every audit says: what was found, whether that is as it should be, and what of it is kept.

use agents::audit::Audit;
use agents::floors::HIGH_FLOOR;
use agents::guess::{Asked, guesses};
use client::Client;
use serde_json::{Value, json};

use super::bounds;
use crate::exit;
use crate::output::table::Cell;
use crate::output::text::{counted, harmless};
use crate::output::{Style, Table, say, say_wrapped, tell};

pub(super) struct Verdict {
    slug: String,
    audit: Audit,
    /// One row for each criterion of each task.
    criteria: Vec<Value>,
    kept: Kept,
}

/// What became of the record beside a version, which is named.
enum Kept {
    NotAsked,
    With(String),
    /// The audit is not clean: what it says of the version is not to be believed.
    Not(String),
    /// One with a ceiling is there, and this audit has none. What doing nothing scores it says as well.
    Stays(String),
}

impl Verdict {
    pub(super) fn of(folder: &authoring::Folder, audit: Audit) -> Self {
        let audit = Audit { guesses: guesses(&asked(folder)), ..audit };
        let (slug, criteria) = (folder.benchmark.slug.clone(), audit.criteria());
        Self { slug, audit, criteria, kept: Kept::NotAsked }
    }

    /// Keeps it with the version, if it is clean and says no less than what is kept already.
    pub(super) async fn keep(mut self, client: &Client, version: &Value) -> anyhow::Result<Self> {
        let named = format!("{}@{}", self.slug, version["version"]);
        let is_poorer = self.audit.ceiling().is_none() && version["audit"]["ceiling"].is_number();
        self.kept = if !self.faults().is_empty() {
            Kept::Not(named)
        } else if is_poorer {
            Kept::Stays(named)
        } else {
            bounds::keep(client, version, &self.audit.record()).await?;
            Kept::With(named)
        };
        Ok(self)
    }

    /// Each criterion that is passed by doing nothing or failed by the reference, and each task in which doing nothing
    /// scores too much. A guard is meant to be passed by doing nothing; what it is worth, the task's floor tells.
    fn faults(&self) -> Vec<String> {
        let high = self.audit.high_floors();
        let rows = self.criteria.iter().filter_map(|row| {
            let is_high = high.iter().any(|(task, _)| row["task"] == *task);
            let is_free = row["nothing"] == true && (is_high || row["guard"] != true);
            let words = match (is_free, row["reference"] == false) {
                (false, false) => return None,
                (true, false) => "is passed by doing nothing",
                (false, true) => "is failed by the reference",
                (true, true) => "is passed by doing nothing, and failed by the reference",
            };
            let text = |name: &str| row[name].as_str().unwrap_or_default();
            Some(harmless(&format!("{}: `{}` {words}", text("task"), text("criterion"))))
        });
        let floors = high.iter().map(|(task, floor)| {
            harmless(&format!("{task}: doing nothing scores {floor:.2}; keep it below {HIGH_FLOOR}"))
        });
        rows.chain(floors).collect()
    }

    /// The answer for a program.
    pub(super) fn summary(&self) -> Value {
        let audit = &self.audit;
        let ((told, near), (grave_told, grave)) = (audit.told(), audit.told_grave());
        let ((accepted, ways), (weak, checks, tasks)) = (audit.accepted(), audit.weak());
        let kept = if let Kept::With(named) = &self.kept { Some(named) } else { None };
        let complaint = audit.complaint().map(|(task, words)| json!({"task": task, "words": words}));
        json!({"benchmark": self.slug, "kept_with": kept, "floor": audit.floor(), "ceiling": audit.ceiling(),
            "near_misses": {"told": told, "of": near}, "grave_near_misses": {"told": grave_told, "of": grave},
            "other_ways": {"accepted": accepted, "of": ways}, "weak_checks": {"count": weak, "of": checks},
            "tasks_to_guess": tasks, "passed_near_misses": audit.passed(), "refused_ways": audit.refused(),
            "complaint": complaint, "criteria": self.criteria})
    }

    /// The answer for people.
    pub(super) fn say(&self) {
        say(table(&self.criteria).render(Style::of_stdout()));
        say("");
        in_words(&self.audit).iter().for_each(|line| say_wrapped(line));
        let kept = match (&self.kept, self.audit.ceiling()) {
            (Kept::NotAsked, _) => return,
            (Kept::With(named), Some(_)) => format!("Floor and ceiling are kept with {named}."),
            (Kept::With(named), None) => format!("The floor is kept with {named}."),
            (Kept::Not(named), _) => format!("Nothing is kept with {named}: the audit is not clean."),
            (Kept::Stays(named), _) => {
                format!("What is kept with {named} stays: it has a ceiling, and this audit has none.")
            }
        };
        say_wrapped(&kept);
    }

    /// The end of the command; what is wrong is told before it.
    pub(super) fn judged(&self) -> anyhow::Result<()> {
        let faults = self.faults();
        faults.iter().for_each(|fault| tell(format_args!("  {fault}")));
        if let Some((task, words)) = self.audit.complaint() {
            tell(format_args!("  {}", harmless(&format!("{task}: the reference agent said: {words}"))));
        }
        if faults.is_empty() {
            return Ok(());
        }
        let floors = self.audit.high_floors().len();
        let criteria = faults.len() - floors;
        let verb = if criteria == 1 { "is" } else { "are" };
        let mut words = Vec::new();
        if criteria > 0 {
            let count = counted(criteria, "criterion");
            words.push(format!("{count} {verb} passed by doing nothing, or failed by the reference"));
        }
        if floors > 0 {
            words.push(format!("doing nothing scores {HIGH_FLOOR} or more in {}", counted(floors, "task")));
        }
        Err(exit::no(words.join("; ")))
    }
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

fn in_words(audit: &Audit) -> Vec<String> {
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
