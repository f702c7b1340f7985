//! Benchmarks as folders, the demo and the examples, as a user has them.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use testkit::Database;

use crate::process::{Site, output, verial};

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn what_init_makes_is_sound_pushed_and_pulled_back_unchanged() {
    let site = Site::new(Database::Sqlite);
    let serving = site.serve();
    let place = tempfile::tempdir().unwrap();
    let (made, copy) = (place.path().join("chest-x-rays"), place.path().join("copy"));
    output(&mut verial(&["benchmarks", "init", text(&made)]));
    let words = output(&mut verial(&["benchmarks", "lint", "--strict", text(&made)]));
    assert!(words.contains("is sound"), "{words}");
    let with_key = |words: &[&str]| {
        let mut command = verial(words);
        command.env("VERIAL_URL", &serving.base_url).env("VERIAL_API_KEY", serving.first_key.as_deref().unwrap());
        output(&mut command)
    };
    let words = with_key(&["benchmarks", "push", text(&made)]);
    assert!(words.contains("Published chest-x-rays@1: 2 tasks, 4 criteria."), "{words}");
    with_key(&["benchmarks", "pull", "chest-x-rays", text(&copy)]);
    let words = with_key(&["benchmarks", "push", text(&copy)]);
    assert!(words.contains("Nothing new: this is chest-x-rays@1."), "{words}");
    let again = verial(&["benchmarks", "init", text(&made)]).output().unwrap();
    assert_eq!(again.status.code(), Some(2), "{}", String::from_utf8_lossy(&again.stderr));
}

#[test]
fn what_init_says_next_can_be_typed() {
    let place = tempfile::tempdir().unwrap();
    for (name, word) in [("my-bench", "my-bench"), ("Ann's Bench", r"'Ann'\''s Bench'")] {
        let words = output(verial(&["benchmarks", "init", name]).current_dir(place.path()));
        for step in ["lint", "audit", "push"] {
            assert!(words.lines().any(|line| line.ends_with(&format!("verial benchmarks {step} {word}"))), "{words}");
        }
    }
}

#[test]
fn a_forced_pull_leaves_no_task_that_the_benchmark_does_not_have() {
    let site = Site::new(Database::Sqlite);
    let serving = site.serve();
    let place = tempfile::tempdir().unwrap();
    let made = place.path().join("chest-x-rays");
    output(&mut verial(&["benchmarks", "init", text(&made)]));
    let with_key = |words: &[&str]| {
        let mut command = verial(words);
        command.env("VERIAL_URL", &serving.base_url).env("VERIAL_API_KEY", serving.first_key.as_deref().unwrap());
        output(&mut command)
    };
    with_key(&["benchmarks", "push", text(&made)]);
    std::fs::write(made.join("tasks/90-broken.yaml"), "name: [").unwrap();
    std::fs::write(made.join("notes.txt"), "mine").unwrap();
    let words = with_key(&["benchmarks", "pull", "chest-x-rays", text(&made), "--force"]);
    for gone in ["tasks/10-order.yaml", "tasks/90-broken.yaml"] {
        assert!(words.contains(&format!("Removed {gone}")) && !made.join(gone).exists(), "{gone}: {words}");
    }
    assert!(made.join("notes.txt").exists());
    let words = with_key(&["benchmarks", "push", text(&made)]);
    assert!(words.contains("Nothing new: this is chest-x-rays@1."), "{words}");

    // What is no benchmark's folder keeps what is below `tasks`.
    let other = place.path().join("playbook");
    std::fs::create_dir_all(other.join("tasks")).unwrap();
    std::fs::write(other.join("tasks/main.yaml"), "- mine").unwrap();
    let words = with_key(&["benchmarks", "pull", "chest-x-rays", text(&other), "--force", "--get", "removed"]);
    assert!(other.join("tasks/main.yaml").exists() && !words.contains("main.yaml"), "{words}");
}

