//! Several nodes serve one run in turns, as behind a load balancer, without a difference. Also clients that disconnect early.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, basic, solver, wants_code};
use testkit::{Database, TestResponse, TestServer, both_databases};

use crate::dice::Dice;
use crate::fhir_client::Ehr;

/// A revocation takes effect on all nodes within this time.
const KNOWN_WITHIN: Duration = Duration::from_secs(1);
/// Clients that disconnect, on each database.
const HUNG_UP: usize = 60;

both_databases! {
    async fn two_nodes_give_the_same_result_as_one(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        bench.task("First", &[wants_code("a"), wants_code("b"), request_budget()]).await;
        bench.task("Second", &[wants_code("c"), request_budget()]).await;
        let (reference, solver) = (bench.publish().await, solver(&server, &author, "agent-1").await);
        let alone = work_through(&[&server], solver.key(), &reference).await;
        let other = server.another_node().await;
        // SQLite supports one process, so there is no other node.
        let nodes = if server.database().kind() == Database::Postgres { vec![&server, &other] } else { vec![&server] };
        let together = work_through(&nodes, solver.key(), &reference).await;
        assert_eq!(together, alone);
        assert_eq!(alone["score"], json!(0.75));
    }

    async fn a_cancelled_run_ends_on_every_node_within_a_second(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        bench.task("One", &[wants_code("a")]).await;
        let agent = bench.begin(&server).await;
        let started = agent.start(0).await.expect(200);
        let other = match server.database().kind() {
            Database::Postgres => Some(server.another_node().await),
            Database::Sqlite => None,
        };
        let there = other.as_ref().unwrap_or(&server);
        let (agent_there, author_there) = (there.caller(agent.caller.key()), there.caller(author.key()));
        let read = format!("/v1/benchmark-runs/{}/fhir/Patient/p1", agent.run);
        agent_there.get(&read).await.expect(200);
        author.post(&format!("/benchmark-runs/{}/cancel", agent.run), json!({})).await.expect(200);
        let cancelled = Instant::now();
        // The same transaction ends the sandbox: its organization can read it, and nobody can write.
        let ehr = Ehr { caller: author_there.clone(), sandbox: started["sandboxes"][0]["id"].as_str().unwrap().to_owned() };
        ehr.get("Patient/p1").await.expect(200);
        ehr.post("Basic", &basic("late")).await.expect(409);
        while agent_there.get(&read).await.status != 401 {
            assert!(cancelled.elapsed() < KNOWN_WITHIN, "the token of a cancelled run still works");
        }
        let requests = ehr.evidence("events").await;
        assert_eq!(requests.len(), 1, "the read before the end is in the log, and nothing after it");
    }

    async fn a_task_completed_on_one_node_accepts_no_writes_on_the_other(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        bench.task("One", &[wants_code("a"), wants_code("late")]).await;
        let (reference, solver) = (bench.publish().await, solver(&server, &author, "agent-1").await);
        if server.database().kind() == Database::Sqlite {
            return;
        }
        let other = server.another_node().await;
        for round in 0..20 {
            let agent = Agent::begin(&server, &solver, &reference, false).await;
            let there = Agent { caller: other.caller(agent.caller.key()), created: Value::Null, run: agent.run.clone(), task_runs: agent.task_runs.clone() };
            let (a, b) = if round % 2 == 0 { (&agent, &there) } else { (&there, &agent) };
            a.start(0).await.expect(200);
            b.write(basic("a")).await.expect(201);
            assert_eq!(a.fhir(Method::GET, "Basic?_summary=count", None).await.expect(200)["total"], 1);
            assert_eq!(a.complete(0).await.expect(200)["score"], json!(0.5));
            b.write(basic("late")).await.expect(409);
            b.fhir(Method::GET, "Patient/p1", None).await.expect(409);
            b.complete(0).await.expect(409);
            b.start(0).await.expect(409);
            let again = author.post(&format!("/benchmark-runs/{}/rescore", agent.run), json!({})).await.expect(200).json;
            assert_eq!(again["identical"], true, "{again}");
        }
    }

    async fn a_client_that_disconnects_leaves_no_partial_state(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        bench.task("One", &[wants_code("a"), request_budget()]).await;
        let (reference, solver) = (bench.publish().await, solver(&server, &author, "agent-1").await);
        let mut dice = Dice(7);
        let mut carried_out = [0, 0];
        for _ in 0..HUNG_UP {
            let agent = Agent::begin(&server, &solver, &reference, false).await;
            // Now the server has cached that no task is started.
            agent.write(basic("a")).await.expect(409);
            carried_out[0] += usize::from(hang_up(&agent, "start", &mut dice).await == "started");
            let started = agent.start(0).await;
            assert!([200, 409].contains(&started.status), "{}", started.text());
            agent.write(basic("a")).await.expect(201);
            let mut reads = u64::from(agent.fhir(Method::GET, "Patient/p1", None).await.expect(200).status == 200);
            hang_up(&agent, "complete", &mut dice).await;
            // Whether or not the completion was carried out, reads that succeeded count.
            while reads < 5 && agent.fhir(Method::GET, "Patient/p1", None).await.status == 200 {
                reads += 1;
            }
            let completed = agent.complete(0).await;
            carried_out[1] += usize::from(completed.status == 409);
            let result = agent.caller.get(&format!("/v1/task-runs/{}", agent.task_runs[0])).await.expect(200).json;
            assert_eq!((&result["status"], &result["score"]), (&json!("completed"), &json!(1.0)), "{result}");
            assert_eq!(result["checks"][1]["evidence"]["counts"]["fhir_request"], reads + 1, "{result}");
        }
        eprintln!("{HUNG_UP} clients hung up; {} starts and {} completes were carried out all the same", carried_out[0], carried_out[1]);
    }
}

