//! `verial run`: agents that are shell scripts, scored through a real server.

use serde_json::{Value, json};
use testkit::{Database, postgres_url};

use crate::arena::{Arena, WRITES_A, ended, report, statuses};

#[tokio::test(flavor = "multi_thread")]
async fn the_scorecard_says_what_was_wrong_and_the_gate_decides() {
    let databases = [Some(Database::Sqlite), postgres_url().map(|_| Database::Postgres)];
    for database in databases.into_iter().flatten() {
        let arena = Arena::open_on(database, "Write b").await;
        let (card, _) = ended(&mut arena.run(WRITES_A, &[]), 0);
        for words in [
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
            assert!(card.contains(words), "{words}: {card}");
        }
        assert!(!card.contains('\u{1b}') && card.lines().all(|line| line.chars().count() <= 100), "{card}");
        let (_, words) = ended(&mut arena.run(WRITES_A, &["--min-score", "0.9"]), 1);
        assert!(words.contains("under the gate"), "{words}");
        ended(&mut arena.run(WRITES_A, &["--min-score", "0.5", "--min-axis", "safety=1.0"]), 0);
        ended(&mut arena.run(WRITES_A, &["--min-axis", "other=0.1"]), 1);
        ended(&mut arena.run(WRITES_A, &["--min-axis", "no-such-axis=0.1"]), 2);
        ended(&mut arena.run(WRITES_A, &["--min-score", "2"]), 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_gets_its_task_and_no_key() {
    let arena = Arena::open().await;
    let agent = r#"env > "env-$VERIAL_INSTRUCTION"; ls -l "$VERIAL_CREDENTIALS_FILE" > mode; cat "$VERIAL_CREDENTIALS_FILE" > "given-$VERIAL_INSTRUCTION"; echo said; echo warned >&2"#;
    let told = report(arena.run(agent, &["--scored", "--agent-name", "v7"]).env("VERIAL_SOLVER_KEY", ""), 0);
    let environment = arena.read("env-Write a.");
    let variable = |name: &str| {
        let line = environment.lines().find_map(|line| line.strip_prefix(&format!("{name}=")));
        line.unwrap_or_else(|| panic!("{name}: {environment}")).to_owned()
    };
    assert_eq!(variable("VERIAL_BASE_URL"), arena.serving.base_url);
    assert_eq!(variable("VERIAL_INSTRUCTION"), "Write a.");
    assert_eq!(serde_json::from_str::<Value>(&variable("VERIAL_TASK_ITEM")).unwrap()["mrn"], "10001");
    assert!(variable("VERIAL_ENDPOINTS").contains("/fhir") && variable("VERIAL_RUN_TOKEN").starts_with("vrl_run_"));
    assert!(
        variable("VERIAL_BENCHMARK_RUN_ID").starts_with("br_") && variable("VERIAL_TASK_RUN_ID").starts_with("tr_")
    );
    assert!(!environment.contains(arena.key()), "the organization's key is no business of an agent");
    assert!(arena.read("mode").starts_with("-rw-------"), "{}", arena.read("mode"));
    let given: Value = serde_json::from_str(&arena.read("given-Write a.")).unwrap();
    assert!(given["sandboxes"][0]["credentials"]["client_secret"].is_string(), "{given}");
    let file = variable("VERIAL_CREDENTIALS_FILE");
    assert!(!std::path::Path::new(&file).exists(), "{file} is left");
    // In a scored run the agent's side sees no details.
    assert_eq!((&told["scored"], &told["runs"][0]["tasks"][0]["checks"][0]["details"]), (&json!(true), &Value::Null));
    let log = told["runs"][0]["tasks"][0]["agent"]["log"].as_str().unwrap();
    let log = arena.read(log);
    assert!(log.contains("said") && log.contains("warned"), "{log}");
    let told = report(&mut arena.run("true", &["--scored", "--evidence"]), 0);
    assert!(told["runs"][0]["tasks"][0]["checks"][0]["details"].is_string(), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn repetitions_have_an_interval_and_a_baseline_is_paired() {
    let arena = Arena::open().await;
    let told = report(&mut arena.run(WRITES_A, &["--repeat", "3", "--parallel", "3"]), 0);
    assert_eq!((&told["statistics"]["n"], &told["statistics"]["mean"]), (&json!(3), &json!(0.5)));
    assert_eq!(told["statistics"]["interval"]["level"], json!(0.95));
    assert_eq!((statuses(&told), arena.starts().len()), (vec!["completed"; 6], 6));
    let baseline = told["runs"][0]["id"].as_str().unwrap().to_owned();
    let (card, _) = ended(&mut arena.run("true", &["--baseline", &baseline, "--repeat", "2"]), 0);
    assert!(card.contains(&format!("against {baseline}: -0.5000")) && card.contains("95 % interval"), "{card}");
    let worse = report(&mut arena.run("true", &["--baseline", &baseline]), 0);
    assert_eq!((&worse["baseline"]["mean"], &worse["baseline"]["sign_test"]["worse"]), (&json!(-0.5), &json!(1)));
    let other = worse["runs"][0]["id"].as_str().unwrap();
    let (words, _) = ended(&mut arena.verial(&["compare", &baseline, other]), 0);
    assert!(words.contains("less") && words.contains("Write a") && words.contains("+1.0000"), "{words}");
    let (json_words, _) = ended(&mut arena.verial(&["compare", &baseline, other, "--json"]), 0);
    assert_eq!(serde_json::from_str::<Value>(&json_words).unwrap()["differences"][0]["n"], json!(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_solver_key_is_enough() {
    let arena = Arena::open().await;
    let author = arena.serving.first_caller();
    let solver = author.post("/solvers", json!({"alias": "ci"})).await.expect(201).id();
    let key = author.post(&format!("/solvers/{solver}/api-keys"), json!({"name": "ci"})).await.expect(201).json;
    let mut run = arena.run(WRITES_A, &[]);
    run.env_remove("VERIAL_API_KEY").env("VERIAL_SOLVER_KEY", key["key"].as_str().unwrap());
    assert_eq!(report(&mut run, 0)["statistics"]["mean"], json!(0.5));
    let runs = author.get(&format!("/benchmark-runs?solver_id={solver}")).await.expect(200);
    assert_eq!(runs.data().len(), 1);
    let (_, words) = ended(arena.run("true", &[]).env_remove("VERIAL_API_KEY"), 2);
    assert!(words.contains("VERIAL_SOLVER_KEY") && words.contains("--local"), "{words}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_scorecard_fits_the_terminal_and_is_coloured_only_there() {
    let name = "紹介状の受付を確認し、診療科へ回し、患者へ知らせる。".repeat(4);
    let arena = Arena::open_on(Database::Sqlite, &name).await;
    ended(&mut arena.run(WRITES_A, &["--journal", "j.json", "--min-score", "0.1"]), 0);
    for columns in [80, 200] {
        let again = ["run", "--resume", "j.json", "--min-score", "0.1"];
        let (card, told) = ended(arena.verial(&again).env("COLUMNS", columns.to_string()), 0);
        for line in card.lines() {
            let wide: usize = line.chars().map(|letter| if letter > '\u{2e80}' { 2 } else { 1 }).sum();
            assert!(wide <= columns, "{columns}: {line}");
        }
        assert!(card.contains("紹介状") && card.contains("gate: score >= 0.1: 0.5000  met"), "{card}");
        assert!(!card.contains('\u{1b}') && !told.contains('\u{1b}'), "{card}{told}");
        let (coloured, _) = ended(arena.verial(&again).env("CLICOLOR_FORCE", "1"), 0);
        assert!(coloured.contains("\u{1b}[32m"), "{coloured}");
    }
    assert_eq!(arena.starts().len(), 2);
}

#[test]
fn a_local_server_needs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = crate::process::verial(&["run", "no-such@1", "--agent", "true", "--local", "--patience", "1"]);
    let (_, words) = ended(command.current_dir(folder.path()).env("HOME", folder.path()), 2);
    assert!(words.contains("`no-such` is neither a folder") && words.contains("fax-referral"), "{words}");
    let mut command = crate::process::verial(&["run", "cds-triage@9", "--agent", "true", "--local"]);
    let (_, words) = ended(command.current_dir(folder.path()).env("HOME", folder.path()), 3);
    assert!(words.contains("the newest is `cds-triage@2`"), "{words}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_refused_leaves_no_journal_and_a_crash_is_told_with_its_last_words() {
    let arena = Arena::open().await;
    let wanted = arena.reference.replace("@1", "@9");
    let (_, words) = ended(&mut arena.verial(&["run", &wanted, "--agent", "true"]), 3);
    assert!(words.contains(&format!("the newest is `{}`", arena.reference)), "{words}");
    let left = std::fs::read_dir(arena.folder().join(".verial/runs")).into_iter().flatten().count();
    assert_eq!(left, 0);
    let (card, _) = ended(&mut arena.run("echo first; echo the disk is full $VERIAL_RUN_TOKEN >&2; exit 3", &[]), 1);
    assert!(card.contains("the agent ended with exit code 3: the disk is full vrl_run_…"), "{card}");
}
