//! Results in addition to scores: critical failures, passed and clean tasks, guards, public labels, and the axes of tasks
//! that were never scored.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, solver, wants_code};
use testkit::{Caller, TestServer, both_databases};

const SECOND: i64 = 1000;

both_databases! {
    async fn a_critical_criterion_scores_zero_unless_it_passes(server: TestServer) {
        let (author, reference, ann) = benchmark(&server).await;
        let agent = Agent::begin(&server, &ann, &reference, false).await;
        // One of the two fields of the critical criterion matches, which would give 0.5.
        let result = agent.do_task(0, &["a", "half"]).await;
        assert_eq!((&result["checks"][1]["score"], &result["checks"][1]["result"]), (&json!(0.0), &json!("fail")));
        let details = result["checks"][1]["details"].as_str().unwrap();
        assert!(details.ends_with("1 of 2 conditions hold; critical, so it scores 0 unless it is passed"), "{details}");
        let half = result["score"].as_f64().unwrap();
        assert!((half - 0.5).abs() < 0.0001 && result["verdict"] == "partial", "{half}");
        assert_eq!((&result["critical_failures"], &result["checks"][1]["critical"]), (&json!(1), &json!(true)));
        assert_eq!(result["benchmark_run"]["critical_failures"], 1);
        let again = agent.complete(0).await.expect_error(409, "CONFLICT").json;
        assert_eq!(again["error"]["details"]["critical_failures"], json!(["1"]));
        let other = Agent::begin(&server, &ann, &reference, false).await;
        let result = other.do_task(0, &["a", "whole"]).await;
        assert_eq!((&result["score"], &result["critical_failures"]), (&json!(1.0), &json!(0)));
        let rescored = author.post(&format!("/benchmark-runs/{}/rescore", agent.run), json!({})).await.expect(200);
        assert_eq!(rescored["identical"], true, "{}", rescored.text());
        let counts = ["critical_failures_before", "critical_failures_after"].map(|name| rescored[name].clone());
        assert_eq!(counts, [json!(1), json!(1)]);
        assert_eq!(rescored["task_runs"][0]["critical_failures_after"], 1);
        assert_eq!(rescored["task_runs"][0]["criteria"][1]["critical"], true);
    }

    async fn critical_failures_are_shown_at_every_level(server: TestServer) {
        let (author, reference, ann) = benchmark(&server).await;
        let mut runs = Vec::new();
        for codes in [&["a"][..], &["a", "whole"]] {
            let agent = Agent::begin(&server, &ann, &reference, true).await;
            let result = agent.do_task(0, codes).await;
            assert_eq!(result["critical_failures"], 2 - codes.len(), "{result}");
            author.post(&format!("/benchmark-runs/{}/publish", agent.run), json!({})).await.expect(200);
            runs.push(agent.run.clone());
        }
        let (failed, clean) = (&runs[0], &runs[1]);
        for (run, count) in [(failed, 1), (clean, 0)] {
            let whole = author.get(&format!("/benchmark-runs/{run}")).await.expect(200).json;
            let task = &whole["task_runs"][0];
            assert_eq!((&whole["critical_failures"], &task["critical_failures"]), (&json!(count), &json!(count)));
            for level in [&whole, task] {
                let listed = level["critical_criteria"].as_array().unwrap();
                assert_eq!(listed.len(), count);
                for one in listed {
                    assert_eq!((&one["label"], &one["task_run_id"]), (&json!("No harm"), &task["id"]));
                    let path = format!("/criterion-runs/{}", one["criterion_run_id"].as_str().unwrap());
                    let kept = author.get(&path).await.expect(200);
                    assert_eq!((&kept["criterion_id"], &kept["critical"]), (&one["criterion_id"], &json!(true)));
                }
            }
            assert_eq!(task["criterion_runs"][1]["critical"], true);
            let listed = author.get("/benchmark-runs").await.expect(200);
            let listed = listed.data().iter().find(|one| one["id"] == run.as_str()).unwrap().clone();
            assert_eq!(listed["critical_failures"], count);
            assert_eq!(listed["critical_criteria"], whole["critical_criteria"]);
            let tasks = author.get(&format!("/task-runs?benchmark_run_id={run}")).await.expect(200);
            assert_eq!(tasks.data()[0]["critical_failures"], count);
            let summary = ann.get(&format!("/v1/benchmark-runs/{run}")).await.expect(200).json;
            let seen = (&summary["critical_failures"], &summary["task_runs"][0]["critical_failures"]);
            assert_eq!(seen, (&json!(count), &json!(count)));
            assert!(summary.get("critical_criteria").is_none(), "{summary}");
        }
        let statistics = author.get(&format!("/benchmarks/{reference}/stats")).await.expect(200).json;
        let numbers = (&statistics["critical_failures"], &statistics["runs_with_critical_failures"]);
        assert_eq!(numbers, (&json!(1), &json!(1)));
        assert_eq!(statistics["tasks"][0]["critical_failures"], 1);
        let compared = author.get(&format!("/benchmark-runs/compare?ids={failed},{clean}")).await.expect(200).json;
        let groups = compared["groups"].as_array().unwrap().iter();
        let counts: Vec<&Value> = groups.map(|group| &group["statistics"]["critical_failures"]).collect();
        assert_eq!(counts, [&json!(1), &json!(0)]);
        let board = author.get(&format!("/v1/leaderboards/{reference}")).await.expect(200).json;
        assert_eq!(board["entries"][0]["critical_failures"], 1, "{board}");
    }

    async fn in_a_scored_run_only_the_owner_knows_what_is_critical_and_what_is_a_guard(server: TestServer) {
        let (author, reference, ann) = benchmark(&server).await;
        let agent = Agent::begin(&server, &ann, &reference, true).await;
        let completed = agent.do_task(0, &["a"]).await;
        for response in [&completed, &agent.result(0).await] {
            for check in response["checks"].as_array().unwrap() {
                assert!(check.get("critical").is_none() && check.get("guard").is_none(), "{check}");
            }
            let text = response.to_string();
            assert!(!text.contains("critical_criteria") && !text.contains("No harm"), "{text}");
        }
        let labels: Vec<&Value> = completed["checks"].as_array().unwrap().iter().map(|one| &one["label"]).collect();
        assert_eq!(labels, [&json!("Basic a"), &json!("Records"), &json!("Little was done")], "public where there is one");
        let path = format!("/criterion-runs?task_run_id={}", agent.task_runs[0]);
        let kept = author.get(&path).await.expect(200);
        let mut kept: Vec<Value> =
            kept.data().iter().map(|one| json!([one["label"], one["critical"], one["guard"]])).collect();
        kept.sort_by_key(ToString::to_string);
        let expected =
            [json!(["Basic a", false, false]), json!(["Little was done", false, true]), json!(["No harm", true, false])];
        assert_eq!(kept, expected);
        let open = Agent::begin(&server, &ann, &reference, false).await;
        let check = open.do_task(0, &["a"]).await["checks"][2].clone();
        assert_eq!((&check["label"], &check["guard"]), (&json!("Little was done"), &json!(true)), "{check}");
    }

    async fn a_task_without_a_score_shows_no_critical_failures(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let (author, reference, ann) = benchmark(&server).await;
        let agent = Agent::begin(&server, &ann, &reference, false).await;
        agent.start(0).await.expect(200);
        server.clock.advance(61 * SECOND);
        let result = agent.result(0).await;
        assert_eq!((&result["status"], &result["critical_failures"]), (&json!("timed_out"), &json!(0)));
        let run = author.get(&format!("/benchmark-runs/{}", agent.run)).await.expect(200).json;
        let beside = ["critical_failures", "tasks_passed", "clean_tasks"].map(|name| run[name].clone());
        assert_eq!(beside, [json!(0), json!(0), json!(0)]);
        assert_eq!(run["critical_criteria"], json!([]));
    }
}

