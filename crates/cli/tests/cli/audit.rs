//! `verial benchmarks audit` with an author's agent, and what it stores.

use std::path::{Path, PathBuf};

use reqwest::Method;
use serde_json::{Value, json};
use testkit::Database;

use crate::fixture::expect_exit;
use crate::process::{ServerData, output, verial};

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The starter benchmark in a temporary directory.
fn starter() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let created = directory.path().join("chest-x-rays");
    output(&mut verial(&["benchmarks", "init", text(&created)]));
    (directory, created)
}

/// An author's agent as a shell script: it finds the patient and orders the X-ray.
const ORDERS: &str = r#"set -e
sandbox=/v1/task-runs/$VERIAL_TASK_RUN_ID/sandbox
mrn=$(printf %s "$VERIAL_INSTRUCTION" | sed 's/.*record number \([0-9]*\).*/\1/')
patient=$("$VERIAL" call GET "$sandbox/fhir/Patient?identifier=$mrn" | sed -n 's/.*"id": *"\([^"]*\)".*/\1/p' | tail -n 1)
"$VERIAL" call POST "$sandbox/fhir/ServiceRequest" '{"resourceType": "ServiceRequest", "status": "active", "intent": "order",
  "subject": {"reference": "Patient/'"$patient"'"}, "code": {"coding": [{"system": "http://loinc.org", "code": "36643-5"}]}}'
"#;

#[test]
fn an_authors_agent_is_audited_with_near_misses() {
    let (directory, created) = starter();
    let agent = directory.path().join("agent.sh");
    std::fs::write(&agent, ORDERS).unwrap();
    let command = format!("sh {}", text(&agent));
    let mut audit = verial(&["benchmarks", "audit", text(&created), "--agent", &command, "--json"]);
    let program = audit.get_program().to_owned();
    let audited = audit.env("VERIAL", program).output().unwrap();
    let output_text = String::from_utf8_lossy(&audited.stderr).into_owned();
    let report_json: Value = serde_json::from_slice(&audited.stdout).unwrap_or_else(|_| panic!("{output_text}"));
    assert_eq!(
        (report_json["floor"].as_f64(), report_json["ceiling"].as_f64()),
        (Some(0.0), Some(1.0)),
        "{report_json:#}\n{output_text}"
    );
    let of = |name: &str| report_json[name]["of"].as_u64().unwrap();
    assert!(of("near_misses") >= 8 && of("other_ways") >= 4, "{report_json:#}");
    assert_eq!(report_json["grave_near_misses"]["told"], report_json["grave_near_misses"]["of"], "{report_json:#}");
    assert_eq!(report_json["other_ways"]["accepted"], report_json["other_ways"]["of"], "{report_json:#}");
    for row in report_json["criteria"].as_array().unwrap() {
        assert_eq!((&row["nothing"], &row["reference"]), (&json!(false), &json!(true)), "{row}");
        assert!(row["failed_by"].as_u64() > Some(0), "{row}");
    }
    let attacks = &report_json["attacks"];
    assert!(attacks["tried"].as_u64() > Some(8), "{attacks:#}");
    let row = |name: &str| attacks["by_attack"].as_array().unwrap().iter().find(|row| row["attack"] == name).unwrap();
    assert_eq!((&row("undo")["severity"], &row("replay")["severity"]), (&json!("grave"), &json!("reported")));
    let passed = attacks["passed_attacks"].as_array().unwrap();
    assert!(passed.iter().any(|attack| attack["attack"] == "replay"), "data that never varies: {attacks:#}");
    for attack in passed {
        assert!(attack["suggestion"].as_str().is_some_and(|output_text| !output_text.is_empty()), "{attack}");
        assert_eq!(attack["verdict"], "pass", "{attack}");
    }
    let fails = passed.iter().any(|attack| attack["severity"] != "reported");
    assert_eq!(audited.status.code(), Some(i32::from(fails)), "{output_text}");
    assert_eq!(fails, output_text.contains("passed that must not"), "{output_text}");
}

