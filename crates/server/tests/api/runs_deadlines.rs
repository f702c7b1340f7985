//! A task past its deadline is timed out, whichever request notices it, and its run continues.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, basic, solver, wants_code};
use testkit::{Caller, TestServer, both_databases};

const SECOND: i64 = 1000;

both_databases! {
    async fn the_deadline_is_the_start_and_the_tasks_own_timeout_or_else_the_benchmarks(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let (_, agent) =
            run(&server, json!({"timeout": 60, "concurrency": 2}), &[json!({"timeout": 5}), json!({})]).await;
        let now = server.clock.now();
        for (place, seconds) in [(0, 5), (1, 60)] {
            let started = agent.start(place).await.expect(200);
            assert_eq!(started["started_at"], now.to_string());
            assert_eq!(started["deadline_at"], now.plus_milliseconds(seconds * SECOND).to_string());
        }
    }

    async fn a_task_past_its_deadline_scores_zero_and_the_run_continues(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let (author, agent) = run(&server, json!({"timeout": 60}), &[json!({}), json!({})]).await;
        agent.start(0).await.expect(200);
        agent.write(basic("a")).await.expect(201);
        server.clock.advance(60 * SECOND - 1);
        agent.fhir(Method::GET, "Patient/p1", None).await.expect(200);
        assert_eq!(agent.result(0).await["phase"], "started");
        server.clock.advance(1);
        let result = agent.result(0).await;
        let ending = (&result["phase"], &result["status"], &result["verdict"], &result["score"]);
        assert_eq!(ending, (&json!("completed"), &json!("timed_out"), &json!("fail"), &json!(0.0)));
        assert_eq!(result["benchmark_run"]["status"], "active");
        let last = agent.do_task(1, &["a"]).await;
        assert_eq!((&last["score"], &last["benchmark_run"]["score"]), (&json!(1.0), &json!(0.5)));
        let run = author.get(&format!("/benchmark-runs/{}", agent.run)).await.expect(200);
        assert_eq!((&run["status"], &run["task_runs"][0]["status"]), (&json!("completed"), &json!("timed_out")));
        assert_eq!(run["axes"], json!({"__default__": {"score": 0.5, "weight": 2}}));
    }

    async fn the_first_read_after_the_deadline_records_the_timeout(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({"timeout": 60})).await;
        bench.task("Only", &[wants_code("a")]).await;
        bench.task("Other", &[wants_code("a")]).await;
        let reference = bench.publish().await;
        let solver = solver(&server, &author, "agent-1").await;
        for looks in 0..9 {
            let agent = Agent::begin(&server, &solver, &reference, false).await;
            agent.start(0).await.expect(200);
            server.clock.advance(61 * SECOND);
            let (run, task_run) = (&agent.run, &agent.task_runs[0]);
            let seen = match looks {
                0 => agent.read().await["task_runs"][0]["status"].clone(),
                1 => agent.result(0).await["status"].clone(),
                2 => {
                    solver.get(&format!("/v1/benchmark-runs/{run}")).await.expect(200)["task_runs"][0]["status"].clone()
                }
                3 => author.get(&format!("/benchmark-runs/{run}")).await.expect(200)["task_runs"][0]["status"].clone(),
                4 => author.get(&format!("/task-runs/{task_run}")).await.expect(200)["status"].clone(),
                5 => author.get(&format!("/task-runs?benchmark_run_id={run}")).await.expect(200).data()[1]["status"]
                    .clone(),
                6 => author.get("/task-runs").await.expect(200).data()[1]["status"].clone(),
                7 => {
                    agent.start(1).await.expect(200);
                    agent.result(0).await["status"].clone()
                }
                _ => agent.complete(0).await.expect_error(409, "CONFLICT")["error"]["details"]["status"][0].clone(),
            };
            assert_eq!(seen, "timed_out", "{looks}");
        }
    }

    async fn the_list_of_runs_also_applies_deadlines(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let (author, agent) = run(&server, json!({"timeout": 60}), &[json!({})]).await;
        agent.start(0).await.expect(200);
        server.clock.advance(60 * SECOND);
        let completed = author.get("/benchmark-runs?status=completed").await.expect(200);
        assert_eq!((completed.data().len(), &completed.data()[0]["verdict"]), (1, &json!("fail")));
        assert!(author.get("/benchmark-runs?status=active").await.expect(200).data().is_empty());
    }

    async fn the_sweeper_records_the_timeout_without_any_read(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let (author, agent) = run(&server, json!({"timeout": 60}), &[json!({}), json!({})]).await;
        agent.start(0).await.expect(200);
        let ended_at = server.clock.now().plus_milliseconds(100 * SECOND).to_string();
        server.clock.advance(100 * SECOND);
        app::runs::sweep(&server.app).await.unwrap();
        server.clock.advance(100 * SECOND);
        let seen = author.get(&format!("/task-runs/{}", agent.task_runs[0])).await.expect(200);
        assert_eq!((&seen["status"], &seen["completed_at"]), (&json!("timed_out"), &json!(ended_at)));
    }

    async fn a_completion_after_the_deadline_is_a_conflict_with_the_result_in_it(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let (author, agent) = run(&server, json!({"timeout": 60}), &[json!({})]).await;
        agent.start(0).await.expect(200);
        agent.write(basic("a")).await.expect(201);
        server.clock.advance(60 * SECOND);
        for path in [
            format!("/v1/task-runs/{}/complete", agent.task_runs[0]),
            format!("/task-runs/{}/complete", agent.task_runs[0]),
        ] {
            let caller: &Caller = if path.starts_with("/v1") { &agent.caller } else { &author };
            for headers in [&[][..], &[("idempotency-key", "late")]] {
                let refused = caller.send(Method::POST, &path, headers, None).await.expect_error(409, "CONFLICT");
                assert!(refused.message().contains("timed out"), "{}", refused.message());
                let details = &refused["error"]["details"];
                assert_eq!(details, &json!({"status": ["timed_out"], "verdict": ["fail"], "score": ["0.0"]}));
            }
        }
        let refused = agent.start(0).await.expect_error(409, "CONFLICT");
        assert!(refused.message().contains("timed_out"), "{}", refused.message());
        assert_eq!(agent.read().await["score"], json!(0.0), "the last task ended the run");
    }

    async fn a_start_on_an_overdue_task_says_that_it_is_timed_out(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let (_, agent) = run(&server, json!({"timeout": 60}), &[json!({}), json!({})]).await;
        agent.start(0).await.expect(200);
        server.clock.advance(60 * SECOND);
        let refused = agent.start(0).await.expect_error(409, "CONFLICT");
        assert!(refused.message().contains("timed_out"), "{}", refused.message());
    }

    async fn sandboxes_accept_no_traffic_after_the_deadline(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let (author, agent) = run(&server, json!({"timeout": 60}), &[json!({}), json!({})]).await;
        let started = agent.start(0).await.expect(200).json;
        let sandbox = started["sandboxes"][0].clone();
        let token = smart_token(&server, &sandbox).await;
        let direct = format!("/sandboxes/{}/fhir/Patient/p1", sandbox["id"].as_str().unwrap());
        let with_token = server.caller(&token);
        let of_task = format!("/v1/task-runs/{}/sandbox/fhir/Patient/p1", agent.task_runs[0]);
        let of_run = format!("/v1/benchmark-runs/{}/fhir/Patient/p1", agent.run);
        let everyone: [(&Caller, &str); 4] =
            [(&author, &direct), (&with_token, &direct), (&agent.caller, &of_task), (&agent.caller, &of_run)];
        for (caller, path) in everyone {
            caller.get(path).await.expect(200);
        }
        server.clock.advance(60 * SECOND);
        for (caller, path) in everyone {
            let patient = json!({"resourceType": "Patient", "id": "p1", "active": false});
            let written = caller.send(Method::PUT, path, &[], Some(patient)).await.expect(409);
            assert_eq!(written["resourceType"], "OperationOutcome");
            caller.get(path).await.expect(409);
        }
        agent.start(1).await.expect(200);
        agent.fhir(Method::GET, "Patient/p1", None).await.expect(200);
    }

    async fn a_task_that_is_not_started_has_no_deadline(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let (_, agent) = run(&server, json!({"timeout": 1}), &[json!({})]).await;
        server.clock.advance(3600 * SECOND);
        app::runs::sweep(&server.app).await.unwrap();
        assert_eq!(agent.result(0).await["phase"], "created");
        agent.start(0).await.expect(200);
    }
}

/// A run of tasks that require the code `a`, with these additional fields.
async fn run(server: &TestServer, fields: Value, tasks: &[Value]) -> (Caller, Agent) {
    let author = server.organization("Acme").await;
    let bench = Bench::new(&author, fields).await;
    for task in tasks {
        let mut task = task.clone();
        task["name"] = json!("Timed");
        bench.task_with(task, &[wants_code("a")]).await;
    }
    let agent = bench.begin(server).await;
    (author, agent)
}

/// A SMART token of the sandbox, from the credentials of the started task.
async fn smart_token(server: &TestServer, sandbox: &Value) -> String {
    let credential = |name: &str| sandbox["credentials"][name].as_str().unwrap_or_else(|| panic!("{name}: {sandbox}"));
    let form = format!(
        "grant_type=client_credentials&client_id={}&client_secret={}&scope=system/*.cruds",
        credential("client_id"),
        credential("client_secret")
    );
    let path = format!("/sandboxes/{}/fhir/auth/token", sandbox["id"].as_str().unwrap());
    let content = Some(("application/x-www-form-urlencoded", form.into_bytes()));
    let response = server.anonymous().send_bytes(Method::POST, &path, &[], content).await.expect(200);
    response["access_token"].as_str().unwrap().to_owned()
}