both_databases! {
    async fn passed_and_clean_tasks_are_shown_next_to_the_mean(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        let light = json!({"label": "Light", "assertion": wants_code("b")["assertion"], "weight": 0.05});
        for name in ["Clean", "Passed", "Failed"] {
            bench.task(name, &[wants_code("a"), light.clone()]).await;
        }
        let reference = bench.publish().await;
        let agent = Agent::begin(&server, &solver(&server, &author, "ann").await, &reference, false).await;
        let tally = |run: &Value| ["tasks_passed", "clean_tasks"].map(|name| run[name].as_i64().unwrap());
        for (place, codes, expected) in [(0, &["a", "b"][..], [1, 1]), (1, &["a"], [2, 1]), (2, &[], [2, 1])] {
            agent.do_task(place, codes).await;
            assert_eq!(tally(&agent.read().await), expected, "also before the run has ended");
        }
        let run = author.get(&format!("/benchmark-runs/{}", agent.run)).await.expect(200).json;
        assert_eq!((tally(&run), tally(&author.get("/benchmark-runs").await.expect(200).data()[0])), ([2, 1], [2, 1]));
    }

    async fn a_task_without_a_score_counts_zero_on_the_axes_of_its_criteria(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({"timeout": 60})).await;
        let on = |axis: &str, weight: u32| {
            json!({"label": "Written", "assertion": wants_code("a")["assertion"], "axis": axis, "weight": weight})
        };
        bench.task("Done", &[on("safety", 1), on("tone", 1)]).await;
        for name in ["Timed out", "Cancelled"] {
            bench.task(name, &[on("safety", 2)]).await;
        }
        let reference = bench.publish().await;
        let ann = solver(&server, &author, "ann").await;
        let agent = Agent::begin(&server, &ann, &reference, false).await;
        agent.do_task(0, &["a"]).await;
        agent.start(1).await.expect(200);
        server.clock.advance(61 * SECOND);
        assert_eq!(agent.result(1).await["axes"], json!({"safety": {"score": 0.0, "weight": 2}}));
        let cancel = format!("/task-runs/{}/cancel", agent.task_runs[2]);
        author.send(Method::POST, &cancel, &[], None).await.expect(200);
        let run = author.get(&format!("/benchmark-runs/{}", agent.run)).await.expect(200).json;
        let axes = json!({"safety": {"score": 1.0 / 3.0, "weight": 5}, "tone": {"score": 1.0, "weight": 1}});
        assert_eq!((&run["status"], &run["axes"]), (&json!("completed"), &axes));
        // A run that is completed early counts the tasks that were not started.
        let early = Agent::begin(&server, &ann, &reference, false).await;
        early.do_task(0, &["a"]).await;
        let complete = format!("/benchmark-runs/{}/complete", early.run);
        let ended = author.send(Method::POST, &complete, &[], None).await.expect(200);
        assert_eq!((&ended["axes"], &ended["score"]), (&axes, &json!(1.0 / 3.0)));
        let rescored = author.post(&format!("/benchmark-runs/{}/rescore", early.run), json!({})).await.expect(200);
        let scores = (&rescored["identical"], &rescored["score_after"]);
        assert_eq!(scores, (&json!(true), &json!(1.0 / 3.0)));
    }
}

