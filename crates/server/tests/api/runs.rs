//! Runs, from the perspective of an agent and its organization.

use reqwest::Method;
use serde_json::json;
use testkit::both_databases;
use testkit::runs::{Agent, Bench, basic, solver, wants_code};

both_databases! {
    async fn an_agent_does_a_benchmark_and_is_scored(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        bench.task("First", &[wants_code("a"), wants_code("b")]).await;
        bench.task("Second", &[wants_code("c")]).await;
        let reference = bench.publish().await;
        let agent = Agent::begin(&server, &solver(&server, &author, "agent-1").await, &reference, false).await;
        assert_eq!(agent.created["phase"], "created");
        assert_eq!(agent.created["endpoints"]["fhir"], format!("/v1/benchmark-runs/{}/fhir", agent.run));
        agent.write(basic("a")).await.expect(409);
        let started = agent.start(0).await.expect(200).json;
        assert_eq!(started["task"]["name"], "First");
        assert_eq!(agent.fhir(Method::GET, "Patient?_summary=count", None).await.expect(200).json["total"], 3);
        agent.write(basic("a")).await.expect(201);
        let result = agent.complete(0).await.expect(200).json;
        assert_eq!((&result["score"], &result["verdict"]), (&json!(0.5), &json!("partial")));
        assert_eq!(result["checks"][0]["result"], "pass");
        assert_eq!(result["benchmark_run"]["score"], json!(null));
        agent.write(basic("b")).await.expect(409);
        agent.start(1).await.expect(200);
        let result = agent.complete(1).await.expect(200).json;
        assert_eq!(result["benchmark_run"]["phase"], "completed");
        assert_eq!(result["benchmark_run"]["score"], json!(0.25));
        let read = agent.caller.get(&format!("/v1/task-runs/{}", agent.task_runs[1])).await.expect(200).json;
        assert_eq!(read, result);
        let run = author.get(&format!("/benchmark-runs/{}", agent.run)).await.expect(200).json;
        assert_eq!((&run["score"], run["task_runs"].as_array().unwrap().len()), (&json!(0.25), 2));
        let again = author.post(&format!("/benchmark-runs/{}/rescore", agent.run), json!({})).await.expect(200).json;
        assert_eq!(again["identical"], true, "{again}");
    }
}
