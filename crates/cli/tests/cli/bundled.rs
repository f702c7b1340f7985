//! Audits the bundled benchmarks: the reference agent scores 1, an agent that does nothing scores 0, one that does a little
//! of everything passes no task, and near misses of the reference fail.

use std::path::PathBuf;

use agents::ReferenceAgent;
use agents::attacks::AttackResult;
use agents::audit::{Audit, Depth, PASS, audit, run_attacks};
use agents::guessability::{self, RenderedTask};
use agents::runner::TaskResult;
use authoring::{Severity, expand, lint, read, source};
use client::Client;
use serde_json::Value;
use testkit::{Database, TestServer};

fn folder(slug: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks").join(slug)
}

struct Bundled {
    _server: TestServer,
    owner: Client,
    reference: String,
    rendered_tasks: Vec<RenderedTask>,
}

impl Bundled {
    async fn new(slug: &str) -> Self {
        let folder =
            read(&source::read_directory(&folder(slug)).unwrap()).unwrap_or_else(|faults| panic!("{slug}:\n{faults}"));
        let findings = lint(&folder);
        assert!(findings.iter().all(|one| one.severity != Severity::Error), "{slug}:\n{findings:#?}");
        let server = TestServer::start(Database::Sqlite).await;
        let organization = app::admin::create_organization(&server.app, "Bundled").await.unwrap();
        let owner = Client::new(&server.base_url, &organization.api_key.key).unwrap();
        let pushed = authoring::push(&owner, &folder, true).await.unwrap_or_else(|fault| panic!("{slug}:\n{fault}"));
        assert_eq!(pushed.tasks, expand(&folder).unwrap().len());
        let reference = format!("{slug}@{}", pushed.version.unwrap());
        let tasks = expand(&folder).unwrap();
        let rendered_tasks =
            tasks.iter().map(|(_, task)| authoring::render_item_and_assertions(&folder, task).unwrap());
        let rendered_tasks = rendered_tasks.map(|(item, assertions)| RenderedTask { item, assertions }).collect();
        Self { _server: server, owner, reference, rendered_tasks }
    }
}

fn describe(result: &TaskResult) -> String {
    let checks: Vec<String> = result
        .checks
        .iter()
        .filter(|check| !check.passed)
        .map(|check| format!("{}: {}", check.label, check.details))
        .collect();
    format!("{} = {} {:?}\n  {}", result.task, result.score, result.agent_error, checks.join("\n  "))
}

/// The depth of the audit: a sample by default; `VERIAL_AUDIT=full` tries everything, as for the manual's table;
/// `VERIAL_AUDIT=attacks` only all attacks.
#[expect(clippy::disallowed_methods, reason = "configures the tests")]
fn is_depth(what: &str) -> bool {
    std::env::var("VERIAL_AUDIT").is_ok_and(|depth| depth == what)
}

fn depth() -> Depth {
    if is_depth("full") || is_depth("attacks") { Depth::Full } else { Depth::OneIn(4) }
}

async fn check_benchmark(slug: &str) {
    let bundled = Bundled::new(slug).await;
    if is_depth("attacks") {
        let attacks = run_attacks(&bundled.owner, &bundled.reference, &ReferenceAgent, Depth::Full).await.unwrap();
        return check_attacks(slug, &Audit { attacks, ..Audit::default() });
    }
    let audit = audit(&bundled.owner, &bundled.reference, Some(&ReferenceAgent), depth(), |_| ()).await.unwrap();
    let audit = Audit { guessability: guessability::estimate(&bundled.rendered_tasks), ..audit };
    for result in audit.reference.iter().chain(&audit.repeats) {
        assert!(result.score == 1.0 && result.agent_error.is_none(), "{slug}, reference: {}", describe(result));
    }
    let free_tasks: Vec<&str> =
        audit.nothing.iter().filter(|result| result.score > 0.0).map(|result| result.task.as_str()).collect();
    assert!(free_tasks.is_empty(), "{slug}: doing nothing scores in {free_tasks:?}");
    for (who, results) in [("nothing", &audit.nothing), ("spray", &audit.shotgun)] {
        for result in results {
            assert!(result.score < PASS, "{slug}, {who}: {} passes", result.task);
        }
    }
    check_near_misses(slug, &audit);
    for (variant, result) in audit.equivalents.iter().filter(|(_, result)| result.score < 1.0) {
        println!("{slug}, {}: {}", variant.name(), describe(result));
    }
    let (accepted, ways) = audit.accepted_equivalents();
    assert!(accepted * 100 >= ways * 99, "{slug}: only {accepted} of {ways} other ways are accepted");
    check_manual_row(slug, &audit);
    check_record(slug, &audit);
    check_attacks(slug, &audit);
}

