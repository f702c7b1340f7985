//! `verial run --scored`: the agent cannot identify tasks, but reports have their real names.

use serde_json::{Value, json};

use crate::fixture::{RunFixture, WRITES_A, expect_exit, report};

/// An agent that stores everything it can read about its task: variables, credentials and the journal.
const SPIES: &str = r#"env | grep ^VERIAL_TASK= >> names; env | grep ^VERIAL_ >> seen; cat "$VERIAL_CREDENTIALS_FILE" .verial/runs/*.json >> seen"#;

#[tokio::test(flavor = "multi_thread")]
async fn task_names_are_neutral_for_the_agent_and_real_in_the_report() {
    let fixture = RunFixture::open().await;
    let author = fixture.server.first_caller();
    let solver = author.post("/solvers", json!({"alias": "ci"})).await.expect(201).id();
    let key = author.post(&format!("/solvers/{solver}/api-keys"), json!({"name": "ci"})).await.expect(201).json;
    for is_solver in [false, true] {
        let mut run = fixture.run(&format!("{SPIES}; {WRITES_A}"), &["--scored", "--junit", "j.xml", "--repeat", "2"]);
        if is_solver {
            run.env_remove("VERIAL_API_KEY").env("VERIAL_SOLVER_KEY", key["key"].as_str().unwrap());
        }
        let report_json = report(&mut run, 0);
        for repetition in report_json["runs"].as_array().unwrap() {
            assert_eq!(names(&repetition["tasks"]), ["Write a", "Write b"]);
        }
        assert_eq!(names(&report_json["statistics"]["tasks"]), ["Write a", "Write b"], "paired across runs");
        let means: Vec<&Value> =
            report_json["statistics"]["tasks"].as_array().unwrap().iter().map(|task| &task["mean"]).collect();
        assert_eq!(means, [&json!(1.0), &json!(0.0)]);
        let junit = fixture.read("j.xml");
        assert!(junit.contains("Write a") && junit.contains("Write b") && !junit.contains("Task 1"), "{junit}");
        let (seen, given) = (fixture.read("seen"), fixture.read("names"));
        // The instruction of the first task is "Write a.".
        assert!(!seen.replace("Write a.", "").contains("Write "), "{seen}");
        assert!(given.lines().all(|line| ["VERIAL_TASK=Task 1", "VERIAL_TASK=Task 2"].contains(&line)), "{given}");
        for name in ["seen", "names"] {
            std::fs::remove_file(fixture.folder().join(name)).unwrap();
        }
        std::fs::remove_dir_all(fixture.folder().join(".verial")).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_can_be_selected() {
    let fixture = RunFixture::open().await;
    let report_json = report(&mut fixture.run(WRITES_A, &["--task", "Write a", "--min-score", "1"]), 0);
    assert_eq!((names(&report_json["runs"][0]["tasks"]), fixture.starts().len()), (vec!["Write a".to_owned()], 1));
    let author = fixture.server.first_caller();
    assert_eq!(author.get("/benchmark-runs").await.expect(200).data()[0]["partial_selection"], true);
    let (_, stderr) = expect_exit(&mut fixture.run(WRITES_A, &["--task", "Write a", "--task", "Write c"]), 3);
    assert!(stderr.contains("Write c"), "{stderr}");
    assert_eq!(fixture.starts().len(), 1);
}

fn names(tasks: &Value) -> Vec<String> {
    let mut names: Vec<String> =
        tasks.as_array().unwrap().iter().map(|task| task["name"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}
