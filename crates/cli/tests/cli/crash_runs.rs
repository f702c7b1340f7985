//! R1 and R2 for runs: after `kill -9` at any moment every task run is in a legal state, what was answered is there, and
//! everything is scored once.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use testkit::{Database, postgres_url};
use tokio::sync::Semaphore;

use crate::api::Api;
use crate::process::{Serving, Site, on_both_databases, output};
use crate::run_agents::{Contest, Journal, Known, KnownTask, Servers, TASKS, WANTED, text};

const AGENTS: usize = 6;
const ROUNDS: usize = 5;
/// Answers before each kill: primes, so that the kills fall into different calls.
const ANSWERS_BEFORE_THE_KILL: [u32; ROUNDS] = [31, 67, 101, 149, 211];
/// For the two processes: runs of each agent, and answers before one process is killed.
const RUNS_BY_EACH: usize = 4;
const ANSWERS_BEFORE_THE_HALF_IS_KILLED: u32 = 97;

on_both_databases! {
    kill_while_running: a_killed_server_leaves_no_run_half_done_on_sqlite, a_killed_server_leaves_no_run_half_done_on_postgres
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_one_of_two_servers_is_killed_the_other_finishes_every_run() {
    if postgres_url().is_none() {
        return;
    }
    let site = Site::new(Database::Postgres);
    let mut first = serve(&site);
    let second = serve(&site);
    let key = first.first_key.clone().expect("a first start prints a key");
    let contest = Contest::open(&first.first_caller()).await;
    let journal = Arc::new(Journal::default());
    let base_urls = [&first, &second].map(|serving| serving.base_url.clone());
    let acknowledged = Semaphore::new(0);
    // Half of the agents ask the one first, half the other.
    let servers = Arc::new(Servers { base_urls: base_urls.to_vec(), acknowledged });
    let turned = Servers { base_urls: base_urls.into_iter().rev().collect(), acknowledged: Semaphore::new(0) };
    let turned = Arc::new(turned);
    let agents: Vec<_> = (0..AGENTS)
        .map(|agent| {
            let servers = Arc::clone(if agent % 2 == 0 { &servers } else { &turned });
            let (contest, journal) = (contest.clone(), Arc::clone(&journal));
            tokio::spawn(async move {
                for number in 0..RUNS_BY_EACH {
                    let name = format!("agent-{agent}-{number}");
                    servers.work(&contest, &name, &journal).await.expect("the other server answers");
                }
            })
        })
        .collect();
    servers.acknowledged.acquire_many(ANSWERS_BEFORE_THE_HALF_IS_KILLED).await.expect("agents that work").forget();
    first.kill();
    for agent in agents {
        agent.await.unwrap();
    }
    let api = Api::new(&second.base_url, &key);
    let mut seen = Seen::default();
    let journal = journal.lock().await;
    for (run, known) in &*journal {
        assert!(known.task_runs.values().all(|task| task.result.is_some()), "{run} is not finished");
        seen.add(&check_run(&api, &second.base_url, run, known).await);
    }
    assert_eq!(api.all("/benchmark-runs", "id").await.len(), AGENTS * RUNS_BY_EACH, "a run was made twice");
    assert_eq!(api.all("/criterion-runs", "id").await.len(), AGENTS * RUNS_BY_EACH * TASKS * WANTED.len());
    assert_eq!(seen.completed, AGENTS * RUNS_BY_EACH * TASKS);
    output(&mut site.command(&["admin", "check"]));
    println!("1 of 2 servers killed: {} task runs finished, each scored once", seen.completed);
}

/// Without limits on the rate, which agents in a loop reach.
fn serve(site: &Site) -> Serving {
    const OFTEN: &str = "requests_per_second=1000000,request_burst=1000000";
    site.serve_with(&["--limit", OFTEN])
}

async fn kill_while_running(database: Database) {
    let site = Site::new(database);
    let mut serving = serve(&site);
    let key = serving.first_key.clone().expect("a first start prints a key");
    let contest = Contest::open(&serving.first_caller()).await;
    let mut seen = Seen::default();
    let mut checked = Vec::new();
    for (round, answers) in ANSWERS_BEFORE_THE_KILL.into_iter().enumerate() {
        let journal = Arc::new(Journal::default());
        let servers = Servers { base_urls: vec![serving.base_url.clone()], acknowledged: Semaphore::new(0) };
        let servers = Arc::new(servers);
        let agents: Vec<_> = (0..AGENTS)
            .map(|agent| {
                let (servers, contest, journal) = (Arc::clone(&servers), contest.clone(), Arc::clone(&journal));
                tokio::spawn(async move {
                    let mut number = 0;
                    while servers.work(&contest, &format!("r{round}a{agent}n{number}"), &journal).await.is_some() {
                        number += 1;
                    }
                })
            })
            .collect();
        servers.acknowledged.acquire_many(answers).await.expect("agents that work").forget();
        serving.kill();
        for agent in agents {
            agent.await.unwrap();
        }
        output(&mut site.command(&["admin", "check"]));
        serving = serve(&site);
        let api = Api::new(&serving.base_url, &key);
        let mut journal = journal.lock().await;
        let known: BTreeSet<String> = journal.keys().cloned().collect();
        for run in known {
            let known = journal.remove(&run).expect("a known run");
            seen.add(&check_run(&api, &serving.base_url, &run, &known).await);
            checked.push((run, api_result(&api, &known).await));
        }
        check_unanswered(&api, &checked).await;
    }
    let api = Api::new(&serving.base_url, &key);
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

/// In which phases task runs were found.
#[derive(Default)]
struct Seen {
    created: usize,
    started: usize,
    completed: usize,
}

impl Seen {
    fn add(&mut self, other: &Seen) {
        self.created += other.created;
        self.started += other.started;
        self.completed += other.completed;
    }
}

/// Holds a run against what its agent knows. What is started is completed.
async fn check_run(api: &Api, base_url: &str, run: &str, known: &Known) -> Seen {
    let agent = Api::new(base_url, &known.token);
    let mut seen = Seen::default();
    for (task_run, task) in &known.task_runs {
        let shown = api.get(&format!("/task-runs/{task_run}")).await;
        let criteria = shown["criterion_runs"].as_array().unwrap().len();
        let has_result = [&shown["score"], &shown["verdict"], &shown["sealed"], &shown["completed_at"]];
        match shown["phase"].as_str().unwrap() {
            "created" => {
                assert!(!task.is_started, "an acknowledged start is lost: {shown}");
                assert!(shown["playground_id"].is_null() && shown["started_at"].is_null() && criteria == 0, "{shown}");
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
                if let Some(told) = &task.result {
                    assert_eq!(alone(&read), alone(told), "the result is another one than was told");
                }
                seen.completed += 1;
            }
            other => panic!("{other}"),
        }
    }
    check_whole(api, run).await;
    seen
}

/// A result says of every wanted text whether it was written; of one that was not acknowledged, either.
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

/// The run's phase and score follow from its task runs, and scoring again gives the same.
async fn check_whole(api: &Api, run: &str) {
    let whole = api.get(&format!("/benchmark-runs/{run}")).await;
    let task_runs = whole["task_runs"].as_array().unwrap();
    assert_eq!(task_runs.len(), TASKS, "half a run: {whole}");
    let is_completed = task_runs.iter().all(|task_run| task_run["phase"] == "completed");
    assert_eq!(whole["phase"] == "completed", is_completed, "{whole}");
    if is_completed {
        let scores: f64 = task_runs.iter().map(|task_run| task_run["score"].as_f64().unwrap()).sum();
        assert!((whole["score"].as_f64().unwrap() - scores / TASKS as f64).abs() < 0.001, "{whole}");
    } else {
        assert!(whole["score"].is_null() && whole["verdict"].is_null(), "{whole}");
    }
    let again = api.send("POST", &format!("/benchmark-runs/{run}/rescore"), json!({})).await.expect("a server");
    assert_eq!(again["identical"], true, "{again}");
}

/// Runs whose creation was not answered are there whole and untouched, or not at all.
async fn check_unanswered(api: &Api, checked: &[(String, Vec<(String, Value)>)]) {
    let known: BTreeSet<&String> = checked.iter().map(|(run, _)| run).collect();
    for run in api.all("/benchmark-runs", "id").await.iter().filter(|run| !known.contains(run)) {
        let whole = api.get(&format!("/benchmark-runs/{run}")).await;
        let task_runs = whole["task_runs"].as_array().unwrap();
        assert!(task_runs.len() == TASKS && task_runs.iter().all(|task_run| task_run["phase"] == "created"), "{whole}");
    }
}

/// What is kept of every task run.
async fn api_result(api: &Api, known: &Known) -> Vec<(String, Value)> {
    let mut results = Vec::new();
    for task_run in known.task_runs.keys() {
        results.push((task_run.clone(), api.get(&format!("/task-runs/{task_run}")).await));
    }
    results
}

/// Without the run around it, which goes on.
fn alone(result: &Value) -> Value {
    let mut result = result.clone();
    assert_eq!(text(&result["status"]), "completed");
    result.as_object_mut().unwrap().remove("benchmark_run");
    result
}
