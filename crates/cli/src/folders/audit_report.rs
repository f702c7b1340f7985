//! The report of an audit: the results, the problems found, and what was stored with the version.

use agents::attacks::AttackResult;
use agents::audit::{Audit, PASS};
use agents::floors::HIGH_FLOOR;
use agents::guessability::{self, RenderedTask};
use client::Client;
use serde_json::{Value, json};

use super::bounds;
use crate::exit;
use crate::output::table::Cell;
use crate::output::text::{counted, sanitize};
use crate::output::{Style, Table, eprint, print, print_wrapped};

pub(super) struct AuditReport {
    slug: String,
    audit: Audit,
    /// One row for each criterion of each task.
    criteria: Vec<Value>,
    stored_record: StoredRecord,
}

/// What happened to the stored record of a version, which is named.
enum StoredRecord {
    NotRequested,
    Stored(String),
    /// Not stored, because the audit found problems.
    NotClean(String),
    /// The existing record was kept, because it has a ceiling and this audit has none.
    ExistingKept(String),
}

impl AuditReport {
    pub(super) fn new(folder: &authoring::Folder, audit: Audit) -> Self {
        let audit = Audit { guessability: guessability::estimate(&guessable_tasks(folder)), ..audit };
        let (slug, criteria) = (folder.benchmark.slug.clone(), audit.criteria());
        Self { slug, audit, criteria, stored_record: StoredRecord::NotRequested }
    }

    /// Stores the record with the version, if the audit is clean and has no less information than the existing record.
    pub(super) async fn store(mut self, client: &Client, version: &Value) -> anyhow::Result<Self> {
        let version_name = format!("{}@{}", self.slug, version["version"]);
        let lacks_ceiling = self.audit.ceiling().is_none() && version["audit"]["ceiling"].is_number();
        self.stored_record = if !self.problems().is_empty() || self.count_failed_attacks() > 0 {
            StoredRecord::NotClean(version_name)
        } else if lacks_ceiling {
            StoredRecord::ExistingKept(version_name)
        } else {
            bounds::store(client, version, &self.audit.record()).await?;
            StoredRecord::Stored(version_name)
        };
        Ok(self)
    }

    /// Each criterion that passes when nothing is done or that the reference fails, and each task whose floor is too high.
    /// A guard is supposed to pass when nothing is done; its weight shows in the task's floor.
    fn problems(&self) -> Vec<String> {
        let high = self.audit.high_floors();
        let rows = self.criteria.iter().filter_map(|row| {
            let is_high = high.iter().any(|(task, _)| row["task"] == *task);
            let passes_without_work = row["nothing"] == true && (is_high || row["guard"] != true);
            let message = match (passes_without_work, row["reference"] == false) {
                (false, false) => return None,
                (true, false) => "is passed by doing nothing",
                (false, true) => "is failed by the reference",
                (true, true) => "is passed by doing nothing, and failed by the reference",
            };
            let text = |name: &str| row[name].as_str().unwrap_or_default();
            Some(sanitize(&format!("{}: `{}` {message}", text("task"), text("criterion"))))
        });
        let floors = high.iter().map(|(task, floor)| {
            sanitize(&format!("{task}: doing nothing scores {floor:.2}; keep it below {HIGH_FLOOR}"))
        });
        rows.chain(floors).collect()
    }

    /// The number of attacks that passed but must not.
    fn count_failed_attacks(&self) -> usize {
        self.audit.passed_attacks().filter(|attack| attack.is_failure()).count()
    }

    /// The report as JSON.
    pub(super) fn summary(&self) -> Value {
        let audit = &self.audit;
        let ((failed_misses, all_misses), (failed_grave, grave)) =
            (audit.failed_mutants(), audit.failed_grave_mutants());
        let ((accepted, equivalents), (weak, checks, tasks)) = (audit.accepted_equivalents(), audit.weak_checks());
        let stored_record =
            if let StoredRecord::Stored(version_name) = &self.stored_record { Some(version_name) } else { None };
        let complaint = audit.reference_error().map(|(task, message)| json!({"task": task, "words": message}));
        json!({"benchmark": self.slug, "kept_with": stored_record, "floor": audit.floor(), "ceiling": audit.ceiling(),
            "near_misses": {"told": failed_misses, "of": all_misses}, "grave_near_misses": {"told": failed_grave, "of": grave},
            "other_ways": {"accepted": accepted, "of": equivalents}, "weak_checks": {"count": weak, "of": checks},
            "tasks_to_guess": tasks, "passed_near_misses": audit.passed_mutants(), "refused_ways": audit.rejected_equivalents(),
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
            let rejection = one.rejection.as_ref()?;
            Some(json!({"attack": one.attack, "task": one.task, "description": one.description, "refusal": rejection}))
        });
        json!({
            "tried": attempts.iter().map(|one| one.tried).sum::<usize>(),
            "passed": passed.len(), "by_attack": by_attack, "passed_attacks": passed,
            "not_tried": refused.collect::<Vec<_>>()
        })
    }