#[test]
fn an_agent_that_cannot_do_the_work_fails_the_audit() {
    let (_directory, created) = starter();
    let agent = "echo I do not know how >&2; exit 3";
    let (_, stderr) = expect_exit(&mut verial(&["benchmarks", "audit", text(&created), "--agent", agent]), 1);
    let lines: Vec<&str> = stderr.lines().collect();
    let of_criterion = |line: &&&str| line.ends_with("` is failed by the reference") && line.starts_with("  Order");
    assert_eq!(lines.iter().filter(of_criterion).count(), 4, "{stderr}");
    let reported: Vec<_> =
        lines.iter().filter(|line| line.contains("the reference agent reported: I do not know how")).collect();
    assert_eq!(reported.len(), 1, "{stderr}");
    assert!(
        lines.last().unwrap().contains("4 criteria are passed by doing nothing, or failed by the reference"),
        "{stderr}"
    );
}

#[test]
fn an_agent_that_cannot_be_started_ends_the_audit() {
    let (directory, created) = starter();
    std::fs::write(directory.path().join("no-program"), "").unwrap();
    for (agent, expected) in [("./nope", "not found"), ("./no-program", "denied")] {
        let mut command = verial(&["benchmarks", "audit", text(&created), "--agent", agent]);
        let (response, stderr) = expect_exit(command.current_dir(directory.path()), 4);
        assert_eq!(response, "");
        let last = stderr.lines().last().unwrap().to_lowercase();
        assert!(
            last.contains("the agent cannot be started") && last.contains(agent) && last.contains(expected),
            "{stderr}"
        );
        assert!(!stderr.contains("does nothing"), "stops immediately: {stderr}");
    }
}

#[test]
fn a_criterion_that_passes_without_work_is_reported() {
    let (_directory, created) = starter();
    let task = created.join("tasks/10-order.yaml");
    let sound = std::fs::read_to_string(&task).unwrap();
    std::fs::write(&task, sound.replace("require: [", "allow: [")).unwrap();
    let (_, stderr) = expect_exit(&mut verial(&["benchmarks", "audit", text(&created)]), 1);
    let named = stderr.lines().filter(|line| line.ends_with("` is passed by doing nothing"));
    assert_eq!(named.count(), 2, "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_audit_does_not_replace_a_better_record() {
    let data = ServerData::new(Database::Sqlite);
    let server = data.serve();
    let author = server.first_caller();
    let (_directory, created) = starter();
    let call = |arguments: &[&str], code: i32| {
        let mut command = verial(&[&["benchmarks"], arguments].concat());
        command.env("VERIAL_URL", &server.base_url).env("VERIAL_API_KEY", server.first_key.as_deref().unwrap());
        expect_exit(&mut command, code).0
    };
    let kept = async || author.get("/benchmarks/chest-x-rays@1").await.expect(200)["audit"].clone();
    call(&["push", text(&created)], 0);
    let output_text = call(&["audit", "chest-x-rays@1", "--agent", "exit 3"], 1);
    assert!(output_text.contains("Nothing is stored with chest-x-rays@1: the audit found problems."), "{output_text}");
    assert_eq!(kept().await, Value::Null);

    let record = json!({"floor": 0, "ceiling": 1, "near_misses": {"rejected": 9, "of": 9}});
    author.send(Method::PUT, "/benchmarks/chest-x-rays@1/audit", &[], Some(record)).await.expect(200);
    let before = kept().await;
    for arguments in [&["audit", "chest-x-rays@1"][..], &["push", text(&created), "--audit"]] {
        let output_text = call(arguments, 0);
        assert!(
            output_text.contains("The existing record of chest-x-rays@1 is kept: it has a ceiling"),
            "{output_text}"
        );
        assert_eq!(kept().await, before);
    }
    let output_text = call(&["push", text(&created), "--audit", "--get", "audit.kept_with"], 0);
    assert_eq!(output_text.trim(), "null");
}
