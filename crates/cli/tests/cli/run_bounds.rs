//! Floor and ceiling: stored by `verial benchmarks audit` and `push --audit`, and shown with every score.

use std::path::Path;

use reqwest::Method;
use serde_json::{Value, json};
use testkit::Database;

use crate::fixture::{RunFixture, WRITES_A, expect_exit, report};
use crate::process::{ServerData, verial};

const BOUNDS: &str = "floor 0.125, ceiling 1.00";

#[tokio::test(flavor = "multi_thread")]
async fn every_report_shows_floor_and_ceiling() {
    let fixture = RunFixture::open().await;
    let author = fixture.server.first_caller();
    let path = format!("/benchmarks/{}", fixture.reference);
    let (unknown, _) = expect_exit(&mut fixture.run(WRITES_A, &[]), 0);
    assert!(!unknown.contains("floor") && unknown.contains("score 0.5000  partial"), "{unknown}");

    let tasks = author.get(&path).await.expect(200)["tasks"].clone();
    let of_task = |index: usize, floor: f64| json!({"task_id": tasks[index]["id"], "floor": floor, "ceiling": 1});
    let audit = json!({"floor": 0.125, "ceiling": 1, "tasks": [of_task(0, 0.25), of_task(1, 0.0)]});
    author.send(Method::PUT, &format!("{path}/audit"), &[], Some(audit)).await.expect(200);

    let outputs = ["--journal", "j.json", "--junit", "j.xml", "--report", "r.html", "--markdown", "r.md"];
    let report_json = report(&mut fixture.run(WRITES_A, &outputs), 0);
    for part in [&report_json, &report_json["runs"][0], &report_json["statistics"]] {
        assert_eq!((&part["floor"], &part["ceiling"]), (&json!(0.125), &json!(1.0)), "{part}");
    }
    assert_eq!(report_json["runs"][0]["tasks"][0]["floor"], json!(0.25));
    let (card, _) = expect_exit(&mut fixture.verial(&["run", "--resume", "j.json"]), 0);
    assert!(card.contains(&format!("score 0.5000  partial  ({BOUNDS})")), "{card}");
    assert!(card.contains("FLOOR") && card.contains("0.25"), "{card}");
    for (name, expected) in [
        ("j.xml", "<property name=\"floor\" value=\"0.125\"/><property name=\"ceiling\" value=\"1\"/>"),
        ("r.html", BOUNDS),
        ("r.html", "class=\"mark\""),
        ("r.md", BOUNDS),
        ("r.md", "| Write a | 1.0 | 0.25 | 1.00 | pass | 1 of 1 |"),
    ] {
        assert!(fixture.read(name).contains(expected), "{name}: {}", fixture.read(name));
    }

    let run = report_json["runs"][0]["id"].as_str().unwrap();
    let (list, _) = expect_exit(fixture.verial(&["runs", "list"]).env("COLUMNS", "80"), 0);
    assert!(list.contains("BOUNDS") && list.contains("0.125–1.00"), "{list}");
    let (one, _) = expect_exit(&mut fixture.verial(&["runs", "get", run]), 0);
    assert!(one.lines().any(|line| line.starts_with("floor") && line.ends_with("0.125")), "{one}");
    let (sides, _) = expect_exit(&mut fixture.verial(&["compare", run, run_before(&author, run).await.as_str()]), 0);
    assert!(sides.contains("BOUNDS") && sides.contains("0.125–1.00"), "{sides}");
    let (versions, _) =
        expect_exit(&mut fixture.verial(&["benchmarks", "versions", told_benchmark(&author).await.as_str()]), 0);
    assert!(versions.contains("BOUNDS") && versions.contains("0.125–1.00"), "{versions}");
}

async fn run_before(author: &testkit::Caller, run: &str) -> String {
    let runs = author.get("/benchmark-runs").await.expect(200);
    let other = runs.data().iter().find(|one| one["id"] != run).unwrap();
    other["id"].as_str().unwrap().to_owned()
}

async fn told_benchmark(author: &testkit::Caller) -> String {
    author.get("/benchmarks").await.expect(200).data()[0]["id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_audit_of_a_published_version_is_stored_on_the_server() {
    let data = ServerData::new(Database::Sqlite);
    let server = data.serve();
    let author = server.first_caller();
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("chest-x-rays");
    let call = |arguments: &[&str], with: Option<&Path>, code: i32| {
        let mut command = verial(&[&["benchmarks"], arguments].concat());
        command.env("VERIAL_URL", &server.base_url).env("VERIAL_API_KEY", server.first_key.as_deref().unwrap());
        expect_exit(command.args(with), code)
    };
    call(&["init"], Some(&folder), 0);
    call(&["push"], Some(&folder), 0);
    let (output_text, _) = call(&["audit", "chest-x-rays@1", "--no-store"], None, 0);
    assert!(
        output_text.contains("floor 0.00")
            && output_text.contains("No reference agent")
            && !output_text.contains("stored"),
        "{output_text}"
    );
    assert_eq!(author.get("/benchmarks/chest-x-rays@1").await.expect(200)["audit"], Value::Null);
    let (output_text, _) = call(&["audit", "chest-x-rays@1"], None, 0);
    assert!(output_text.contains("The floor is stored with chest-x-rays@1."), "{output_text}");
    let kept = author.get("/benchmarks/chest-x-rays@1").await.expect(200)["audit"].clone();
    assert_eq!(
        (&kept["floor"], &kept["ceiling"], kept["tasks"].as_array().map(Vec::len)),
        (&json!(0.0), &Value::Null, Some(2))
    );
    assert!(author.get("/benchmark-runs").await.expect(200).data().is_empty(), "audits are not among the runs");

    let task = folder.join("tasks/10-order.yaml");
    let text = std::fs::read_to_string(&task).unwrap();
    std::fs::write(&task, text.replace("tags: [action]", "tags: [action, imaging]")).unwrap();
    let (output_text, _) = call(&["push", "--audit"], Some(&folder), 0);
    assert!(
        output_text.contains("Published chest-x-rays@2") && output_text.contains("stored with chest-x-rays@2"),
        "{output_text}"
    );
    assert_eq!(author.get("/benchmarks/chest-x-rays@2").await.expect(200)["audit"]["floor"], json!(0.0));
    let (_, output_text) = call(&["audit", "chest-x-rays@1"], None, 2);
    assert!(output_text.contains("has changed since chest-x-rays@1 was published"), "{output_text}");
    assert_eq!(author.get("/benchmarks/chest-x-rays@1").await.expect(200)["audit"], kept);
}

#[test]
fn a_local_run_shows_bounds_and_no_hints_for_its_temporary_server() {
    let directory = tempfile::tempdir().unwrap();
    let agent = format!("'{}' reference-agent", env!("CARGO_BIN_EXE_verial"));
    let local = |more: &[&str]| {
        let mut command = verial(&["run", "fax-referral@4", "--local", "--agent", &agent, "--parallel", "4"]);
        command.args(more).current_dir(directory.path()).env("HOME", directory.path()).env("COLUMNS", "80");
        expect_exit(&mut command, 0).0
    };
    let card = local(&[]);
    assert!(card.contains("score 1.0000  pass  (floor 0.00, ceiling 1.00)"), "{card}");
    assert!(!card.contains("verial runs get"), "{card}");
    let card = local(&["--data", "kept"]);
    assert!(!card.contains("verial runs get") && card.contains("data: kept, for verial serve --data"), "{card}");
}
