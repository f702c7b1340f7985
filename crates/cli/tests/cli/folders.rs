//! Benchmark folders, the demo and the examples.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use testkit::Database;

use crate::process::{ServerData, output, verial};

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn the_starter_benchmark_is_valid_and_survives_push_and_pull() {
    let data = ServerData::new(Database::Sqlite);
    let server = data.serve();
    let directory = tempfile::tempdir().unwrap();
    let (created, copy) = (directory.path().join("chest-x-rays"), directory.path().join("copy"));
    output(&mut verial(&["benchmarks", "init", text(&created)]));
    let output_text = output(&mut verial(&["benchmarks", "lint", "--strict", text(&created)]));
    assert!(output_text.contains("is valid"), "{output_text}");
    let with_key = |arguments: &[&str]| {
        let mut command = verial(arguments);
        command.env("VERIAL_URL", &server.base_url).env("VERIAL_API_KEY", server.first_key.as_deref().unwrap());
        output(&mut command)
    };
    let output_text = with_key(&["benchmarks", "push", text(&created)]);
    assert!(output_text.contains("Published chest-x-rays@1: 2 tasks, 4 criteria."), "{output_text}");
    with_key(&["benchmarks", "pull", "chest-x-rays", text(&copy)]);
    let output_text = with_key(&["benchmarks", "push", text(&copy)]);
    assert!(output_text.contains("No changes: this is chest-x-rays@1."), "{output_text}");
    // A published version can be pulled with its own data, even if the draft has changed.
    let data = copy.join("datasets/chart/data.ndjson");
    let lines = std::fs::read_to_string(&data).unwrap();
    std::fs::write(
        &data,
        format!("{lines}{{\"resourceType\":\"Basic\",\"id\":\"new\",\"code\":{{\"text\":\"x\"}}}}\n"),
    )
    .unwrap();
    let output_text = with_key(&["benchmarks", "push", text(&copy)]);
    assert!(output_text.contains("Published chest-x-rays@2"), "{output_text}");
    let first = directory.path().join("first");
    with_key(&["benchmarks", "pull", "chest-x-rays@1", text(&first)]);
    assert_eq!(std::fs::read_to_string(first.join("datasets/chart/data.ndjson")).unwrap(), lines);
    let tasks: Vec<_> = std::fs::read_dir(first.join("tasks")).unwrap().collect();
    assert_eq!(tasks.len(), 1, "`each` is kept");
    let output_text = with_key(&["benchmarks", "push", text(&first)]);
    assert!(output_text.contains("No changes: this is chest-x-rays@1."), "{output_text}");
    let mut missing = verial(&["benchmarks", "pull", "chest-x-rays@9", text(&directory.path().join("none"))]);
    missing.env("VERIAL_URL", &server.base_url).env("VERIAL_API_KEY", server.first_key.as_deref().unwrap());
    let missing = missing.output().unwrap();
    let output_text = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(!missing.status.success() && output_text.contains("has not published `chest-x-rays@9`"), "{output_text}");
    let again = verial(&["benchmarks", "init", text(&created)]).output().unwrap();
    assert_eq!(again.status.code(), Some(2), "{}", String::from_utf8_lossy(&again.stderr));
}

#[test]
fn the_commands_that_init_suggests_work() {
    let directory = tempfile::tempdir().unwrap();
    for (name, word) in [("my-bench", "my-bench"), ("Ann's Bench", r"'Ann'\''s Bench'")] {
        let stdout = output(verial(&["benchmarks", "init", name]).current_dir(directory.path()));
        for step in ["lint", "audit", "push"] {
            assert!(stdout.lines().any(|line| line.ends_with(&format!("verial benchmarks {step} {word}"))), "{stdout}");
        }
    }
}

