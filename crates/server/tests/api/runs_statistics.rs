//! Statistics and comparisons of runs, checked against values calculated by hand.

use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, solver, wants_code};
use testkit::{Caller, TestServer, both_databases};

both_databases! {
    async fn statistics_of_a_version_match_hand_calculated_values(server: TestServer) {
        let (author, reference, _) = five_runs(&server).await;
        let stats = author.get(&format!("/benchmarks/{reference}/stats?agent=one")).await.expect(200).json;
        assert_eq!(stats["n"], 4);
        // The scores are 0.5, 0.5, 0.5 and 0.25; t of 3 degrees of freedom is 3.182446305.
        near(&stats["mean"], 0.4375);
        near(&stats["stdev"], 0.125);
        near(&stats["interval"]["low"], 0.4375 - 3.182_446_305_284_263 * 0.125 / 2.0);
        near(&stats["interval"]["high"], 0.4375 + 3.182_446_305_284_263 * 0.125 / 2.0);
        assert_eq!((&stats["interval"]["level"], &stats["interval"]["method"]), (&json!(0.95), &json!("student_t")));
        assert_eq!((&stats["pass_rate"]["passes"], &stats["pass_rate"]["n"]), (&json!(0), &json!(4)));
        near(&stats["pass_rate"]["interval"]["low"], 0.0);
        near(&stats["pass_rate"]["interval"]["high"], 3.841_458_820_694_124 / 7.841_458_820_694_124);
        values(&stats["pass_at"], &[3.0 / 8.0, 2.0 / 3.0, 7.0 / 8.0, 1.0]);
        values(&stats["pass_hat"], &[3.0 / 8.0, 1.0 / 12.0, 0.0, 0.0]);
        let (first, second) = (&stats["tasks"][0], &stats["tasks"][1]);
        assert_eq!((&first["name"], &second["name"]), (&json!("First"), &json!("Second")));
        near(&first["mean"], 0.625);
        near(&second["mean"], 0.25);
        values(&first["pass_at"], &[1.0 / 2.0, 5.0 / 6.0, 1.0, 1.0]);
        values(&first["pass_hat"], &[1.0 / 2.0, 1.0 / 6.0, 0.0, 0.0]);
        values(&second["pass_at"], &[1.0 / 4.0, 1.0 / 2.0, 3.0 / 4.0, 1.0]);
        values(&second["pass_hat"], &[1.0 / 4.0, 0.0, 0.0, 0.0]);
        for (axis, stdev) in [("x", 0.0), ("y", (1.0_f64 / 3.0).sqrt())] {
            assert_eq!(stats["axes"][axis]["n"], 4);
            near(&stats["axes"][axis]["mean"], 0.5);
            near(&stats["axes"][axis]["stdev"], stdev);
        }
    }

    async fn statistics_count_only_completed_runs_of_the_organization(server: TestServer) {
        let (author, reference, agents) = five_runs(&server).await;
        let ask = async |caller: &Caller, query: &str| {
            caller.get(&format!("/benchmarks/{reference}/stats{query}")).await.expect(200).json
        };
        assert_eq!(ask(&author, "").await["n"], 5);
        let alone = ask(&author, "?agent=two").await;
        assert_eq!(
            (&alone["n"], &alone["mean"], &alone["stdev"], &alone["interval"]),
            (&json!(1), &json!(1.0), &Value::Null, &Value::Null)
        );
        let none = ask(&author, "?agent=three").await;
        assert_eq!((&none["n"], &none["mean"], &none["tasks"]), (&json!(0), &Value::Null, &json!([])));
        let solver_id = author.get(&format!("/benchmark-runs/{}", agents[0].run)).await.expect(200)["solver_id"]
            .as_str()
            .unwrap()
            .to_owned();
        assert_eq!(ask(&author, &format!("?solver_id={solver_id}")).await["n"], 5);
        let benchmark = author.get(&format!("/benchmark-runs/{}", agents[0].run)).await.expect(200)["benchmark"]["id"]
            .as_str()
            .unwrap()
            .to_owned();
        author.patch(&format!("/benchmarks/{benchmark}"), json!({"visibility": "Public"})).await.expect(200);
        let other = server.organization("Other").await;
        assert_eq!(ask(&other, "").await["n"], 0, "other organizations' runs are not in one's numbers");
        author.get(&format!("/benchmarks/{benchmark}/stats")).await.expect_error(404, "NOT_FOUND");
        author.get(&format!("/benchmarks/{reference}/stats?agnet=one")).await.expect_error(400, "VALIDATION_ERROR");
    }

    async fn two_agents_are_compared_by_pairs_of_tasks(server: TestServer) {
        let (author, reference, _) = five_runs(&server).await;
        let compared =
            author.get(&format!("/benchmark-runs/compare?benchmark={reference}&group_by=agent")).await.expect(200).json;
        let labels: Vec<&Value> = compared["groups"].as_array().unwrap().iter().map(|group| &group["label"]).collect();
        assert_eq!(labels, ["one", "two"]);
        near(&compared["groups"][0]["statistics"]["mean"], 0.4375);
        let difference = &compared["differences"][0];
        assert_eq!(
            (&difference["first"], &difference["second"], &difference["n"]),
            (&json!("one"), &json!("two"), &json!(2))
        );
        // The differences of the tasks are 0.625 - 1 and 0.25 - 1.
        near(&difference["mean"], -0.5625);
        near(&difference["stdev"], 0.375 / 2.0_f64.sqrt());
        assert_eq!(
            (&difference["interval"]["low"], &difference["interval"]["high"]),
            (&json!(-1.0), &json!(1.0)),
            "cut"
        );
        assert_eq!(
            (&difference["significant"], &difference["sign_test"]),
            (&json!(false), &json!({"better": 0, "worse": 2, "equal": 0, "p_value": 0.5}))
        );
        assert_eq!(
            (difference["better"].as_array().unwrap().len(), difference["worse"].as_array().unwrap().len()),
            (0, 2)
        );
        near(&difference["worse"][0]["difference"], -0.375);
        assert_eq!(difference["worse"][0]["first"], json!({"n": 4, "passes": 2, "mean": 0.625}));
        assert_eq!(difference["axes"]["x"], json!({"first": 0.5, "second": 1.0, "difference": -0.5}));
    }

    async fn agents_whose_labels_are_the_same_are_not_pooled(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        bench.task("First", &[wants_code("a")]).await;
        let reference = bench.publish().await;
        let solver = solver(&server, &author, "agent-1").await;
        let mut runs = Vec::new();
        // The agent named `none` does the work; the one without a name does not.
        for (about, codes) in [(json!({"agent": "none"}), &["a"][..]), (json!({}), &[]), (json!({"agent": "none"}), &["a"])] {
            let agent = Agent::begin_with(&server, &solver, &reference, about).await;
            agent.do_task(0, codes).await;
            runs.push(agent.run);
        }
        let path = format!("/benchmark-runs/compare?ids={}&group_by=agent", runs.join(","));
        let compared = author.get(&path).await.expect(200).json;
        let groups = compared["groups"].as_array().unwrap().iter();
        let groups: Vec<(f64, u64)> = groups
            .map(|group| (group["statistics"]["mean"].as_f64().unwrap(), group["statistics"]["n"].as_u64().unwrap()))
            .collect();
        assert_eq!(groups, [(1.0, 2), (0.0, 1)]);
        assert_ne!(compared["groups"][0]["label"], compared["groups"][1]["label"]);
    }

    async fn named_runs_are_compared_in_the_requested_order(server: TestServer) {
        let (author, _, agents) = five_runs(&server).await;
        let ids =
            |places: &[usize]| places.iter().map(|place| agents[*place].run.as_str()).collect::<Vec<_>>().join(",");
        let compared = author.get(&format!("/benchmark-runs/compare?ids={}", ids(&[4, 0, 3]))).await.expect(200).json;
        let groups: Vec<(&str, f64)> = compared["groups"]
            .as_array()
            .unwrap()
            .iter()
            .map(|group| (group["label"].as_str().unwrap(), group["statistics"]["mean"].as_f64().unwrap()))
            .collect();
        assert_eq!(
            groups,
            [(agents[4].run.as_str(), 1.0), (agents[0].run.as_str(), 0.5), (agents[3].run.as_str(), 0.25)]
        );
        assert_eq!(compared["differences"].as_array().unwrap().len(), 3, "every two");
        let same =
            author.get(&format!("/benchmark-runs/compare?ids={}&group_by=solver", ids(&[0, 0, 1]))).await.expect(200);
        assert_eq!(same["groups"][0]["statistics"]["n"], 2, "a run that is named twice counts once");
        for query in [
            "",
            "ids=",
            "ids=x",
            "benchmark=x",
            &format!("ids={}&benchmark=orders@1", agents[0].run),
            &format!("ids={}&group_by=x", agents[0].run),
            "group_by=agent",
        ] {
            author.get(&format!("/benchmark-runs/compare?{query}")).await.expect_error(400, "VALIDATION_ERROR");
        }
        let many = vec!["br_01K9Z3T5Q8W7N4M2R6V0XBHCDE"; 101].join(",");
        author.get(&format!("/benchmark-runs/compare?ids={many}")).await.expect_error(400, "VALIDATION_ERROR");
    }

    async fn a_run_that_is_not_completed_cannot_be_compared(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        bench.task("Only", &[wants_code("a")]).await;
        let agent = bench.begin(&server).await;
        let refused = author.get(&format!("/benchmark-runs/compare?ids={}", agent.run)).await.expect_error(409, "CONFLICT");
        assert!(refused.message().contains("active"), "{}", refused.message());
    }
}

