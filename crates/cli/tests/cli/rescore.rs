//! `verial rescore` against a running server.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Bench, basic, wants_code};
use testkit::{Caller, Database};

use crate::process::{ServerData, ServerProcess, failure, output, verial, write_file};

fn rescore(server: &ServerProcess, arguments: &[&str]) -> std::process::Command {
    let mut command = verial(&["rescore"]);
    command.args(arguments).args(["--url", &server.base_url, "--api-key", server.first_key.as_deref().unwrap()]);
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
async fn rescoring_is_deterministic_and_accepts_other_criteria() {
    let data = ServerData::new(Database::Sqlite);
    let server = data.serve();
    let (run, criterion) = finished(&server.first_caller()).await;
    let stdout = output(&mut rescore(&server, &[&run]));
    assert!(stdout.contains("identical, byte for byte") && stdout.contains("score 1.0"), "{stdout}");
    let report: Value = serde_json::from_str(&output(&mut rescore(&server, &[&run, "--json"]))).unwrap();
    assert_eq!((&report["identical"], &report["score_after"]), (&json!(true), &json!(1.0)));

    let other = json!([{"criterion_id": criterion, "assertion": wants_code("b")["assertion"]}]);
    for (name, content) in [("list.json", other.clone()), ("object.json", json!({"criteria": other}))] {
        let file = write_file(data.directory(), name, content.to_string());
        let stdout = output(&mut rescore(&server, &[&run, "--criteria", file.to_str().unwrap()]));
        assert!(stdout.contains("FLIPPED to fail") && stdout.contains("score 1.0 → 0.0"), "{stdout}");
        assert!(stdout.contains("pass → fail"), "{stdout}");
    }
    // Trying other criteria changes nothing.
    assert!(output(&mut rescore(&server, &[&run])).contains("identical"));
}

#[tokio::test(flavor = "multi_thread")]
async fn rescoring_errors_are_reported() {
    let data = ServerData::new(Database::Sqlite);
    let server = data.serve();
    let (run, _) = finished(&server.first_caller()).await;
    let file = |content: &str| write_file(data.directory(), "criteria.json", content).to_str().unwrap().to_owned();
    let unknown = r#"[{"criterion_id":"crit_01K9Z3T5Q8W7N4M2R6V0XBHCDE","assertion":{}}]"#;
    for (criteria, expected) in
        [("{", "is not JSON"), ("5", "must be a list"), ("{}", "has no `criteria`"), (unknown, "not valid")]
    {
        let stderr = failure(&mut rescore(&server, &[&run, "--criteria", &file(criteria)]));
        assert!(stderr.contains(expected), "{stderr}");
    }
    let stderr = failure(&mut rescore(&server, &["br_01K9Z3T5Q8W7N4M2R6V0XBHCDE"]));
    assert!(stderr.contains("no such run"), "{stderr}");
    assert!(failure(&mut rescore(&server, &["run-1"])).contains("br_<ULID>"));
}
