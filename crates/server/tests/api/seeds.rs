//! The fixed statements about the API and the verification engine: one row each, in addition to
//! those of [`crate::documented`]. Statements about time (deadlines, expiry) are in `runs_deadlines` and `runs_tokens`.

use serde_json::{Value, json};
use testkit::both_databases;

use crate::documented::setup;
use crate::documented_row::{Row, check};

both_databases! {
    async fn versions_and_their_readers(server: TestServer) {
        let (own, other) = (server.organization("Own").await, server.organization("Other").await);
        let key = other.post("/api-keys", json!({})).await.expect(201);
        let known = [("other_key", key["key"].as_str().unwrap())];
        check(&server, &own, &known, setup().into_iter().chain(benchmark()).chain(versions()).collect()).await;
    }

    async fn scores_verdicts_and_axes(server: TestServer) {
        let own = server.organization("Own").await;
        check(&server, &own, &[], setup().into_iter().chain(benchmark()).chain(scoring()).collect()).await;
    }

    async fn one_run_and_its_end(server: TestServer) {
        let own = server.organization("Own").await;
        let rows = setup().into_iter().chain(benchmark()).chain(started()).chain(cancelled()).chain(scored());
        check(&server, &own, &[], rows.collect()).await;
    }

    async fn every_check_names_its_evidence(server: TestServer) {
        let own = server.organization("Own").await;
        check(&server, &own, &[], setup().into_iter().chain(evidence()).collect()).await;
    }
}

fn passes() -> Value {
    json!({"assert": "no-side-effects", "allow": ["fhir/Task"]})
}

fn fails() -> Value {
    json!({"assert": "fhir-resource-state", "resource_type": "Task", "count": 1})
}

fn criterion(task: &str, assertion: Value, weight: u64, axis: Option<&str>) -> Row {
    let mut body = json!({"task_id": task, "label": "Seed", "weight": weight, "axis": axis});
    body["assertion"] = assertion;
    Row::post("setup", "/criteria", body).is("/warnings", json!([]))
}

/// Five tasks with which an idle agent scores 2/3, 1, 0, 0 (without criteria) and 9/10.
fn benchmark() -> Vec<Row> {
    let about = json!({"name": "Seeds", "environment_id": "{environment}", "slug": "seeds", "concurrency": 2,
        "visibility": "Public"});
    let mut rows = vec![Row::post("setup", "/benchmarks", about).save("benchmark", "/id")];
    for name in ["mixed", "passed", "failed", "bare", "limit"] {
        let task = json!({"benchmark_id": "{benchmark}", "name": name});
        rows.push(Row::post("setup", "/tasks", task).save(name, "/id"));
    }
    rows.extend([
        criterion("{mixed}", passes(), 2, Some("correctness")),
        criterion("{mixed}", fails(), 1, Some("safety")),
        criterion("{passed}", passes(), 1, None),
        criterion("{failed}", fails(), 1, None),
        criterion("{limit}", passes(), 9, None),
        criterion("{limit}", fails(), 1, None),
        Row::post_nothing("setup", "/benchmarks/{benchmark}/publish").is("/version", 1),
    ]);
    rows
}

fn run(name: &'static str, scored: bool) -> Row {
    let row = Row::post(name, "/v1/benchmark-runs", json!({"benchmark": "seeds@1", "scored": scored})).bearer("solver_key");
    row.save("run", "/benchmark_run_id").save("token", "/bearer_token").save("tr0", "/task_runs/0/id")
        .save("tr1", "/task_runs/1/id").save("tr2", "/task_runs/2/id").save("tr3", "/task_runs/3/id")
        .save("tr4", "/task_runs/4/id")
}

