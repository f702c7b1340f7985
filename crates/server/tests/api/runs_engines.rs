//! Results name the engine that produced them. A newer engine's result is stored in addition to the older one, and results of
//! different engines are never combined.

use app::runs::ENGINE;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, solver, wants_code};
use testkit::{Caller, TestServer, both_databases};

const NEWER: &str = "verify/99";

both_databases! {
    async fn a_newer_engine_stores_a_second_result_and_the_first_stays(server: TestServer) {
        let (author, solver, reference) = published(&server).await;
        let run = done(&server, &solver, &reference, &["a"]).await;
        let before = author.get(&format!("/benchmark-runs/{run}")).await.expect(200).json;
        assert_eq!(before["engine"], ENGINE);
        let own = json!([{"engine": ENGINE, "original": true, "verdict": "partial", "score": 0.5,
            "axes": before["axes"], "scored_at": before["completed_at"]}]);
        assert_eq!(before["results"], own);

        let again = author.post(&format!("/benchmark-runs/{run}/rescore"), json!({})).await.expect(200);
        assert_eq!((&again["stored"], &again["engine_after"]), (&json!(false), &json!(ENGINE)), "the same engine");

        let newer = server.another_node_with_engine(NEWER).await;
        let owner = newer.caller(author.key());
        let criterion = before["task_runs"][0]["criterion_runs"][0]["id"].as_str().unwrap();
        let criterion = author.get(&format!("/criterion-runs/{criterion}")).await.expect(200)["criterion_id"].clone();
        let tried = json!({"criteria": [{"criterion_id": criterion, "assertion": wants_code("b")["assertion"]}]});
        let tried = owner.post(&format!("/benchmark-runs/{run}/rescore"), tried).await.expect(200);
        assert_eq!(tried["stored"], false, "other criteria");
        assert_eq!(owner.get(&format!("/benchmark-runs/{run}")).await.expect(200).json, before);

        for _ in 0..2 {
            let rescored = owner.post(&format!("/benchmark-runs/{run}/rescore"), json!({})).await.expect(200);
            assert_eq!((&rescored["stored"], &rescored["identical"]), (&json!(true), &json!(true)));
            assert_eq!((&rescored["engine_before"], &rescored["engine_after"]), (&json!(ENGINE), &json!(NEWER)));
        }
        let after = author.get(&format!("/benchmark-runs/{run}")).await.expect(200).json;
        assert_eq!((&after["engine"], &after["score"], &after["results"][0]), (&json!(ENGINE), &json!(0.5), &own[0]));
        let second = &after["results"][1];
        assert_eq!((&second["engine"], &second["original"], &second["score"]), (&json!(NEWER), &json!(false), &json!(0.5)));
        assert_eq!(after["results"].as_array().unwrap().len(), 2);

        let result = async |engine: &str| author.get(&format!("/benchmark-runs/{run}/results{engine}")).await;
        let first = result("").await.expect(200).json;
        assert_eq!((&first["engine"], &first["original"]), (&json!(ENGINE), &json!(true)));
        let criteria = first["task_runs"][0]["criteria"].as_array().unwrap();
        assert!(criteria.len() == 2 && criteria[0]["evidence"]["fieldResults"].is_array(), "{first:#}");
        assert_eq!(result(&format!("?engine={NEWER}")).await.expect(200)["task_runs"], first["task_runs"]);
        assert_eq!(result(&format!("?engine={ENGINE}")).await.expect(200).json, first);
        result("?engine=verify/98").await.expect_error(404, "NOT_FOUND");
        let stranger = server.organization("Other").await;
        stranger.get(&format!("/benchmark-runs/{run}/results")).await.expect_error(404, "NOT_FOUND");
    }

    async fn statistics_comparisons_and_leaderboards_use_one_engine(server: TestServer) {
        let (author, solver, reference) = published(&server).await;
        let old = done(&server, &solver, &reference, &["a"]).await;
        let newer = server.another_node_with_engine(NEWER).await;
        let new = done(&newer, &newer.caller(solver.key()), &reference, &["a", "b"]).await;
        for run in [&old, &new] {
            author.send(reqwest::Method::POST, &format!("/benchmark-runs/{run}/publish"), &[], None).await.expect(200);
        }
        let told = async |path: &str, engine: &str| {
            let separator = if path.contains('?') { "&" } else { "?" };
            let query = if engine.is_empty() { String::new() } else { format!("{separator}engine={engine}") };
            author.get(&format!("{path}{query}")).await.expect(200).json
        };
        let paths = [
            format!("/benchmarks/{reference}/stats"),
            format!("/benchmark-runs/compare?benchmark={reference}&group_by=solver"),
            format!("/v1/leaderboards/{reference}"),
        ];
        let seen = |response: &Value| {
            let numbers = [&response["groups"][0]["statistics"], &response["entries"][0], response];
            let numbers = numbers.into_iter().find(|numbers| numbers["mean"].is_number()).unwrap();
            let runs = if numbers["n"].is_u64() { &numbers["n"] } else { &numbers["runs"] };
            (response["engine"].clone(), runs.clone(), numbers["mean"].clone(), response["other_engines"].clone())
        };
        let is = |engine: &str, runs: u64, mean: f64, others: u64| (json!(engine), json!(runs), json!(mean), json!(others));
        for path in &paths {
            assert_eq!(seen(&told(path, "").await), is(NEWER, 1, 1.0, 1), "{path}");
            assert_eq!(seen(&told(path, ENGINE).await), is(ENGINE, 1, 0.5, 1), "{path}");
            let none = told(path, "verify/1").await;
            assert_eq!((&none["engine"], &none["other_engines"]), (&json!("verify/1"), &json!(2)), "{path}");
        }
        let both = format!("/benchmark-runs/compare?ids={old},{new}");
        let refused = author.get(&both).await.expect_error(409, "CONFLICT");
        assert!(refused.message().contains("different engines"), "{}", refused.message());
        assert_eq!(refused["error"]["details"][&old], json!([ENGINE]));

        newer.caller(author.key()).post(&format!("/benchmark-runs/{old}/rescore"), json!({})).await.expect(200);
        for path in &paths {
            assert_eq!(seen(&told(path, "").await), is(NEWER, 2, 0.75, 0), "{path}");
            assert_eq!(seen(&told(path, ENGINE).await), is(ENGINE, 1, 0.5, 1), "{path}");
        }
        let compared = author.get(&both).await.expect(200);
        assert_eq!((&compared["engine"], &compared["differences"][0]["mean"]), (&json!(NEWER), &json!(-0.5)));
        author.get(&format!("{both}&engine={ENGINE}")).await.expect_error(409, "CONFLICT");
    }

    async fn a_run_scored_by_several_engines_counts_for_none_until_rescored(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        for name in ["First", "Second"] {
            bench.task(name, &[wants_code("a")]).await;
        }
        let reference = bench.publish().await;
        let agent = Agent::begin(&server, &solver(&server, &author, "agent-1").await, &reference, true).await;
        agent.do_task(0, &["a"]).await;
        let newer = server.another_node_with_engine(NEWER).await;
        let later = Agent { caller: newer.caller(agent.caller.key()), ..agent };
        later.do_task(1, &["a"]).await;
        let run = author.get(&format!("/benchmark-runs/{}", later.run)).await.expect(200);
        assert_eq!((&run["status"], &run["score"], &run["engine"]), (&json!("completed"), &json!(1.0), &Value::Null));
        let path = format!("/benchmarks/{reference}/stats");
        let none = author.get(&path).await.expect(200);
        assert_eq!((&none["n"], &none["engine"], &none["other_engines"]), (&json!(0), &Value::Null, &json!(1)));
        newer.caller(author.key()).post(&format!("/benchmark-runs/{}/rescore", later.run), json!({})).await.expect(200);
        let numbers = author.get(&path).await.expect(200);
        assert_eq!((&numbers["n"], &numbers["engine"], &numbers["tasks"][0]["mean"]), (&json!(1), &json!(NEWER), &json!(1.0)));
    }
}

/// A benchmark of one task that requires two codes.
async fn published(server: &TestServer) -> (Caller, Caller, String) {
    let author = server.organization("Acme").await;
    let bench = Bench::new(&author, json!({})).await;
    bench.task("Codes", &[wants_code("a"), wants_code("b")]).await;
    let reference = bench.publish().await;
    (author.clone(), solver(server, &author, "agent-1").await, reference)
}

async fn done(server: &TestServer, solver: &Caller, reference: &str, codes: &[&str]) -> String {
    let agent = Agent::begin(server, solver, reference, true).await;
    agent.do_task(0, codes).await;
    agent.run
}
