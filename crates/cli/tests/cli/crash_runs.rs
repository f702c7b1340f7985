//! R1 and R2 for runs: after `kill -9` every task run is in a legal state, acknowledged changes are stored, and every task
//! run is scored once.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use testkit::{Database, postgres_url};
use tokio::sync::Semaphore;

use crate::api::Api;
use crate::process::{ServerData, ServerProcess, on_both_databases, output};
use crate::run_agents::{Journal, KnownRun, KnownTask, RunSetup, Servers, TASKS, WANTED, text};

const AGENTS: usize = 6;
const ROUNDS: usize = 5;
/// Responses before each kill: primes, so that the kills hit different calls.
const RESPONSES_BEFORE_KILL: [u32; ROUNDS] = [31, 67, 101, 149, 211];
/// With two processes: runs of each agent, and responses before one process is killed.
const RUNS_BY_EACH: usize = 4;
const RESPONSES_BEFORE_ONE_IS_KILLED: u32 = 97;

on_both_databases! {
    kill_while_running: a_killed_server_leaves_no_partial_run_on_sqlite, a_killed_server_leaves_no_partial_run_on_postgres
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_one_of_two_servers_is_killed_the_other_finishes_every_run() {
    if postgres_url().is_none() {
        return;
    }
    let data = ServerData::new(Database::Postgres);
    let mut first = serve(&data);
    let second = serve(&data);
    let key = first.first_key.clone().expect("a first start prints a key");
    let setup = RunSetup::open(&first.first_caller()).await;
    let journal = Arc::new(Journal::default());
    let base_urls = [&first, &second].map(|server| server.base_url.clone());
    let acknowledged = Semaphore::new(0);
    // Half of the agents use the first server first, half the second.
    let servers = Arc::new(Servers { base_urls: base_urls.to_vec(), acknowledged });
    let reversed = Servers { base_urls: base_urls.into_iter().rev().collect(), acknowledged: Semaphore::new(0) };
    let reversed = Arc::new(reversed);
    let agents: Vec<_> = (0..AGENTS)
        .map(|agent| {
            let servers = Arc::clone(if agent % 2 == 0 { &servers } else { &reversed });
            let (setup, journal) = (setup.clone(), Arc::clone(&journal));
            tokio::spawn(async move {
                for number in 0..RUNS_BY_EACH {
                    let name = format!("agent-{agent}-{number}");
                    servers.work(&setup, &name, &journal).await.expect("the other server responds");
                }
            })
        })
        .collect();
    servers.acknowledged.acquire_many(RESPONSES_BEFORE_ONE_IS_KILLED).await.expect("agents that work").forget();
    first.kill();
    for agent in agents {
        agent.await.unwrap();
    }
    let api = Api::new(&second.base_url, &key);
    let mut seen = PhaseCounts::default();
    let journal = journal.lock().await;
    for (run, known) in &*journal {
        assert!(known.task_runs.values().all(|task| task.result.is_some()), "{run} is not finished");
        seen.add(&check_run(&api, &second.base_url, run, known).await);
    }
    assert_eq!(api.all("/benchmark-runs", "id").await.len(), AGENTS * RUNS_BY_EACH, "a run was created twice");
    assert_eq!(api.all("/criterion-runs", "id").await.len(), AGENTS * RUNS_BY_EACH * TASKS * WANTED.len());
    assert_eq!(seen.completed, AGENTS * RUNS_BY_EACH * TASKS);
    output(&mut data.command(&["admin", "check"]));
    println!("1 of 2 servers killed: {} task runs finished, each scored once", seen.completed);
}

/// Starts a server without rate limits, which agents in a loop would reach.
fn serve(data: &ServerData) -> ServerProcess {
    const RATE_LIMITS: &str = "requests_per_second=1000000,request_burst=1000000";
    data.serve_with(&["--limit", RATE_LIMITS])
}

async fn kill_while_running(database: Database) {
    let data = ServerData::new(database);
    let mut server = serve(&data);
    let key = server.first_key.clone().expect("a first start prints a key");
    let setup = RunSetup::open(&server.first_caller()).await;
    let mut seen = PhaseCounts::default();
    let mut checked = Vec::new();
    for (round, answers) in RESPONSES_BEFORE_KILL.into_iter().enumerate() {
        let journal = Arc::new(Journal::default());
        let servers = Servers { base_urls: vec![server.base_url.clone()], acknowledged: Semaphore::new(0) };
        let servers = Arc::new(servers);
        let agents: Vec<_> = (0..AGENTS)
            .map(|agent| {
                let (servers, setup, journal) = (Arc::clone(&servers), setup.clone(), Arc::clone(&journal));
                tokio::spawn(async move {
                    let mut number = 0;
                    while servers.work(&setup, &format!("r{round}a{agent}n{number}"), &journal).await.is_some() {
                        number += 1;
                    }
                })
            })
            .collect();
        servers.acknowledged.acquire_many(answers).await.expect("agents that work").forget();
        server.kill();
        for agent in agents {
            agent.await.unwrap();
        }
        output(&mut data.command(&["admin", "check"]));
        server = serve(&data);
        let api = Api::new(&server.base_url, &key);
        let mut journal = journal.lock().await;
        let known: BTreeSet<String> = journal.keys().cloned().collect();
        for run in known {
            let known = journal.remove(&run).expect("a known run");
            seen.add(&check_run(&api, &server.base_url, &run, &known).await);
            checked.push((run, api_result(&api, &known).await));
        }
        check_unanswered(&api, &checked).await;
    }
    let api = Api::new(&server.base_url, &key);
    for (run, results) in &checked {
        assert_eq!(api.get(&format!("/benchmark-runs/{run}")).await["task_runs"].as_array().unwrap().len(), TASKS);
        for (task_run, result) in results {
            assert_eq!(api.get(&format!("/task-runs/{task_run}")).await, *result, "a later kill changed a result");
        }
    }
    println!(
        "{ROUNDS} kills, {} runs: {} task runs had completed, {} were started and completed then, {} not begun",
        checked.len(),
        seen.completed,
        seen.started,
        seen.created
    );
}

/// How many task runs were in each phase.
#[derive(Default)]
struct PhaseCounts {
    created: usize,
    started: usize,
    completed: usize,
}

impl PhaseCounts {
    fn add(&mut self, other: &PhaseCounts) {
        self.created += other.created;
        self.started += other.started;
        self.completed += other.completed;
    }
}

/// Compares a run with what its agent knows, and completes started task runs.
async fn check_run(api: &Api, base_url: &str, run: &str, known: &KnownRun) -> PhaseCounts {
    let agent = Api::new(base_url, &known.token);
    let mut seen = PhaseCounts::default();
    for (task_run, task) in &known.task_runs {
        let shown = api.get(&format!("/task-runs/{task_run}")).await;
        let criteria = shown["criterion_runs"].as_array().unwrap().len();
        let has_result = [&shown["score"], &shown["verdict"], &shown["sealed"], &shown["completed_at"]];
        match shown["phase"].as_str().unwrap() {
            "created" => {
                assert!(!task.is_started, "an acknowledged start is lost: {shown}");
                assert!(
                    shown["playground_id"].is_string() && shown["started_at"].is_null() && criteria == 0,
                    "{shown}"
                );
                seen.created += 1;
            }
            "started" => {
                assert!(task.result.is_none(), "an acknowledged result is lost: {shown}");
                assert!(shown["playground_id"].is_string() && shown["deadline_at"].is_string(), "{shown}");
                assert!(has_result.iter().all(|value| value.is_null()) && criteria == 0, "half a result: {shown}");
                let path = format!("/v1/task-runs/{task_run}/complete");
                let (status, result) = agent.call("POST", &path, "", None).await.expect("a server");
                assert_eq!(status, 200, "what was started cannot be completed: {result}");
                check_result(task, &result);
                seen.started += 1;
            }
            "completed" => {
                assert_eq!(shown["status"], "completed");
                assert!(has_result.iter().all(|value| !value.is_null()), "half a result: {shown}");
                assert_eq!(criteria, WANTED.len(), "half a result: {shown}");
                let read = agent.get(&format!("/v1/task-runs/{task_run}")).await;
                check_result(task, &read);
                if let Some(acknowledged) = &task.result {
                    assert_eq!(
                        without_run(&read),
                        without_run(acknowledged),
                        "the result differs from the acknowledged one"
                    );
                }
                seen.completed += 1;
            }
            other => panic!("{other}"),
        }
    }
    check_run_totals(api, run).await;
    seen
}

/// Checks that acknowledged writes pass their criterion, and that only attempted writes do.
fn check_result(task: &KnownTask, result: &Value) {
    let checks = result["checks"].as_array().unwrap();
    assert_eq!(checks.len(), WANTED.len());
    for (check, code) in checks.iter().zip(WANTED) {
        let is_there = check["result"] == "pass";
        assert!(is_there || !task.written.contains(code), "an acknowledged write does not count: {result}");
        assert!(!is_there || task.attempted.contains(code), "{code} was never written: {result}");
    }
    let passed = checks.iter().filter(|check| check["result"] == "pass").count();
    let score = result["score"].as_f64().unwrap();
    assert!((score - passed as f64 / WANTED.len() as f64).abs() < 0.0001, "{result}");
}

/// Checks that the run's phase and score follow from its task runs, and that rescoring is identical.
async fn check_run_totals(api: &Api, run: &str) {
    let run_json = api.get(&format!("/benchmark-runs/{run}")).await;
    let task_runs = run_json["task_runs"].as_array().unwrap();
    assert_eq!(task_runs.len(), TASKS, "half a run: {run_json}");
    let is_completed = task_runs.iter().all(|task_run| task_run["phase"] == "completed");
    assert_eq!(run_json["phase"] == "completed", is_completed, "{run_json}");
    if is_completed {
        let scores: f64 = task_runs.iter().map(|task_run| task_run["score"].as_f64().unwrap()).sum();
        assert!((run_json["score"].as_f64().unwrap() - scores / TASKS as f64).abs() < 0.001, "{run_json}");
    } else {
        assert!(run_json["score"].is_null() && run_json["verdict"].is_null(), "{run_json}");
    }
    let again = api.send("POST", &format!("/benchmark-runs/{run}/rescore"), json!({})).await.expect("a server");
    assert_eq!(again["identical"], true, "{again}");
}

/// Runs whose creation was not acknowledged are stored completely and unchanged, or not at all.
async fn check_unanswered(api: &Api, checked: &[(String, Vec<(String, Value)>)]) {
    let known: BTreeSet<&String> = checked.iter().map(|(run, _)| run).collect();
    for run in api.all("/benchmark-runs", "id").await.iter().filter(|run| !known.contains(run)) {
        let run_json = api.get(&format!("/benchmark-runs/{run}")).await;
        let task_runs = run_json["task_runs"].as_array().unwrap();
        assert!(
            task_runs.len() == TASKS && task_runs.iter().all(|task_run| task_run["phase"] == "created"),
            "{run_json}"
        );
    }
}

/// The stored result of every task run.
async fn api_result(api: &Api, known: &KnownRun) -> Vec<(String, Value)> {
    let mut results = Vec::new();
    for task_run in known.task_runs.keys() {
        results.push((task_run.clone(), api.get(&format!("/task-runs/{task_run}")).await));
    }
    results
}

/// The result without its run, which changes.
fn without_run(result: &Value) -> Value {
    let mut result = result.clone();
    assert_eq!(text(&result["status"]), "completed");
    result.as_object_mut().unwrap().remove("benchmark_run");
    result
}