both_databases! {
    async fn a_critical_criterion_weighs_more_than_a_tenth_of_its_task(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        let task = bench.task("Order", &[json!({"label": "Main", "assertion": wants_code("a")["assertion"], "weight": 9})]).await;
        let critical = json!({"task_id": task, "label": "No harm", "assertion": wants_code("b")["assertion"], "critical": true});
        let created = author.post("/criteria", critical).await.expect(201);
        let warned = |criterion: &Value| criterion["warnings"].to_string().contains("more than 10 %");
        assert!(warned(&created.json), "{}", created.text());
        let path = format!("/criteria/{}", created.id());
        let read = author.get(&path).await.expect(200);
        assert_eq!(read.json, created.json);
        assert!(warned(&author.get(&format!("/criteria?task_id={task}")).await.expect(200).data()[0]));
        let whole = author.get(&format!("/tasks/{task}")).await.expect(200).json;
        assert!(warned(&whole["criteria"][1]) && !warned(&whole["criteria"][0]), "{whole}");
        let publish = format!("/benchmarks/{}/publish", bench.benchmark);
        let refused = author.post(&publish, json!({})).await.expect_error(409, "CONFLICT").json;
        let place = format!("{task}.criteria.{}.weight", created.id());
        let why = refused["error"]["details"][&place][0].as_str().unwrap();
        assert!(why.contains("this one has 1 of 10"), "{refused}");
        let draft = json!({"benchmark_id": bench.benchmark});
        author.post("/benchmark-runs", draft).await.expect_error(409, "CONFLICT");
        let tag = read.header("etag").unwrap().to_owned();
        let heavier = [("if-match", tag.as_str())];
        let updated = author.send(Method::PATCH, &path, &heavier, Some(json!({"weight": 1.1}))).await.expect(200);
        assert!(!warned(&updated.json), "{}", updated.text());
        author.post(&publish, json!({})).await.expect(201);
    }

    async fn critical_and_public_label_are_stored_updated_and_published(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        let task = bench.task("Order", &[]).await;
        let assertion = json!({"assert": "no-side-effects"});
        let plain = json!({"task_id": task, "label": "Nothing else", "assertion": assertion});
        let criterion = author.post("/criteria", plain.clone()).await.expect(201);
        let members = |criterion: &Value| ["critical", "public_label", "guard"].map(|name| criterion[name].clone());
        assert_eq!(members(&criterion.json), [json!(false), Value::Null, json!(true)]);
        let publish = format!("/benchmarks/{}/publish", bench.benchmark);
        author.post(&publish, json!({})).await.expect(201);
        let path = format!("/criteria/{}", criterion.id());
        let changed = author.patch(&path, json!({"critical": true, "public_label": "Records"})).await.expect(200);
        assert_eq!(members(&changed.json), [json!(true), json!("Records"), json!(true)]);
        let version = author.post(&publish, json!({})).await.expect(201).json;
        assert_eq!(members(&version["tasks"][0]["criteria"][0]), [json!(true), json!("Records"), json!(true)]);
        author.patch(&path, json!({"critical": false, "public_label": null})).await.expect(200);
        let same = author.post(&publish, json!({})).await.expect_error(409, "CONFLICT").json;
        assert!(same["error"]["message"].as_str().unwrap().contains("orders@1"), "{same}");
        for (field, bad) in [
            ("public_label", json!("")),
            ("public_label", json!("x".repeat(201))),
            ("public_label", json!(" ")),
            ("public_label", json!(5)),
            ("critical", json!("yes")),
            ("critical", Value::Null),
            ("guard", json!(true)),
        ] {
            let mut wrong = plain.clone();
            wrong[field] = bad.clone();
            let refused = author.post("/criteria", wrong).await;
            assert_eq!(refused.status, 400, "{field} {bad}: {}", refused.text());
            let refused = author.patch(&path, json!({field: bad})).await;
            assert_eq!(refused.status, 400, "{field} {bad}: {}", refused.text());
        }
    }
}

/// A benchmark of one task: a plain criterion, a critical one with a public label, and a light guard.
async fn benchmark(server: &TestServer) -> (Caller, String, Caller) {
    let author = server.organization("Acme").await;
    let bench = Bench::new(&author, json!({"timeout": 60})).await;
    let fields = json!([
        {"fhirpath": "code.text in ('half' | 'whole')", "expected": true},
        {"path": "code.text", "expected": "whole"}
    ]);
    let assertion =
        json!({"assert": "fhir-resource-state", "resource_type": "Basic", "match": "any", "fields": fields});
    let critical = json!({"label": "No harm", "public_label": "Records", "critical": true, "assertion": assertion});
    let guard =
        json!({"label": "Little was done", "weight": 0.0001, "assertion": {"assert": "interaction-budget", "max": 50}});
    bench.task("Order", &[wants_code("a"), critical, guard]).await;
    let reference = bench.publish().await;
    let ann = solver(server, &author, "ann").await;
    (author, reference, ann)
}
