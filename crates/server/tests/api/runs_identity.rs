//! The identity of tasks: what the agent of a scored run sees, and when others see the real names.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, solver, wants_code};
use testkit::{Caller, TestResponse, TestServer, both_databases};

const NAMES: [&str; 3] = ["Return: Minh Tran, no signature", "Deny: wrong member", "Approve: all fine"];
const TITLE: &str = "Triage the fax";

both_databases! {
    async fn an_agent_of_a_scored_run_cannot_tell_which_task_it_does(server: TestServer) {
        let case = Case::new(&server).await;
        let key = [("idempotency-key", "once")];
        let body = Some(json!({"benchmark": case.reference, "scored": true}));
        let created = case.solver.send(Method::POST, "/v1/benchmark-runs", &key, body.clone()).await.expect(201);
        let agent = Agent::from(&server, &created);
        let summary = format!("/v1/benchmark-runs/{}", agent.run);
        let mut seen = vec![created];
        seen.push(case.solver.send(Method::POST, "/v1/benchmark-runs", &key, body).await.expect(201));
        for task in 0..3 {
            let at = |step: &str| format!("/v1/task-runs/{}{step}", agent.task_runs[task]);
            let step = async |step: &str| {
                agent.caller.send(Method::POST, &at(step), &[("idempotency-key", &at(step))], None).await
            };
            for _ in 0..2 {
                seen.push(step("/start").await.expect(200));
            }
            let next = &agent.task_runs[(task + 1) % 3];
            let another = format!("/v1/task-runs/{next}/start");
            seen.push(agent.caller.send(Method::POST, &another, &[], None).await.expect_error(409, "CONFLICT"));
            for reader in [&agent.caller, &case.solver] {
                seen.push(reader.get(&summary).await.expect(200));
            }
            seen.push(agent.caller.get(&at("")).await.expect(200));
            if task == 2 {
                break;
            }
            for _ in 0..2 {
                seen.push(step("/complete").await.expect(200));
            }
            seen.push(agent.caller.send(Method::POST, &at("/complete"), &[], None).await.expect_error(409, "CONFLICT"));
        }
        seen.iter().for_each(|response| case.hides(response));
        // The last completion ends the run, and the run's token still sees neutral names.
        for response in [agent.complete(2).await.expect(200), agent.caller.get(&summary).await.expect(200)] {
            case.hides(&response);
        }
    }

    async fn ids_and_names_are_stable_within_a_run_and_differ_between_runs(server: TestServer) {
        let case = Case::new(&server).await;
        let (one, other) = (case.begin(&server).await, case.begin(&server).await);
        assert_eq!(ids(&one.created), ids(&one.read().await));
        assert!(ids(&one.created).is_disjoint(&ids(&other.created)));
        for agent in [one, other] {
            for (task, place) in agent.created["task_runs"].as_array().unwrap().iter().zip(1..) {
                let name = task["name"].as_str().unwrap();
                assert!(name == TITLE || name == format!("Task {place}"), "{name}");
                let started = agent.start(place - 1).await.expect(200);
                assert_eq!((&started["task"]["name"], &started["task"]["tags"]), (&task["name"], &json!([])));
                agent.complete(place - 1).await.expect(200);
            }
        }
    }

    async fn the_order_is_shuffled_by_a_seed_that_only_the_organization_reads(server: TestServer) {
        let case = Case::new(&server).await;
        let mut orders = BTreeSet::new();
        for _ in 0..12 {
            let agent = case.begin(&server).await;
            assert!(!agent.created.to_string().contains("order_seed"));
            let run = case.run(&agent).await;
            let names = names(&run["task_runs"]);
            let seed = run["order_seed"].as_i64().unwrap();
            let mut expected: Vec<(String, String)> = case.tasks.iter().map(|(id, name)| {
                (model::canonical::sha256_hex(format!("{seed}:{id}").as_bytes()), name.clone())
            }).collect();
            expected.sort();
            assert_eq!(names, expected.into_iter().map(|(_, name)| name).collect::<Vec<_>>());
            orders.insert(names);
        }
        assert!(orders.len() > 1, "{orders:?}");
        let open = Agent::begin(&server, &case.solver, &case.reference, false).await;
        assert_eq!(names(&open.created["task_runs"]), NAMES, "an unscored run keeps the benchmark's order");
        assert_eq!(case.run(&open).await["order_seed"], Value::Null);
    }

    async fn the_organization_always_reads_real_names_and_the_solver_when_the_run_has_ended(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let case = Case::new(&server).await;
        let body = json!({"benchmark": case.reference, "scored": true});
        let owned = case.author.post("/benchmark-runs", body).await.expect(201);
        assert_eq!(ids(&owned.json), case.ids());
        let started = format!("/task-runs/{}/start", owned["task_runs"][0]["id"].as_str().unwrap());
        let started = case.author.send(Method::POST, &started, &[], None).await.expect(200);
        assert!(NAMES.contains(&started["task"]["name"].as_str().unwrap()), "{}", started.text());
        let (completed, cancelled, expired) =
            (case.begin(&server).await, case.begin(&server).await, case.begin(&server).await);
        let read = async |agent: &Agent| {
            case.solver.get(&format!("/v1/benchmark-runs/{}", agent.run)).await.expect(200)
        };
        for agent in [&completed, &cancelled, &expired] {
            case.hides(&read(agent).await);
            assert_eq!(ids(&case.run(agent).await), case.ids());
        }
        for task in 0..3 {
            completed.start(task).await.expect(200);
            completed.complete(task).await.expect(200);
        }
        let cancel = format!("/benchmark-runs/{}/cancel", cancelled.run);
        case.author.send(Method::POST, &cancel, &[], None).await.expect(200);
        case.hides(&read(&expired).await);
        server.clock.advance(40 * 24 * 60 * 60 * 1000);
        for agent in [&completed, &cancelled, &expired] {
            let shown = read(agent).await;
            assert_eq!((ids(&shown.json), sorted(names(&shown["task_runs"]))), (case.ids(), sorted(NAMES.map(String::from).to_vec())));
        }
    }

    async fn an_unscored_run_stays_readable(server: TestServer) {
        let case = Case::new(&server).await;
        let agent = Agent::begin(&server, &case.solver, &case.reference, false).await;
        assert_eq!(ids(&agent.created), case.ids());
        let started = agent.start(0).await.expect(200);
        assert_eq!((&started["task"]["name"], &started["task"]["tags"]), (&json!(NAMES[0]), &json!(["no-action"])));
    }

    async fn a_run_of_selected_tasks_is_left_out_of_statistics_and_leaderboards(server: TestServer) {
        let case = Case::new(&server).await;
        let begin = async |fields: Value| Agent::begin_with(&server, &case.solver, &case.reference, fields).await;
        let by_id = case.tasks[2].0.clone();
        let agent = begin(json!({"tasks": [NAMES[2], by_id, NAMES[0]]})).await;
        assert_eq!(names(&agent.created["task_runs"]), [NAMES[0], NAMES[2]], "each once, in the benchmark's order");
        assert_eq!(agent.created["partial_selection"], true);
        assert_eq!((&agent.read().await["partial_selection"], &case.run(&agent).await["partial_selection"]), (&json!(true), &json!(true)));
        for task in 0..2 {
            agent.do_task(task, &["a"]).await;
        }
        let scored = begin(json!({"scored": true, "tasks": [NAMES[1]]})).await;
        case.hides(&case.solver.get(&format!("/v1/benchmark-runs/{}", scored.run)).await.expect(200));
        scored.do_task(0, &["a"]).await;
        let stats = async || case.author.get(&format!("/benchmarks/{}/stats", case.reference)).await.expect(200)["n"].clone();
        assert_eq!(stats().await, 0);
        let publish = format!("/benchmark-runs/{}/publish", scored.run);
        let refused = case.author.send(Method::POST, &publish, &[], None).await.expect_error(409, "CONFLICT");
        assert!(refused.message().contains("selection"), "{}", refused.message());
        let whole = Agent::begin(&server, &case.solver, &case.reference, false).await;
        assert_eq!(whole.created["partial_selection"], false);
        for task in 0..3 {
            whole.do_task(task, &["a"]).await;
        }
        assert_eq!(stats().await, 1);
        let named = format!("/benchmark-runs/compare?ids={},{}", agent.run, whole.run);
        assert_eq!(case.author.get(&named).await.expect(200)["groups"].as_array().unwrap().len(), 2);
    }

    async fn unknown_tasks_are_rejected_and_no_run_is_created(server: TestServer) {
        let case = Case::new(&server).await;
        let begin = async |tasks: Value| {
            let mut body = json!({"benchmark": case.reference, "tasks": tasks});
            let by_solver = case.solver.post("/v1/benchmark-runs", body.clone()).await.expect_error(400, "VALIDATION_ERROR");
            body["scored"] = json!(true);
            let by_owner = case.author.post("/benchmark-runs", body).await.expect_error(400, "VALIDATION_ERROR");
            assert_eq!(by_solver["error"]["details"], by_owner["error"]["details"]);
            by_solver["error"]["details"].clone()
        };
        let details = begin(json!([NAMES[0], "Unknown", "task_01K9Z3T5Q8W7N4M2R6V0XBHCDE"])).await;
        assert_eq!(details.as_object().unwrap().keys().collect::<Vec<_>>(), ["tasks.1", "tasks.2"]);
        for name in NAMES {
            assert!(!details.to_string().contains(name), "{details}");
        }
        for tasks in [json!([]), json!(vec!["x"; 1001])] {
            assert!(begin(tasks).await.get("tasks").is_some());
        }
        assert_eq!(case.author.get("/benchmark-runs").await.expect(200).data().len(), 0);
        // A selection of tasks also works with a draft.
        let body = json!({"benchmark_id": case.benchmark, "tasks": [NAMES[1]]});
        let run = case.author.post("/benchmark-runs", body).await.expect(201);
        assert_eq!(names(&run["task_runs"]), [NAMES[1]]);
    }
}

