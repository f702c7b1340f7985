//! The bundled benchmarks: the reference agent has everything right, an agent that does nothing has nothing, one that does a
//! little of everything has no task, and near misses of the reference are told from it.

use std::path::PathBuf;

use agents::drive::{Result, drive};
use agents::{Manner, Mutation, Variant};
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

    async fn drive(&self, manner: Manner) -> Vec<Result> {
        drive(&self.owner, &self.reference, manner).await.unwrap()
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
    let right = bundled.drive(Manner::Reference).await;
    for result in &right {
        assert!(result.score == 1.0 && result.complaint.is_none(), "{slug}, reference: {}", told(result));
    }
    let nothing = bundled.drive(Manner::Nothing).await;
    let scored: Vec<String> =
        nothing.iter().filter(|result| result.score > 0.0).map(|result| result.task.clone()).collect();
    assert!(scored.len() * 10 <= nothing.len(), "{slug}: doing nothing scores in {scored:?}");
    assert!(nothing.iter().all(|result| result.score < 0.9), "{slug}: doing nothing passes");
    for result in bundled.drive(Manner::Spray).await {
        assert!(result.score < 0.9, "{slug}, spray: {} passes", result.task);
    }
    let (mut applied, mut rejected) = (0, 0);
    for mutation in Mutation::ALL {
        for result in bundled.drive(Manner::Mutant(mutation)).await.iter().filter(|result| result.applied) {
            applied += 1;
            rejected += usize::from(result.score < 0.9);
            if result.score >= 0.9 {
                println!("{slug}: {} passes {}: {}", mutation.name(), result.task, result.score);
            }
        }
    }
    println!("{slug}: {} tasks, {rejected} of {applied} near misses told from the reference", right.len());
    assert!(rejected * 100 >= applied * 98, "{slug}: only {rejected} of {applied} near misses are told");
    for variant in Variant::ALL {
        for result in bundled.drive(Manner::Variant(variant)).await {
            assert!(result.score == 1.0, "{slug}, {variant:?}: {}", told(&result));
        }
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
    fax_referral: "fax-referral",
    lab_followup: "lab-followup",
    med_reconciliation: "med-reconciliation",
}