fn versions() -> Vec<Row> {
    vec![
        Row::get("lists: a Public benchmark of another organization", "/benchmarks").bearer("other_key")
            .is("/data/0/slug", "seeds").is("/data/0/owned", false),
        Row::get("versions: another organization sees no criteria", "/benchmarks/seeds@1").bearer("other_key")
            .is("/tasks/0/name", "mixed").lacks(&["/tasks/0/criteria", "/axis_names"]),
        Row::get("versions: nor their content", "/benchmarks/seeds@1/content").bearer("other_key").status(&[404]),
        Row::get("versions: the owner sees criteria", "/benchmarks/seeds@1").has(&["/tasks/0/criteria/0/assertion"]),
        Row::get("versions: and the frozen content", "/benchmarks/seeds@1/content").is("/content/tasks/0/name", "mixed")
            .has(&["/content/tasks/0/criteria/0/assertion", "/content/environment/simulators/0/config"])
            .save("sha256", "/content/datasets/0/manifest/chunks/0/sha256"),
        Row::get("versions: with the data", "/benchmarks/seeds@1/content/{sha256}").contains("", "\"Maria\""),
        Row::get("versions: no other content", &format!("/benchmarks/seeds@1/content/{}", "0".repeat(64))).status(&[404]),
        Row::post_nothing("publish: an unchanged benchmark is the version that it equals", "/benchmarks/{benchmark}/publish")
            .status(&[409]).contains("/error/message", "seeds@1"),
        Row::delete("setup", "/tasks/{limit}"),
        Row::post_nothing("publish: a change is the next version", "/benchmarks/{benchmark}/publish").is("/version", 2),
        run("versions: an old one can be run as it was", false).count("/task_runs", 5),
        Row::post("versions: without a number", "/v1/benchmark-runs", json!({"benchmark": "seeds"})).bearer("solver_key")
            .status(&[400]).contains("/error/message", "seeds@2"),
    ]
}

fn scoring() -> Vec<Row> {
    let complete = |name: &'static str, task_run: &str| Row::post_nothing(name, &format!("/task-runs/{task_run}/complete"));
    let two_thirds = 2.0 / 3.0;
    vec![
        run("setup", false),
        complete("score: the weighted mean of the criteria", "{tr0}").is("/score", two_thirds).is("/verdict", "partial")
            .is("/axes/correctness", json!({"score": 1.0, "weight": 2})).is("/axes/safety", json!({"score": 0.0, "weight": 1})),
        Row::get("score: each criterion has a score and passed", "/criterion-runs?task_run_id={tr0}").count("/data", 2)
            .is("/data/0/passed", false).is("/data/0/score", 0.0).is("/data/1/passed", true).is("/data/1/score", 1.0),
        complete("axes: criteria without one", "{tr1}").is("/axes/__default__/score", 1.0).is("/verdict", "pass"),
        complete("verdict: fail at 0", "{tr2}").is("/verdict", "fail").is("/score", 0.0),
        complete("verdict: fail without criteria", "{tr3}").is("/verdict", "fail").is("/score", 0.0),
        complete("verdict: pass at nine tenths", "{tr4}").is("/score", 0.9).is("/verdict", "pass"),
        Row::get("run: completes with its last task; the mean of task scores", "/benchmark-runs/{run}").is("/status", "completed")
            .is("/score", 77.0 / 150.0).is("/verdict", "partial"),
    ]
}

fn started() -> Vec<Row> {
    vec![
        run("setup", false).count("/task_runs", 5),
        Row::post_nothing("concurrency: the first", "/v1/task-runs/{tr0}/start").bearer("token").is("/phase", "started"),
        Row::post_nothing("concurrency: the second", "/v1/task-runs/{tr1}/start").bearer("token").is("/phase", "started"),
        Row::post_nothing("concurrency: one more is refused", "/v1/task-runs/{tr2}/start").bearer("token").status(&[409])
            .is("/error/code", "CONFLICT"),
        Row::post_nothing("complete: the verdict at once", "/v1/task-runs/{tr0}/complete").bearer("token")
            .is("/checks/0/result", "pass").is("/checks/1/result", "fail").has(&["/checks/0/details", "/checks/0/evidence"]),
        Row::get("task runs: the frozen task", "/task-runs/{tr0}").is("/snapshot/name", "mixed").is("/scored", false),
    ]
}

fn cancelled() -> Vec<Row> {
    vec![
        Row::post_nothing("cancel", "/benchmark-runs/{run}/cancel").is("/status", "cancelled"),
        Row::get("cancel: completed results stay, the run has none", "/benchmark-runs/{run}").is("/score", Value::Null)
            .is("/verdict", Value::Null).is("/task_runs/0/status", "completed").is("/task_runs/0/score", 2.0 / 3.0)
            .is("/task_runs/1/status", "cancelled"),
        Row::post_nothing("cancel: ends the token", "/v1/task-runs/{tr2}/start").bearer("token").status(&[401, 409]),
    ]
}

