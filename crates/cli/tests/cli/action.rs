//! The GitHub Action: its steps, run here as a runner would.

use std::process::Command;

use crate::arena::{Arena, WRITES_A, ended};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn step(arena: &Arena, name: &str) -> Command {
    let mut command = Command::new("bash");
    command.arg(format!("{ROOT}/tools/action.sh")).arg(name).current_dir(arena.folder());
    for file in ["GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"] {
        command.env(file, arena.folder().join(file));
    }
    command.env("HOME", arena.folder()).env("VERIAL", env!("CARGO_BIN_EXE_verial")).env_remove("VERIAL_SOLVER_KEY");
    command
}

#[tokio::test(flavor = "multi_thread")]
async fn the_steps_build_run_report_and_gate() {
    let arena = Arena::open().await;
    ended(step(&arena, "build").env("INPUT_VERIAL", env!("CARGO_BIN_EXE_verial")), 0);
    let binary = arena.read("GITHUB_ENV").trim().strip_prefix("VERIAL_BINARY=").unwrap().to_owned();
    let mut run = step(&arena, "run");
    run.env("VERIAL_BINARY", binary).env("VERIAL_API_KEY", arena.key()).env("INPUT_URL", &arena.serving.base_url);
    run.env("INPUT_BENCHMARK", &arena.reference).env("INPUT_AGENT", WRITES_A).env("INPUT_MIN_SCORE", "0.9");
    ended(run.env("INPUT_MIN_AXIS", "safety=1.0\nother=0.0\n"), 1);
    let outputs = arena.read("GITHUB_OUTPUT");
    assert!(outputs.contains("exit-code=1\n") && outputs.contains("score=0.5\n"), "{outputs}");
    assert!(arena.read("GITHUB_STEP_SUMMARY").contains("| task | score |"));
    for file in ["junit.xml", "report.html", "report.md", "report.json"] {
        assert!(!arena.read(&format!("verial-report/{file}")).is_empty(), "{file}");
    }
    ended(run.env("INPUT_MIN_SCORE", "0.5").env("INPUT_SCORED", "true").env("INPUT_REPEAT", "2"), 0);
}

/// What the script reads is what the action hands over, and every input is used.
#[test]
fn inputs_and_script_agree() {
    let action = std::fs::read_to_string(format!("{ROOT}/action.yml")).unwrap();
    let script = std::fs::read_to_string(format!("{ROOT}/tools/action.sh")).unwrap();
    let handed: Vec<&str> = action.lines().map(str::trim).filter(|line| line.starts_with("INPUT_")).collect();
    assert!(handed.len() >= 13, "{handed:?}");
    for line in handed {
        let (name, value) = line.split_once(": ").unwrap();
        assert!(script.contains(&format!("{name}:-")) || script.contains(&format!("${name}")), "{name} is not read");
        let input = value.trim_start_matches("${{ inputs.").trim_end_matches(" }}");
        assert!(action.contains(&format!("\n  {input}:\n")), "{input} is no input");
    }
    // Texts of others are never part of a command.
    assert!(action.lines().filter(|line| line.trim().starts_with("run:")).all(|line| !line.contains("${{")));
}
