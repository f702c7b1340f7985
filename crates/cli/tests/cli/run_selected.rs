//! `verial run` of folders and of some tasks, and what is refused before anything runs.

use serde_json::{Value, json};

use crate::arena::{Arena, WRITES_A, ended, report, statuses};
use crate::process::{failure, output, verial};

fn task_names(report: &Value) -> Vec<&str> {
    report["runs"][0]["tasks"].as_array().unwrap().iter().map(|task| task["name"].as_str().unwrap()).collect()
}

#[test]
fn a_folder_is_run_without_publishing_it() {
    let home = tempfile::tempdir().unwrap();
    let run = |words: &[&str]| {
        let mut command = verial(words);
        command.current_dir(home.path()).env("HOME", home.path()).env_remove("GITHUB_SHA");
        command
    };
    output(&mut run(&["benchmarks", "init", "x-rays"]));
    let (_, words) = ended(&mut run(&["run", "x-rays", "--agent", "true"]), 2);
    assert!(words.contains("add --local") && words.contains("verial benchmarks push x-rays"), "{words}");
    let local = ["run", "x-rays", "--local", "--no-isolation", "--agent", "true", "--data", "data"];
    let told = report(&mut run(&local), 0);
    assert_eq!((&told["benchmark"], told["runs"][0]["tasks"].as_array().unwrap().len()), (&json!("x-rays"), 2));
    let log = told["runs"][0]["tasks"][1]["agent"]["log"].as_str().unwrap();
    assert!(log.ends_with("02-order-a-chest-x-ray-for-ben-wells.log"), "{log}");
    // One task, one tag; and the task that an earlier run of the same folder did not pass.
    let told = report(run(&local).args(["--task", "Order a chest X-ray for Ben Wells"]), 0);
    assert_eq!(task_names(&told), ["Order a chest X-ray for Ben Wells"]);
    let told =
        report(run(&local).args(["--tag", "action", "--failed-from", told["runs"][0]["id"].as_str().unwrap()]), 0);
    assert_eq!(task_names(&told), ["Order a chest X-ray for Ben Wells"]);
    let (_, words) = ended(run(&local).args(["--tag", "slow"]), 3);
    assert!(words.contains("no task of the benchmark has the tag"), "{words}");
    // Nothing wrong is begun, and what is wrong is listed.
    let (_, words) = ended(run(&local).args(["--min-axis", "speed=1"]), 2);
    assert!(words.contains("no criterion of x-rays has this axis; there are correctness, safety"), "{words}");
    let path = home.path().join("x-rays/tasks/10-order.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("axis: safety", "axes: safety")).unwrap();
    let words = failure(&mut run(&local));
    assert!(words.contains("tasks/10-order.yaml") && words.contains("axes"), "{words}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tasks_that_a_run_did_not_pass_are_run_again() {
    let arena = Arena::open().await;
    let first = report(&mut arena.run(WRITES_A, &["--journal", "j.json"]), 0);
    let run = first["runs"][0]["id"].as_str().unwrap();
    for earlier in [run, "j.json"] {
        let told = report(&mut arena.run(WRITES_A, &["--failed-from", earlier]), 0);
        assert_eq!(task_names(&told), ["Write b"], "{earlier}");
    }
    let told = report(&mut arena.run(WRITES_A, &["--task", "Write a"]), 0);
    let passed = told["runs"][0]["id"].as_str().unwrap();
    let before = arena.starts().len();
    let (_, words) = ended(&mut arena.run(WRITES_A, &["--failed-from", passed]), 0);
    assert!(words.contains("there is nothing to run"), "{words}");
    assert_eq!(arena.starts().len(), before);
    for (earlier, reason) in [("br_01K9Z3T5Q8W7N4M2R6V0XBHCDE", "no such run"), ("nowhere", "neither a journal nor")] {
        let (_, words) = ended(&mut arena.run(WRITES_A, &["--failed-from", earlier]), 2);
        assert!(words.contains(reason), "{words}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_gate_is_checked_before_anything_runs() {
    let arena = Arena::open().await;
    for (words, reason) in [
        (["--min-axis", "safty=1"], "no criterion of"),
        (["--baseline", "br_01K9Z3T5Q8W7N4M2R6V0XBHCDE"], "there is no such run"),
        (["--min-tasks-passed", "3"], "the run has only 2 tasks"),
        (["--min-score", "2"], "must be a number from 0 to 1"),
        (["--meta", "model"], "write it as name=value"),
        (["--retry-infra=11", "--json"], "11 is not in 0..=10"),
    ] {
        let (_, told) = ended(&mut arena.run(WRITES_A, &words), 2);
        assert!(told.contains(reason), "{told}");
    }
    let author = arena.serving.first_caller();
    assert_eq!(author.get("/benchmark-runs").await.expect(200).data().len(), 0);
    assert!(arena.starts().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn metadata_and_what_ci_says_are_kept_with_the_run() {
    let arena = Arena::open().await;
    let mut run = arena.run(WRITES_A, &["--meta", "model=m-2", "--meta", "prompt=short"]);
    let told = report(run.env("CI_COMMIT_SHA", "4f2a").env("VERIAL_MODEL", "m-1").env_remove("GITHUB_SHA"), 0);
    let kept = arena.serving.first_caller().get("/benchmark-runs").await.expect(200).data()[0]["metadata"].clone();
    assert_eq!(kept["commit"], "4f2a");
    assert_eq!((&kept["model"], &kept["prompt"]), (&json!("m-2"), &json!("short")));
    assert_eq!(told["metadata"], kept);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_crashes_in_every_task_is_no_success() {
    let arena = Arena::open().await;
    let (card, words) = ended(&mut arena.run("echo no module named fhir >&2; exit 1", &[]), 1);
    assert!(words.contains("the agent crashed in every task"), "{words}");
    assert!(card.contains("no module named fhir"), "{card}");
    // One that does its work and ends badly has done its work.
    let told = report(&mut arena.run(&format!("{WRITES_A}; exit 1"), &[]), 0);
    assert_eq!(statuses(&told), ["completed", "completed"]);
    let ignored = std::fs::read_to_string(arena.folder().join(".verial/.gitignore")).unwrap();
    assert_eq!(ignored, "*\n");
    let locks = std::fs::read_dir(arena.folder().join(".verial/runs")).unwrap();
    let is_lock = |entry: &std::fs::DirEntry| entry.path().extension().is_some_and(|extension| extension == "lock");
    assert_eq!(locks.filter(|entry| entry.as_ref().is_ok_and(is_lock)).count(), 0);
}