#[test]
fn lint_names_the_place_of_every_fault() {
    let place = tempfile::tempdir().unwrap();
    let made = place.path().join("bad");
    output(&mut verial(&["benchmarks", "init", text(&made)]));
    let task = made.join("tasks/10-order.yaml");
    let sound = std::fs::read_to_string(&task).unwrap();
    for (from, to, said) in [
        ("path: status", "path: status, oper: x", "criteria.0.assertion.fields.0.oper"),
        ("fhir-resource-state", "voice-transcript", "criteria.0.assertion"),
        ("{{entity.mrn}}", "{{entity.mrm}}", "task_item.instruction"),
        ("require: [fhir/ServiceRequest]", "allow: [fhir/ServiceRequest]", ""),
        ("chart/Ben Wells", "chart/Bob Wells", "there is no entity `chart/Bob Wells`"),
        ("tags: [action]", "tag: [action]", "tag"),
        ("The medical", "", ""),
    ] {
        std::fs::write(&task, sound.replace(from, to)).unwrap();
        let linted = verial(&["benchmarks", "lint", text(&made)]).output().unwrap();
        let words = String::from_utf8_lossy(&linted.stdout).into_owned();
        assert_eq!(linted.status.code(), Some(if said.is_empty() { 0 } else { 1 }), "{to}: {words}");
        assert!(words.contains(said), "{to}: {words}");
    }
}

#[test]
fn the_demo_shows_the_reference_agent_again_and_again() {
    let place = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let data = place.path().join("data");
        let shown = output(&mut verial(&["demo", "--once", "--listen", "127.0.0.1:0", "--data", text(&data)]));
        assert!(shown.contains("score 1.0000  pass  (floor 0.00, ceiling 1.00)"), "{shown}");
        assert!(!shown.contains("runs get"), "its server is gone: {shown}");
    }
}

/// A model behind an OpenAI-compatible endpoint, which only ever looks into the inbox and is done.
#[test]
fn any_model_can_be_the_agent() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || listener.incoming().flatten().for_each(play_model));
    let place = tempfile::tempdir().unwrap();
    let example = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/model_agent.py");
    let agent = format!("python3 '{}'", example.display());
    let mut command =
        verial(&["run", "lab-followup@2", "--local", "--allow-critical", "--json", "--agent", &agent, "--journal"]);
    command.arg(place.path().join("journal.json")).env("OPENAI_BASE_URL", url).env("OPENAI_MODEL", "scripted");
    let report: Value = serde_json::from_str(&output(&mut command)).unwrap();
    assert_eq!(report["exit_code"], 0, "{report}");
    let logs = std::fs::read_dir(place.path().join("journal.logs")).unwrap();
    let logs: Vec<String> = logs.map(|log| std::fs::read_to_string(log.unwrap().path()).unwrap()).collect();
    assert_eq!(logs.len(), 9);
    assert!(
        logs.iter().all(|log| log.contains("hl7/inbox") && log.contains("200") && log.contains("DONE")),
        "{logs:?}"
    );
}

fn play_model(mut stream: std::net::TcpStream) {
    let mut request = Vec::new();
    let mut part = [0; 65536];
    let body = loop {
        let read = stream.read(&mut part).unwrap_or(0);
        request.extend_from_slice(&part[..read]);
        let whole = String::from_utf8_lossy(&request).into_owned();
        let Some((head, body)) = whole.split_once("\r\n\r\n") else { continue };
        let length =
            head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ").map(str::to_owned));
        if read == 0 || body.len() >= length.and_then(|length| length.parse().ok()).unwrap_or(0) {
            break body.to_owned();
        }
    };
    let has_looked = serde_json::from_str::<Value>(&body).unwrap()["messages"].as_array().unwrap().len() > 2;
    let look = json!({"id": "1", "type": "function",
        "function": {"name": "http", "arguments": "{\"method\": \"GET\", \"path\": \"hl7/inbox\"}"}});
    let message = match has_looked {
        true => json!({"role": "assistant", "content": "DONE"}),
        false => json!({"role": "assistant", "content": null, "tool_calls": [look]}),
    };
    let answer = json!({"choices": [{"message": message}]}).to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        answer.len()
    );
    let _ = stream.write_all(format!("{head}{answer}").as_bytes());
}
