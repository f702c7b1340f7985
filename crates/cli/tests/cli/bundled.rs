//! The bundled benchmarks: the reference agent has everything right, an agent that does nothing has nothing, one that does a
//! little of everything has no task, and near misses of the reference are told from it.

use std::path::PathBuf;

use agents::Ours;
use agents::attacks::AttackResult;
use agents::audit::{Audit, Depth, PASS, attacks_on, audit};
use agents::drive::Result;
use agents::guess::{Asked, guesses};
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
    asked: Vec<Asked>,
}

impl Bundled {
    async fn new(slug: &str) -> Self {
        let folder =
            read(&source::directory(&folder(slug)).unwrap()).unwrap_or_else(|faults| panic!("{slug}:\n{faults}"));
        let findings = lint(&folder);
        assert!(findings.iter().all(|one| one.severity != Severity::Error), "{slug}:\n{findings:#?}");
        let server = TestServer::start(Database::Sqlite).await;
        let organization = app::admin::create_organization(&server.app, "Bundled").await.unwrap();
        let owner = Client::new(&server.base_url, &organization.api_key.key).unwrap();
        let pushed = authoring::push(&owner, &folder, true).await.unwrap_or_else(|fault| panic!("{slug}:\n{fault}"));
        assert_eq!(pushed.tasks, expand(&folder).unwrap().len());
        let reference = format!("{slug}@{}", pushed.version.unwrap());
        let tasks = expand(&folder).unwrap();
        let asked = tasks.iter().map(|(_, task)| authoring::bound(&folder, task).unwrap());
        let asked = asked.map(|(item, assertions)| Asked { item, assertions }).collect();
        Self { _server: server, owner, reference, asked }
    }
}

fn told(result: &Result) -> String {
    let checks: Vec<String> = result
        .checks
        .iter()
        .filter(|check| !check.passed)
        .map(|check| format!("{}: {}", check.label, check.details))
        .collect();
    format!("{} = {} {:?}\n  {}", result.task, result.score, result.complaint, checks.join("\n  "))
}

/// How much is tried: a sample; with `VERIAL_AUDIT=full` everything, as the manual's table has it; with
/// `VERIAL_AUDIT=attacks` all attacks and nothing else.
#[expect(clippy::disallowed_methods, reason = "how much is tried is for whoever starts the test to say")]
fn is_asked_for(what: &str) -> bool {
    std::env::var("VERIAL_AUDIT").is_ok_and(|depth| depth == what)
}

fn depth() -> Depth {
    if is_asked_for("full") || is_asked_for("attacks") { Depth::Full } else { Depth::OneIn(4) }
}

async fn holds(slug: &str) {
    let bundled = Bundled::new(slug).await;
    if is_asked_for("attacks") {
        let attacks = attacks_on(&bundled.owner, &bundled.reference, &Ours, Depth::Full).await.unwrap();
        return attacks_are_caught(slug, &Audit { attacks, ..Audit::default() });
    }
    let audit = audit(&bundled.owner, &bundled.reference, Some(&Ours), depth(), |_| ()).await.unwrap();
    let audit = Audit { guesses: guesses(&bundled.asked), ..audit };
    for result in audit.reference.iter().chain(&audit.repeats) {
        assert!(result.score == 1.0 && result.complaint.is_none(), "{slug}, reference: {}", told(result));
    }
    let free: Vec<&str> =
        audit.nothing.iter().filter(|result| result.score > 0.0).map(|result| result.task.as_str()).collect();
    assert!(free.is_empty(), "{slug}: doing nothing scores in {free:?}");
    for (who, results) in [("nothing", &audit.nothing), ("spray", &audit.spray)] {
        for result in results {
            assert!(result.score < PASS, "{slug}, {who}: {} passes", result.task);
        }
    }
    near_misses_are_told(slug, &audit);
    for (variant, result) in audit.variants.iter().filter(|(_, result)| result.score < 1.0) {
        println!("{slug}, {}: {}", variant.name(), told(result));
    }
    let (accepted, ways) = audit.accepted();
    assert!(accepted * 100 >= ways * 99, "{slug}: only {accepted} of {ways} other ways are accepted");
    the_manual_has(slug, &audit);
    the_record_is_true(slug, &audit);
    attacks_are_caught(slug, &audit);
}

/// What the binary brings along. Of the counts a sample tells nothing.
fn the_record_is_true(slug: &str, audit: &Audit) {
    let (mut kept, mut record) = (agents::bundled::audit(slug).unwrap_or_default(), audit.record());
    if depth() != Depth::Full {
        for counted in ["near_misses", "equivalents"] {
            kept[counted] = record[counted].take();
            record[counted] = kept[counted].clone();
        }
    }
    assert!(kept == record, "benchmarks/audits.json should say\n\"{slug}\": {record}");
}

fn near_misses_are_told(slug: &str, audit: &Audit) {
    audit.passed().iter().for_each(|passed| println!("{slug}: passes: {passed}"));
    let (rejected, near) = audit.told();
    assert!(rejected * 100 >= near * 98, "{slug}: only {rejected} of {near} near misses are told");
    let (rejected, grave) = audit.told_grave();
    assert_eq!(rejected, grave, "{slug}: near misses that harm somebody pass");
}

/// No attack passes but those that `benchmarks/attacks.json` allows, and as many are tried as it says.
fn attacks_are_caught(slug: &str, audit: &Audit) {
    for refused in audit.attacks.iter().filter(|attack| !attack.is_tried()) {
        println!(
            "{slug}: not tried: {}: {} {}: {:?}",
            refused.task, refused.attack, refused.description, refused.refusal
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

/// The whole row when all was tried; else that part of it that a sample can tell.
fn the_manual_has(slug: &str, audit: &Audit) {
    let row = audit.row(slug);
    println!("{row}");
    let manual = std::fs::read_to_string(folder("../docs/benchmarks.md")).unwrap();
    let is_known = |line: &str| match depth() {
        Depth::Full => line == row,
        Depth::OneIn(_) => line.starts_with(&audit.row_of_all(slug)),
    };
    assert!(manual.lines().any(is_known), "docs/benchmarks.md should say\n{row}");
    if depth() == Depth::Full {
        let (near, ways) = audit.fewest();
        assert!(near >= 20 && ways >= 10, "{slug}: a task has only {near} near misses and {ways} other ways");
    }
}

/// One test for each folder below `benchmarks/`.
macro_rules! bundled {
    ($($name:ident: $slug:literal,)+) => {
        $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                holds($slug).await;
            }
        )+

        #[test]
        fn every_folder_is_held() {
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
