//! Rescoring from the stored evidence: the same bytes, and the differences with other criteria.

use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, wants_code};
use testkit::{Caller, TestServer, both_databases};

both_databases! {
    async fn scoring_again_is_identical_on_this_server_and_on_another_node(server: TestServer) {
        let (author, agent) = done(&server).await;
        let path = format!("/benchmark-runs/{}/rescore", agent.run);
        let first = author.post(&path, json!({})).await.expect(200);
        assert_eq!(
            (&first["identical"], &first["score_before"], &first["score_after"]),
            (&json!(true), &json!(0.75), &json!(0.75))
        );
        assert_eq!((&first["verdict_before"], &first["verdict_after"]), (&json!("partial"), &json!("partial")));
        assert_eq!(author.post(&path, json!({})).await.expect(200).body, first.body);
        let node = server.another_node().await;
        assert_eq!(node.caller(author.key()).post(&path, json!({})).await.expect(200).body, first.body);
        for task in first["task_runs"].as_array().unwrap() {
            assert_eq!(task["identical"], true);
            for criterion in task["criteria"].as_array().unwrap() {
                assert_eq!((&criterion["identical"], &criterion["changed"]), (&json!(true), &json!(false)));
                let kept = author.get("/criterion-runs?limit=100").await.expect(200);
                let kept =
                    kept.data().iter().find(|one| one["criterion_id"] == criterion["criterion_id"]).unwrap().clone();
                assert_eq!(
                    (&kept["details"], &kept["evidence"]),
                    (&criterion["details_after"], &criterion["evidence_after"])
                );
            }
        }
    }

    async fn trying_other_criteria_reports_differences_and_changes_nothing(server: TestServer) {
        let (author, agent) = done(&server).await;
        let before = author.get(&format!("/benchmark-runs/{}", agent.run)).await.expect(200).json;
        let criterion = |task: usize, place: usize| criterion_of(&author, &before, task, place);
        let (passed, failed) = (criterion(0, 0).await, criterion(0, 1).await);
        let tried = json!({"criteria": [
            {"criterion_id": passed, "assertion": wants_code("never")["assertion"]},
            {"criterion_id": failed, "assertion": {"assert": "fhir-resource-state", "resource_type": "Patient", "count": 3}},
        ]});
        let path = format!("/benchmark-runs/{}/rescore", agent.run);
        let rescored = author.post(&path, tried).await.expect(200);
        assert_eq!(rescored["identical"], false);
        let first = &rescored["task_runs"][0];
        assert_eq!(
            (&first["identical"], &first["score_before"], &first["score_after"]),
            (&json!(false), &json!(0.5), &json!(0.5))
        );
        let flips: Vec<(bool, bool, bool)> = first["criteria"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| {
                let flag = |name: &str| one[name].as_bool().unwrap();
                (flag("changed"), flag("passed_before"), flag("passed_after"))
            })
            .collect();
        assert_eq!(flips, [(true, true, false), (true, false, true)]);
        assert_eq!(rescored["task_runs"][1]["identical"], true, "the other task is untouched");
        let both = json!({"criteria": [{"criterion_id": failed, "assertion": wants_code("a")["assertion"]}]});
        let better = author.post(&path, both).await.expect(200);
        assert_eq!(
            (&better["score_before"], &better["score_after"], &better["verdict_after"]),
            (&json!(0.75), &json!(1.0), &json!("pass"))
        );
        assert_eq!(author.get(&format!("/benchmark-runs/{}", agent.run)).await.expect(200).json, before);
    }

    async fn only_criteria_of_the_run_can_be_replaced(server: TestServer) {
        let (author, agent) = done(&server).await;
        let path = format!("/benchmark-runs/{}/rescore", agent.run);
        let unknown = json!({"criteria": [{"criterion_id": "crit_01K9Z3T5Q8W7N4M2R6V0XBHCDE", "assertion": {}}]});
        author.post(&path, unknown).await.expect_error(400, "VALIDATION_ERROR");
        for faulty in [json!({"criteria": 5}), json!({"criteria": [{}]}), json!({"criterias": []})] {
            author.post(&path, faulty).await.expect_error(400, "VALIDATION_ERROR");
        }
    }

    async fn an_unfinished_run_is_rescored_for_its_completed_tasks(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        for name in ["First", "Second"] {
            bench.task(name, &[wants_code("a")]).await;
        }
        let agent = bench.begin(&server).await;
        let path = format!("/benchmark-runs/{}/rescore", agent.run);
        assert_eq!(author.post(&path, json!({})).await.expect(200)["task_runs"], json!([]));
        agent.do_task(0, &["a"]).await;
        agent.start(1).await.expect(200);
        let rescored = author.post(&path, json!({})).await.expect(200);
        assert_eq!((&rescored["identical"], &rescored["score_after"]), (&json!(true), &Value::Null));
        assert_eq!(rescored["task_runs"].as_array().unwrap().len(), 1);
    }
}

/// A completed run of two tasks with the scores 0.5 and 1.
async fn done(server: &TestServer) -> (Caller, Agent) {
    let author = server.organization("Acme").await;
    let bench = Bench::new(&author, json!({})).await;
    bench.task("Half", &[wants_code("a"), wants_code("b")]).await;
    bench.task("Whole", &[wants_code("a")]).await;
    let agent = bench.begin(server).await;
    agent.do_task(0, &["a"]).await;
    agent.do_task(1, &["a"]).await;
    (author, agent)
}

async fn criterion_of(author: &Caller, run: &Value, task: usize, place: usize) -> Value {
    let id = run["task_runs"][task]["criterion_runs"][place]["id"].as_str().unwrap();
    author.get(&format!("/criterion-runs/{id}")).await.expect(200)["criterion_id"].clone()
}
