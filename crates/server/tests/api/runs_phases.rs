//! The phases of runs and task runs: what each phase allows, and one task at a time.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, basic, wants_code};
use testkit::{Caller, TestResponse, TestServer, both_databases};

both_databases! {
    async fn a_run_is_created_started_by_its_first_task_and_completed_by_its_last(server: TestServer) {
        let (_, agent) = run(&server, json!({}), 2).await;
        let created = agent.read().await;
        assert_eq!((&created["phase"], &created["status"]), (&json!("created"), &json!("active")));
        for member in ["verdict", "score", "started_at", "completed_at", "agent"] {
            assert_eq!(created[member], Value::Null, "{member}");
        }
        let before = agent.result(0).await;
        assert_eq!(
            (&before["phase"], &before["score"], &before["checks"]),
            (&json!("created"), &Value::Null, &json!([]))
        );
        let started = agent.start(0).await.expect(200);
        assert_eq!((&started["phase"], &started["task_run_id"]), (&json!("started"), &json!(agent.task_runs[0])));
        let read = agent.read().await;
        assert_eq!((&read["phase"], &read["started_at"]), (&json!("started"), &started["started_at"]));
        assert_eq!(read["task_runs"][0]["deadline_at"], started["deadline_at"]);
        let first = agent.complete(0).await.expect(200);
        assert_eq!(
            (&first["benchmark_run"]["phase"], &first["benchmark_run"]["status"]),
            (&json!("started"), &json!("active"))
        );
        agent.start(1).await.expect(200);
        let last = agent.complete(1).await.expect(200);
        assert_eq!(
            (&last["benchmark_run"]["phase"], &last["benchmark_run"]["status"]),
            (&json!("completed"), &json!("completed"))
        );
        assert_eq!(agent.read().await["phase"], "completed");
    }

    async fn tasks_may_be_done_in_any_order_and_each_once(server: TestServer) {
        let (_, agent) = run(&server, json!({}), 2).await;
        agent.do_task(1, &["a"]).await;
        let result = agent.do_task(0, &["a"]).await;
        assert_eq!(result["benchmark_run"]["score"], json!(1.0));
        for place in 0..2 {
            says(agent.start(place).await, &["completed"]);
            says(agent.complete(place).await, &["completed"]);
        }
    }

    async fn a_transition_that_the_phase_does_not_allow_is_a_conflict(server: TestServer) {
        let (author, agent) = run(&server, json!({}), 2).await;
        let internal = async |place: usize, step: &str| {
            author.send(Method::POST, &format!("/task-runs/{}/{step}", agent.task_runs[place]), &[], None).await
        };
        says(agent.complete(0).await, &["not started"]);
        agent.start(0).await.expect(200);
        says(agent.start(0).await, &["started already"]);
        says(internal(0, "start").await, &["started already"]);
        agent.complete(0).await.expect(200);
        for step in ["start", "complete", "cancel"] {
            says(internal(0, step).await, &["completed"]);
        }
        let refused = agent.complete(0).await.expect_error(409, "CONFLICT");
        let details = &refused["error"]["details"];
        assert_eq!(
            (&details["status"], &details["verdict"]),
            (&json!(["completed"]), &json!(["fail"])),
            "its result stands"
        );
        internal(1, "cancel").await.expect(200);
        says(agent.start(1).await, &["cancelled"]);
        for step in ["complete", "cancel"] {
            let path = format!("/benchmark-runs/{}/{step}", agent.run);
            says(author.send(Method::POST, &path, &[], None).await, &["completed"]);
        }
    }

    async fn only_one_task_can_be_started_and_the_conflict_names_it(server: TestServer) {
        let (_, agent) = run(&server, json!({}), 3).await;
        assert_eq!(agent.created["concurrency"], 1);
        agent.start(1).await.expect(200);
        says(agent.start(0).await, &[&agent.task_runs[1]]);
        says(agent.start(2).await, &[&agent.task_runs[1]]);
        assert_eq!(agent.result(0).await["phase"], "created");
        agent.complete(1).await.expect(200);
        agent.start(0).await.expect(200);
    }

    async fn concurrent_tasks_of_a_run_are_isolated(server: TestServer) {
        let (_, agent) = run(&server, json!({"concurrency": 2}), 3).await;
        let endpoints = [agent.start(0).await.expect(200), agent.start(1).await.expect(200)]
            .map(|started| started["endpoints"]["fhir"].as_str().unwrap().to_owned());
        assert_eq!(endpoints[0], format!("/v1/task-runs/{}/sandbox/fhir", agent.task_runs[0]));
        says(agent.start(2).await, &[&agent.task_runs[0], &agent.task_runs[1]]);
        let refused = agent.fhir(Method::GET, "Patient", None).await.expect(409);
        assert!(refused.text().contains("several tasks are started"), "{}", refused.text());
        agent.write(basic("a")).await.expect(409);
        agent.caller.post(&format!("{}/Basic", endpoints[0]), basic("a")).await.expect(201);
        let total = async |endpoint: &str| {
            agent.caller.get(&format!("{endpoint}/Basic?_summary=count")).await.expect(200)["total"].clone()
        };
        assert_eq!((total(&endpoints[0]).await, total(&endpoints[1]).await), (json!(1), json!(0)));
        assert_eq!(agent.complete(1).await.expect(200)["score"], json!(0.0));
        agent.fhir(Method::GET, "Patient/p1", None).await.expect(200);
        assert_eq!(agent.complete(0).await.expect(200)["score"], json!(1.0));
        agent.caller.get(&format!("{}/Patient/p1", endpoints[0])).await.expect(409);
        agent.start(2).await.expect(200);
    }

    async fn sandboxes_accept_traffic_only_while_a_task_is_started(server: TestServer) {
        let (author, agent) = run(&server, json!({}), 2).await;
        let own = |place: usize| format!("/v1/task-runs/{}/sandbox/fhir/Patient/p1", agent.task_runs[place]);
        for path in [format!("/v1/benchmark-runs/{}/fhir/Patient/p1", agent.run), own(0)] {
            let refused = agent.caller.get(&path).await.expect(409);
            assert_eq!(refused["resourceType"], "OperationOutcome");
            assert!(refused.text().contains("start"), "{}", refused.text());
        }
        let started = agent.start(0).await.expect(200);
        let sandbox = format!("/sandboxes/{}/fhir/Patient/p1", started["sandboxes"][0]["id"].as_str().unwrap());
        agent.caller.get(&own(0)).await.expect(200);
        agent.caller.get(&own(1)).await.expect(409);
        agent.complete(0).await.expect(200);
        agent.caller.get(&own(0)).await.expect(409);
        agent.fhir(Method::GET, "Patient/p1", None).await.expect(409);
        agent.start(1).await.expect(200);
        agent.caller.get(&own(0)).await.expect(409);
        agent.caller.get(&own(1)).await.expect(200);
        author.get(&sandbox).await.expect(200);
        author.send(Method::DELETE, &sandbox, &[], None).await.expect(409);
    }

    async fn a_task_does_not_see_the_changes_of_another(server: TestServer) {
        let (_, agent) = run(&server, json!({}), 2).await;
        agent.start(0).await.expect(200);
        agent.write(basic("a")).await.expect(201);
        agent.fhir(Method::DELETE, "Patient/p1", None).await.expect(204);
        agent.complete(0).await.expect(200);
        agent.start(1).await.expect(200);
        agent.fhir(Method::GET, "Patient/p1", None).await.expect(200);
        assert_eq!(agent.fhir(Method::GET, "Basic?_summary=count", None).await.expect(200)["total"], 0);
        assert_eq!(agent.complete(1).await.expect(200)["score"], json!(0.0));
    }

    async fn only_requests_answered_before_the_completion_count(server: TestServer) {
        let (author, agent) = run(&server, json!({}), 1).await;
        agent.start(0).await.expect(200);
        for number in 0..20 {
            agent.write(basic(&format!("noise {number}"))).await.expect(201);
        }
        agent.write(basic("a")).await.expect(201);
        assert_eq!(agent.complete(0).await.expect(200)["score"], json!(1.0));
        agent.write(basic("late")).await.expect(409);
        let task_run = author.get(&format!("/task-runs/{}", agent.task_runs[0])).await.expect(200);
        assert_eq!(task_run["sealed"]["events"], 21);
        assert_eq!(task_run["criterion_runs"].as_array().unwrap().len(), 1);
        let playground =
            author.get(&format!("/playgrounds/{}", task_run["playground_id"].as_str().unwrap())).await.expect(200);
        let sandbox = playground["sandboxes"][0]["id"].as_str().unwrap();
        let state = author.get(&format!("/sandboxes/{sandbox}/state?resource=Basic&limit=100")).await.expect(200);
        assert_eq!(state.data().len(), 21, "the evidence stays readable");
    }
}

/// A run of this many tasks, each of which requires the code `a`.
async fn run(server: &TestServer, fields: Value, tasks: usize) -> (Caller, Agent) {
    let author = server.organization("Acme").await;
    let bench = Bench::new(&author, fields).await;
    for number in 0..tasks {
        bench.task(&format!("Task {number}"), &[wants_code("a")]).await;
    }
    let agent = bench.begin(server).await;
    (author, agent)
}

#[track_caller]
fn says(response: TestResponse, words: &[&str]) {
    let response = response.expect_error(409, "CONFLICT");
    for word in words {
        assert!(response.message().contains(word), "{}: {}", response.request, response.message());
    }
}