/// Every task but one without criteria would do; the order is the run's own.
fn scored() -> Vec<Row> {
    let hidden = ["/checks/0/details", "/checks/0/evidence"];
    vec![
        Row::delete("setup", "/tasks/{bare}"),
        Row::post_nothing("setup", "/benchmarks/{benchmark}/publish").is("/version", 2),
        Row::post("scored: a run", "/v1/benchmark-runs", json!({"benchmark": "seeds@2", "scored": true})).bearer("solver_key")
            .is("/scored", true).save("run", "/benchmark_run_id").save("token", "/bearer_token").save("tr0", "/task_runs/0/id"),
        Row::post_nothing("setup", "/v1/task-runs/{tr0}/start").bearer("token").lacks(&["/task/tags/0"]),
        Row::post_nothing("scored: complete hides details and evidence", "/v1/task-runs/{tr0}/complete").bearer("token")
            .has(&["/checks/0/result"]).lacks(&hidden),
        Row::get("scored: so does reading it again", "/v1/task-runs/{tr0}").bearer("token").has(&["/checks/0/result"]).lacks(&hidden),
        Row::get("scored: and the summary", "/v1/benchmark-runs/{run}").bearer("solver_key")
            .lacks(&["/task_runs/0/checks/0/details", "/task_runs/0/checks/0/evidence"]),
        Row::get("scored: the organization reads all", "/criterion-runs?task_run_id={tr0}").has(&["/data/0/details", "/data/0/evidence"]),
    ]
}

/// The evidence of each check, even if the agent did nothing.
fn evidence() -> Vec<Row> {
    let field = json!([{"path": "status", "expected": "x"}]);
    let checks: Vec<(Value, Vec<&'static str>)> = vec![
        (json!({"assert": "fhir-resource-state", "resource_type": "Task", "fields": field}), vec!["fieldResults", "matched"]),
        (json!({"assert": "hl7-structural", "fields": [{"path": "PID.3.1", "expected": "x"}]}), vec!["field_results", "matched_event_id"]),
        (
            json!({"assert": "portal-state-match", "correlate_by": {"resource": "drafts", "key": "status"}, "assertions": field}),
            vec!["assertionResults"],
        ),
        (json!({"assert": "sftp-file-present", "path": "out/*.json", "contains": ["x"]}), vec!["fieldResults", "matched_paths"]),
        (json!({"assert": "voice-transcript", "contains": ["x"]}), vec!["phraseResults"]),
        (
            json!({"assert": "x12-response", "transaction": "271", "fields": [{"path": "EB.1", "expected": "1"}]}),
            vec!["fieldResults"],
        ),
        (json!({"assert": "fax-document", "contains": ["x"]}), vec!["phraseResults", "matched"]),
        (json!({"assert": "message-transcript", "contains": ["x"]}), vec!["phraseResults"]),
        (json!({"assert": "cds-response", "hook": "patient-view", "fields": [{"path": "cards", "op": "exists"}]}), vec!["fieldResults"]),
        (json!({"assert": "no-side-effects", "require": ["fhir/Task"]}), vec!["unexpected", "missing"]),
        (json!({"assert": "interaction-budget", "max": 5}), vec!["counts"]),
    ];
    let about = json!({"name": "Evidence", "environment_id": "{environment}"});
    let mut rows = vec![
        Row::post("setup", "/benchmarks", about).save("benchmark", "/id"),
        Row::post("setup", "/tasks", json!({"benchmark_id": "{benchmark}", "name": "All"})).save("task", "/id"),
    ];
    rows.extend(checks.iter().map(|(assertion, _)| criterion("{task}", assertion.clone(), 1, None)));
    rows.push(
        Row::post("setup", "/benchmark-runs", json!({"benchmark_id": "{benchmark}"})).save("run", "/id")
            .save("task_run", "/task_runs/0/id"),
    );
    rows.push(Row::post_nothing("setup", "/task-runs/{task_run}/complete").is("/status", "completed"));
    for (place, (assertion, keys)) in checks.iter().enumerate() {
        let name = assertion["assert"].as_str().unwrap_or_default();
        // Statements live as long as the test.
        let statement: &'static str = Box::leak(format!("evidence: {name}").into_boxed_str());
        // Newest first.
        let index = checks.len() - 1 - place;
        let pointer = |key: &&str| &*Box::leak(format!("/data/{index}/evidence/{key}").into_boxed_str());
        let pointers: Vec<&'static str> = keys.iter().map(pointer).collect();
        rows.push(Row::get(statement, "/criterion-runs?task_run_id={task_run}&limit=100").has(&pointers));
    }
    rows
}
