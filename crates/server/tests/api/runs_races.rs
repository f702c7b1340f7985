//! V10: races between completions, starts and traffic. One completion scores, requests answered before the seal count, and
//! later ones have no effect.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, basic, solver, wants_code};
use testkit::{Caller, Database, TestResponse, TestServer, both_databases};
use tokio::sync::Notify;

use crate::dice::Dice;
use crate::fhir_client::Ehr;

/// Callers that send the same request concurrently.
const AT_ONCE: usize = 50;
/// Races of a completion with writers and readers, on each database, in continuous integration; raise it for a longer run.
const RACES: usize = 120;
/// How many of them run concurrently.
const RACES_AT_ONCE: usize = 4;
const WRITERS: usize = 4;
const READERS: usize = 2;
/// Fewer than the evidence lists individually.
const WRITES_BY_EACH: usize = 4;
const READS_BY_EACH: usize = 20;

both_databases! {
    async fn only_one_of_many_completions_scores(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        bench.task("One", &[wants_code("a"), wants_code("b")]).await;
        let (reference, solver) = (bench.publish().await, solver(&server, &author, "agent-1").await);
        for headers in [&[][..], &[("idempotency-key", "once")][..]] {
            let agent = Agent::begin(&server, &solver, &reference, false).await;
            agent.start(0).await.expect(200);
            agent.write(basic("a")).await.expect(201);
            let answers = join_all((0..AT_ONCE).map(|_| post(&agent.caller, &agent, 0, "complete", headers))).await;
            let scored = if headers.is_empty() { one_of_many(&answers) } else { the_same_for_all(&answers) };
            assert_eq!((&scored["score"], &scored["verdict"]), (&json!(0.5), &json!("partial")));
            let criteria = author.get(&format!("/criterion-runs?task_run_id={}", agent.task_runs[0])).await.expect(200);
            assert_eq!(criteria.data().len(), 2);
            assert_eq!(agent.read().await["score"], json!(0.5));
        }
    }

    async fn only_one_of_many_starts_starts_the_task(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        bench.task("One", &[wants_code("a")]).await;
        let (reference, solver) = (bench.publish().await, solver(&server, &author, "agent-1").await);
        for (number, headers) in [&[][..], &[("idempotency-key", "once")][..]].into_iter().enumerate() {
            let agent = Agent::begin(&server, &solver, &reference, false).await;
            let answers = join_all((0..AT_ONCE).map(|_| post(&agent.caller, &agent, 0, "start", headers))).await;
            let started = if headers.is_empty() { one_of_many(&answers) } else { the_same_for_all(&answers) };
            assert_eq!(author.get("/playgrounds").await.expect(200).data().len(), number + 1, "a playground too many");
            agent.write(basic("a")).await.expect(201);
            let sandbox = started["sandboxes"][0]["id"].as_str().unwrap();
            let state = author.get(&format!("/sandboxes/{sandbox}/state?resource=Basic")).await.expect(200);
            assert_eq!(state.data().len(), 1, "the agent works in a playground that it was not told of");
            assert_eq!(agent.complete(0).await.expect(200)["score"], json!(1.0));
        }
    }

    async fn many_concurrent_agents_do_not_interfere(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        bench.task("One", &[wants_code("a")]).await;
        let (reference, solver) = (bench.publish().await, solver(&server, &author, "agent-1").await);
        let others = nodes(&server).await;
        let work = async |number: usize| {
            let agent = Agent::begin(&server, &solver, &reference, false).await;
            let callers = callers(&server, &others, &agent);
            let caller = &callers[number % callers.len()];
            post(caller, &agent, 0, "start", &[]).await.expect(200);
            agent.write(basic("a")).await.expect(201);
            let result = post(caller, &agent, 0, "complete", &[]).await.expect(200);
            assert_eq!(result["benchmark_run"]["score"], json!(1.0));
        };
        join_all((0..2 * AT_ONCE).map(work)).await;
    }

    async fn no_more_tasks_are_started_than_allowed(server: TestServer) {
        const TASKS: usize = 8;
        let author = server.organization("Acme").await;
        let solver = solver(&server, &author, "agent-1").await;
        for allowed in [1, 2] {
            let bench = Bench::new(&author, json!({"name": format!("{allowed} at a time"), "concurrency": allowed})).await;
            for number in 0..TASKS {
                bench.task(&format!("Task {number}"), &[wants_code("a")]).await;
            }
            let agent = Agent::begin(&server, &solver, &bench.publish().await, false).await;
            let nodes = nodes(&server).await;
            let callers = callers(&server, &nodes, &agent);
            let mut waves = 0;
            loop {
                let read = agent.read().await;
                if read["phase"] == "completed" {
                    break;
                }
                // Every task is started and completed concurrently on every node; most requests are too early or too late.
                let verbs = (0..TASKS).flat_map(|task| [(task, "start"), (task, "complete")]);
                let asked = verbs.enumerate().map(|(number, (task, verb))| post(&callers[number % callers.len()], &agent, task, verb, &[]));
                let watched = join_all((0..4).map(|_| agent.read()));
                let (answers, seen) = futures_util::join!(join_all(asked), watched);
                assert!(answers.iter().all(|response| [200, 409].contains(&response.status)), "{:?}", statuses(&answers));
                for read in seen.iter().chain([&agent.read().await]) {
                    let started = phases(read).into_iter().filter(|phase| phase == "started").count();
                    assert!(started <= allowed, "{started} are started where {allowed} may be");
                }
                waves += 1;
            }
            eprintln!("{TASKS} tasks, {allowed} at a time: {waves} waves of {} starts and completes", 2 * TASKS);
        }
    }

    async fn exactly_the_requests_answered_before_the_seal_count(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        let every_basic = json!({"assert": "fhir-resource-state", "resource_type": "Basic", "match": "all"});
        let every_request = json!({"assert": "interaction-budget", "max": 10_000});
        let criteria = [json!({"label": "Written", "assertion": every_basic}), json!({"label": "Asked", "assertion": every_request})];
        bench.task("Race", &criteria).await;
        let (reference, solver) = (bench.publish().await, solver(&server, &author, "agent-1").await);
        let nodes = nodes(&server).await;
        let (next, total) = (AtomicUsize::new(0), Totals::default());
        let lane = async || loop {
            let number = next.fetch_add(1, Ordering::SeqCst);
            if number >= RACES {
                return;
            }
            let agent = Agent::begin(&server, &solver, &reference, false).await;
            race(&author, &callers(&server, &nodes, &agent), &agent, number).await.add_to(&total);
        };
        join_all((0..RACES_AT_ONCE).map(|_| lane())).await;
        let Totals { writes, reads, late } = total;
        eprintln!("{RACES} races on {} node(s): {writes:?} writes and {reads:?} reads counted, {late:?} came too late", nodes.len() + 1);
    }
}

