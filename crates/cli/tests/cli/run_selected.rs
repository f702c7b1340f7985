//! `verial run` with folders and selected tasks, and checks before the run.

use serde_json::{Value, json};

use crate::fixture::{RunFixture, WRITES_A, expect_exit, report, statuses};
use crate::process::{failure, output, verial};

fn task_names(report: &Value) -> Vec<&str> {
    report["runs"][0]["tasks"].as_array().unwrap().iter().map(|task| task["name"].as_str().unwrap()).collect()
}

#[test]
fn a_folder_is_run_without_publishing_it() {
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let mut command = verial(arguments);
        command.current_dir(home.path()).env("HOME", home.path()).env_remove("GITHUB_SHA");
        command
    };
    output(&mut run(&["benchmarks", "init", "x-rays"]));
    let (_, output_text) = expect_exit(&mut run(&["run", "x-rays", "--agent", "true"]), 2);
    assert!(
        output_text.contains("add --local") && output_text.contains("verial benchmarks push x-rays"),
        "{output_text}"
    );
    let local = ["run", "x-rays", "--local", "--no-isolation", "--agent", "true", "--data", "data"];
    let report_json = report(&mut run(&local), 0);
    assert_eq!(
        (&report_json["benchmark"], report_json["runs"][0]["tasks"].as_array().unwrap().len()),
        (&json!("x-rays"), 2)
    );
    let log = report_json["runs"][0]["tasks"][1]["agent"]["log"].as_str().unwrap();
    assert!(log.ends_with("02-order-a-chest-x-ray-for-ben-wells.log"), "{log}");
    // Select by task, by tag, and by the tasks that an earlier run of the same folder did not pass.
    let report_json = report(run(&local).args(["--task", "Order a chest X-ray for Ben Wells"]), 0);
    assert_eq!(task_names(&report_json), ["Order a chest X-ray for Ben Wells"]);
    let report_json = report(
        run(&local).args(["--tag", "action", "--failed-from", report_json["runs"][0]["id"].as_str().unwrap()]),
        0,
    );
    assert_eq!(task_names(&report_json), ["Order a chest X-ray for Ben Wells"]);
    let (_, output_text) = expect_exit(run(&local).args(["--tag", "slow"]), 3);
    assert!(output_text.contains("no task of the benchmark has the tag"), "{output_text}");
    // An invalid folder is not run, and its errors are listed.
    for (selected, expected) in [
        (["--tag", "action", "--min-tasks-passed", "3"], "the run selects only 2 tasks"),
        (["--task", "Order a chest X-ray for Ben Wells", "--min-tasks-passed", "2"], "the run selects only 1 task"),
    ] {
        let (_, stderr) = expect_exit(run(&local).args(selected), 2);
        assert!(stderr.contains(expected), "{stderr}");
    }
    let (_, output_text) = expect_exit(run(&local).args(["--min-axis", "speed=1"]), 2);
    assert!(
        output_text.contains("no criterion of x-rays has this axis; its axes are correctness, safety"),
        "{output_text}"
    );
    let path = home.path().join("x-rays/tasks/10-order.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("axis: safety", "axes: safety")).unwrap();
    let output_text = failure(&mut run(&local));
    assert!(output_text.contains("tasks/10-order.yaml") && output_text.contains("axes"), "{output_text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_from_selects_the_tasks_that_did_not_pass() {
    let fixture = RunFixture::open().await;
    let first = report(&mut fixture.run(WRITES_A, &["--journal", "j.json"]), 0);
    let run = first["runs"][0]["id"].as_str().unwrap();
    for earlier in [run, "j.json"] {
        let report_json = report(&mut fixture.run(WRITES_A, &["--failed-from", earlier]), 0);
        assert_eq!(task_names(&report_json), ["Write b"], "{earlier}");
    }
    let report_json = report(&mut fixture.run(WRITES_A, &["--task", "Write a"]), 0);
    let passed = report_json["runs"][0]["id"].as_str().unwrap();
    let before = fixture.starts().len();
    let (_, stderr) = expect_exit(&mut fixture.run(WRITES_A, &["--failed-from", passed]), 0);
    assert!(stderr.contains("nothing to run"), "{stderr}");
    assert_eq!(fixture.starts().len(), before);
    for (earlier, reason) in [("br_01K9Z3T5Q8W7N4M2R6V0XBHCDE", "run not found"), ("nowhere", "neither a journal nor")]
    {
        let (_, stderr) = expect_exit(&mut fixture.run(WRITES_A, &["--failed-from", earlier]), 2);
        assert!(stderr.contains(reason), "{stderr}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_gate_is_checked_before_anything_runs() {
    let fixture = RunFixture::open().await;
    for (arguments, reason) in [
        (["--min-axis", "safty=1"], "no criterion of"),
        (["--baseline", "br_01K9Z3T5Q8W7N4M2R6V0XBHCDE"], "run not found"),
        (["--min-tasks-passed", "3"], "the run has only 2 tasks"),
        (["--min-score", "2"], "must be a number from 0 to 1"),
        (["--meta", "model"], "expected NAME=VALUE"),
        (["--retry-infra=11", "--json"], "11 is not in 0..=10"),
    ] {
        let (_, text) = expect_exit(&mut fixture.run(WRITES_A, &arguments), 2);
        assert!(text.contains(reason), "{text}");
    }
    let author = fixture.server.first_caller();
    assert_eq!(author.get("/benchmark-runs").await.expect(200).data().len(), 0);
    assert!(fixture.starts().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn metadata_and_ci_variables_are_stored_with_the_run() {
    let fixture = RunFixture::open().await;
    let mut run = fixture.run(WRITES_A, &["--meta", "model=m-2", "--meta", "prompt=short"]);
    let report_json = report(run.env("CI_COMMIT_SHA", "4f2a").env("VERIAL_MODEL", "m-1").env_remove("GITHUB_SHA"), 0);
    let kept = fixture.server.first_caller().get("/benchmark-runs").await.expect(200).data()[0]["metadata"].clone();
    assert_eq!(kept["commit"], "4f2a");
    assert_eq!((&kept["model"], &kept["prompt"]), (&json!("m-2"), &json!("short")));
    assert_eq!(report_json["metadata"], kept);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_crashes_in_every_task_fails_the_run() {
    let fixture = RunFixture::open().await;
    let (card, stderr) = expect_exit(&mut fixture.run("echo no module named fhir >&2; exit 1", &[]), 1);
    assert!(stderr.contains("the agent crashed in every task"), "{stderr}");
    assert!(card.contains("no module named fhir"), "{card}");
    // An agent that does its work and exits with an error is scored normally.
    let report_json = report(&mut fixture.run(&format!("{WRITES_A}; exit 1"), &[]), 0);
    assert_eq!(statuses(&report_json), ["completed", "completed"]);
    let ignored = std::fs::read_to_string(fixture.folder().join(".verial/.gitignore")).unwrap();
    assert_eq!(ignored, "*\n");
    let locks = std::fs::read_dir(fixture.folder().join(".verial/runs")).unwrap();
    let is_lock = |entry: &std::fs::DirEntry| entry.path().extension().is_some_and(|extension| extension == "lock");
    assert_eq!(locks.filter(|entry| entry.as_ref().is_ok_and(is_lock)).count(), 0);
}
