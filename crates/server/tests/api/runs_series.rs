//! Runs on leaderboards cannot be cherry-picked: a published series is every scored run of a solver and agent version.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, basic, solver, wants_code};
use testkit::{Caller, TestResponse, TestServer, both_databases};

both_databases! {
    async fn publishing_one_run_publishes_all_scored_runs_of_its_solver_and_agent(server: TestServer) {
        let case = Case::new(&server).await;
        let bad = case.run(&server, json!({"scored": true, "agent": "a"}), &[]).await;
        let good = case.run(&server, json!({"scored": true, "agent": "a"}), &["a", "b"]).await;
        case.run(&server, json!({"scored": true, "agent": "other"}), &[]).await;
        case.run(&server, json!({"scored": false, "agent": "a"}), &[]).await;
        case.run(&server, json!({"scored": true, "agent": "a", "tasks": ["First"]}), &[]).await;
        case.publish(&good).await.expect(200);
        let entries = case.entries().await;
        assert_eq!(entries.len(), 1, "{entries:?}");
        let entry = &entries[0];
        assert_eq!((&entry["agent"], &entry["solver"]["alias"]), (&json!("a"), &json!("ann")));
        assert_eq!((&entry["runs"], &entry["mean"], &entry["best"]), (&json!(2), &json!(0.5), &json!(1.0)));
        assert_eq!((&entry["solver_runs"], &entry["unfinished_runs"]), (&json!(3), &json!(0)));
        assert_eq!(entry["pass_hat"], json!([{"k": 1, "value": 0.5}, {"k": 2, "value": 0.0}]));
        for run in [&good, &bad] {
            assert!(case.read(run).await["published_at"].is_string(), "both count");
        }
        // Later runs of the series count without being published.
        case.run(&server, json!({"scored": true, "agent": "a"}), &["a"]).await;
        let entry = &case.entries().await[0];
        assert_eq!((&entry["runs"], &entry["mean"]), (&json!(3), &json!(0.5)));
        // Whichever run is named, the complete entry is removed.
        let off = case.post(&bad, "unpublish").await.expect(200);
        assert_eq!(off["published_at"], Value::Null);
        assert_eq!(case.entries().await, [] as [Value; 0]);
        case.publish(&good).await.expect(200);
        assert_eq!(case.entries().await[0]["runs"], 3);
    }

    async fn unfinished_tasks_of_cancelled_and_expired_runs_score_zero(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let case = Case::new(&server).await;
        let whole = case.run(&server, json!({"scored": true}), &["a", "b"]).await;
        case.publish(&whole).await.expect(200);
        let begin = async || Agent::begin(&server, &case.solver, &case.reference, true).await;
        let (cancelled, left, untouched) = (begin().await, begin().await, begin().await);
        for agent in [&cancelled, &left] {
            agent.do_task(0, &["a", "b"]).await;
        }
        left.start(1).await.expect(200);
        assert_eq!(case.entries().await[0]["runs"], 1, "what is under way does not count yet");
        case.post(&cancelled.run, "cancel").await.expect(200);
        let entry = case.entries().await[0].clone();
        assert_eq!((&entry["runs"], &entry["mean"], &entry["unfinished_runs"]), (&json!(2), &json!(0.75), &json!(1)));
        server.clock.advance(40 * 24 * 60 * 60 * 1000);
        let entry = case.entries().await[0].clone();
        assert_eq!((&entry["runs"], &entry["unfinished_runs"], &entry["best"]), (&json!(4), &json!(3), &json!(1.0)));
        assert_eq!(entry["mean"], json!(0.5), "1, ½, ½ and 0");
        assert_eq!(entry["last_run_at"], case.read(&untouched.run).await["bearer_token_expires_at"]);
    }

    async fn another_version_of_the_agent_is_another_series(server: TestServer) {
        let case = Case::new(&server).await;
        let version = async |version: &str| {
            case.author.patch(&case.solver_path, json!({"agent_version": version})).await.expect(200);
        };
        version("1").await;
        let old = case.run(&server, json!({"scored": true}), &["a"]).await;
        version("2").await;
        let new = case.run(&server, json!({"scored": true}), &["a", "b"]).await;
        case.publish(&new).await.expect(200);
        assert_eq!((case.entries().await.len(), case.read(&old).await["published_at"].clone()), (1, Value::Null));
        case.publish(&old).await.expect(200);
        version("3").await;
        let entries = case.entries().await;
        let seen: Vec<_> = entries.iter().map(|entry| (&entry["solver"]["agent_version"], &entry["runs"], &entry["solver_runs"])).collect();
        assert_eq!(seen, [(&json!("2"), &json!(1), &json!(2)), (&json!("1"), &json!(1), &json!(2))]);
    }

    async fn a_run_that_the_organization_wrote_into_cannot_be_published_and_counts_0(server: TestServer) {
        let case = Case::new(&server).await;
        let clean = case.run(&server, json!({"scored": true}), &["a", "b"]).await;
        let agent = Agent::begin(&server, &case.solver, &case.reference, true).await;
        let started = agent.start(0).await.expect(200);
        let sandbox = format!("/sandboxes/{}/fhir", started["sandboxes"][0]["id"].as_str().unwrap());
        // Reads and rejected requests do not mark the run.
        case.author.get(&format!("{sandbox}/Patient/p1")).await.expect(200);
        case.author.get(&format!("{sandbox}/Basic?code=a")).await.expect(200);
        let refused = case.author.post(&format!("{sandbox}/Basic"), json!({"resourceType": "Basic", "code": 7})).await;
        assert!((400..500).contains(&refused.status), "{}", refused.text());
        agent.write(basic("a")).await.expect(201);
        assert_eq!(case.read(&agent.run).await["organization_writes"], false);
        case.author.post(&format!("{sandbox}/Basic"), basic("b")).await.expect(201);
        assert_eq!(case.read(&agent.run).await["organization_writes"], true);
        let sandbox_id = started["sandboxes"][0]["id"].as_str().unwrap();
        let events = case.author.get(&format!("/sandboxes/{sandbox_id}/events?limit=100")).await.expect(200);
        let actors: Vec<&str> = events.data().iter().filter_map(|event| event["actor"].as_str()).collect();
        assert!(actors.contains(&agent.run.as_str()) && actors.iter().any(|actor| actor.starts_with("key_")), "{actors:?}");
        assert_eq!(agent.complete(0).await.expect(200)["score"], 1.0, "its score stands");
        agent.do_task(1, &["a", "b"]).await;
        let refused = case.publish(&agent.run).await.expect_error(409, "CONFLICT");
        assert!(refused.message().contains("organization's key"), "{}", refused.message());
        assert_eq!(case.entries().await, [] as [Value; 0]);
        // If it were left out, bad runs could be removed from the mean by writing to them.
        case.publish(&clean).await.expect(200);
        let entry = &case.entries().await[0];
        assert_eq!((&entry["runs"], &entry["mean"], &entry["best"]), (&json!(2), &json!(0.5), &json!(1.0)));
        assert_eq!(entry["axes"], json!({"__default__": 0.5}));
    }

    async fn writes_outside_of_runs_do_not_mark_a_run(server: TestServer) {
        let case = Case::new(&server).await;
        let run = case.run(&server, json!({"scored": true}), &["a"]).await;
        let simulator = case.author.get("/simulators").await.expect(200).data()[0]["id"].clone();
        let sandbox = case.author.post("/sandboxes", json!({"simulator_id": simulator})).await.expect(201).id();
        case.author.post(&format!("/sandboxes/{sandbox}/fhir/Basic"), basic("a")).await.expect(201);
        assert_eq!(case.read(&run).await["organization_writes"], false);
    }
}