/// The other nodes that may serve: one on PostgreSQL, none on SQLite.
async fn nodes(server: &TestServer) -> Vec<TestServer> {
    match server.database().kind() {
        Database::Postgres => vec![server.another_node().await],
        Database::Sqlite => Vec::new(),
    }
}

/// The agent on every node.
fn callers(server: &TestServer, nodes: &[TestServer], agent: &Agent) -> Vec<Caller> {
    std::iter::once(server).chain(nodes).map(|node| node.caller(agent.caller.key())).collect()
}

async fn post(caller: &Caller, agent: &Agent, task: usize, verb: &str, headers: &[(&str, &str)]) -> TestResponse {
    caller.send(Method::POST, &format!("/v1/task-runs/{}/{verb}", agent.task_runs[task]), headers, None).await
}

fn statuses(answers: &[TestResponse]) -> BTreeMap<u16, usize> {
    answers.iter().fold(BTreeMap::new(), |mut counts, response| {
        *counts.entry(response.status).or_default() += 1;
        counts
    })
}

/// The only success among rejections.
fn one_of_many(answers: &[TestResponse]) -> Value {
    assert_eq!(statuses(answers), BTreeMap::from([(200, 1), (409, AT_ONCE - 1)]));
    answers.iter().find(|response| response.status == 200).unwrap().json.clone()
}

/// The success that all callers get.
fn the_same_for_all(answers: &[TestResponse]) -> Value {
    assert_eq!(statuses(answers), BTreeMap::from([(200, AT_ONCE)]));
    assert!(answers.iter().all(|response| response.json == answers[0].json), "they were told different things");
    let replayed = answers.iter().filter(|response| response.header("idempotent-replayed").is_some()).count();
    assert_eq!(replayed, AT_ONCE - 1);
    answers[0].json.clone()
}

fn phases(run: &Value) -> Vec<String> {
    let task_runs = run["task_runs"].as_array().unwrap().iter();
    task_runs.map(|task_run| task_run["phase"].as_str().unwrap().to_owned()).collect()
}

/// Counts of acknowledged requests, of one race or in total.
#[derive(Default)]
struct Totals {
    writes: AtomicUsize,
    reads: AtomicUsize,
    late: AtomicUsize,
}

impl Totals {
    fn add_to(&self, all: &Totals) {
        for (mine, total) in [(&self.writes, &all.writes), (&self.reads, &all.reads), (&self.late, &all.late)] {
            total.fetch_add(mine.load(Ordering::SeqCst), Ordering::SeqCst);
        }
    }

    fn answered(&self) -> usize {
        self.writes.load(Ordering::SeqCst) + self.reads.load(Ordering::SeqCst)
    }
}

