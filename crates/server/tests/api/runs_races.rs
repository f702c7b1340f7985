//! Many callers at once: a step is taken once, and what was answered is in the score.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, basic, solver, wants_code};
use testkit::{Answer, Caller, TestServer, both_databases};

const MANY: usize = 8;

both_databases! {
    async fn of_many_starts_of_one_task_one_counts(server: TestServer) {
        let (author, agent) = run(&server, 1).await;
        let answers = join_all((0..MANY).map(|_| agent.start(0))).await;
        assert_eq!(statuses(&answers), (1, MANY - 1));
        assert_eq!(author.get("/playgrounds").await.expect(200).data().len(), 1);
        agent.fhir(Method::GET, "Patient/p1", None).await.expect(200);
    }

    async fn of_many_starts_of_different_tasks_only_one_at_a_time(server: TestServer) {
        let (_, agent) = run(&server, MANY).await;
        let answers = join_all((0..MANY).map(|place| agent.start(place))).await;
        assert_eq!(statuses(&answers), (1, MANY - 1));
        let read = agent.read().await;
        let started = read["task_runs"].as_array().unwrap().iter().filter(|one| one["phase"] == "started");
        assert_eq!(started.count(), 1);
    }

    async fn of_many_completions_one_scores_and_the_others_are_told_the_result(server: TestServer) {
        let (author, agent) = run(&server, 1).await;
        agent.start(0).await.expect(200);
        agent.write(basic("a")).await.expect(201);
        let answers = join_all((0..MANY).map(|_| agent.complete(0))).await;
        assert_eq!(statuses(&answers), (1, MANY - 1));
        let kept = author.get(&format!("/criterion-runs?task_run_id={}", agent.task_runs[0])).await.expect(200);
        assert_eq!(kept.data().len(), 1);
        assert_eq!(agent.read().await["score"], json!(1.0));
    }

    async fn of_many_retries_with_one_key_all_get_the_one_answer(server: TestServer) {
        let (_, agent) = run(&server, 1).await;
        for step in ["start", "complete"] {
            let path = format!("/v1/task-runs/{}/{step}", agent.task_runs[0]);
            let headers = [("idempotency-key", step)];
            let answers = join_all((0..MANY).map(|_| agent.caller.send(Method::POST, &path, &headers, None))).await;
            let mut bodies: Vec<Value> = answers.into_iter().map(|answer| answer.expect(200).json).collect();
            bodies.dedup();
            assert_eq!(bodies.len(), 1, "{step}");
        }
    }

    async fn every_write_that_was_answered_before_the_completion_is_in_the_evidence(server: TestServer) {
        let (author, agent) = run(&server, 1).await;
        agent.start(0).await.expect(200);
        let write = async |number: usize| agent.write(basic(&format!("{number}"))).await;
        let (writes, completed) = futures_util::join!(join_all((0..40).map(write)), agent.complete(0));
        completed.expect(200);
        let written = writes.iter().filter(|answer| answer.status == 201).count();
        assert!(writes.iter().all(|answer| [201, 409].contains(&answer.status)));
        let task_run = author.get(&format!("/task-runs/{}", agent.task_runs[0])).await.expect(200);
        let playground =
            author.get(&format!("/playgrounds/{}", task_run["playground_id"].as_str().unwrap())).await.expect(200);
        let sandbox = playground["sandboxes"][0]["id"].as_str().unwrap();
        let state = author.get(&format!("/sandboxes/{sandbox}/state?resource=Basic&limit=100")).await.expect(200);
        assert_eq!(state.data().len(), written);
        assert_eq!(task_run["snapshot"]["events"], written);
        let rescored = author.post(&format!("/benchmark-runs/{}/rescore", agent.run), json!({})).await.expect(200);
        assert_eq!(rescored["identical"], true);
    }

    async fn a_cancel_beside_a_completion_leaves_one_of_the_two(server: TestServer) {
        let (author, agent) = run(&server, 1).await;
        agent.start(0).await.expect(200);
        let path = format!("/benchmark-runs/{}/cancel", agent.run);
        let (cancelled, completed) =
            futures_util::join!(author.send(Method::POST, &path, &[], None), agent.complete(0));
        let run = author.get(&format!("/benchmark-runs/{}", agent.run)).await.expect(200);
        let outcome = (cancelled.status, &run["status"], run["score"].is_null());
        assert!(
            outcome == (200, &json!("cancelled"), true) || outcome == (409, &json!("completed"), false),
            "{outcome:?} {}",
            completed.text()
        );
        assert_eq!(completed.status == 200, run["status"] == "completed");
    }

    async fn a_question_beside_the_start_is_not_remembered(server: TestServer) {
        let (_, agent) = run(&server, 1).await;
        let ask = || agent.fhir(Method::GET, "Patient/p1", None);
        let (_, started) = futures_util::join!(join_all((0..MANY).map(|_| ask())), agent.start(0));
        started.expect(200);
        ask().await.expect(200);
    }
}

/// A run of so many tasks that want the code `a`.
async fn run(server: &TestServer, tasks: usize) -> (Caller, Agent) {
    let author = server.organization("Acme").await;
    let bench = Bench::new(&author, json!({})).await;
    for number in 0..tasks {
        bench.task(&format!("Task {number}"), &[wants_code("a")]).await;
    }
    let solver = solver(server, &author, "agent-1").await;
    let agent = Agent::begin(server, &solver, &bench.publish().await, false).await;
    (author, agent)
}

/// How many were done, and how many were told that they came too late. There is nothing else.
fn statuses(answers: &[Answer]) -> (usize, usize) {
    let count = |status: u16| answers.iter().filter(|answer| answer.status == status).count();
    assert_eq!(
        count(200) + count(409),
        answers.len(),
        "{:?}",
        answers.iter().map(|answer| answer.status).collect::<Vec<_>>()
    );
    (count(200), count(409))
}
