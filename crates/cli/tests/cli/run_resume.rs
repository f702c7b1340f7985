//! `verial run` killed at any moment, and gone on with: no task is sampled twice.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use crate::arena::{Arena, WRITES_A, ended, report, statuses, wait_for};

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_was_working_is_not_started_again() {
    let arena = Arena::open().await;
    let agent = format!("{WRITES_A}; echo $$ > begun; if [ ! -e go ]; then sleep 1000; fi");
    let mut running = arena.run(&agent, &["--journal", "j.json"]).spawn().unwrap();
    let folder = arena.folder();
    let says =
        |name: &str, words: &str| std::fs::read_to_string(folder.join(name)).is_ok_and(|text| text.contains(words));
    wait_for("the agent's start", || says("begun", "\n") && says("j.json", "\"group\""));
    // While it works, nobody else may go on with its journal.
    let (_, words) = ended(&mut arena.verial(&["run", "--resume", "j.json"]), 2);
    assert!(words.contains("another `verial run`"), "{words}");
    running.kill().unwrap();
    running.wait().unwrap();
    std::fs::write(folder.join("go"), "").unwrap();
    let told = report(&mut arena.verial(&["run", "--resume", "j.json"]), 4);
    assert_eq!(statuses(&told), ["interrupted", "completed"]);
    let first = &told["runs"][0]["tasks"][0];
    // Nobody knows how far it was, so it is not scored.
    assert_eq!((&first["score"], &told["resumed"]), (&json!(null), &json!(1)));
    assert!(first["notes"][0].as_str().unwrap().contains("killed while the agent worked"), "{first}");
    assert!(first["notes"][0].as_str().unwrap().contains("was still running and was ended"), "{first}");
    assert_eq!(arena.starts().len(), 2, "one start for each task");
    // Nothing is left to do, and the report is the same again, also by the run's id.
    let path = folder.join(".verial/runs");
    std::fs::create_dir_all(&path).unwrap();
    std::fs::copy(folder.join("j.json"), path.join("j.json")).unwrap();
    let run = told["runs"][0]["id"].as_str().unwrap();
    let again = report(&mut arena.verial(&["run", "--resume", run]), 4);
    assert_eq!(again["runs"][0]["score"], told["runs"][0]["score"]);
    assert_eq!(arena.starts().len(), 2);
    let (_, words) = ended(arena.verial(&["run", "--resume", run]).args(["--min-score", "1.0"]), 4);
    assert!(words.contains("1 of 2 tasks were not measured") && words.contains("--failed-from br_"), "{words}");
    let (_, words) = ended(&mut arena.verial(&["run", "--resume", "nowhere.json"]), 2);
    assert!(words.contains("no journal"), "{words}");
}

/// Kills after each change of the journal that there is, one after the other, and goes on until it is done.
#[tokio::test(flavor = "multi_thread")]
async fn killed_after_every_step_no_task_is_sampled_twice() {
    let arena = Arena::open().await;
    let journal = arena.folder().join("j.json");
    let mut kills = 0;
    let mut first = arena.run(WRITES_A, &["--journal", "j.json"]);
    let mut running = first.stdout(std::process::Stdio::null()).spawn().unwrap();
    let mut seen = BTreeSet::new();
    loop {
        let ended = until_new_step(&journal, &mut seen, &mut running);
        if ended {
            break;
        }
        running.kill().unwrap();
        running.wait().unwrap();
        kills += 1;
        let mut next = arena.verial(&["run", "--resume", "j.json"]);
        running = next.stdout(std::process::Stdio::null()).spawn().unwrap();
    }
    println!("killed {kills} times");
    assert!(kills >= 2, "only {kills} kills");
    let (out, _) = ended(&mut arena.verial(&["run", "--resume", "j.json", "--json"]), 4);
    let told: Value = serde_json::from_str(&out).unwrap();
    let starts = arena.starts();
    let distinct: BTreeSet<&String> = starts.iter().collect();
    assert_eq!(starts.len(), distinct.len(), "a task was sampled twice: {starts:?}");
    for task in told["runs"][0]["tasks"].as_array().unwrap() {
        let was_started = starts.iter().any(|start| task["task_run_id"] == start.as_str());
        // What was never started, or not let to its end, is told as such.
        assert!(was_started || task["status"] == "interrupted", "{task}");
        assert!(["completed", "interrupted"].contains(&task["status"].as_str().unwrap()), "{task}");
    }
}

/// Waits until the journal says something that it has not said before, or the process has ended.
fn until_new_step(journal: &Path, seen: &mut BTreeSet<String>, running: &mut std::process::Child) -> bool {
    let mut ended = false;
    wait_for("a step", || {
        let text = std::fs::read_to_string(journal).unwrap_or_default();
        let steps = serde_json::from_str::<Value>(&text).map(|journal| steps(&journal)).unwrap_or_default();
        ended = running.try_wait().unwrap().is_some();
        ended || (!steps.is_empty() && seen.insert(steps))
    });
    ended
}

fn steps(journal: &Value) -> String {
    let run = &journal["runs"][0];
    let tasks = run["tasks"].as_array().into_iter().flatten();
    let steps: Vec<&str> = tasks.map(|task| task["step"].as_str().unwrap_or("")).collect();
    format!("{} {}", run["created"].is_object(), steps.join(" "))
}