/// Writers and readers at the paths of the run and of the sandbox, and a completion after some of their responses.
async fn race(author: &Caller, nodes: &[Caller], agent: &Agent, number: usize) -> Totals {
    let mut dice = Dice(number as u64);
    let started = agent.start(0).await.expect(200);
    let sandbox = started["sandboxes"][0]["id"].as_str().unwrap().to_owned();
    let below_run = format!("/v1/benchmark-runs/{}/fhir", agent.run);
    let direct = format!("/sandboxes/{sandbox}/fhir");
    let path = |client: usize| match client % 2 {
        0 => (&nodes[client / 2 % nodes.len()], below_run.as_str()),
        _ => (author, direct.as_str()),
    };
    let (counted, answered) = (Totals::default(), Notify::new());
    let seal_after = dice.below(WRITERS * WRITES_BY_EACH / 2 + READS_BY_EACH / 4);
    let writers = join_all((0..WRITERS).map(|client| write(path(client), client, &counted, &answered)));
    // The sandbox's own path is readable after the seal, so the readers use the run's.
    let readers = (0..READERS).map(|client| read((&nodes[client % nodes.len()], &below_run), &counted, &answered));
    let readers = join_all(readers);
    let completer = &nodes[dice.below(nodes.len())];
    let complete = async {
        while counted.answered() < seal_after {
            answered.notified().await;
        }
        post(completer, agent, 0, "complete", &[]).await.expect(200).json
    };
    let (written, _, result) = futures_util::join!(writers, readers, complete);
    let written: BTreeMap<String, u64> = written.into_iter().flatten().collect();
    check(author, agent, &Ehr { caller: author.clone(), sandbox }, (&written, &counted), &result).await;
    counted
}

/// Creates and updates in turn until one is rejected. Returns the acknowledged versions.
async fn write(
    (caller, base): (&Caller, &str),
    client: usize,
    counted: &Totals,
    answered: &Notify,
) -> BTreeMap<String, u64> {
    let mut versions: BTreeMap<String, u64> = BTreeMap::new();
    for number in 0..WRITES_BY_EACH {
        let own = format!("w{client}");
        let (method, address, body) = match number % 2 {
            0 => (Method::POST, "Basic".to_owned(), basic("made")),
            _ => (
                Method::PUT,
                format!("Basic/{own}"),
                json!({"resourceType": "Basic", "id": own, "code": {"text": "mine"}}),
            ),
        };
        let response = caller.send(method, &format!("{base}/{address}"), &[], Some(body)).await;
        if !is_counted(&response, &counted.writes, counted, answered) {
            break;
        }
        *versions.entry(response.id()).or_default() += 1;
    }
    versions
}

async fn read((caller, base): (&Caller, &str), counted: &Totals, answered: &Notify) {
    for number in 0..READS_BY_EACH {
        let address = if number % 4 == 3 { "Patient?_count=1" } else { "Patient/p1" };
        let response = caller.get(&format!("{base}/{address}")).await;
        if !is_counted(&response, &counted.reads, counted, answered) {
            break;
        }
    }
}

fn is_counted(response: &TestResponse, count: &AtomicUsize, counted: &Totals, answered: &Notify) -> bool {
    let is_answered = (200..300).contains(&response.status);
    assert!(is_answered || response.status == 409, "{}: {} {}", response.request, response.status, response.text());
    if is_answered { count } else { &counted.late }.fetch_add(1, Ordering::SeqCst);
    answered.notify_one();
    is_answered
}

/// Checks that score, sealed state, log and a second scoring match the acknowledged requests exactly.
async fn check(
    author: &Caller,
    agent: &Agent,
    ehr: &Ehr,
    (written, counted): (&BTreeMap<String, u64>, &Totals),
    result: &Value,
) {
    let (evidence, requests) = (&result["checks"][0]["evidence"], &result["checks"][1]["evidence"]["counts"]);
    let matched = evidence["matched"].as_array().unwrap().iter();
    let matched: BTreeSet<&str> = matched.map(|name| name.as_str().unwrap().trim_start_matches("Basic/")).collect();
    assert_eq!(
        matched,
        written.keys().map(String::as_str).collect(),
        "the score counts other writes than were answered"
    );
    assert_eq!(requests["fhir_request"].as_u64().unwrap_or(0), counted.answered() as u64, "{requests}");
    let state = ehr.caller.get(&format!("/sandboxes/{}/state?resource=Basic&limit=100", ehr.sandbox)).await.expect(200);
    let version =
        |record: &Value| (record["key"].as_str().unwrap().to_owned(), record["version"].as_u64().expect("a version"));
    assert_eq!(state.data().iter().map(version).collect::<BTreeMap<String, u64>>(), *written);
    let task_run = author.get(&format!("/task-runs/{}", agent.task_runs[0])).await.expect(200).json;
    let sealed = &task_run["sealed"];
    assert_eq!((&sealed["events"], &sealed["seq"]), (&json!(counted.answered()), &json!(counted.answered())));
    let again = author.post(&format!("/benchmark-runs/{}/rescore", agent.run), json!({})).await.expect(200).json;
    assert_eq!(again["identical"], true, "{again}");
}