#[test]
fn a_forced_pull_removes_extra_task_files() {
    let data = ServerData::new(Database::Sqlite);
    let server = data.serve();
    let directory = tempfile::tempdir().unwrap();
    let created = directory.path().join("chest-x-rays");
    output(&mut verial(&["benchmarks", "init", text(&created)]));
    let with_key = |arguments: &[&str]| {
        let mut command = verial(arguments);
        command.env("VERIAL_URL", &server.base_url).env("VERIAL_API_KEY", server.first_key.as_deref().unwrap());
        output(&mut command)
    };
    with_key(&["benchmarks", "push", text(&created)]);
    std::fs::write(created.join("tasks/90-broken.yaml"), "name: [").unwrap();
    std::fs::write(created.join("notes.txt"), "mine").unwrap();
    let output_text = with_key(&["benchmarks", "pull", "chest-x-rays", text(&created), "--force"]);
    for gone in ["tasks/10-order.yaml", "tasks/90-broken.yaml"] {
        assert!(
            output_text.contains(&format!("Removed {gone}")) && !created.join(gone).exists(),
            "{gone}: {output_text}"
        );
    }
    assert!(created.join("notes.txt").exists());
    let output_text = with_key(&["benchmarks", "push", text(&created)]);
    assert!(output_text.contains("No changes: this is chest-x-rays@1."), "{output_text}");

    // Files below `tasks` are kept if the target is not a benchmark folder.
    let other = directory.path().join("playbook");
    std::fs::create_dir_all(other.join("tasks")).unwrap();
    std::fs::write(other.join("tasks/main.yaml"), "- mine").unwrap();
    let output_text = with_key(&["benchmarks", "pull", "chest-x-rays", text(&other), "--force", "--get", "removed"]);
    assert!(other.join("tasks/main.yaml").exists() && !output_text.contains("main.yaml"), "{output_text}");
}

#[test]
fn lint_reports_the_location_of_every_error() {
    let directory = tempfile::tempdir().unwrap();
    let created = directory.path().join("bad");
    output(&mut verial(&["benchmarks", "init", text(&created)]));
    let task = created.join("tasks/10-order.yaml");
    let sound = std::fs::read_to_string(&task).unwrap();
    for (from, to, expected) in [
        ("path: status", "path: status, oper: x", "criteria.0.assertion.fields.0.oper"),
        ("fhir-resource-state", "voice-transcript", "criteria.0.assertion"),
        ("{{entity.mrn}}", "{{entity.mrm}}", "task_item.instruction"),
        ("require: [fhir/ServiceRequest]", "allow: [fhir/ServiceRequest]", ""),
        ("chart/Ben Wells", "chart/Bob Wells", "there is no entity `chart/Bob Wells`"),
        ("tags: [action]", "tag: [action]", "tag"),
        ("The medical", "", ""),
    ] {
        std::fs::write(&task, sound.replace(from, to)).unwrap();
        let linted = verial(&["benchmarks", "lint", text(&created)]).output().unwrap();
        let output_text = String::from_utf8_lossy(&linted.stdout).into_owned();
        assert_eq!(linted.status.code(), Some(if expected.is_empty() { 0 } else { 1 }), "{to}: {output_text}");
        assert!(output_text.contains(expected), "{to}: {output_text}");
    }
}

#[test]
fn the_demo_can_be_repeated_on_the_same_data() {
    let directory = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let data = directory.path().join("data");
        let shown = output(&mut verial(&["demo", "--once", "--listen", "127.0.0.1:0", "--data", text(&data)]));
        assert!(shown.contains("score 1.0000  pass  (floor 0.00, ceiling 1.00)"), "{shown}");
        assert!(!shown.contains("runs get"), "its server has stopped: {shown}");
    }
}

/// A fake OpenAI-compatible model that only lists the inbox and finishes.
#[test]
fn any_model_can_be_the_agent() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || listener.incoming().flatten().for_each(play_model));
    let directory = tempfile::tempdir().unwrap();
    let example = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/model_agent.py");
    let agent = format!("python3 '{}'", example.display());
    let mut command =
        verial(&["run", "lab-followup@3", "--local", "--allow-critical", "--json", "--agent", &agent, "--journal"]);
    command.arg(directory.path().join("journal.json")).env("OPENAI_BASE_URL", url).env("OPENAI_MODEL", "scripted");
    let report: Value = serde_json::from_str(&output(&mut command)).unwrap();
    assert_eq!(report["exit_code"], 0, "{report}");
    let logs = std::fs::read_dir(directory.path().join("journal.logs")).unwrap();
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
    let response = json!({"choices": [{"message": message}]}).to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        response.len()
    );
    let _ = stream.write_all(format!("{head}{response}").as_bytes());
}
