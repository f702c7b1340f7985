//! A published version is run as it was published, whatever changes afterwards; a draft as it was when the run was created.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, solver, wants_code};
use testkit::{Caller, TestServer, both_databases};

both_databases! {
    async fn editing_everything_after_publishing_changes_nothing_for_the_version(server: TestServer) {
        let (bench, solver, task) = benchmark(&server).await;
        let reference = bench.publish().await;
        let before = Agent::begin(&server, &solver, &reference, false).await;
        let started_before = Agent::begin(&server, &solver, &reference, false).await;
        started_before.start(0).await.expect(200);
        edit_everything(&bench, &task).await;
        let after = Agent::begin(&server, &solver, &reference, false).await;
        for agent in [&before, &after] {
            is_as_published(agent, agent.start(0).await.expect(200).json).await;
        }
        let second = Agent::begin(&server, &solver, &bench.publish().await, false).await;
        assert_eq!(
            (&second.created["benchmark"]["version"], &second.created["benchmark"]["name"]),
            (&json!(2), &json!("Renamed"))
        );
        let started = second.start(0).await.expect(200);
        assert_eq!(started["task"]["task_item"], json!({"instruction": "Other"}));
        assert_eq!(total(&second, "Patient").await, 1);
        for agent in [&before, &started_before, &after, &second] {
            agent.write(testkit::runs::basic("a")).await.expect(201);
        }
        for (agent, score) in [(&before, 1.0), (&started_before, 1.0), (&after, 1.0), (&second, 0.0)] {
            assert_eq!(agent.complete(0).await.expect(200)["score"], json!(score));
        }
    }

    async fn deleting_everything_after_publishing_changes_nothing_for_the_version(server: TestServer) {
        let (bench, solver, task) = benchmark(&server).await;
        let reference = bench.publish().await;
        let before = Agent::begin(&server, &solver, &reference, false).await;
        delete_everything(&bench, &task).await;
        let after = Agent::begin(&server, &solver, &reference, false).await;
        for agent in [&before, &after] {
            is_as_published(agent, agent.start(0).await.expect(200).json).await;
            agent.write(testkit::runs::basic("a")).await.expect(201);
            let result = agent.complete(0).await.expect(200).json;
            assert_eq!((&result["score"], &result["benchmark_run"]["status"]), (&json!(1.0), &json!("completed")));
            let rescored =
                bench.author.post(&format!("/benchmark-runs/{}/rescore", agent.run), json!({})).await.expect(200);
            assert_eq!(rescored["identical"], true);
        }
        let stats = bench.author.get(&format!("/benchmarks/{reference}/stats")).await.expect(200);
        assert_eq!(stats["n"], 2);
    }

    async fn a_draft_is_run_as_it_was_when_the_run_began(server: TestServer) {
        let (bench, _, task) = benchmark(&server).await;
        let begin = async || {
            let new = json!({"benchmark_id": bench.benchmark});
            Agent::from(&server, &bench.author.post("/benchmark-runs", new).await.expect(201))
        };
        let before = begin().await;
        assert_eq!(
            (&before.created["benchmark"]["slug"], &before.created["benchmark"]["version"]),
            (&Value::Null, &Value::Null)
        );
        edit_everything(&bench, &task).await;
        let after = begin().await;
        delete_everything(&bench, &task).await;
        is_as_published(&before, before.start(0).await.expect(200).json).await;
        assert_eq!(before.do_rest(0, "a").await, json!(1.0));
        assert_eq!(after.start(0).await.expect(200)["task"]["task_item"], json!({"instruction": "Other"}));
        assert_eq!(total(&after, "Patient").await, 1);
        assert_eq!(after.do_rest(0, "other").await, json!(1.0));
        bench.author.post("/benchmark-runs", json!({"benchmark_id": bench.benchmark})).await.expect_error(404, "NOT_FOUND");
    }

    async fn a_draft_that_cannot_be_run_says_why(server: TestServer) {
        let author = server.organization("Acme").await;
        let empty = author.post("/benchmarks", json!({"name": "Empty"})).await.expect(201).id();
        let refused = author.post("/benchmark-runs", json!({"benchmark_id": empty})).await.expect_error(409, "CONFLICT");
        assert_eq!(refused.invalid_fields(), ["environment_id", "tasks"]);
        for (body, status) in [
            (json!({}), 400),
            (json!({"benchmark_id": empty, "benchmark": "orders@1"}), 400),
            (json!({"benchmark_id": "x"}), 400),
            (json!({"benchmark": "not a slug"}), 400),
            (json!({"benchmark": "orders@0"}), 400),
            (json!({"benchmark": "orders@1", "agent": ""}), 400),
            (json!({"benchmark": "orders@1"}), 404),
        ] {
            author.post("/benchmark-runs", body.clone()).await.expect(status);
        }
    }

    async fn a_slug_without_a_version_is_rejected_with_the_newest_version(server: TestServer) {
        let (bench, solver, task) = benchmark(&server).await;
        let reference = bench.publish().await;
        let slug = reference.split('@').next().unwrap();
        bench.author.patch(&format!("/tasks/{task}"), json!({"name": "Second"})).await.expect(200);
        assert_eq!(bench.publish().await, format!("{slug}@2"));
        for (caller, path) in [(&solver, "/v1/benchmark-runs"), (&bench.author, "/benchmark-runs")] {
            let refused = caller.post(path, json!({"benchmark": slug})).await.expect(400);
            assert!(refused.message().contains(&format!("{slug}@2")), "{}", refused.message());
            let refused = caller.post(path, json!({"benchmark": format!("{slug}@3")})).await.expect_error(404, "NOT_FOUND");
            assert_eq!(refused.message(), format!("{slug} has no version 3; the newest is `{slug}@2`"));
        }
    }

    async fn everyone_runs_public_benchmarks_and_only_the_organization_private_ones(server: TestServer) {
        let (bench, own_solver, task) = benchmark(&server).await;
        let other = server.organization("Other").await;
        let stranger = solver(&server, &other, "stranger").await;
        let reference = bench.publish().await;
        Agent::begin(&server, &own_solver, &reference, false).await;
        stranger.post("/v1/benchmark-runs", json!({"benchmark": reference})).await.expect_error(404, "NOT_FOUND");
        bench
            .author
            .patch(&format!("/benchmarks/{}", bench.benchmark), json!({"visibility": "Public"}))
            .await
            .expect(200);
        let agent = Agent::begin(&server, &stranger, &reference, false).await;
        assert_eq!(agent.do_task(0, &["a"]).await["score"], json!(1.0));
        let seen = other.get(&format!("/benchmark-runs/{}", agent.run)).await.expect(200);
        assert_eq!(seen["score"], json!(1.0), "the evidence is of whoever ran it");
        bench.author.get(&format!("/benchmark-runs/{}", agent.run)).await.expect_error(404, "NOT_FOUND");
        other.post("/benchmark-runs", json!({"benchmark_id": bench.benchmark})).await.expect_error(404, "NOT_FOUND");
        other.post("/benchmark-runs", json!({"benchmark": reference})).await.expect(201);
        let begun = Agent::begin(&server, &stranger, &reference, false).await;
        bench
            .author
            .patch(&format!("/benchmarks/{}", bench.benchmark), json!({"visibility": "Private"}))
            .await
            .expect(200);
        stranger.post("/v1/benchmark-runs", json!({"benchmark": reference})).await.expect_error(404, "NOT_FOUND");
        assert_eq!(begun.do_task(0, &["a"]).await["score"], json!(1.0), "what was begun can be finished");
        assert!(!task.is_empty());
    }
}

