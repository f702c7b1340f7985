//! `verial run` with shell-script agents: scorecard, gate, inputs and repeated runs.

use serde_json::{Value, json};
use testkit::{Database, postgres_url};

use crate::fixture::{RunFixture, WRITES_A, expect_exit, report, statuses};

#[tokio::test(flavor = "multi_thread")]
async fn the_scorecard_shows_failures_and_the_gate_sets_the_exit_code() {
    let databases = [Some(Database::Sqlite), postgres_url().map(|_| Database::Postgres)];
    for database in databases.into_iter().flatten() {
        let fixture = RunFixture::open_on(database, "Write b").await;
        let (card, _) = expect_exit(&mut fixture.run(WRITES_A, &[]), 0);
        for expected in [
            "orders@1",
            "Write a",
            "pass",
            "fail",
            "✓",
            "✗",
            "Basic b",
            "expected \"b\"",
            "found \"a\"",
            "safety 1.0000",
            "score 0.5",
        ] {
            assert!(card.contains(expected), "{expected}: {card}");
        }
        assert!(!card.contains('\u{1b}') && card.lines().all(|line| line.chars().count() <= 100), "{card}");
        let (_, text) = expect_exit(&mut fixture.run(WRITES_A, &["--min-score", "0.9"]), 1);
        assert!(text.contains("gate not met"), "{text}");
        expect_exit(&mut fixture.run(WRITES_A, &["--min-score", "0.5", "--min-axis", "safety=1.0"]), 0);
        expect_exit(&mut fixture.run(WRITES_A, &["--min-axis", "other=0.1"]), 1);
        expect_exit(&mut fixture.run(WRITES_A, &["--min-axis", "no-such-axis=0.1"]), 2);
        expect_exit(&mut fixture.run(WRITES_A, &["--min-score", "2"]), 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_receives_its_task_but_no_key() {
    let fixture = RunFixture::open().await;
    let agent = r#"env > "env-$VERIAL_INSTRUCTION"; ls -l "$VERIAL_CREDENTIALS_FILE" > mode; cat "$VERIAL_CREDENTIALS_FILE" > "given-$VERIAL_INSTRUCTION"; echo said; echo warned >&2"#;
    let report_json = report(fixture.run(agent, &["--scored", "--agent-name", "v7"]).env("VERIAL_SOLVER_KEY", ""), 0);
    let environment = fixture.read("env-Write a.");
    let variable = |name: &str| {
        let line = environment.lines().find_map(|line| line.strip_prefix(&format!("{name}=")));
        line.unwrap_or_else(|| panic!("{name}: {environment}")).to_owned()
    };
    assert_eq!(variable("VERIAL_BASE_URL"), fixture.server.base_url);
    assert_eq!(variable("VERIAL_INSTRUCTION"), "Write a.");
    assert_eq!(serde_json::from_str::<Value>(&variable("VERIAL_TASK_ITEM")).unwrap()["mrn"], "10001");
    assert!(variable("VERIAL_ENDPOINTS").contains("/fhir") && variable("VERIAL_RUN_TOKEN").starts_with("vrl_run_"));
    assert!(
        variable("VERIAL_BENCHMARK_RUN_ID").starts_with("br_") && variable("VERIAL_TASK_RUN_ID").starts_with("tr_")
    );
    assert!(!environment.contains(fixture.key()), "the agent must not get the organization key");
    assert!(fixture.read("mode").starts_with("-rw-------"), "{}", fixture.read("mode"));
    let given: Value = serde_json::from_str(&fixture.read("given-Write a.")).unwrap();
    assert!(given["sandboxes"][0]["credentials"]["client_secret"].is_string(), "{given}");
    let file = variable("VERIAL_CREDENTIALS_FILE");
    assert!(!std::path::Path::new(&file).exists(), "{file} was not removed");
    // A scored run shows no details.
    assert_eq!(
        (&report_json["scored"], &report_json["runs"][0]["tasks"][0]["checks"][0]["details"]),
        (&json!(true), &Value::Null)
    );
    let log = report_json["runs"][0]["tasks"][0]["agent"]["log"].as_str().unwrap();
    let log = fixture.read(log);
    assert!(log.contains("said") && log.contains("warned"), "{log}");
    let report_json = report(&mut fixture.run("true", &["--scored", "--evidence"]), 0);
    assert!(report_json["runs"][0]["tasks"][0]["checks"][0]["details"].is_string(), "{report_json}");
}

#[tokio::test(flavor = "multi_thread")]
async fn repeated_runs_have_an_interval_and_a_paired_baseline() {
    let fixture = RunFixture::open().await;
    let report_json = report(&mut fixture.run(WRITES_A, &["--repeat", "3", "--parallel", "3"]), 0);
    assert_eq!((&report_json["statistics"]["n"], &report_json["statistics"]["mean"]), (&json!(3), &json!(0.5)));
    assert_eq!(report_json["statistics"]["interval"]["level"], json!(0.95));
    assert_eq!((statuses(&report_json), fixture.starts().len()), (vec!["completed"; 6], 6));
    let baseline = report_json["runs"][0]["id"].as_str().unwrap().to_owned();
    let (card, _) = expect_exit(&mut fixture.run("true", &["--baseline", &baseline, "--repeat", "2"]), 0);
    assert!(card.contains(&format!("against {baseline}: -0.5000")) && card.contains("95 % interval"), "{card}");
    let worse = report(&mut fixture.run("true", &["--baseline", &baseline]), 0);
    assert_eq!((&worse["baseline"]["mean"], &worse["baseline"]["sign_test"]["worse"]), (&json!(-0.5), &json!(1)));
    let other = worse["runs"][0]["id"].as_str().unwrap();
    let (stdout, _) = expect_exit(&mut fixture.verial(&["compare", &baseline, other]), 0);
    assert!(stdout.contains("minus") && stdout.contains("Write a") && stdout.contains("+1.0000"), "{stdout}");
    let (stdout, _) = expect_exit(&mut fixture.verial(&["compare", &baseline, other, "--json"]), 0);
    assert_eq!(serde_json::from_str::<Value>(&stdout).unwrap()["differences"][0]["n"], json!(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_solver_key_is_enough() {
    let fixture = RunFixture::open().await;
    let author = fixture.server.first_caller();
    let solver = author.post("/solvers", json!({"alias": "ci"})).await.expect(201).id();
    let key = author.post(&format!("/solvers/{solver}/api-keys"), json!({"name": "ci"})).await.expect(201).json;
    let mut run = fixture.run(WRITES_A, &[]);
    run.env_remove("VERIAL_API_KEY").env("VERIAL_SOLVER_KEY", key["key"].as_str().unwrap());
    assert_eq!(report(&mut run, 0)["statistics"]["mean"], json!(0.5));
    let runs = author.get(&format!("/benchmark-runs?solver_id={solver}")).await.expect(200);
    assert_eq!(runs.data().len(), 1);
    let (_, stderr) = expect_exit(fixture.run("true", &[]).env_remove("VERIAL_API_KEY"), 2);
    assert!(stderr.contains("VERIAL_SOLVER_KEY") && stderr.contains("--local"), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_scorecard_fits_the_terminal_and_is_only_colored_there() {
    let name = "紹介状の受付を確認し、診療科へ回し、患者へ知らせる。".repeat(4);
    let fixture = RunFixture::open_on(Database::Sqlite, &name).await;
    expect_exit(&mut fixture.run(WRITES_A, &["--journal", "j.json", "--min-score", "0.1"]), 0);
    for columns in [80, 200] {
        let again = ["run", "--resume", "j.json", "--min-score", "0.1"];
        let (card, text) = expect_exit(fixture.verial(&again).env("COLUMNS", columns.to_string()), 0);
        for line in card.lines() {
            let wide: usize = line.chars().map(|character| if character > '\u{2e80}' { 2 } else { 1 }).sum();
            assert!(wide <= columns, "{columns}: {line}");
        }
        assert!(card.contains("紹介状") && card.contains("gate: score >= 0.1: 0.5000  met"), "{card}");
        assert!(!card.contains('\u{1b}') && !text.contains('\u{1b}'), "{card}{text}");
        let (coloured, _) = expect_exit(fixture.verial(&again).env("CLICOLOR_FORCE", "1"), 0);
        assert!(coloured.contains("\u{1b}[32m"), "{coloured}");
    }
    assert_eq!(fixture.starts().len(), 2);
}

#[test]
fn a_local_run_needs_no_setup() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = crate::process::verial(&["run", "no-such@1", "--agent", "true", "--local", "--patience", "1"]);
    let (_, stderr) = expect_exit(command.current_dir(folder.path()).env("HOME", folder.path()), 2);
    assert!(stderr.contains("`no-such` is neither a folder") && stderr.contains("fax-referral"), "{stderr}");
    let mut command = crate::process::verial(&["run", "cds-triage@9", "--agent", "true", "--local"]);
    let (_, stderr) = expect_exit(command.current_dir(folder.path()).env("HOME", folder.path()), 3);
    assert!(stderr.contains("the newest is `cds-triage@3`"), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejected_run_leaves_no_journal_and_a_crash_shows_the_last_output() {
    let fixture = RunFixture::open().await;
    let wanted = fixture.reference.replace("@1", "@9");
    let (_, stderr) = expect_exit(&mut fixture.verial(&["run", &wanted, "--agent", "true"]), 3);
    assert!(stderr.contains(&format!("the newest is `{}`", fixture.reference)), "{stderr}");
    let left = std::fs::read_dir(fixture.folder().join(".verial/runs")).into_iter().flatten().count();
    assert_eq!(left, 0);
    let (card, _) =
        expect_exit(&mut fixture.run("echo first; echo the disk is full $VERIAL_RUN_TOKEN >&2; exit 3", &[]), 1);
    assert!(card.contains("the agent ended with exit code 3: the disk is full vrl_run_…"), "{card}");
}
