//! A task run shows the frozen task with bound templates, and the seal of its result.

use serde_json::json;
use testkit::both_databases;
use testkit::runs::{Agent, Bench, basic, wants_code};

both_databases! {
    async fn a_task_run_shows_the_frozen_task_and_its_seal(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        let assertion = json!({"assert": "fhir-resource-state", "resource_type": "Basic", "search": {},
            "fields": [{"path": "code.text", "expected": "{{task.task_item.code}}"}]});
        let task = json!({"name": "Write it down", "timeout": 60, "tags": ["easy"],
            "task_item": {"code": "b", "instruction": "Write {{task.task_item.code}}."},
            "scenario": {"steps": [{"do": "fhir", "bundle": {"resourceType": "Bundle", "type": "transaction",
                "entry": [{"resource": basic("{{task.task_item.code}}"), "request": {"method": "POST", "url": "Basic"}}]}}]}});
        let criteria = [json!({"label": "Written", "weight": 2, "axis": "safety", "assertion": assertion})];
        let task = bench.task_with(task, &criteria).await;
        let created = author.post("/benchmark-runs", json!({"benchmark_id": bench.benchmark, "scored": true})).await.expect(201);
        let agent = Agent::from(&server, &created);
        let place = format!("/task-runs/{}", agent.task_runs[0]);
        // Later edits have no effect.
        author.patch(&format!("/tasks/{task}"), json!({"name": "Edited"})).await.expect(200);
        let before = author.get(&place).await.expect(200).json;
        let snapshot = &before["snapshot"];
        assert_eq!((&snapshot["name"], &snapshot["timeout"]), (&json!("Write it down"), &json!(60)));
        assert_eq!(snapshot["task_item"]["instruction"], "Write b.");
        assert_eq!(snapshot["scenario"]["steps"][0]["bundle"]["entry"][0]["resource"]["code"]["text"], "b");
        let criterion = &snapshot["criteria"][0];
        assert_eq!(
            (&criterion["label"], &criterion["weight"], &criterion["axis"]),
            (&json!("Written"), &json!(2), &json!("safety"))
        );
        assert_eq!(criterion["assertion"]["fields"][0]["expected"], "b");
        assert_eq!((&before["scored"], &before["sealed"]), (&json!(true), &json!(null)));
        agent.start(0).await.expect(200);
        agent.complete(0).await.expect(200);
        let after = author.get(&place).await.expect(200).json;
        assert_eq!(&after["snapshot"], snapshot);
        assert!(after["sealed"]["state_hash"].is_string() && after["sealed"]["engine"].is_string(), "{after}");
        // The run's token and its solver see none of it.
        let own = agent.result(0).await;
        assert!(own.get("snapshot").is_none() && own.get("sealed").is_none(), "{own}");
        let listed = author.get(&format!("/task-runs?benchmark_run_id={}", agent.run)).await.expect(200).json;
        assert_eq!(&listed["data"][0]["snapshot"], snapshot);
    }

    async fn other_organizations_do_not_see_the_criteria_of_a_version(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({"visibility": "Public"})).await;
        let task = json!({"name": "Secret", "tags": ["no-action"], "task_item": {"instruction": "Do it."}});
        bench.task_with(task, &[wants_code("the answer")]).await;
        let reference = bench.publish().await;
        let runner = server.organization("Other").await;
        let created = runner.post("/benchmark-runs", json!({"benchmark": reference, "scored": true})).await.expect(201);
        let agent = Agent::from(&server, &created);
        for place in [format!("/task-runs/{}", agent.task_runs[0]), format!("/task-runs?benchmark_run_id={}", agent.run)] {
            let shown = runner.get(&place).await.expect(200).text();
            assert!(shown.contains("Do it.") && !shown.contains("the answer") && !shown.contains("no-action"), "{shown}");
        }
    }
}
