//! Runs with tags, metadata and cancelled tasks, and their statistics.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, solver, wants_code};
use testkit::{Caller, TestServer, both_databases};

async fn tagged(server: &TestServer) -> (Caller, Caller, String) {
    let author = server.organization("Clinic").await;
    let bench = Bench::new(&author, json!({})).await;
    for (name, tags, axis) in [("First", json!(["quick"]), Some("safety")), ("Second", json!(["quick", "fax"]), None)] {
        let mut criterion = wants_code("a");
        criterion["axis"] = json!(axis);
        bench.task_with(json!({"name": name, "tags": tags}), &[criterion]).await;
    }
    let reference = bench.publish().await;
    let solver = solver(server, &author, "bot").await;
    (author, solver, reference)
}

fn names(run: &Value) -> Vec<&str> {
    run["task_runs"].as_array().unwrap().iter().map(|task| task["name"].as_str().unwrap()).collect()
}

both_databases! {
    async fn tasks_are_selected_by_tags(server: TestServer) {
        let (_, solver, reference) = tagged(&server).await;
        let begin = async |fields: Value| {
            let mut body = fields;
            body["benchmark"] = json!(reference);
            solver.post("/v1/benchmark-runs", body).await
        };
        let run = begin(json!({"tags": ["fax"]})).await.expect(201).json;
        assert_eq!((names(&run), &run["partial_selection"]), (vec!["Second"], &json!(true)));
        assert_eq!(names(&begin(json!({"tags": ["quick", "fax"]})).await.expect(201).json), ["First", "Second"]);
        assert_eq!(names(&begin(json!({"tags": ["quick"], "tasks": ["First"]})).await.expect(201).json), ["First"]);
        let refused = begin(json!({"tags": ["fax", "slow"]})).await.expect_error(400, "VALIDATION_ERROR");
        assert!(refused.json.to_string().contains("tags.1"), "{}", refused.json);
        begin(json!({"tags": ["fax"], "tasks": ["First"]})).await.expect_error(400, "VALIDATION_ERROR");
        begin(json!({"tags": []})).await.expect_error(400, "VALIDATION_ERROR");
    }

    async fn metadata_is_returned_with_the_run(server: TestServer) {
        let (author, solver, reference) = tagged(&server).await;
        let metadata = json!({"commit": "4f2a", "model": "m-1"});
        let agent = Agent::begin_with(&server, &solver, &reference, json!({"metadata": metadata})).await;
        assert_eq!(agent.created["metadata"], metadata);
        let path = format!("/benchmark-runs/{}", agent.run);
        assert_eq!(author.get(&path).await.expect(200)["metadata"], metadata);
        assert_eq!(author.get("/benchmark-runs").await.expect(200).data()[0]["metadata"], metadata);
        assert_eq!(solver.get(&format!("/v1{path}")).await.expect(200)["metadata"], metadata);
        let many: serde_json::Map<_, _> = (0..51).map(|number| (format!("m{number}"), json!(""))).collect();
        for bad in [json!({"a": 1}), json!({"": "x"}), json!({"a": "x".repeat(501)}), Value::Object(many), json!([])] {
            let body = json!({"benchmark": reference, "metadata": bad});
            solver.post("/v1/benchmark-runs", body).await.expect_error(400, "VALIDATION_ERROR");
        }
    }

    async fn a_solver_reads_a_version_but_not_its_criteria(server: TestServer) {
        let (author, solver, reference) = tagged(&server).await;
        let version = solver.get(&format!("/v1/benchmarks/{reference}")).await.expect(200).json;
        assert_eq!((&version["tasks"], version.get("axis_names")), (&json!(2), None));
        let owned = author.get(&format!("/benchmarks/{reference}")).await.expect(200).json;
        assert_eq!(owned["axis_names"], json!(["__default__", "safety"]));
        for missing in ["nothing@1", "nothing", "%00"] {
            let response = solver.get(&format!("/v1/benchmarks/{missing}")).await;
            assert!([400, 404].contains(&response.status), "{missing}: {}", response.status);
        }
        author.get(&format!("/v1/benchmarks/{reference}")).await.expect_error(403, "FORBIDDEN");
    }

    async fn a_cancelled_task_is_left_out_of_statistics(server: TestServer) {
        let (author, solver, reference) = tagged(&server).await;
        for cancels in [false, true] {
            let agent = Agent::begin(&server, &solver, &reference, false).await;
            agent.do_task(0, &["a"]).await;
            if !cancels {
                agent.do_task(1, &[]).await;
                continue;
            }
            agent.start(1).await.expect(200);
            let path = format!("/v1/task-runs/{}/cancel", agent.task_runs[1]);
            let cancel = async || agent.caller.send(Method::POST, &path, &[], None).await;
            let cancelled = cancel().await.expect(200).json;
            assert_eq!((&cancelled["status"], &cancelled["checks"]), (&json!("cancelled"), &json!([])));
            assert_eq!(cancelled["benchmark_run"]["status"], "completed", "{cancelled}");
            cancel().await.expect_error(409, "CONFLICT");
        }
        let stats = author.get(&format!("/benchmarks/{reference}/stats")).await.expect(200).json;
        let counts = ["n", "incomplete_runs", "excluded_task_runs", "mean"].map(|name| stats[name].clone());
        assert_eq!(counts, [json!(1), json!(1), json!(1), json!(0.5)]);
        let attempts: Vec<&Value> = stats["tasks"].as_array().unwrap().iter().map(|task| &task["n"]).collect();
        assert_eq!(attempts, [2, 1]);
    }

    async fn statistics_never_mix_agents(server: TestServer) {
        let (author, solver, reference) = tagged(&server).await;
        for (name, codes) in [("good", &["a"][..]), ("bad", &[]), ("good", &["a"])] {
            let agent = Agent::begin_with(&server, &solver, &reference, json!({"agent": name})).await;
            agent.do_task(0, codes).await;
            agent.do_task(1, codes).await;
        }
        let stats = author.get(&format!("/benchmarks/{reference}/stats")).await.expect(200).json;
        assert_eq!((&stats["n"], &stats["mean"], &stats["pass_at"]), (&json!(3), &Value::Null, &json!([])));
        let agents: Vec<(&Value, &Value, &Value)> = stats["agents"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| (&one["agent"], &one["statistics"]["n"], &one["statistics"]["mean"]))
            .collect();
        assert_eq!(agents, [(&json!("bad"), &json!(1), &json!(0.0)), (&json!("good"), &json!(2), &json!(1.0))]);
        let good = author.get(&format!("/benchmarks/{reference}/stats?agent=good")).await.expect(200).json;
        assert_eq!((&good["n"], &good["mean"]), (&json!(2), &json!(1.0)));
        let path = format!("/benchmark-runs/compare?benchmark={reference}&group_by=solver");
        let compared = author.get(&path).await.expect(200).json;
        let labels: Vec<&str> =
            compared["groups"].as_array().unwrap().iter().map(|group| group["label"].as_str().unwrap()).collect();
        assert!(labels[0].starts_with("good (slv_") && labels[1].starts_with("bad (slv_"), "{labels:?}");
    }
}