/// Three tasks whose names, tags and entity reveal what to do.
struct Case {
    author: Caller,
    solver: Caller,
    reference: String,
    benchmark: String,
    /// Ids and names, in the benchmark's order.
    tasks: Vec<(String, String)>,
}

impl Case {
    async fn new(server: &TestServer) -> Self {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        let entity = json!({"name": "Unsigned return", "ref": "Patient/p1", "data": {"shown": "Minh"}});
        let entity = author.post(&format!("/datasets/{}/entities", bench.dataset), entity).await.expect(201).id();
        let mut tasks = Vec::new();
        for (number, name) in NAMES.into_iter().enumerate() {
            let mut task = json!({"name": name, "tags": ["no-action"],
                "task_item": {"instruction": "Look after {{entity.data.shown}}."}});
            if number == 1 {
                task["task_item"]["title"] = json!(TITLE);
            }
            let id = bench.task_with(task, &[wants_code("a")]).await;
            author.post(&format!("/tasks/{id}/entities"), json!({"entity_id": entity})).await.expect(200);
            tasks.push((id, name.to_owned()));
        }
        let reference = bench.publish().await;
        let solver = solver(server, &author, "agent-1").await;
        Self { author, solver, reference, benchmark: bench.benchmark, tasks }
    }

    async fn begin(&self, server: &TestServer) -> Agent {
        Agent::begin(server, &self.solver, &self.reference, true).await
    }

    async fn run(&self, agent: &Agent) -> Value {
        self.author.get(&format!("/benchmark-runs/{}", agent.run)).await.expect(200).json
    }

    fn ids(&self) -> BTreeSet<String> {
        self.tasks.iter().map(|(id, _)| id.clone()).collect()
    }

    #[track_caller]
    fn hides(&self, response: &TestResponse) {
        let words = NAMES.into_iter().chain(["no-action", "Unsigned return", "order_seed", "Patients"]);
        for word in words.chain(self.tasks.iter().map(|(id, _)| id.as_str())) {
            assert!(!response.text().contains(word), "{} shows {word}: {}", response.request, response.text());
        }
    }
}

fn ids(run: &Value) -> BTreeSet<String> {
    run["task_runs"].as_array().unwrap().iter().map(|task| task["task_id"].as_str().unwrap().to_owned()).collect()
}

fn names(task_runs: &Value) -> Vec<String> {
    task_runs.as_array().unwrap().iter().map(|task| task["name"].as_str().unwrap().to_owned()).collect()
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names
}
