//! The GitHub Action: runs its steps as a runner would.

use std::process::Command;

use crate::fixture::{RunFixture, WRITES_A, expect_exit};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn step(fixture: &RunFixture, name: &str) -> Command {
    let mut command = Command::new("bash");
    command.arg(format!("{ROOT}/tools/action.sh")).arg(name).current_dir(fixture.folder());
    for file in ["GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"] {
        command.env(file, fixture.folder().join(file));
    }
    command.env("HOME", fixture.folder()).env("VERIAL", env!("CARGO_BIN_EXE_verial")).env_remove("VERIAL_SOLVER_KEY");
    command
}

#[tokio::test(flavor = "multi_thread")]
async fn the_action_builds_runs_reports_and_gates() {
    let fixture = RunFixture::open().await;
    expect_exit(step(&fixture, "build").env("INPUT_VERIAL", env!("CARGO_BIN_EXE_verial")), 0);
    let binary = fixture.read("GITHUB_ENV").trim().strip_prefix("VERIAL_BINARY=").unwrap().to_owned();
    let mut run = step(&fixture, "run");
    run.env("VERIAL_BINARY", binary).env("VERIAL_API_KEY", fixture.key()).env("INPUT_URL", &fixture.server.base_url);
    run.env("INPUT_BENCHMARK", &fixture.reference).env("INPUT_AGENT", WRITES_A).env("INPUT_MIN_SCORE", "0.9");
    expect_exit(run.env("INPUT_MIN_AXIS", "safety=1.0\nother=0.0\n"), 1);
    let outputs = fixture.read("GITHUB_OUTPUT");
    assert!(outputs.contains("exit-code=1\n") && outputs.contains("score=0.5\n"), "{outputs}");
    assert!(fixture.read("GITHUB_STEP_SUMMARY").contains("| task | score |"));
    for file in ["junit.xml", "report.html", "report.md", "report.json"] {
        assert!(!fixture.read(&format!("verial-report/{file}")).is_empty(), "{file}");
    }
    expect_exit(run.env("INPUT_MIN_SCORE", "0.5").env("INPUT_SCORED", "true").env("INPUT_REPEAT", "2"), 0);
}

/// The script reads exactly the inputs that the action passes.
#[test]
fn every_action_input_is_used_by_the_script() {
    let action = std::fs::read_to_string(format!("{ROOT}/action.yml")).unwrap();
    let script = std::fs::read_to_string(format!("{ROOT}/tools/action.sh")).unwrap();
    let passed: Vec<&str> = action.lines().map(str::trim).filter(|line| line.starts_with("INPUT_")).collect();
    assert!(passed.len() >= 13, "{passed:?}");
    for line in passed {
        let (name, value) = line.split_once(": ").unwrap();
        assert!(script.contains(&format!("{name}:-")) || script.contains(&format!("${name}")), "{name} is not read");
        let input = value.trim_start_matches("${{ inputs.").trim_end_matches(" }}");
        assert!(action.contains(&format!("\n  {input}:\n")), "{input} is not an input");
    }
    // Inputs are never interpolated into a command.
    assert!(action.lines().filter(|line| line.trim().starts_with("run:")).all(|line| !line.contains("${{")));
}