trait Rest {
    async fn do_rest(&self, task: usize, code: &str) -> Value;
}

impl Rest for Agent {
    /// Writes one resource and completes the started task.
    async fn do_rest(&self, task: usize, code: &str) -> Value {
        self.write(testkit::runs::basic(code)).await.expect(201);
        self.complete(task).await.expect(200)["score"].clone()
    }
}

/// One task that requires `a`, with an instruction, over three patients.
async fn benchmark(server: &TestServer) -> (Bench, Caller, String) {
    let author = server.organization("Acme").await;
    let bench = Bench::new(&author, json!({"timeout": 600})).await;
    let step = json!({"do": "fhir", "bundle": {"resourceType": "Bundle", "type": "collection", "entry": [
        {"resource": {"resourceType": "Location", "id": "ward", "status": "active"}}]}});
    let task = json!({"name": "Only", "task_item": {"instruction": "Write a"}, "scenario": {"steps": [step]}, "tags": ["easy"]});
    let task = bench.task_with(task, &[wants_code("a")]).await;
    let solver = solver(server, &author, "agent-1").await;
    (bench, solver, task)
}

async fn total(agent: &Agent, kind: &str) -> i64 {
    agent.fhir(Method::GET, &format!("{kind}?_summary=count"), None).await.expect(200)["total"].as_i64().unwrap()
}

async fn is_as_published(agent: &Agent, started: Value) {
    assert_eq!(agent.created["benchmark"]["name"], "Orders");
    assert_eq!(started["task"], json!({"name": "Only", "tags": ["easy"], "task_item": {"instruction": "Write a"}}));
    assert_eq!((total(agent, "Patient").await, total(agent, "Location").await), (3, 1));
}

async fn edit_everything(bench: &Bench, task: &str) {
    let author = &bench.author;
    let criterion =
        author.get(&format!("/criteria?task_id={task}")).await.expect(200).data()[0]["id"].as_str().unwrap().to_owned();
    let other = wants_code("other");
    for (path, body) in [
        (format!("/benchmarks/{}", bench.benchmark), json!({"name": "Renamed", "timeout": 5, "concurrency": 2})),
        (
            format!("/tasks/{task}"),
            json!({"name": "Changed", "task_item": {"instruction": "Other"}, "scenario": null, "tags": [], "timeout": 7}),
        ),
        (format!("/criteria/{criterion}"), json!({"assertion": other["assertion"], "weight": 5})),
    ] {
        author.patch(&path, body).await.expect(200);
    }
    let patient = json!({"resourceType": "Patient", "id": "other"}).to_string();
    author
        .put_bytes(&format!("/datasets/{}/data", bench.dataset), "application/fhir+ndjson", patient)
        .await
        .expect(200);
}

async fn delete_everything(bench: &Bench, task: &str) {
    let author = &bench.author;
    let environment = author.get(&format!("/environments/{}", bench.environment)).await.expect(200);
    let simulator = environment["simulators"][0]["id"].as_str().unwrap();
    for path in [
        format!("/tasks/{task}"),
        format!("/benchmarks/{}", bench.benchmark),
        format!("/environments/{}/simulators/{simulator}", bench.environment),
        format!("/environments/{}", bench.environment),
        format!("/simulators/{simulator}/datasets/{}", bench.dataset),
        format!("/simulators/{simulator}"),
        format!("/datasets/{}", bench.dataset),
    ] {
        let response = author.delete(&path).await;
        assert!([200, 204].contains(&response.status), "{}: {}", response.request, response.text());
    }
}
