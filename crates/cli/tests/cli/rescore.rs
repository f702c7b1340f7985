//! `verial rescore` against a running server.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Bench, basic, wants_code};
use testkit::{Caller, Database};

use crate::process::{Serving, Site, failure, output, verial, write_file};

fn rescore(serving: &Serving, words: &[&str]) -> std::process::Command {
    let mut command = verial(&["rescore"]);
    command.args(words).args(["--url", &serving.base_url, "--api-key", serving.first_key.as_deref().unwrap()]);
    command
}

/// A finished run of a draft, and its criterion.
async fn finished(author: &Caller) -> (String, String) {
    let bench = Bench::new(author, json!({})).await;
    bench.task("Write it", &[wants_code("a")]).await;
    let created = author.post("/benchmark-runs", json!({"benchmark_id": bench.benchmark})).await.expect(201).json;
    let task_run = created["task_runs"][0]["id"].as_str().unwrap().to_owned();
    let post = async |path: String| author.send(Method::POST, &path, &[], None).await.expect(200).json;
    let started = post(format!("/task-runs/{task_run}/start")).await;
    let sandbox = started["sandboxes"][0]["id"].as_str().unwrap();
    author.post(&format!("/sandboxes/{sandbox}/fhir/Basic"), basic("a")).await.expect(201);
    assert_eq!(post(format!("/task-runs/{task_run}/complete")).await["score"], json!(1.0));
    let criteria = author.get(&format!("/criterion-runs?task_run_id={task_run}")).await.expect(200).json;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&created["benchmark_run_id"]), text(&criteria["data"][0]["criterion_id"]))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_scores_the_same_again_and_other_criteria_are_tried() {
    let site = Site::new(Database::Sqlite);
    let serving = site.serve();
    let (run, criterion) = finished(&serving.first_caller()).await;
    let words = output(&mut rescore(&serving, &[&run]));
    assert!(words.contains("identical, byte for byte") && words.contains("score 1.0"), "{words}");
    let report: Value = serde_json::from_str(&output(&mut rescore(&serving, &[&run, "--json"]))).unwrap();
    assert_eq!((&report["identical"], &report["score_after"]), (&json!(true), &json!(1.0)));

    let other = json!([{"criterion_id": criterion, "assertion": wants_code("b")["assertion"]}]);
    for (name, content) in [("list.json", other.clone()), ("object.json", json!({"criteria": other}))] {
        let file = write_file(site.directory(), name, content.to_string());
        let words = output(&mut rescore(&serving, &[&run, "--criteria", file.to_str().unwrap()]));
        assert!(words.contains("FLIPPED to fail") && words.contains("score 1.0 → 0.0"), "{words}");
        assert!(words.contains("pass → fail"), "{words}");
    }
    // Nothing was changed by trying.
    assert!(output(&mut rescore(&serving, &[&run])).contains("identical"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_scored_again_is_said() {
    let site = Site::new(Database::Sqlite);
    let serving = site.serve();
    let (run, _) = finished(&serving.first_caller()).await;
    let file = |content: &str| write_file(site.directory(), "criteria.json", content).to_str().unwrap().to_owned();
    let unknown = r#"[{"criterion_id":"crit_01K9Z3T5Q8W7N4M2R6V0XBHCDE","assertion":{}}]"#;
    for (criteria, expected) in
        [("{", "is not JSON"), ("5", "must be a list"), ("{}", "has no `criteria`"), (unknown, "not valid")]
    {
        let words = failure(&mut rescore(&serving, &[&run, "--criteria", &file(criteria)]));
        assert!(words.contains(expected), "{words}");
    }
    let words = failure(&mut rescore(&serving, &["br_01K9Z3T5Q8W7N4M2R6V0XBHCDE"]));
    assert!(words.contains("no such run"), "{words}");
    assert!(failure(&mut rescore(&serving, &["run-1"])).contains("br_<ULID>"));
}
