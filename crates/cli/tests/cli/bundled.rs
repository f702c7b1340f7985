//! The bundled benchmarks: the reference agent has everything right, an agent that does nothing has nothing, one that does a
//! little of everything has no task, and near misses of the reference are told from it.

use std::path::PathBuf;

use agents::audit::{PASS, audit};
use agents::drive::Result;
use authoring::{Severity, expand, lint, read, source};
use client::Client;
use testkit::{Database, TestServer};

fn folder(slug: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks").join(slug)
}

struct Bundled {
    _server: TestServer,
    owner: Client,
    reference: String,
}

impl Bundled {
    async fn new(slug: &str) -> Self {
        let folder =
            read(&source::directory(&folder(slug)).unwrap()).unwrap_or_else(|faults| panic!("{slug}:\n{faults}"));
        let findings = lint(&folder);
        assert!(findings.iter().all(|one| one.severity == Severity::Warning), "{slug}:\n{findings:#?}");
        let server = TestServer::start(Database::Sqlite).await;
        let organization = app::admin::create_organization(&server.app, "Bundled").await.unwrap();
        let owner = Client::new(&server.base_url, &organization.api_key.key).unwrap();
        let pushed = authoring::push(&owner, &folder, true).await.unwrap_or_else(|fault| panic!("{slug}:\n{fault}"));
        assert_eq!(pushed.tasks, expand(&folder).unwrap().len());
        let reference = format!("{slug}@{}", pushed.version.unwrap());
        Self { _server: server, owner, reference }
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

async fn holds(slug: &str) {
    let bundled = Bundled::new(slug).await;
    let audit = audit(&bundled.owner, &bundled.reference, |_| ()).await.unwrap();
    for result in &audit.reference {
        assert!(result.score == 1.0 && result.complaint.is_none(), "{slug}, reference: {}", told(result));
    }
    let free: Vec<&str> =
        audit.nothing.iter().filter(|result| result.score > 0.0).map(|result| result.task.as_str()).collect();
    assert!(free.len() * 10 <= audit.nothing.len(), "{slug}: doing nothing scores in {free:?}");
    for (who, results) in [("nothing", &audit.nothing), ("spray", &audit.spray)] {
        for result in results {
            assert!(result.score < PASS, "{slug}, {who}: {} passes", result.task);
        }
    }
    for (mutation, result) in audit.near_misses.iter().filter(|(_, result)| result.score >= PASS) {
        println!("{slug}: {} passes {}: {}", mutation.name(), result.task, result.score);
    }
    let (rejected, near) = audit.told();
    assert!(rejected * 100 >= near * 98, "{slug}: only {rejected} of {near} near misses are told");
    for (variant, result) in &audit.variants {
        assert!(result.score == 1.0, "{slug}, {variant:?}: {}", told(result));
    }
    let (kept, record) = (agents::bundled::audit(slug), audit.record());
    assert!(kept.as_ref() == Some(&record), "benchmarks/audits.json should say\n\"{slug}\": {record}");
    let row = audit.row(slug);
    println!("{row}");
    let manual = std::fs::read_to_string(folder("../docs/benchmarks.md")).unwrap();
    assert!(manual.lines().any(|line| line == row), "docs/benchmarks.md should say\n{row}");
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
