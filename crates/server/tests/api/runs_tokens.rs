//! Access to runs and its end: solver keys and run tokens.

use reqwest::Method;
use serde_json::json;
use testkit::runs::{Agent, Bench, solver, wants_code};
use testkit::{Caller, TestServer, both_databases};

const HOUR: i64 = 60 * 60 * 1000;

both_databases! {
    async fn a_solver_key_reads_the_runs_of_its_solver_and_no_others(server: TestServer) {
        let (author, reference) = benchmark(&server).await;
        let (first, second) = (solver(&server, &author, "first").await, solver(&server, &author, "second").await);
        let (mine, theirs) = (
            Agent::begin(&server, &first, &reference, false).await,
            Agent::begin(&server, &second, &reference, false).await,
        );
        let owned = author.post("/benchmark-runs", json!({"benchmark": reference})).await.expect(201);
        let path = |run: &str| format!("/v1/benchmark-runs/{run}");
        assert_eq!(first.get(&path(&mine.run)).await.expect(200).json, mine.read().await);
        first.get(&path(&theirs.run)).await.expect_error(404, "NOT_FOUND");
        first.get(&path(owned["benchmark_run_id"].as_str().unwrap())).await.expect_error(404, "NOT_FOUND");
        mine.caller.get(&path(&theirs.run)).await.expect_error(404, "NOT_FOUND");
        // A second key of the same solver has the same access.
        let solver_id = author.get(&format!("/benchmark-runs/{}", mine.run)).await.expect(200)["solver_id"]
            .as_str()
            .unwrap()
            .to_owned();
        let key = author.post(&format!("/solvers/{solver_id}/api-keys"), json!({"name": "second"})).await.expect(201);
        server.caller(key["key"].as_str().unwrap()).get(&path(&mine.run)).await.expect(200);
    }

    async fn a_run_created_for_a_solver_belongs_to_the_solver(server: TestServer) {
        let (author, reference) = benchmark(&server).await;
        let solver_id = author.post("/solvers", json!({"alias": "agent-1"})).await.expect(201).id();
        let key = author.post(&format!("/solvers/{solver_id}/api-keys"), json!({"name": "ci"})).await.expect(201);
        let new = json!({"benchmark": reference, "solver_id": solver_id, "agent": "model-7"});
        let created = author.post("/benchmark-runs", new).await.expect(201);
        let path = format!("/v1/benchmark-runs/{}", created["benchmark_run_id"].as_str().unwrap());
        let seen = server.caller(key["key"].as_str().unwrap()).get(&path).await.expect(200);
        assert_eq!(seen["agent"], "model-7");
    }

    async fn the_run_token_stays_valid_after_the_solver_key_is_revoked(server: TestServer) {
        let (author, reference) = benchmark(&server).await;
        let solver_id = author.post("/solvers", json!({"alias": "agent-1"})).await.expect(201).id();
        let keys = format!("/solvers/{solver_id}/api-keys");
        let key = author.post(&keys, json!({"name": "ci"})).await.expect(201);
        let solver = server.caller(key["key"].as_str().unwrap());
        let agent = Agent::begin(&server, &solver, &reference, false).await;
        author.delete(&format!("{keys}/{}", key.id())).await.expect(204);
        solver.get(&format!("/v1/benchmark-runs/{}", agent.run)).await.expect_error(401, "UNAUTHORIZED");
        assert_eq!(agent.do_task(0, &["a"]).await["score"], json!(1.0));
    }

    async fn deleting_the_solver_leaves_its_runs_readable_to_the_organization(server: TestServer) {
        let (author, reference) = benchmark(&server).await;
        let caller = solver(&server, &author, "agent-1").await;
        let agent = Agent::begin(&server, &caller, &reference, true).await;
        agent.do_task(0, &["a"]).await;
        let solver_id = author.get(&format!("/benchmark-runs/{}", agent.run)).await.expect(200)["solver_id"]
            .as_str()
            .unwrap()
            .to_owned();
        author.send(Method::POST, &format!("/benchmark-runs/{}/publish", agent.run), &[], None).await.expect(200);
        let deleted = author.delete(&format!("/solvers/{solver_id}")).await;
        assert!([204, 409].contains(&deleted.status), "{}", deleted.text());
        author.get(&format!("/benchmark-runs/{}", agent.run)).await.expect(200);
        author.get(&format!("/benchmarks/{reference}/stats?solver_id={solver_id}")).await.expect(200);
        author.get(&format!("/v1/leaderboards/{reference}")).await.expect(200);
    }

    async fn a_completed_run_is_readable_for_a_day_and_read_only(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let (author, reference) = benchmark(&server).await;
        let agent = Agent::begin(&server, &solver(&server, &author, "agent-1").await, &reference, false).await;
        server.clock.advance(23 * HOUR);
        let result = agent.do_task(0, &["a"]).await;
        server.clock.advance(2 * HOUR);
        // A node that has not cached the token, as this one does for less than a second of real time.
        let node = server.another_node_at(server.clock.clone()).await;
        let agent = Agent { caller: node.caller(agent.caller.key()), ..agent };
        assert_eq!(agent.result(0).await, result, "past the token's own time, within the grace");
        assert_eq!(agent.read().await["status"], "completed");
        agent.start(0).await.expect_error(409, "CONFLICT");
        agent.complete(0).await.expect_error(409, "CONFLICT");
        agent.fhir(Method::GET, "Patient/p1", None).await.expect(409);
        server.clock.advance(22 * HOUR);
        let expired =
            agent.caller.get(&format!("/v1/benchmark-runs/{}", agent.run)).await.expect_error(401, "TOKEN_EXPIRED");
        assert!(expired.header("www-authenticate").unwrap().starts_with("Bearer"));
    }

    async fn a_token_is_valid_for_the_total_time_of_all_tasks(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({"timeout": 12 * 3600})).await;
        for number in 0..4 {
            bench.task(&format!("Task {number}"), &[wants_code("a")]).await;
        }
        let agent = bench.begin(&server).await;
        for place in 0..4 {
            agent.start(place).await.expect(200);
            server.clock.advance(12 * HOUR - 1);
            agent.complete(place).await.expect(200);
        }
        assert_eq!(agent.read().await["status"], "completed");
    }

    async fn the_response_of_the_creation_contains_everything_an_agent_needs(server: TestServer) {
        let (author, reference) = benchmark(&server).await;
        let solver = solver(&server, &author, "agent-1").await;
        let created =
            solver.post("/v1/benchmark-runs", json!({"benchmark": reference, "agent": "model-7"})).await.expect(201);
        let run = created["benchmark_run_id"].as_str().unwrap();
        assert!(run.starts_with("br_") && created["bearer_token"].as_str().unwrap().starts_with("vrl_run_"));
        assert_eq!(created.header("location"), Some(format!("/v1/benchmark-runs/{run}").as_str()));
        let benchmark = &created["benchmark"];
        assert_eq!(
            (&benchmark["slug"], &benchmark["version"], &benchmark["name"]),
            (&json!("orders"), &json!(1), &json!("Orders"))
        );
        assert_eq!(
            (&created["scored"], &created["phase"], &created["status"], &created["agent"]),
            (&json!(false), &json!("created"), &json!("active"), &json!("model-7"))
        );
        assert_eq!(created["endpoints"], json!({"fhir": format!("/v1/benchmark-runs/{run}/fhir")}));
        let task_run = &created["task_runs"][0];
        let id = task_run["id"].as_str().unwrap();
        assert!(id.starts_with("tr_") && task_run["task_id"].as_str().unwrap().starts_with("task_"));
        assert_eq!((&task_run["name"], &task_run["phase"]), (&json!("Only"), &json!("created")));
        assert_eq!(task_run["start_url"], format!("/v1/task-runs/{id}/start"));
        assert_eq!(task_run["complete_url"], format!("/v1/task-runs/{id}/complete"));
        let started = Agent::from(&server, &created).start(0).await.expect(200);
        assert_eq!((&started["task_run_id"], &started["task"]["name"]), (&json!(id), &json!("Only")));
        assert_eq!(started["endpoints"], json!({"fhir": format!("/v1/task-runs/{id}/sandbox/fhir")}));
        let sandbox = &started["sandboxes"][0];
        assert!(sandbox["id"].as_str().unwrap().starts_with("sbx_") && sandbox["credentials"].is_object());
        assert_eq!(sandbox["type"], "Fhir");
        for body in [
            json!({}),
            json!({"benchmark": 5}),
            json!({"benchmark": reference, "scord": true}),
            json!({"benchmark": reference, "scored": "yes"}),
        ] {
            solver.post("/v1/benchmark-runs", body).await.expect_error(400, "VALIDATION_ERROR");
        }
        assert_eq!(author.get("/benchmark-runs").await.expect(200).data().len(), 1);
    }
}

async fn benchmark(server: &TestServer) -> (Caller, String) {
    let author = server.organization("Acme").await;
    let bench = Bench::new(&author, json!({})).await;
    bench.task("Only", &[wants_code("a")]).await;
    (author, bench.publish().await)
}