fn request_budget() -> Value {
    json!({"label": "Few requests", "assertion": {"assert": "interaction-budget", "max": 100}})
}

/// Runs the benchmark with every call on the next node. Returns the results that are the same in every run.
async fn work_through(nodes: &[&TestServer], solver: &str, reference: &str) -> Value {
    let mut turns = (0..).map(|number| nodes[number % nodes.len()]);
    let mut next = || turns.next().unwrap();
    let body = json!({"benchmark": reference, "scored": false});
    let node = next();
    let created = node.caller(solver).post("/v1/benchmark-runs", body).await.expect(201);
    let agent = Agent::from(node, &created);
    let mut results = Vec::new();
    for (task, codes) in [(0, &["a", "b"][..]), (1, &["x", "y"][..])] {
        let mut ask = async |method: Method, path: String, body: Option<Value>| -> TestResponse {
            next().caller(agent.caller.key()).send(method, &path, &[], body).await
        };
        let (task_run, fhir) = (&agent.task_runs[task], format!("/v1/benchmark-runs/{}/fhir", agent.run));
        ask(Method::POST, format!("/v1/task-runs/{task_run}/start"), None).await.expect(200);
        for code in codes {
            ask(Method::POST, format!("{fhir}/Basic"), Some(basic(code))).await.expect(201);
            let found = ask(Method::GET, format!("{fhir}/Basic?_summary=count"), None).await.expect(200);
            assert!(found["total"].as_u64().unwrap() >= 1, "a write is not seen on the next node");
        }
        let result = ask(Method::POST, format!("/v1/task-runs/{task_run}/complete"), None).await.expect(200).json;
        ask(Method::POST, format!("{fhir}/Basic"), Some(basic("late"))).await.expect(409);
        for check in result["checks"].as_array().unwrap() {
            // The server assigns the id; the rest is the agent's.
            let counts = &check["evidence"]["counts"];
            results.push(json!([check["label"], check["result"], check["score"], check["details"], counts]));
        }
        results.push(result["score"].clone());
    }
    let run =
        next().caller(agent.caller.key()).get(&format!("/v1/benchmark-runs/{}", agent.run)).await.expect(200).json;
    json!({"score": run["score"], "verdict": run["verdict"], "axes": run["axes"], "phase": run["phase"], "results": results})
}

/// Sends a request and disconnects before or just after the response. Returns the phase afterwards.
async fn hang_up(agent: &Agent, verb: &str, dice: &mut Dice) -> String {
    let path = format!("/v1/task-runs/{}/{verb}", agent.task_runs[0]);
    let patience = Duration::from_micros(dice.below(12_000) as u64);
    // A separate connection, which is closed with the client.
    let alone = testkit::http_client();
    let request = alone.post(agent.caller.address(&path)).bearer_auth(agent.caller.key()).send();
    let _ = tokio::time::timeout(patience, request).await;
    drop(alone);
    let read = agent.caller.get(&format!("/v1/task-runs/{}", agent.task_runs[0])).await.expect(200);
    read["phase"].as_str().unwrap().to_owned()
}
