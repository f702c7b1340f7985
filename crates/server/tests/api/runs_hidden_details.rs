//! In a scored run the agent sees its score but no details and evidence; its organization sees everything.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, basic, solver};
use testkit::{Caller, TestServer, both_databases};

/// A text that only occurs in evidence and details.
const SECRET: &str = "canary-of-the-answer-41d7";

both_databases! {
    async fn an_agent_of_a_scored_run_never_sees_details_or_evidence(server: TestServer) {
        let (author, solver, reference) = benchmark(&server).await;
        let agent = Agent::begin(&server, &solver, &reference, true).await;
        let mut seen = vec![agent.created.to_string()];
        seen.push(agent.start(0).await.expect(200).text());
        agent.write(basic("wrong")).await.expect(201);
        let complete = format!("/v1/task-runs/{}/complete", agent.task_runs[0]);
        let key = [("idempotency-key", "one")];
        let first = agent.caller.send(Method::POST, &complete, &key, None).await.expect(200);
        let again = agent.caller.send(Method::POST, &complete, &key, None).await.expect(200);
        assert_eq!((again.header("idempotent-replayed"), &again.json), (Some("true"), &first.json));
        let refused = agent.complete(0).await.expect_error(409, "CONFLICT");
        let read = agent.caller.get(&format!("/v1/task-runs/{}", agent.task_runs[0])).await.expect(200);
        assert_eq!(read.json, first.json, "the same body again");
        seen.extend([first.text(), again.text(), refused.text(), read.text()]);
        for reader in [&agent.caller, &solver] {
            seen.push(reader.get(&format!("/v1/benchmark-runs/{}", agent.run)).await.expect(200).text());
        }
        for text in &seen {
            assert!(!text.contains(SECRET), "{text}");
            for member in ["\"details\":\"", "\"evidence\"", "fieldResults"] {
                assert!(!text.contains(member), "{member} in {text}");
            }
        }
        let check = &first["checks"][0];
        let members: Vec<&String> = check.as_object().unwrap().keys().collect();
        assert!(check.get("details").is_none() && check.get("evidence").is_none(), "{members:?}");
        assert_eq!((&check["result"], &check["score"]), (&json!("fail"), &json!(0.0)));
        assert_eq!(first["benchmark_run"]["verdict"], "fail");

        let kept =
            author.get(&format!("/criterion-runs/{}", check["criterion_run_id"].as_str().unwrap())).await.expect(200);
        assert!(kept["evidence"].to_string().contains(SECRET), "{}", kept.text());
        assert!(!kept["details"].as_str().unwrap().is_empty());
        for (member, expected) in [
            ("label", &check["label"]),
            ("criterion_id", &check["criterion_id"]),
            ("task_run_id", &json!(agent.task_runs[0])),
        ] {
            assert_eq!(&kept[member], expected, "{member}");
        }
    }

    async fn hidden_details_cannot_be_read_through_other_endpoints(server: TestServer) {
        let (author, solver, reference) = benchmark(&server).await;
        let agent = Agent::begin(&server, &solver, &reference, true).await;
        let result = agent.do_task(0, &["wrong"]).await;
        let criterion_run = result["checks"][0]["criterion_run_id"].as_str().unwrap();
        let task_run = &agent.task_runs[0];
        let whole = author.get(&format!("/task-runs/{task_run}")).await.expect(200);
        let playground = whole["playground_id"].as_str().unwrap();
        for caller in [&agent.caller, &solver] {
            for path in [
                format!("/criterion-runs/{criterion_run}"),
                format!("/criterion-runs?task_run_id={task_run}"),
                format!("/task-runs/{task_run}"),
                format!("/benchmark-runs/{}", agent.run),
                format!("/playgrounds/{playground}"),
                format!("/benchmarks/{reference}"),
            ] {
                caller.get(&path).await.expect_error(403, "FORBIDDEN");
            }
            let rescore = format!("/benchmark-runs/{}/rescore", agent.run);
            caller.post(&rescore, json!({})).await.expect_error(403, "FORBIDDEN");
        }
        solver.get(&format!("/v1/task-runs/{task_run}")).await.expect_error(403, "FORBIDDEN");
    }

    async fn an_agent_of_an_unscored_run_sees_details_and_evidence(server: TestServer) {
        let (author, solver, reference) = benchmark(&server).await;
        let agent = Agent::begin(&server, &solver, &reference, false).await;
        let result = agent.do_task(0, &["wrong"]).await;
        let check = &result["checks"][0];
        assert!(check["evidence"].to_string().contains(SECRET));
        assert_eq!(agent.result(0).await, result);
        let kept =
            author.get(&format!("/criterion-runs/{}", check["criterion_run_id"].as_str().unwrap())).await.expect(200);
        assert_eq!((&kept["details"], &kept["evidence"]), (&check["details"], &check["evidence"]));
    }

    async fn completing_for_the_agent_shows_no_more_than_results(server: TestServer) {
        let (author, solver, reference) = benchmark(&server).await;
        let agent = Agent::begin(&server, &solver, &reference, true).await;
        agent.start(0).await.expect(200);
        let done = author
            .send(Method::POST, &format!("/task-runs/{}/complete", agent.task_runs[0]), &[], None)
            .await
            .expect(200);
        let summary = done["criterion_runs"][0].as_object().unwrap();
        assert_eq!(summary.keys().collect::<Vec<_>>(), ["id", "critical", "guard", "passed", "score"]);
        let listed = author.get(&format!("/criterion-runs?task_run_id={}", agent.task_runs[0])).await.expect(200);
        let whole = &listed.data()[0];
        for member in [
            "id",
            "task_run_id",
            "criterion_id",
            "label",
            "axis",
            "weight",
            "passed",
            "score",
            "details",
            "evidence",
            "started_at",
            "completed_at",
        ] {
            assert!(whole.get(member).is_some(), "{member} of {whole}");
        }
        let read: Value = agent.result(0).await;
        assert!(!read.to_string().contains(SECRET));
    }
}

/// A published benchmark with one criterion whose evidence contains the answer.
async fn benchmark(server: &TestServer) -> (Caller, Caller, String) {
    let author = server.organization("Acme").await;
    let bench = Bench::new(&author, json!({})).await;
    let fields = json!([{"path": "code.text", "expected": SECRET}]);
    let assertion = json!({"assert": "fhir-resource-state", "resource_type": "Basic", "fields": fields});
    bench.task("Guess", &[json!({"label": "The right code", "assertion": assertion})]).await;
    let reference = bench.publish().await;
    (author.clone(), solver(server, &author, "agent-1").await, reference)
}