/// Two tasks, each with half of the score for `a` and half for `b`.
struct Case {
    author: Caller,
    solver: Caller,
    solver_path: String,
    reference: String,
}

impl Case {
    async fn new(server: &TestServer) -> Self {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({"visibility": "Public"})).await;
        for name in ["First", "Second"] {
            bench.task(name, &[wants_code("a"), wants_code("b")]).await;
        }
        let reference = bench.publish().await;
        let solver = solver(server, &author, "ann").await;
        let id = author.get("/solvers").await.expect(200).data()[0]["id"].as_str().unwrap().to_owned();
        Self { author, solver, solver_path: format!("/solvers/{id}"), reference }
    }

    /// A run in which every task is done in the same way.
    async fn run(&self, server: &TestServer, fields: Value, codes: &[&str]) -> String {
        let agent = Agent::begin_with(server, &self.solver, &self.reference, fields).await;
        for task in 0..agent.task_runs.len() {
            agent.do_task(task, codes).await;
        }
        agent.run
    }

    async fn post(&self, run: &str, step: &str) -> TestResponse {
        self.author.send(Method::POST, &format!("/benchmark-runs/{run}/{step}"), &[], None).await
    }

    async fn publish(&self, run: &str) -> TestResponse {
        self.post(run, "publish").await
    }

    async fn read(&self, run: &str) -> Value {
        self.author.get(&format!("/benchmark-runs/{run}")).await.expect(200).json
    }

    async fn entries(&self) -> Vec<Value> {
        let board = self.author.get(&format!("/v1/leaderboards/{}", self.reference)).await.expect(200).json;
        board["entries"].as_array().unwrap().clone()
    }
}
