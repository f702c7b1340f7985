//! Floor and ceiling: kept by `verial benchmarks audit` and `push --audit`, and beside every score that is shown.

use std::path::Path;

use reqwest::Method;
use serde_json::{Value, json};
use testkit::Database;

use crate::arena::{Arena, WRITES_A, ended, report};
use crate::process::{Site, verial};

const BOUNDS: &str = "floor 0.125, ceiling 1.00";

#[tokio::test(flavor = "multi_thread")]
async fn every_form_of_a_score_has_floor_and_ceiling_beside_it() {
    let arena = Arena::open().await;
    let author = arena.serving.first_caller();
    let path = format!("/benchmarks/{}", arena.reference);
    let (unknown, _) = ended(&mut arena.run(WRITES_A, &[]), 0);
    assert!(!unknown.contains("floor") && unknown.contains("score 0.5000  partial"), "{unknown}");

    let tasks = author.get(&path).await.expect(200)["tasks"].clone();
    let of_task = |place: usize, floor: f64| json!({"task_id": tasks[place]["id"], "floor": floor, "ceiling": 1});
    let audit = json!({"floor": 0.125, "ceiling": 1, "tasks": [of_task(0, 0.25), of_task(1, 0.0)]});
    author.send(Method::PUT, &format!("{path}/audit"), &[], Some(audit)).await.expect(200);

    let forms = ["--journal", "j.json", "--junit", "j.xml", "--report", "r.html", "--markdown", "r.md"];
    let told = report(&mut arena.run(WRITES_A, &forms), 0);
    for shown in [&told, &told["runs"][0], &told["statistics"]] {
        assert_eq!((&shown["floor"], &shown["ceiling"]), (&json!(0.125), &json!(1.0)), "{shown}");
    }
    assert_eq!(told["runs"][0]["tasks"][0]["floor"], json!(0.25));
    let (card, _) = ended(&mut arena.verial(&["run", "--resume", "j.json"]), 0);
    assert!(card.contains(&format!("score 0.5000  partial  ({BOUNDS})")), "{card}");
    assert!(card.contains("FLOOR") && card.contains("0.25"), "{card}");
    for (name, words) in [
        ("j.xml", "<property name=\"floor\" value=\"0.125\"/><property name=\"ceiling\" value=\"1\"/>"),
        ("r.html", BOUNDS),
        ("r.html", "class=\"mark\""),
        ("r.md", BOUNDS),
        ("r.md", "| Write a | 1.0 | 0.25 | 1.00 | pass | 1 of 1 |"),
    ] {
        assert!(arena.read(name).contains(words), "{name}: {}", arena.read(name));
    }

    let run = told["runs"][0]["id"].as_str().unwrap();
    let (list, _) = ended(arena.verial(&["runs", "list"]).env("COLUMNS", "80"), 0);
    assert!(list.contains("BOUNDS") && list.contains("0.125–1.00"), "{list}");
    let (one, _) = ended(&mut arena.verial(&["runs", "get", run]), 0);
    assert!(one.lines().any(|line| line.starts_with("floor") && line.ends_with("0.125")), "{one}");
    let (sides, _) = ended(&mut arena.verial(&["compare", run, run_before(&author, run).await.as_str()]), 0);
    assert!(sides.contains("BOUNDS") && sides.contains("0.125–1.00"), "{sides}");
    let (versions, _) =
        ended(&mut arena.verial(&["benchmarks", "versions", told_benchmark(&author).await.as_str()]), 0);
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
async fn an_author_audits_what_is_published_and_the_server_keeps_it() {
    let site = Site::new(Database::Sqlite);
    let serving = site.serve();
    let author = serving.first_caller();
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("chest-x-rays");
    let call = |words: &[&str], with: Option<&Path>, code: i32| {
        let mut command = verial(&[&["benchmarks"], words].concat());
        command.env("VERIAL_URL", &serving.base_url).env("VERIAL_API_KEY", serving.first_key.as_deref().unwrap());
        ended(command.args(with), code)
    };
    call(&["init"], Some(&folder), 0);
    call(&["push"], Some(&folder), 0);
    let (words, _) = call(&["audit", "chest-x-rays@1", "--no-store"], None, 0);
    assert!(words.contains("floor 0.00") && words.contains("No reference agent") && !words.contains("kept"), "{words}");
    assert_eq!(author.get("/benchmarks/chest-x-rays@1").await.expect(200)["audit"], Value::Null);
    let (words, _) = call(&["audit", "chest-x-rays@1"], None, 0);
    assert!(words.contains("The floor is kept with chest-x-rays@1."), "{words}");
    let kept = author.get("/benchmarks/chest-x-rays@1").await.expect(200)["audit"].clone();
    assert_eq!(
        (&kept["floor"], &kept["ceiling"], kept["tasks"].as_array().map(Vec::len)),
        (&json!(0.0), &Value::Null, Some(2))
    );
    assert!(author.get("/benchmark-runs").await.expect(200).data().is_empty(), "audits are not among the runs");

    let task = folder.join("tasks/10-order.yaml");
    let text = std::fs::read_to_string(&task).unwrap();
    std::fs::write(&task, text.replace("tags: [action]", "tags: [action, imaging]")).unwrap();
    let (words, _) = call(&["push", "--audit"], Some(&folder), 0);
    assert!(words.contains("Published chest-x-rays@2") && words.contains("kept with chest-x-rays@2"), "{words}");
    assert_eq!(author.get("/benchmarks/chest-x-rays@2").await.expect(200)["audit"]["floor"], json!(0.0));
    let (_, words) = call(&["audit", "chest-x-rays@1"], None, 2);
    assert!(words.contains("has changed since chest-x-rays@1 was published"), "{words}");
    assert_eq!(author.get("/benchmarks/chest-x-rays@1").await.expect(200)["audit"], kept);
}

#[test]
fn a_local_run_shows_bounds_and_speaks_of_no_server_that_is_gone() {
    let place = tempfile::tempdir().unwrap();
    let agent = format!("'{}' reference-agent", env!("CARGO_BIN_EXE_verial"));
    let local = |more: &[&str]| {
        let mut command = verial(&["run", "fax-referral@2", "--local", "--agent", &agent, "--parallel", "4"]);
        command.args(more).current_dir(place.path()).env("HOME", place.path()).env("COLUMNS", "80");
        ended(&mut command, 0).0
    };
    let card = local(&[]);
    assert!(card.contains("score 1.0000  pass  (floor 0.00, ceiling 1.00)"), "{card}");
    assert!(!card.contains("verial runs get"), "{card}");
    let card = local(&["--data", "kept"]);
    assert!(!card.contains("verial runs get") && card.contains("data: kept, for verial serve --data"), "{card}");
}
