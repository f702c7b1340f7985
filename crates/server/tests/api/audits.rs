//! Audits: floor and ceiling are stored with a version and shown with every score once they exist.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, solver, wants_code};
use testkit::{Caller, TestResponse, TestServer, both_databases};

both_databases! {
    async fn an_audit_is_stored_with_the_version_and_does_not_change_its_content(server: TestServer) {
        let (author, reference, tasks) = benchmark(&server, "Private").await;
        let path = format!("/benchmarks/{reference}");
        let before = author.get(&path).await.expect(200).json;
        assert_eq!(before["audit"], Value::Null);
        let kept = record(&author, &reference, sample_audit(&tasks)).await.expect(200).json;
        assert_eq!((&kept["floor"], &kept["ceiling"], &kept["spray_passes"]), (&json!(0.125), &json!(1.0), &json!(0)));
        assert_eq!(kept["tasks"][1], json!({"task_id": tasks[1], "floor": 0.25, "ceiling": 1.0}));
        assert!(kept["engine"].as_str().unwrap().starts_with("verify/") && kept["recorded_at"].is_string(), "{kept}");
        let after = author.get(&path).await.expect(200).json;
        assert_eq!(after["audit"], kept);
        assert_eq!(without_audit(&after), without_audit(&before));
        let id = before["benchmark_id"].as_str().unwrap();
        let listed = author.get(&format!("/benchmarks/{id}/versions")).await.expect(200);
        assert_eq!(listed.data()[0], after);
        author.post(&format!("/benchmarks/{id}/publish"), json!({})).await.expect_error(409, "CONFLICT");
        let again = record(&author, &reference, json!({"floor": 0.2, "ceiling": null})).await.expect(200).json;
        assert_eq!((&again["floor"], &again["ceiling"], &again["tasks"]), (&json!(0.2), &Value::Null, &json!([])));
        assert_eq!(author.get(&path).await.expect(200)["audit"], again, "recording again replaces");
    }

    async fn invalid_audits_are_rejected_and_change_nothing(server: TestServer) {
        let (author, reference, tasks) = benchmark(&server, "Private").await;
        record(&author, &reference, sample_audit(&tasks)).await.expect(200);
        let kept = author.get(&format!("/benchmarks/{reference}")).await.expect(200).json;
        for (body, field) in [
            (json!({"floor": 1.5}), "floor"),
            (json!({"floor": -0.01}), "floor"),
            (json!({"floor": "0"}), "floor"),
            (json!({"ceiling": 1}), "floor"),
            (json!({"floor": 0.5, "ceiling": 0.4}), "ceiling"),
            (json!({"floor": 0, "spray_passes": 3}), "spray_passes"),
            (json!({"floor": 0, "near_misses": {"rejected": 2, "of": 1}}), "near_misses.rejected"),
            (json!({"floor": 0, "tasks": [{"task_id": "task_01M7GN1DPVSFN5NX7D5344505Z", "floor": 0}]}), "tasks.0.task_id"),
            (json!({"floor": 0, "engine": ""}), "engine"),
            (json!({"floor": 0, "hash": "mine"}), "hash"),
        ] {
            let refused = record(&author, &reference, body.clone()).await.expect_error(400, "VALIDATION_ERROR");
            assert_eq!(refused.invalid_fields(), [field], "{body}: {}", refused.text());
        }
        let path = format!("/benchmarks/{reference}/audit");
        let odd = author.put_bytes(&path, "application/json", "{\"floor\": 1e999}").await;
        odd.expect_error(400, "VALIDATION_ERROR");
        for nothing in ["orders", "orders@2", "no-such@1"] {
            record(&author, nothing, json!({"floor": 0})).await.expect_error(404, "NOT_FOUND");
        }
        assert_eq!(author.get(&format!("/benchmarks/{reference}")).await.expect(200).json, kept);
    }

    async fn only_the_owner_records_audits_and_sees_the_bounds_of_single_tasks(server: TestServer) {
        let (author, reference, tasks) = benchmark(&server, "Public").await;
        let other = server.organization("Beta").await;
        record(&author, &reference, sample_audit(&tasks)).await.expect(200);
        record(&other, &reference, json!({"floor": 0})).await.expect_error(404, "NOT_FOUND");
        let bob = solver(&server, &other, "bob").await;
        record(&bob, &reference, json!({"floor": 0})).await.expect_error(403, "FORBIDDEN");
        let seen = other.get(&format!("/benchmarks/{reference}")).await.expect(200).json;
        assert_eq!((&seen["audit"]["floor"], &seen["audit"]["ceiling"]), (&json!(0.125), &json!(1.0)));
        assert_eq!(seen["audit"].get("tasks"), None, "{seen}");
    }

    async fn every_score_shows_floor_and_ceiling_once_an_audit_exists(server: TestServer) {
        let (author, reference, tasks) = benchmark(&server, "Public").await;
        record(&author, &reference, sample_audit(&tasks)).await.expect(200);
        let ann = solver(&server, &author, "ann").await;
        let agent = Agent::begin(&server, &ann, &reference, false).await;
        let nothing = (&Value::Null, &Value::Null);
        agent.start(0).await.expect(200);
        for shown in [agent.read().await, agent.result(0).await, agent.result(0).await["benchmark_run"].clone()] {
            assert_eq!((&shown["floor"], &shown["ceiling"]), nothing, "{shown}");
        }
        for task in &agent.read().await["task_runs"].as_array().unwrap()[..] {
            assert_eq!((&task["floor"], &task["ceiling"]), nothing, "{task}");
        }
        agent.write(testkit::runs::basic("a")).await.expect(201);
        let first = agent.complete(0).await.expect(200).json;
        assert_eq!(bounds(&first), (json!(0.0), json!(1.0)));
        assert_eq!(bounds(&first["benchmark_run"]), (Value::Null, Value::Null), "the run has no score yet");
        let second = agent.do_task(1, &["a"]).await;
        assert_eq!((bounds(&second), bounds(&second["benchmark_run"])), ((json!(0.25), json!(1.0)), version_bounds()));
        let summary = agent.read().await;
        assert_eq!((bounds(&summary), bounds(&summary["task_runs"][1])), (version_bounds(), (json!(0.25), json!(1.0))));
        let owned = author.get(&format!("/benchmark-runs/{}", agent.run)).await.expect(200).json;
        assert_eq!((bounds(&owned), bounds(&owned["task_runs"][1])), (version_bounds(), (json!(0.25), json!(1.0))));
        assert_eq!(bounds(&author.get("/benchmark-runs").await.expect(200).data()[0]), version_bounds());
        let listed = author.get("/task-runs").await.expect(200);
        let floors: Vec<&Value> = listed.data().iter().map(|task| &task["floor"]).collect();
        assert_eq!(floors.len(), 2);
        assert!(floors.contains(&&json!(0.0)) && floors.contains(&&json!(0.25)), "{floors:?}");
        let task = author.get(&format!("/task-runs/{}", agent.task_runs[1])).await.expect(200).json;
        assert_eq!(bounds(&task), (json!(0.25), json!(1.0)));
        assert_eq!(bounds(&author.get(&format!("/benchmarks/{reference}/stats")).await.expect(200).json), version_bounds());
        let board = server.anonymous().get(&format!("/v1/leaderboards/{reference}")).await.expect(200).json;
        assert_eq!(bounds(&board), version_bounds());
    }

    async fn a_comparison_has_bounds_for_groups_of_one_audited_version(server: TestServer) {
        let (author, reference, tasks) = benchmark(&server, "Private").await;
        record(&author, &reference, sample_audit(&tasks)).await.expect(200);
        let id = author.get(&format!("/benchmarks/{reference}")).await.expect(200)["benchmark_id"].clone();
        let mut runs = Vec::new();
        for body in [json!({"benchmark": reference}), json!({"benchmark_id": id})] {
            let agent = Agent::from(&server, &author.post("/benchmark-runs", body).await.expect(201));
            for task in 0..2 {
                agent.do_task(task, &["a"]).await;
            }
            runs.push(agent.run);
        }
        let path = format!("/benchmark-runs/compare?ids={}", runs.join(","));
        let apart = author.get(&path).await.expect(200).json;
        assert_eq!(bounds(&apart["groups"][0]["statistics"]), version_bounds());
        assert_eq!(bounds(&apart["groups"][1]["statistics"]), (Value::Null, Value::Null), "a draft is not audited");
        let together = author.get(&format!("{path}&group_by=agent")).await.expect(200).json;
        assert_eq!(bounds(&together["groups"][0]["statistics"]), (Value::Null, Value::Null), "not alike");
    }
}

