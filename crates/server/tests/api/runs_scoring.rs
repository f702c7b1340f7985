//! Scoring: weights, axes, the threshold, and checks that always fail.

use serde_json::{Value, json};
use testkit::runs::{Bench, wants_code};
use testkit::{TestServer, both_databases};

both_databases! {
    async fn a_task_scores_the_weighted_mean_of_its_criteria_and_so_does_each_axis(server: TestServer) {
        let criteria = [weighing("a", json!(2), Some("correctness")), weighing("missing", json!(1), Some("safety"))];
        let result = done(&server, &criteria, &["a"]).await;
        assert_eq!((&result["score"], &result["verdict"]), (&json!(2.0 / 3.0), &json!("partial")));
        assert_eq!(
            result["axes"],
            json!({"correctness": {"score": 1.0, "weight": 2}, "safety": {"score": 0.0, "weight": 1}})
        );
        assert_eq!((&result["phase"], &result["status"]), (&json!("completed"), &json!("completed")));
        let checks = result["checks"].as_array().unwrap();
        assert_eq!(checks.iter().map(|check| &check["axis"]).collect::<Vec<_>>(), ["correctness", "safety"]);
        assert_eq!(checks.iter().map(|check| &check["result"]).collect::<Vec<_>>(), ["pass", "fail"]);
    }

    async fn criteria_without_an_axis_are_under_default_and_weigh_one(server: TestServer) {
        let mut plain = wants_code("a");
        plain.as_object_mut().unwrap().remove("weight");
        let criteria = [plain, weighing("missing", json!(0.5), None), weighing("b", json!(0.25), Some("tone"))];
        let result = done(&server, &criteria, &["a", "b"]).await;
        assert_eq!(result["axes"]["__default__"], json!({"score": 2.0 / 3.0, "weight": 1.5}));
        assert_eq!(result["axes"]["tone"], json!({"score": 1.0, "weight": 0.25}));
        assert_eq!(result["score"], json!(1.25 / 1.75), "1.25 of 1.75");
    }

    async fn the_threshold_is_exactly_nine_tenths(server: TestServer) {
        let cases: [(&[&str], &[&str], &str, f64); 8] = [
            (&["0.3", "0.3", "0.3"], &["0.1"], "pass", 0.9),
            (&["0.1", "0.1", "0.1", "0.1", "0.1", "0.1", "0.1", "0.1", "0.1"], &["0.1"], "pass", 0.9),
            (&["0.7", "0.2"], &["0.1"], "pass", 0.9),
            (&["0.8999"], &["0.1001"], "partial", 0.8999),
            (&["0.899999"], &["0.100001"], "partial", 0.899_999),
            (&["0.900001"], &["0.099999"], "pass", 0.900_001),
            (&["0.000001"], &["999"], "partial", 1.0 / 999_000_001.0),
            (&[], &["1"], "fail", 0.0),
        ];
        let bench = Bench::new(&server.organization("Acme").await, json!({})).await;
        for (passing, failing, ..) in cases {
            let passing = passing.iter().map(|weight| weighing("a", number(weight), None));
            let failing = failing.iter().map(|weight| weighing("missing", number(weight), None));
            bench.task("Weighed", &passing.chain(failing).collect::<Vec<_>>()).await;
        }
        let agent = bench.begin(&server).await;
        for (place, (passing, failing, verdict, score)) in cases.into_iter().enumerate() {
            let result = agent.do_task(place, &["a"]).await;
            assert_eq!(
                (&result["verdict"], &result["score"]),
                (&json!(verdict), &json!(score)),
                "{passing:?} {failing:?}"
            );
        }
    }

    async fn the_order_of_criteria_does_not_matter(server: TestServer) {
        let bench = Bench::new(&server.organization("Acme").await, json!({})).await;
        let mut criteria = vec![
            weighing("a", json!(0.1), Some("x")),
            weighing("b", json!(0.2), Some("y")),
            weighing("missing", json!(0.3), Some("x")),
            weighing("c", json!(7), None),
        ];
        for _ in 0..criteria.len() {
            bench.task("In an order", &criteria).await;
            criteria.rotate_left(1);
        }
        criteria.reverse();
        bench.task("Backwards", &criteria).await;
        let agent = bench.begin(&server).await;
        let mut results = Vec::new();
        for place in 0..5 {
            let result = agent.do_task(place, &["a", "b", "c"]).await;
            results.push((result["score"].clone(), result["verdict"].clone(), result["axes"].to_string()));
        }
        results.dedup();
        assert_eq!(results.len(), 1, "{results:?}");
    }

    async fn without_criteria_a_task_fails(server: TestServer) {
        let result = done(&server, &[], &["a"]).await;
        assert_eq!((&result["score"], &result["verdict"]), (&json!(0.0), &json!("fail")));
        assert_eq!((&result["axes"], &result["checks"]), (&json!({}), &json!([])));
    }

    async fn an_unknown_check_fails_as_unsupported(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        let task = bench.task("Odd", &[wants_code("a")]).await;
        let unknown =
            json!({"task_id": task, "label": "Odd", "assertion": {"assert": "mind-reading", "of": "a"}, "axis": "odd"});
        let stored = author.post("/criteria", unknown).await.expect(201);
        assert!(stored["warnings"][0].as_str().unwrap().contains("mind-reading"), "{}", stored.text());
        let result = bench.begin(&server).await.do_task(0, &["a"]).await;
        assert_eq!((&result["score"], &result["verdict"]), (&json!(0.5), &json!("partial")));
        assert_eq!(result["axes"]["odd"]["score"], json!(0.0));
        let check = &result["checks"][1];
        assert_eq!((&check["result"], &check["score"]), (&json!("fail"), &json!(0.0)));
        let details = check["details"].as_str().unwrap();
        assert!(details.contains("unsupported assertion") && details.contains("mind-reading"), "{details}");
        let kept =
            author.get(&format!("/criterion-runs/{}", check["criterion_run_id"].as_str().unwrap())).await.expect(200);
        assert_eq!((&kept["passed"], &kept["score"], &kept["details"]), (&json!(false), &json!(0.0), &json!(details)));
    }

    async fn a_typo_in_a_known_check_never_passes(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        bench.task("Typo", &[wants_code("a")]).await;
        let agent = bench.begin(&server).await;
        let criterion = agent.do_task(0, &["a"]).await["checks"][0]["criterion_id"].clone();
        let mut assertion = wants_code("a")["assertion"].clone();
        assertion["cuont"] = json!(1);
        // It cannot be saved, and fails when it is tried on a run that passed.
        let task = agent.created["task_runs"][0]["task_id"].clone();
        author
            .post("/criteria", json!({"task_id": task, "label": "Typo", "assertion": assertion}))
            .await
            .expect_error(400, "VALIDATION_ERROR");
        let tried = json!({"criteria": [{"criterion_id": criterion, "assertion": assertion}]});
        let rescored = author.post(&format!("/benchmark-runs/{}/rescore", agent.run), tried).await.expect(200).json;
        let criterion = &rescored["task_runs"][0]["criteria"][0];
        assert_eq!((&criterion["passed_before"], &criterion["passed_after"]), (&json!(true), &json!(false)));
        let details = criterion["details_after"].as_str().unwrap();
        assert!(details.contains("unsupported assertion") && details.contains("cuont"), "{details}");
    }

    async fn a_partly_passed_check_scores_partly(server: TestServer) {
        let fields = json!([{"path": "code.text", "expected": "a"}, {"path": "code.coding", "op": "exists"}, {"path": "id", "op": "exists"}]);
        let assertion = json!({"assert": "fhir-resource-state", "resource_type": "Basic", "fields": fields});
        let result = done(&server, &[json!({"label": "Thirds", "assertion": assertion})], &["a"]).await;
        let check = &result["checks"][0];
        assert_eq!((&check["result"], &check["score"]), (&json!("fail"), &json!(2.0 / 3.0)));
        assert_eq!(result["verdict"], "partial");
    }

    async fn a_run_scores_the_mean_of_its_tasks_and_its_axes_the_mean_over_tasks_that_have_them(server: TestServer) {
        let bench = Bench::new(&server.organization("Acme").await, json!({})).await;
        bench.task("First", &[weighing("a", json!(2), Some("x")), weighing("missing", json!(1), Some("y"))]).await;
        bench.task("Second", &[weighing("missing", json!(3), Some("x"))]).await;
        bench.task("Third", &[weighing("a", json!(1), None)]).await;
        let agent = bench.begin(&server).await;
        for place in 0..3 {
            assert_eq!(agent.read().await["score"], Value::Null, "not before the last task");
            agent.do_task(place, &["a"]).await;
        }
        let run = agent.read().await;
        assert_eq!(
            (&run["score"], &run["verdict"], &run["status"]),
            (&json!(5.0 / 9.0), &json!("partial"), &json!("completed"))
        );
        let axes = json!({
            "x": {"score": 0.5, "weight": 5},
            "y": {"score": 0.0, "weight": 1},
            "__default__": {"score": 1.0, "weight": 1},
        });
        assert_eq!(run["axes"], axes);
        assert!(run["started_at"].is_string() && run["completed_at"].is_string());
        let internal = bench.author.get(&format!("/benchmark-runs/{}", agent.run)).await.expect(200);
        assert_eq!((&internal["axes"], &internal["score"]), (&axes, &run["score"]));
    }
}

/// A criterion with a weight and an axis.
fn weighing(code: &str, weight: Value, axis: Option<&str>) -> Value {
    let mut criterion = wants_code(code);
    criterion["weight"] = weight;
    criterion["axis"] = json!(axis);
    criterion
}

/// A JSON number with its digits as written, without floating point.
fn number(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The result of a run of one task after these codes were written.
async fn done(server: &TestServer, criteria: &[Value], codes: &[&str]) -> Value {
    let bench = Bench::new(&server.organization("Acme").await, json!({})).await;
    bench.task("Only", criteria).await;
    bench.begin(server).await.do_task(0, codes).await
}