    /// Prints the report for people.
    pub(super) fn print(&self) {
        print(table(&self.criteria).render(Style::of_stdout()));
        print("");
        if !self.audit.attacks.is_empty() {
            print(attack_table(&self.audit).render(Style::of_stdout()));
            print("");
        }
        summary_lines(&self.audit).iter().for_each(|line| print_wrapped(line));
        let stored_record = match (&self.stored_record, self.audit.ceiling()) {
            (StoredRecord::NotRequested, _) => return,
            (StoredRecord::Stored(version_name), Some(_)) => {
                format!("Floor and ceiling are stored with {version_name}.")
            }
            (StoredRecord::Stored(version_name), None) => format!("The floor is stored with {version_name}."),
            (StoredRecord::NotClean(version_name), _) => {
                format!("Nothing is stored with {version_name}: the audit found problems.")
            }
            (StoredRecord::ExistingKept(version_name), _) => {
                format!("The existing record of {version_name} is kept: it has a ceiling, and this audit has none.")
            }
        };
        print_wrapped(&stored_record);
    }

    /// Prints all problems to standard error, and fails if there are any.
    pub(super) fn result(&self) -> anyhow::Result<()> {
        let problems = self.problems();
        problems.iter().for_each(|problem| eprint(format_args!("  {problem}")));
        if let Some((task, message)) = self.audit.reference_error() {
            eprint(format_args!("  {}", sanitize(&format!("{task}: the reference agent reported: {message}"))));
        }
        let mut reasons = Vec::new();
        let floors = self.audit.high_floors().len();
        let criteria = problems.len() - floors;
        if criteria > 0 {
            let verb = if criteria == 1 { "is" } else { "are" };
            let count = counted(criteria, "criterion");
            reasons.push(format!("{count} {verb} passed by doing nothing, or failed by the reference"));
        }
        if floors > 0 {
            reasons.push(format!("doing nothing scores {HIGH_FLOOR} or more in {}", counted(floors, "task")));
        }
        let (failed_misses, all_misses) = self.audit.failed_mutants();
        if failed_misses < all_misses {
            let (failed_grave, grave) = self.audit.failed_grave_mutants();
            let grave = match grave - failed_grave {
                0 => String::new(),
                count => format!(", {count} of them grave"),
            };
            reasons.push(format!("{} passed{grave}", count_near_misses(all_misses - failed_misses)));
        }
        if self.count_failed_attacks() > 0 {
            reasons.push(format!("{} passed that must not", counted(self.count_failed_attacks(), "attack")));
        }
        if reasons.is_empty() { Ok(()) } else { Err(exit::failure(reasons.join("; "))) }
    }
}

fn count_near_misses(count: usize) -> String {
    if count == 1 { "1 near miss".to_owned() } else { format!("{count} near misses") }
}

/// A table of criteria, with each task as a heading.
fn table(criteria: &[Value]) -> Table {
    let table = Table::new(["  CRITERION", "NOTHING", "SPRAY", "REFERENCE", "NEAR MISSES", "BITS"]);
    let mut table = (1..6).fold(table, Table::never_truncate);
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
            Some(all_misses) => format!("{} of {all_misses}", row["failed_by"]),
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

/// A table of the attacks that were tried.
fn attack_table(audit: &Audit) -> Table {
    let mut table = (0..4).fold(Table::new(["ATTACK", "SEVERITY", "TRIED", "PASSED"]), Table::never_truncate);
    for one in audit.attempts().iter().filter(|one| one.tried > 0) {
        let cells = [one.attack, one.severity.name(), &one.tried.to_string(), &one.passed.to_string()];
        table.row(cells.into_iter().map(Cell::new).collect());
    }
    table
}

fn summary_lines(audit: &Audit) -> Vec<String> {
    let ((failed_misses, all_misses), (accepted, equivalents), (weak, checks, _)) =
        (audit.failed_mutants(), audit.accepted_equivalents(), audit.weak_checks());
    let Some(ceiling) = audit.ceiling() else {
        return vec![
            format!("floor {:.2}, {weak} of {checks} checks weak", audit.floor()),
            "No reference agent: give yours with --agent to see the ceiling and near misses of it.".to_owned(),
        ];
    };
    let attempts = audit.attempts();
    let tried: usize = attempts.iter().map(|one| one.tried).sum();
    let passed: usize = attempts.iter().map(|one| one.passed).sum();
    // Grave near misses first.
    let mut passed_near: Vec<_> = audit.mutants.iter().filter(|(_, result)| result.score >= PASS).collect();
    passed_near.sort_by_key(|(miss, _)| !miss.kind.is_grave());
    let mut lines: Vec<String> = passed_near
        .iter()
        .map(|(miss, result)| {
            let mark = if miss.kind.is_grave() { "GRAVE, passes" } else { "passes" };
            sanitize(&format!("{mark}: {}: {miss}", result.task))
        })
        .collect();
    lines.extend(audit.passed_attacks().map(|attack| sanitize(&format!("attack passed: {attack}"))));
    lines.extend(audit.rejected_equivalents().iter().map(|refused| sanitize(&format!("refused: {refused}"))));
    lines.push(format!(
        "floor {:.2}, ceiling {ceiling:.2}, {failed_misses} of {all_misses} near misses failed, {passed} of {tried} attacks passed, \
         {accepted} of {equivalents} equivalent solutions accepted, {weak} of {checks} checks weak",
        audit.floor()
    ));
    lines
}

/// The tasks as an agent reads them, with the assertions that it would have to guess.
fn guessable_tasks(folder: &authoring::Folder) -> Vec<RenderedTask> {
    let tasks = authoring::expand(folder).unwrap_or_default();
    let bound = tasks.iter().filter_map(|(_, task)| authoring::render_item_and_assertions(folder, task).ok());
    bound.map(|(item, assertions)| RenderedTask { item, assertions }).collect()
}