/// Two tasks, published, and their ids.
async fn benchmark(server: &TestServer, visibility: &str) -> (Caller, String, Vec<String>) {
    let author = server.organization("Acme").await;
    let bench = Bench::new(&author, json!({"visibility": visibility})).await;
    let tasks = vec![
        bench.task("First", &[wants_code("a")]).await,
        bench.task("Second", &[wants_code("a"), wants_code("b")]).await,
    ];
    (author, bench.publish().await, tasks)
}

/// A valid audit of the benchmark.
fn sample_audit(tasks: &[String]) -> Value {
    json!({"floor": 0.125, "ceiling": 1, "near_misses": {"rejected": 9, "of": 9}, "equivalents": {"accepted": 2, "of": 2},
        "spray_passes": 0, "tasks": [{"task_id": tasks[0], "floor": 0, "ceiling": 1},
            {"task_id": tasks[1], "floor": 0.25, "ceiling": 1}]})
}

async fn record(caller: &Caller, reference: &str, audit: Value) -> TestResponse {
    caller.send(Method::PUT, &format!("/benchmarks/{reference}/audit"), &[], Some(audit)).await
}

fn bounds(shown: &Value) -> (Value, Value) {
    (shown["floor"].clone(), shown["ceiling"].clone())
}

/// The bounds of the version.
fn version_bounds() -> (Value, Value) {
    (json!(0.125), json!(1.0))
}

fn without_audit(version: &Value) -> Value {
    let mut version = version.clone();
    version.as_object_mut().unwrap().remove("audit");
    version
}
