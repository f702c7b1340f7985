//! `verial run` killed at any time and resumed: no agent is started twice for a task.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use crate::fixture::{RunFixture, WRITES_A, expect_exit, report, statuses, wait_for};

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_was_working_is_not_started_again() {
    let fixture = RunFixture::open().await;
    let agent = format!("{WRITES_A}; echo $$ > begun; if [ ! -e go ]; then sleep 1000; fi");
    let mut running = fixture.run(&agent, &["--journal", "j.json"]).spawn().unwrap();
    let folder = fixture.folder();
    let says =
        |name: &str, stderr: &str| std::fs::read_to_string(folder.join(name)).is_ok_and(|text| text.contains(stderr));
    wait_for("the agent's start", || says("begun", "\n") && says("j.json", "\"group\""));
    // While it works, no other process may resume its journal.
    let (_, stderr) = expect_exit(&mut fixture.verial(&["run", "--resume", "j.json"]), 2);
    assert!(stderr.contains("another `verial run`"), "{stderr}");
    running.kill().unwrap();
    running.wait().unwrap();
    std::fs::write(folder.join("go"), "").unwrap();
    let report_json = report(&mut fixture.verial(&["run", "--resume", "j.json"]), 4);
    assert_eq!(statuses(&report_json), ["interrupted", "completed"]);
    let first = &report_json["runs"][0]["tasks"][0];
    // It is unknown how far the agent got, so the task is not scored.
    assert_eq!((&first["score"], &report_json["resumed"]), (&json!(null), &json!(1)));
    assert!(first["notes"][0].as_str().unwrap().contains("killed while the agent worked"), "{first}");
    assert!(first["notes"][0].as_str().unwrap().contains("was still running and was killed"), "{first}");
    assert_eq!(fixture.starts().len(), 2, "one start for each task");
    // Nothing is left to do, and the report is the same, also by the run's id.
    let path = folder.join(".verial/runs");
    std::fs::create_dir_all(&path).unwrap();
    std::fs::copy(folder.join("j.json"), path.join("j.json")).unwrap();
    let run = report_json["runs"][0]["id"].as_str().unwrap();
    let again = report(&mut fixture.verial(&["run", "--resume", run]), 4);
    assert_eq!(again["runs"][0]["score"], report_json["runs"][0]["score"]);
    assert_eq!(fixture.starts().len(), 2);
    let (_, stderr) = expect_exit(fixture.verial(&["run", "--resume", run]).args(["--min-score", "1.0"]), 4);
    assert!(stderr.contains("1 of 2 tasks were not measured") && stderr.contains("--failed-from br_"), "{stderr}");
    let (_, stderr) = expect_exit(&mut fixture.verial(&["run", "--resume", "nowhere.json"]), 2);
    assert!(stderr.contains("no journal"), "{stderr}");
}

/// Kills the process after each change of the journal in turn, and resumes until the run is done.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_killed_after_every_step_starts_no_agent_twice() {
    let fixture = RunFixture::open().await;
    let journal = fixture.folder().join("j.json");
    let mut kills = 0;
    let mut first = fixture.run(WRITES_A, &["--journal", "j.json"]);
    let mut running = first.stdout(std::process::Stdio::null()).spawn().unwrap();
    let mut seen = BTreeSet::new();
    loop {
        let has_ended = until_new_step(&journal, &mut seen, &mut running);
        if has_ended {
            break;
        }
        running.kill().unwrap();
        running.wait().unwrap();
        kills += 1;
        let mut next = fixture.verial(&["run", "--resume", "j.json"]);
        running = next.stdout(std::process::Stdio::null()).spawn().unwrap();
    }
    println!("killed {kills} times");
    assert!(kills >= 2, "only {kills} kills");
    let (out, _) = expect_exit(&mut fixture.verial(&["run", "--resume", "j.json", "--json"]), 4);
    let report_json: Value = serde_json::from_str(&out).unwrap();
    let starts = fixture.starts();
    let distinct: BTreeSet<&String> = starts.iter().collect();
    assert_eq!(starts.len(), distinct.len(), "an agent was started twice for a task: {starts:?}");
    for task in report_json["runs"][0]["tasks"].as_array().unwrap() {
        let was_started = starts.iter().any(|start| task["task_run_id"] == start.as_str());
        // Tasks that were not started or not finished are reported as such.
        assert!(was_started || task["status"] == "interrupted", "{task}");
        assert!(["completed", "interrupted"].contains(&task["status"].as_str().unwrap()), "{task}");
    }
}

/// Waits until the journal has new content, or the process has ended.
fn until_new_step(journal: &Path, seen: &mut BTreeSet<String>, running: &mut std::process::Child) -> bool {
    let mut has_ended = false;
    wait_for("a step", || {
        let text = std::fs::read_to_string(journal).unwrap_or_default();
        let steps = serde_json::from_str::<Value>(&text).map(|journal| steps(&journal)).unwrap_or_default();
        has_ended = running.try_wait().unwrap().is_some();
        has_ended || (!steps.is_empty() && seen.insert(steps))
    });
    has_ended
}

fn steps(journal: &Value) -> String {
    let run = &journal["runs"][0];
    let tasks = run["tasks"].as_array().into_iter().flatten();
    let steps: Vec<&str> = tasks.map(|task| task["step"].as_str().unwrap_or("")).collect();
    format!("{} {}", run["created"].is_object(), steps.join(" "))
}