/// Four runs of the agent `one` with the scores 0.5, 0.5, 0.5 and 0.25, and one of `two` with 1.
async fn five_runs(server: &TestServer) -> (Caller, String, Vec<Agent>) {
    let author = server.organization("Acme").await;
    let bench = Bench::new(&author, json!({})).await;
    let on = |code: &str, axis: &str| {
        let mut criterion = wants_code(code);
        criterion["axis"] = json!(axis);
        criterion
    };
    bench.task("First", &[on("a", "x"), on("b", "y")]).await;
    bench.task("Second", &[on("c", "x")]).await;
    let reference = bench.publish().await;
    let solver = solver(server, &author, "agent-1").await;
    let plans: [(&str, [&[&str]; 2]); 5] = [
        ("one", [&["a", "b"], &[]]),
        ("one", [&[], &["c"]]),
        ("one", [&["a", "b"], &[]]),
        ("one", [&["a"], &[]]),
        ("two", [&["a", "b"], &["c"]]),
    ];
    let mut agents = Vec::new();
    for (name, tasks) in plans {
        let agent = Agent::begin_with(server, &solver, &reference, json!({"agent": name})).await;
        for (place, codes) in tasks.into_iter().enumerate() {
            agent.do_task(place, codes).await;
        }
        agents.push(agent);
    }
    (author, reference, agents)
}

#[track_caller]
fn near(value: &Value, expected: f64) {
    let value = value.as_f64().unwrap_or_else(|| panic!("{value} is not {expected}"));
    assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
}

/// pass@k or pass^k for each k from 1.
#[track_caller]
fn values(list: &Value, expected: &[f64]) {
    let list = list.as_array().unwrap();
    assert_eq!(
        list.iter().map(|one| one["k"].as_u64().unwrap()).collect::<Vec<_>>(),
        (1..=expected.len() as u64).collect::<Vec<_>>()
    );
    list.iter().zip(expected).for_each(|(one, expected)| near(&one["value"], *expected));
}
