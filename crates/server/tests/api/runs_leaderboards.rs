//! Leaderboards: which runs can be published, who can read them, and their order.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, solver, wants_code};
use testkit::{Caller, TestResponse, TestServer, both_databases};

both_databases! {
    async fn only_a_scored_completed_run_of_a_version_by_a_solver_can_be_published(server: TestServer) {
        let (author, reference) = benchmark(&server, "Public").await;
        let ann = solver(&server, &author, "ann").await;
        let open = Agent::begin(&server, &ann, &reference, false).await;
        open.do_task(0, &["a"]).await;
        says(publish(&author, &open.run).await, "not scored");
        let active = Agent::begin(&server, &ann, &reference, true).await;
        says(publish(&author, &active.run).await, "active");
        author.send(Method::POST, &format!("/benchmark-runs/{}/cancel", active.run), &[], None).await.expect(200);
        says(publish(&author, &active.run).await, "cancelled");
        let unclaimed =
            author.post("/benchmark-runs", json!({"benchmark": reference, "scored": true})).await.expect(201);
        let unclaimed = Agent::from(&server, &unclaimed);
        unclaimed.do_task(0, &["a"]).await;
        says(publish(&author, &unclaimed.run).await, "no solver");
        let id = author.get(&format!("/benchmark-runs/{}", open.run)).await.expect(200)["benchmark"]["id"].clone();
        let draft = author.post("/benchmark-runs", json!({"benchmark_id": id, "scored": true})).await.expect(201);
        let draft = Agent::from(&server, &draft);
        draft.do_task(0, &["a"]).await;
        says(publish(&author, &draft.run).await, "draft");
        assert_eq!(board(&author, &reference).await["entries"], json!([]));
        let good = Agent::begin(&server, &ann, &reference, true).await;
        good.do_task(0, &["a"]).await;
        assert_eq!(board(&author, &reference).await["entries"], json!([]), "not by itself");
        let published = publish(&author, &good.run).await.expect(200);
        assert!(published["published_at"].is_string());
        assert_eq!(
            publish(&author, &good.run).await.expect(200)["published_at"],
            published["published_at"],
            "twice is once"
        );
        assert_eq!(board(&author, &reference).await["entries"].as_array().unwrap().len(), 1);
        let off =
            author.send(Method::POST, &format!("/benchmark-runs/{}/unpublish", good.run), &[], None).await.expect(200);
        assert_eq!(off["published_at"], Value::Null);
        assert_eq!(board(&author, &reference).await["entries"], json!([]));
    }

    async fn solvers_are_ranked_by_mean_with_best_interval_axes_and_dates(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let (author, reference) = benchmark(&server, "Public").await;
        let other = server.organization("Beta").await;
        let (ann, bob, eve) = (
            solver(&server, &author, "ann").await,
            solver(&server, &other, "bob").await,
            solver(&server, &author, "eve").await,
        );
        let mut dates = Vec::new();
        for (organization, solver, codes) in [
            (&author, &ann, &["a"][..]),
            (&author, &ann, &["a"]),
            (&author, &ann, &["b"]),
            (&author, &ann, &["b"]),
            (&other, &bob, &["a", "b"]),
            (&author, &eve, &["a", "b"]),
        ] {
            server.clock.advance(1000);
            let agent = Agent::begin(&server, solver, &reference, true).await;
            agent.do_task(0, codes).await;
            dates.push(agent.read().await["completed_at"].clone());
            publish(organization, &agent.run).await.expect(200);
        }
        let board = board(&author, &reference).await;
        assert_eq!((&board["benchmark"]["slug"], &board["benchmark"]["version"]), (&json!("orders"), &json!(1)));
        let entries = board["entries"].as_array().unwrap();
        let order: Vec<(&Value, &str, &str)> = entries
            .iter()
            .map(|entry| {
                (
                    &entry["rank"],
                    entry["solver"]["alias"].as_str().unwrap(),
                    entry["solver"]["organization"].as_str().unwrap(),
                )
            })
            .collect();
        assert_eq!(
            order,
            [(&json!(1), "bob", "Beta"), (&json!(1), "eve", "Acme"), (&json!(3), "ann", "Acme")],
            "equal means share a rank"
        );
        let last = &entries[2];
        assert_eq!((&last["runs"], &last["best"], &last["mean"]), (&json!(4), &json!(0.75), &json!(0.5)));
        // 0.75, 0.75, 0.25 and 0.25: the deviation is √(1/12), t of 3 degrees of freedom 3.182446305.
        let reach = 3.182_446_305_284_263 * (1.0_f64 / 12.0).sqrt() / 2.0;
        for (end, expected) in [("low", 0.5 - reach), ("high", 0.5 + reach)] {
            assert!((last["interval"][end].as_f64().unwrap() - expected).abs() < 1e-9, "{last}");
        }
        assert_eq!(last["axes"], json!({"x": 0.5, "y": 0.5}));
        assert_eq!((&last["first_run_at"], &last["last_run_at"]), (&dates[0], &dates[3]));
        assert_eq!((&entries[0]["interval"], &entries[0]["runs"]), (&Value::Null, &json!(1)));
    }

    async fn everyone_reads_public_leaderboards_and_only_the_organization_private_ones(server: TestServer) {
        let (author, reference) = benchmark(&server, "Private").await;
        let ann = solver(&server, &author, "ann").await;
        let agent = Agent::begin(&server, &ann, &reference, true).await;
        agent.do_task(0, &["a"]).await;
        publish(&author, &agent.run).await.expect(200);
        let stranger = server.organization("Stranger").await;
        let path = format!("/v1/leaderboards/{reference}");
        for insider in [&author, &ann, &agent.caller] {
            insider.get(&path).await.expect(200);
        }
        for outsider in [&server.anonymous(), &stranger] {
            outsider.get(&path).await.expect_error(404, "NOT_FOUND");
        }
        let benchmark = author.get(&format!("/benchmark-runs/{}", agent.run)).await.expect(200)["benchmark"]["id"]
            .as_str()
            .unwrap()
            .to_owned();
        author.patch(&format!("/benchmarks/{benchmark}"), json!({"visibility": "Public"})).await.expect(200);
        let seen = server.anonymous().get(&path).await.expect(200);
        assert_eq!(seen.json, stranger.get(&path).await.expect(200).json);
        for hidden in ["br_", "slv_", "org_", "crit_", "evidence", "details"] {
            assert!(!seen.text().contains(hidden), "{hidden} in {}", seen.text());
        }
        server.caller("vk_wrong").get(&path).await.expect_error(401, "UNAUTHORIZED");
        for nothing in ["orders", "orders@2", "orders@x", "no-such@1"] {
            server.anonymous().get(&format!("/v1/leaderboards/{nothing}")).await.expect_error(404, "NOT_FOUND");
        }
    }

    async fn a_run_of_another_organization_cannot_be_published(server: TestServer) {
        let (author, reference) = benchmark(&server, "Public").await;
        let other = server.organization("Beta").await;
        let agent = Agent::begin(&server, &solver(&server, &other, "bob").await, &reference, true).await;
        agent.do_task(0, &["a"]).await;
        publish(&author, &agent.run).await.expect_error(404, "NOT_FOUND");
        publish(&other, &agent.run).await.expect(200);
        let unpublish = format!("/benchmark-runs/{}/unpublish", agent.run);
        author.send(Method::POST, &unpublish, &[], None).await.expect_error(404, "NOT_FOUND");
        assert_eq!(board(&server.anonymous(), &reference).await["entries"].as_array().unwrap().len(), 1);
    }

    async fn each_version_has_its_own_leaderboard(server: TestServer) {
        let (author, first) = benchmark(&server, "Public").await;
        let ann = solver(&server, &author, "ann").await;
        let agent = Agent::begin(&server, &ann, &first, true).await;
        agent.do_task(0, &["a"]).await;
        publish(&author, &agent.run).await.expect(200);
        let task_run = author.get(&format!("/task-runs/{}", agent.task_runs[0])).await.expect(200);
        let task = &task_run["task_id"];
        author.patch(&format!("/tasks/{}", task.as_str().unwrap()), json!({"name": "Changed"})).await.expect(200);
        let benchmark = agent.created["benchmark"]["id"].as_str().unwrap();
        author.post(&format!("/benchmarks/{benchmark}/publish"), json!({})).await.expect(201);
        assert_eq!(board(&author, "orders@1").await["entries"].as_array().unwrap().len(), 1);
        assert_eq!(board(&author, "orders@2").await["entries"], json!([]));
    }
}

/// One task: `a` scores three quarters on the axis `x`, `b` one quarter on `y`.
async fn benchmark(server: &TestServer, visibility: &str) -> (Caller, String) {
    let author = server.organization("Acme").await;
    let bench = Bench::new(&author, json!({"visibility": visibility})).await;
    let on = |code: &str, axis: &str, weight: i64| {
        let mut criterion = wants_code(code);
        (criterion["axis"], criterion["weight"]) = (json!(axis), json!(weight));
        criterion
    };
    bench.task("Only", &[on("a", "x", 3), on("b", "y", 1)]).await;
    (author, bench.publish().await)
}

async fn publish(caller: &Caller, run: &str) -> TestResponse {
    caller.send(Method::POST, &format!("/benchmark-runs/{run}/publish"), &[], None).await
}

async fn board(caller: &Caller, reference: &str) -> Value {
    caller.get(&format!("/v1/leaderboards/{reference}")).await.expect(200).json
}

#[track_caller]
fn says(response: TestResponse, word: &str) {
    let refused = response.expect_error(409, "CONFLICT");
    assert!(refused.message().contains(word), "{}", refused.message());
}
