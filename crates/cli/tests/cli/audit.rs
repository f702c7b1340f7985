//! `verial benchmarks audit` with an author's own agent, and what it does not keep.

use std::path::{Path, PathBuf};

use reqwest::Method;
use serde_json::{Value, json};
use testkit::Database;

use crate::arena::ended;
use crate::process::{Site, output, verial};

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The benchmark to begin with, in a place that is gone with the first of both.
fn starter() -> (tempfile::TempDir, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let made = place.path().join("chest-x-rays");
    output(&mut verial(&["benchmarks", "init", text(&made)]));
    (place, made)
}

/// An agent of the author's own, in a shell: it finds the patient and orders the X-ray.
const ORDERS: &str = r#"set -e
doors=/v1/task-runs/$VERIAL_TASK_RUN_ID/sandbox
mrn=$(printf %s "$VERIAL_INSTRUCTION" | sed 's/.*record number \([0-9]*\).*/\1/')
patient=$("$VERIAL" call GET "$doors/fhir/Patient?identifier=$mrn" | sed -n 's/.*"id": *"\([^"]*\)".*/\1/p' | tail -n 1)
"$VERIAL" call POST "$doors/fhir/ServiceRequest" '{"resourceType": "ServiceRequest", "status": "active", "intent": "order",
  "subject": {"reference": "Patient/'"$patient"'"}, "code": {"coding": [{"system": "http://loinc.org", "code": "36643-5"}]}}'
"#;

#[test]
fn an_authors_own_agent_is_tried_with_near_misses_of_it() {
    let (place, made) = starter();
    let agent = place.path().join("agent.sh");
    std::fs::write(&agent, ORDERS).unwrap();
    let command = format!("sh {}", text(&agent));
    let mut audit = verial(&["benchmarks", "audit", text(&made), "--agent", &command, "--json"]);
    let program = audit.get_program().to_owned();
    let audited = audit.env("VERIAL", program).output().unwrap();
    let words = String::from_utf8_lossy(&audited.stderr).into_owned();
    let told: Value = serde_json::from_slice(&audited.stdout).unwrap_or_else(|_| panic!("{words}"));
    assert_eq!((told["floor"].as_f64(), told["ceiling"].as_f64()), (Some(0.0), Some(1.0)), "{told:#}\n{words}");
    let of = |name: &str| told[name]["of"].as_u64().unwrap();
    assert!(of("near_misses") >= 8 && of("other_ways") >= 4, "{told:#}");
    assert_eq!(told["grave_near_misses"]["told"], told["grave_near_misses"]["of"], "{told:#}");
    assert_eq!(told["other_ways"]["accepted"], told["other_ways"]["of"], "{told:#}");
    for row in told["criteria"].as_array().unwrap() {
        assert_eq!((&row["nothing"], &row["reference"]), (&json!(false), &json!(true)), "{row}");
        assert!(row["failed_by"].as_u64() > Some(0), "{row}");
    }
    let attacks = &told["attacks"];
    assert!(attacks["tried"].as_u64() > Some(8), "{attacks:#}");
    let row = |name: &str| attacks["by_attack"].as_array().unwrap().iter().find(|row| row["attack"] == name).unwrap();
    assert_eq!((&row("undo")["severity"], &row("replay")["severity"]), (&json!("grave"), &json!("reported")));
    let passed = attacks["passed_attacks"].as_array().unwrap();
    assert!(passed.iter().any(|attack| attack["attack"] == "replay"), "data that never varies: {attacks:#}");
    for attack in passed {
        assert!(attack["suggestion"].as_str().is_some_and(|words| !words.is_empty()), "{attack}");
        assert_eq!(attack["verdict"], "pass", "{attack}");
    }
    let fails = passed.iter().any(|attack| attack["severity"] != "reported");
    assert_eq!(audited.status.code(), Some(i32::from(fails)), "{words}");
    assert_eq!(fails, words.contains("passed that must not"), "{words}");
}

#[test]
fn an_agent_that_cannot_do_the_work_fails_the_audit() {
    let (_place, made) = starter();
    let agent = "echo I do not know how >&2; exit 3";
    let (_, words) = ended(&mut verial(&["benchmarks", "audit", text(&made), "--agent", agent]), 1);
    let lines: Vec<&str> = words.lines().collect();
    let of_criterion = |line: &&&str| line.ends_with("` is failed by the reference") && line.starts_with("  Order");
    assert_eq!(lines.iter().filter(of_criterion).count(), 4, "{words}");
    let said: Vec<_> =
        lines.iter().filter(|line| line.contains("the reference agent said: I do not know how")).collect();
    assert_eq!(said.len(), 1, "{words}");
    assert!(
        lines.last().unwrap().contains("4 criteria are passed by doing nothing, or failed by the reference"),
        "{words}"
    );
}

#[test]
fn an_agent_that_cannot_be_started_ends_the_audit() {
    let (place, made) = starter();
    std::fs::write(place.path().join("no-program"), "").unwrap();
    for (agent, said) in [("./nope", "not found"), ("./no-program", "denied")] {
        let mut command = verial(&["benchmarks", "audit", text(&made), "--agent", agent]);
        let (answer, words) = ended(command.current_dir(place.path()), 4);
        assert_eq!(answer, "");
        let last = words.lines().last().unwrap().to_lowercase();
        assert!(last.contains("the agent cannot be started") && last.contains(agent) && last.contains(said), "{words}");
        assert!(!words.contains("does nothing"), "at once: {words}");
    }
}

#[test]
fn a_criterion_that_is_passed_by_doing_nothing_is_named() {
    let (_place, made) = starter();
    let task = made.join("tasks/10-order.yaml");
    let sound = std::fs::read_to_string(&task).unwrap();
    std::fs::write(&task, sound.replace("require: [", "allow: [")).unwrap();
    let (_, words) = ended(&mut verial(&["benchmarks", "audit", text(&made)]), 1);
    let named = words.lines().filter(|line| line.ends_with("` is passed by doing nothing"));
    assert_eq!(named.count(), 2, "{words}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_audit_does_not_know_better_stays() {
    let site = Site::new(Database::Sqlite);
    let serving = site.serve();
    let author = serving.first_caller();
    let (_place, made) = starter();
    let call = |words: &[&str], code: i32| {
        let mut command = verial(&[&["benchmarks"], words].concat());
        command.env("VERIAL_URL", &serving.base_url).env("VERIAL_API_KEY", serving.first_key.as_deref().unwrap());
        ended(&mut command, code).0
    };
    let kept = async || author.get("/benchmarks/chest-x-rays@1").await.expect(200)["audit"].clone();
    call(&["push", text(&made)], 0);
    let words = call(&["audit", "chest-x-rays@1", "--agent", "exit 3"], 1);
    assert!(words.contains("Nothing is kept with chest-x-rays@1: the audit is not clean."), "{words}");
    assert_eq!(kept().await, Value::Null);

    let record = json!({"floor": 0, "ceiling": 1, "near_misses": {"rejected": 9, "of": 9}});
    author.send(Method::PUT, "/benchmarks/chest-x-rays@1/audit", &[], Some(record)).await.expect(200);
    let before = kept().await;
    for words in [&["audit", "chest-x-rays@1"][..], &["push", text(&made), "--audit"]] {
        let words = call(words, 0);
        assert!(words.contains("What is kept with chest-x-rays@1 stays: it has a ceiling"), "{words}");
        assert_eq!(kept().await, before);
    }
    let words = call(&["push", text(&made), "--audit", "--get", "audit.kept_with"], 0);
    assert_eq!(words.trim(), "null");
}