/// Compares with the record in the binary. A sample has other counts, which are ignored.
fn check_record(slug: &str, audit: &Audit) {
    let (mut kept, mut record) = (agents::bundled::audit(slug).unwrap_or_default(), audit.record());
    if depth() != Depth::Full {
        for counted in ["near_misses", "equivalents"] {
            kept[counted] = record[counted].take();
            record[counted] = kept[counted].clone();
        }
    }
    assert!(kept == record, "benchmarks/audits.json should say\n\"{slug}\": {record}");
}

fn check_near_misses(slug: &str, audit: &Audit) {
    audit.passed_mutants().iter().for_each(|passed| println!("{slug}: passes: {passed}"));
    let (rejected, near) = audit.failed_mutants();
    assert!(rejected * 100 >= near * 98, "{slug}: only {rejected} of {near} near misses fail");
    let (rejected, grave) = audit.failed_grave_mutants();
    assert_eq!(rejected, grave, "{slug}: near misses that harm somebody pass");
}

/// Only attacks that `benchmarks/attacks.json` allows may pass, and the number of tried attacks must match.
fn check_attacks(slug: &str, audit: &Audit) {
    for refused in audit.attacks.iter().filter(|attack| !attack.is_tried()) {
        println!(
            "{slug}: not tried: {}: {} {}: {:?}",
            refused.task, refused.attack, refused.description, refused.rejection
        );
    }
    for caught in audit.attacks.iter().filter(|attack| attack.is_tried() && !attack.is_pass()) {
        let by = caught.failed_criteria.join("; ");
        println!(
            "{slug}: caught with {:.2}: {}: {} {} ({by})",
            caught.score, caught.task, caught.attack, caught.description
        );
    }
    audit.passed_attacks().for_each(|attack| println!("{slug}: attack passes with {:.2}: {attack}", attack.score));
    let attempts = audit.attempts();
    attempts.iter().for_each(|one| println!("{slug}\t{}\t{}\t{}", one.attack, one.tried, one.passed));
    let expected: Value = serde_json::from_str(&std::fs::read_to_string(folder("attacks.json")).unwrap()).unwrap();
    for one in &attempts {
        let allowed = expected["allowed"][slug][one.attack].as_u64().unwrap_or_default();
        let failures = audit.attacks.iter().filter(|result| result.attack == one.attack && result.is_failure()).count();
        assert!(failures as u64 <= allowed, "{slug}: {failures} of {} attacks `{}` pass", one.tried, one.attack);
    }
    let tried = audit.attacks.iter().filter(|attack| AttackResult::is_tried(attack)).count();
    let form = if depth() == Depth::Full { "full" } else { "short" };
    let known = expected["tried"][slug][form].as_u64();
    assert_eq!(known, Some(tried as u64), "benchmarks/attacks.json: `tried` of {slug}, {form}");
}

/// Compares with the row of the manual: completely for a full audit, otherwise its start.
fn check_manual_row(slug: &str, audit: &Audit) {
    let row = audit.row(slug);
    println!("{row}");
    let manual = std::fs::read_to_string(folder("../docs/benchmarks.md")).unwrap();
    let is_known = |line: &str| match depth() {
        Depth::Full => line == row,
        Depth::OneIn(_) => line.starts_with(&audit.row_start(slug)),
    };
    assert!(manual.lines().any(is_known), "docs/benchmarks.md should say\n{row}");
    if depth() == Depth::Full {
        let (near, ways) = audit.min_per_task();
        assert!(near >= 20 && ways >= 10, "{slug}: a task has only {near} near misses and {ways} other ways");
    }
}

/// One test for each folder below `benchmarks/`.
macro_rules! bundled {
    ($($name:ident: $slug:literal,)+) => {
        $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                check_benchmark($slug).await;
            }
        )+

        #[test]
        fn every_benchmark_folder_has_a_test() {
            let root = folder("");
            let entries = std::fs::read_dir(root).unwrap().filter_map(std::result::Result::ok);
            let mut slugs: Vec<String> = entries.filter(|entry| entry.path().is_dir())
                .map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
            slugs.sort();
            let mut held = vec![$($slug.to_owned()),+];
            held.sort();
            assert_eq!(slugs, held);
        }
    };
}

bundled! {
    cds_triage: "cds-triage",
    fax_referral: "fax-referral",
    lab_followup: "lab-followup",
    med_reconciliation: "med-reconciliation",
    claim_status: "claim-status",
    eligibility: "eligibility",
    phone_scheduling: "phone-scheduling",
    prior_auth_imaging: "prior-auth-imaging",
    prior_auth_pharmacy: "prior-auth-pharmacy",
    records_release: "records-release",
}
