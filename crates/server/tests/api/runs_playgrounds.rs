//! The playground of a task run is its own: its organization may look and use it, and not reset, end or reshape it.

use reqwest::Method;
use serde_json::json;
use testkit::both_databases;
use testkit::runs::{Agent, Bench, basic, solver, wants_code};

both_databases! {
    async fn nobody_resets_ends_or_reshapes_what_a_task_is_done_in(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        bench.task("Only", &[wants_code("a")]).await;
        let agent =
            Agent::begin(&server, &solver(&server, &author, "agent-1").await, &bench.publish().await, false).await;
        let started = agent.start(0).await.expect(200).json;
        let sandbox = started["sandboxes"][0]["id"].as_str().unwrap();
        let task_run = author.get(&format!("/task-runs/{}", agent.task_runs[0])).await.expect(200);
        let playground = task_run["playground_id"].as_str().unwrap();
        agent.write(basic("a")).await.expect(201);
        let environment = author.get(&format!("/environments/{}", bench.environment)).await.expect(200);
        let simulator = environment["simulators"][0]["id"].clone();
        let more = author.post("/datasets", json!({"name": "More", "type": "fhir"})).await.expect(201).id();
        author
            .put_bytes(
                &format!("/datasets/{more}/data"),
                "application/fhir+ndjson",
                "{\"resourceType\":\"Patient\",\"id\":\"more\"}\n",
            )
            .await
            .expect(200);
        let attempts = [
            (Method::POST, format!("/playgrounds/{playground}/reset"), None),
            (Method::POST, format!("/playgrounds/{playground}/teardown"), None),
            (Method::POST, format!("/sandboxes/{sandbox}/teardown"), None),
            (Method::POST, format!("/sandboxes/{sandbox}/datasets/{more}"), None),
            (Method::DELETE, format!("/sandboxes/{sandbox}/datasets/{}", bench.dataset), None),
            (
                Method::POST,
                "/sandboxes".to_owned(),
                Some(json!({"simulator_id": simulator, "playground_id": playground})),
            ),
        ];
        for (method, path, body) in &attempts {
            let refused = author.send(method.clone(), path, &[], body.clone()).await.refused(409, "CONFLICT");
            assert!(refused.message().contains(&agent.task_runs[0]), "{}: {}", refused.asked, refused.message());
        }
        assert_eq!(agent.fhir(Method::GET, "Patient?_summary=count", None).await.expect(200)["total"], 3);
        let shown = author.get(&format!("/playgrounds/{playground}")).await.expect(200);
        assert_eq!(
            (&shown["task_run_id"], shown["sandboxes"].as_array().unwrap().len()),
            (&json!(agent.task_runs[0]), 1)
        );
        assert_eq!(agent.complete(0).await.expect(200)["score"], json!(1.0));
        for (method, path, body) in &attempts {
            author.send(method.clone(), path, &[], body.clone()).await.refused(409, "CONFLICT");
        }
        let rescored = author.post(&format!("/benchmark-runs/{}/rescore", agent.run), json!({})).await.expect(200);
        assert_eq!(rescored["identical"], true);
    }

    async fn events_state_and_differences_stay_readable_after_the_end(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        bench.task("Only", &[wants_code("a")]).await;
        let agent =
            Agent::begin(&server, &solver(&server, &author, "agent-1").await, &bench.publish().await, false).await;
        let started = agent.start(0).await.expect(200).json;
        let sandbox = format!("/sandboxes/{}", started["sandboxes"][0]["id"].as_str().unwrap());
        agent.fhir(Method::GET, "Patient/p1", None).await.expect(200);
        agent.write(basic("a")).await.expect(201);
        agent.fhir(Method::DELETE, "Patient/p3", None).await.expect(204);
        agent.complete(0).await.expect(200);
        let events = author.get(&format!("{sandbox}/events?limit=100")).await.expect(200);
        assert_eq!(events.data().len(), 3);
        for event in events.data() {
            assert_eq!(event["actor"], agent.run, "the run is named, never its token");
        }
        assert!(!events.text().contains("vrl_run_"));
        let state = author.get(&format!("{sandbox}/state?resource=Patient")).await.expect(200);
        assert_eq!(state.data().len(), 2);
        let diff = author.get(&format!("{sandbox}/diff")).await.expect(200);
        assert_eq!(diff.data().len(), 2, "{}", diff.text());
    }
}
