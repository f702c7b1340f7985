//! What every audit says: what was found, whether that is as it should be, and what of it is kept.

use agents::attacks::AttackResult;
use agents::audit::{Audit, PASS};
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
        self.kept = if !self.faults().is_empty() || self.failures() > 0 {
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

    /// How many attacks passed that must not.
    fn failures(&self) -> usize {
        self.audit.passed_attacks().filter(|attack| attack.is_failure()).count()
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
            "attacks": self.attacks(), "complaint": complaint, "criteria": self.criteria})
    }

    /// Every attack of the catalog with its counts, and each one that passed or could not be tried.
    fn attacks(&self) -> Value {
        let attempts = self.audit.attempts();
        let by_attack: Vec<Value> = attempts
            .iter()
            .map(|one| {
                json!({"attack": one.attack, "severity": one.severity.name(), "tried": one.tried, "passed": one.passed})
            })
            .collect();
        let passed: Vec<Value> = self.audit.passed_attacks().map(AttackResult::json).collect();
        let refused = self.audit.attacks.iter().filter_map(|one| {
            let refusal = one.refusal.as_ref()?;
            Some(json!({"attack": one.attack, "task": one.task, "description": one.description, "refusal": refusal}))
        });
        json!({
            "tried": attempts.iter().map(|one| one.tried).sum::<usize>(),
            "passed": passed.len(), "by_attack": by_attack, "passed_attacks": passed,
            "not_tried": refused.collect::<Vec<_>>()
        })
    }

    /// The answer for people.
    pub(super) fn say(&self) {
        say(table(&self.criteria).render(Style::of_stdout()));
        say("");
        if !self.audit.attacks.is_empty() {
            say(attack_table(&self.audit).render(Style::of_stdout()));
            say("");
        }
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
        let mut reasons = Vec::new();
        let floors = self.audit.high_floors().len();
        let criteria = faults.len() - floors;
        if criteria > 0 {
            let verb = if criteria == 1 { "is" } else { "are" };
            let count = counted(criteria, "criterion");
            reasons.push(format!("{count} {verb} passed by doing nothing, or failed by the reference"));
        }
        if floors > 0 {
            reasons.push(format!("doing nothing scores {HIGH_FLOOR} or more in {}", counted(floors, "task")));
        }
        let (told, near) = self.audit.told();
        if told < near {
            let (grave_told, grave) = self.audit.told_grave();
            let grave = match grave - grave_told {
                0 => String::new(),
                count => format!(", {count} of them grave"),
            };
            reasons.push(format!("{} passed{grave}", counted_near_misses(near - told)));
        }
        if self.failures() > 0 {
            reasons.push(format!("{} passed that must not", counted(self.failures(), "attack")));
        }
        if reasons.is_empty() { Ok(()) } else { Err(exit::no(reasons.join("; "))) }
    }
}

fn counted_near_misses(count: usize) -> String {
    if count == 1 { "1 near miss".to_owned() } else { format!("{count} near misses") }
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

/// The catalog of attacks, as far as it applies.
fn attack_table(audit: &Audit) -> Table {
    let mut table = (0..4).fold(Table::new(["ATTACK", "SEVERITY", "TRIED", "PASSED"]), Table::keep_whole);
    for one in audit.attempts().iter().filter(|one| one.tried > 0) {
        let cells = [one.attack, one.severity.name(), &one.tried.to_string(), &one.passed.to_string()];
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
    let attempts = audit.attempts();
    let tried: usize = attempts.iter().map(|one| one.tried).sum();
    let passed: usize = attempts.iter().map(|one| one.passed).sum();
    // Grave ones first.
    let mut passed_near: Vec<_> = audit.near_misses.iter().filter(|(_, result)| result.score >= PASS).collect();
    passed_near.sort_by_key(|(miss, _)| !miss.kind.is_grave());
    let mut lines: Vec<String> = passed_near
        .iter()
        .map(|(miss, result)| {
            let mark = if miss.kind.is_grave() { "GRAVE, passes" } else { "passes" };
            harmless(&format!("{mark}: {}: {miss}", result.task))
        })
        .collect();
    lines.extend(audit.passed_attacks().map(|attack| harmless(&format!("attack passed: {attack}"))));
    lines.extend(audit.refused().iter().map(|refused| harmless(&format!("refused: {refused}"))));
    lines.push(format!(
        "floor {:.2}, ceiling {ceiling:.2}, {told} of {near} near misses told, {passed} of {tried} attacks passed, \
         {accepted} of {ways} other ways accepted, {weak} of {checks} checks weak",
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
