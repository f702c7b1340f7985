//! Lists of runs, task runs and criterion runs: newest first, with filters.

use reqwest::Method;
use serde_json::json;
use testkit::runs::{Agent, Bench, solver, wants_code};
use testkit::{TestResponse, both_databases};

both_databases! {
    async fn runs_are_filtered_by_benchmark_solver_agent_and_status(server: TestServer) {
        let author = server.organization("Acme").await;
        let first = Bench::new(&author, json!({"name": "First"})).await;
        let second = Bench::new(&author, json!({"name": "Second"})).await;
        for bench in [&first, &second] {
            bench.task("Only", &[wants_code("a")]).await;
        }
        let (one, two) = (first.publish().await, second.publish().await);
        let (ann, bob) = (solver(&server, &author, "ann").await, solver(&server, &author, "bob").await);
        let active = Agent::begin_with(&server, &ann, &one, json!({"agent": "model 1"})).await;
        let done = Agent::begin_with(&server, &bob, &one, json!({"agent": "model-2"})).await;
        done.do_task(0, &["a"]).await;
        let cancelled = Agent::begin_with(&server, &ann, &two, json!({"agent": "model-2"})).await;
        author.send(Method::POST, &format!("/benchmark-runs/{}/cancel", cancelled.run), &[], None).await.expect(200);
        let draft = author.post("/benchmark-runs", json!({"benchmark_id": second.benchmark})).await.expect(201);
        let draft = Agent::from(&server, &draft);
        let solver_of = async |run: &str| {
            author.get(&format!("/benchmark-runs/{run}")).await.expect(200)["solver_id"].as_str().unwrap().to_owned()
        };
        let (ann, bob) = (solver_of(&active.run).await, solver_of(&done.run).await);
        for (query, expected) in [
            (String::new(), vec![&draft, &cancelled, &done, &active]),
            (format!("benchmark_id={}", first.benchmark), vec![&done, &active]),
            (format!("benchmark_id={}", second.benchmark), vec![&draft, &cancelled]),
            (format!("solver_id={ann}"), vec![&cancelled, &active]),
            (format!("solver_id={ann}&benchmark_id={}", first.benchmark), vec![&active]),
            (format!("solver_id={bob}&status=active"), vec![]),
            ("agent=model-2".to_owned(), vec![&cancelled, &done]),
            ("agent=model%201".to_owned(), vec![&active]),
            ("agent=model".to_owned(), vec![]),
            ("status=active".to_owned(), vec![&draft, &active]),
            ("status=completed".to_owned(), vec![&done]),
            ("status=cancelled".to_owned(), vec![&cancelled]),
            ("status=timed_out".to_owned(), vec![]),
        ] {
            let listed = author.get(&format!("/benchmark-runs?{query}")).await.expect(200);
            let expected: Vec<&str> = expected.iter().map(|agent| agent.run.as_str()).collect();
            assert_eq!(ids(&listed), expected, "{query}");
        }
        for query in ["status=done", "status=", "solver_id=x", "benchmark_id=", "agnet=x", "slug=x"] {
            let refused = author.get(&format!("/benchmark-runs?{query}")).await.expect_error(400, "VALIDATION_ERROR");
            assert_eq!(refused.invalid_fields(), [query.split('=').next().unwrap()]);
        }
        let stranger = server.organization("Stranger").await;
        assert!(stranger.get("/benchmark-runs").await.expect(200).data().is_empty());
    }

    async fn the_list_shows_progress_and_leaves_out_task_runs(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        for name in ["First", "Second", "Third"] {
            bench.task(name, &[wants_code("a"), wants_code("b")]).await;
        }
        let agent = Agent::begin(&server, &solver(&server, &author, "ann").await, &bench.publish().await, true).await;
        agent.do_task(0, &["a"]).await;
        let listed = author.get("/benchmark-runs").await.expect(200);
        let row = &listed.data()[0];
        assert_eq!((&row["tasks"], &row["tasks_completed"], &row["scored"]), (&json!(3), &json!(1), &json!(true)));
        assert!(row.get("task_runs").is_none());
        let whole = author.get(&format!("/benchmark-runs/{}", agent.run)).await.expect(200);
        let mut names: Vec<&str> =
            whole["task_runs"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
        names.sort_unstable();
        assert_eq!(names, ["First", "Second", "Third"], "a scored run has them in another order");
        assert_eq!(whole["task_runs"][0]["criterion_runs"].as_array().unwrap().len(), 2);

        let task_runs = author.get(&format!("/task-runs?benchmark_run_id={}", agent.run)).await.expect(200);
        let mut newest_first = agent.task_runs.clone();
        newest_first.reverse();
        assert_eq!(ids(&task_runs), newest_first);
        let mut listed = task_runs.data()[2].clone();
        listed.as_object_mut().unwrap().shift_remove("snapshot");
        assert_eq!(listed, whole["task_runs"][0]);
        let criterion_runs =
            author.get(&format!("/criterion-runs?task_run_id={}", agent.task_runs[0])).await.expect(200);
        let mut of_run: Vec<&str> = whole["task_runs"][0]["criterion_runs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["id"].as_str().unwrap())
            .collect();
        of_run.reverse();
        assert_eq!(ids(&criterion_runs), of_run);
        assert!(
            author
                .get(&format!("/criterion-runs?task_run_id={}", agent.task_runs[1]))
                .await
                .expect(200)
                .data()
                .is_empty()
        );
    }
}

fn ids(page: &TestResponse) -> Vec<String> {
    page.data().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}
