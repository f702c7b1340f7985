//! Critical failures, guards and passed tasks in reports, the gate and folders.

use serde_json::{Value, json};
use testkit::runs::{Bench, wants_code};

use crate::fixture::{RunFixture, expect_exit, report};
use crate::process::{output, verial};

/// An agent that writes a resource for each of these codes.
fn writes(codes: &[&str]) -> String {
    let call = |code: &&str| {
        format!(
            r#""$VERIAL" call POST /v1/task-runs/$VERIAL_TASK_RUN_ID/sandbox/fhir/Basic '{{"resourceType":"Basic","code":{{"text":"{code}"}}}}'"#
        )
    };
    codes.iter().map(call).collect::<Vec<_>>().join(" && ")
}

/// One task: `a` must be written, `harmless` too and that is critical, and a guard of little weight.
async fn benchmark(fixture: &RunFixture) -> String {
    let bench = Bench::new(&fixture.server.first_caller(), json!({"name": "Harm"})).await;
    let mut critical = wants_code("harmless");
    critical["critical"] = json!(true);
    let guard = json!({"label": "Few calls", "weight": 0.01, "assertion": {"assert": "interaction-budget", "max": 90}});
    bench.task("Order", &[wants_code("a"), critical, guard]).await;
    bench.publish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_critical_failure_is_in_every_report_and_fails_the_gate() {
    let fixture = RunFixture::open().await;
    let reference = benchmark(&fixture).await;
    let forms = ["--junit", "j.xml", "--report", "r.html", "--markdown", "r.md"];
    let run = |agent: &str, more: &[&str]| {
        let mut command = fixture.verial(&["run", &reference, "--agent", agent]);
        command.args(more);
        command
    };
    let (card, stderr) = expect_exit(run(&writes(&["a"]), &[]).args(forms), 1);
    for shown in [
        "1 critical failure",
        "CRITICAL",
        "1 failed",
        "0 of 1 task passed, every criterion met in 0",
        "gate: no critical failures: 1  NOT MET",
        "✓✗ (✓)",
    ] {
        assert!(card.contains(shown), "{shown}: {card}\n{stderr}");
    }
    let junit = fixture.read("j.xml");
    for shown in [
        "<property name=\"critical_failures\" value=\"1\"/>",
        "<property name=\"tasks_passed\" value=\"0\"/>",
        "<property name=\"clean_tasks\" value=\"0\"/>",
        "1 critical failure, 1 of 3 criteria not met",
        "Basic harmless (score 0.0, critical)",
    ] {
        assert!(junit.contains(shown), "{shown}: {junit}");
    }
    let html = fixture.read("r.html");
    for shown in ["1 critical failure", "<strong>critical</strong>", "guards: passed by doing nothing"] {
        assert!(html.contains(shown), "{shown}: {html}");
    }
    let markdown = fixture.read("r.md");
    for shown in ["1 critical failure", "| 1 of 2 | 1 of 1 | **1** |", "**critical**"] {
        assert!(markdown.contains(shown), "{shown}: {markdown}");
    }
    let report_json = report(&mut run(&writes(&["a"]), &["--allow-critical"]), 0);
    assert_eq!(
        (&report_json["critical_failures"], &report_json["gate"]["passed"]),
        (&json!(1), &Value::Null),
        "{report_json:#}"
    );
    let task = &report_json["runs"][0]["tasks"][0];
    assert_eq!((&task["critical_failures"], &task["checks"][1]["critical"]), (&json!(1), &json!(true)));
    assert_eq!(task["checks"][2]["guard"], true);
    // For a scored run the number is known, but only its owner can read which criteria failed.
    let report_json = report(&mut run(&writes(&["a"]), &["--scored"]), 1);
    let task = &report_json["runs"][0]["tasks"][0];
    assert_eq!((&report_json["critical_failures"], task["checks"][1].get("critical")), (&json!(1), None));
    let report_json = report(&mut run(&writes(&["a"]), &["--scored", "--evidence"]), 1);
    assert_eq!(report_json["runs"][0]["tasks"][0]["checks"][1]["critical"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_gate_and_lists_count_passed_tasks() {
    let fixture = RunFixture::open().await;
    let reference = benchmark(&fixture).await;
    let run = |codes: &[&str], least: &str, code: i32| {
        let agent = writes(codes);
        report(&mut fixture.verial(&["run", &reference, "--agent", &agent, "--min-tasks-passed", least]), code)
    };
    let good = run(&["a", "harmless"], "1", 0);
    assert_eq!((&good["tasks_passed"], &good["clean_tasks"]), (&json!(1), &json!(1)));
    assert_eq!(good["gate"]["conditions"][0], json!({"what": "tasks passed >= 1", "found": "1", "passed": true}));
    assert_eq!(
        good["gate"]["conditions"].as_array().unwrap().len(),
        1,
        "implicit conditions are only listed if they are not met"
    );
    run(&[], "1", 1);
    let bad = run(&["a"], "0", 1);
    let (listed, _) = expect_exit(&mut fixture.verial(&["runs", "list"]), 0);
    assert!(listed.contains("CRITICAL") && listed.contains("TASKS PASSED"), "{listed}");
    let [good, bad] = [&good, &bad].map(|report| report["runs"][0]["id"].as_str().unwrap().to_owned());
    let (compared, _) = expect_exit(&mut fixture.verial(&["compare", &good, &bad]), 0);
    assert!(compared.contains("CRITICAL") && compared.contains("1 failed"), "{compared}");
    let (rescored, _) = expect_exit(&mut fixture.verial(&["rescore", &bad]), 0);
    assert!(rescored.contains("critical failures 1") && rescored.contains("identical"), "{rescored}");
}

#[tokio::test(flavor = "multi_thread")]
async fn folders_preserve_critical_and_public_label() {
    let fixture = RunFixture::open().await;
    let (created, pulled) = (fixture.folder().join("chest-x-rays"), fixture.folder().join("pulled"));
    let [created, pulled] = [&created, &pulled].map(|path| path.to_str().unwrap());
    output(&mut verial(&["benchmarks", "init", created]));
    let task = format!("{created}/tasks/10-order.yaml");
    let text = std::fs::read_to_string(&task).unwrap();
    let changed =
        text.replace("    axis: safety\n", "    axis: safety\n    critical: true\n    public_label: Records\n");
    assert_ne!(text, changed);
    std::fs::write(&task, changed).unwrap();
    expect_exit(&mut fixture.verial(&["benchmarks", "push", created]), 0);
    expect_exit(&mut fixture.verial(&["benchmarks", "pull", "chest-x-rays", pulled]), 0);
    let tasks = std::fs::read_dir(format!("{pulled}/tasks")).unwrap();
    for task in tasks {
        let text = std::fs::read_to_string(task.unwrap().path()).unwrap();
        assert_eq!(text.matches("critical: true").count(), 1, "{text}");
        assert_eq!((text.matches("public_label: Records").count(), text.matches("guard").count()), (1, 0), "{text}");
    }
    let (stdout, _) = expect_exit(&mut fixture.verial(&["benchmarks", "push", pulled]), 0);
    assert!(stdout.contains("No changes: this is chest-x-rays@1."), "{stdout}");
}

/// Guards are allowed, but a task must not score for doing nothing.
#[test]
fn an_audit_reports_a_task_with_a_high_floor() {
    let directory = tempfile::tempdir().unwrap();
    let created = directory.path().join("chest-x-rays");
    let folder = created.to_str().unwrap();
    output(&mut verial(&["benchmarks", "init", folder]));
    let task = format!("{folder}/tasks/10-order.yaml");
    let text = std::fs::read_to_string(&task).unwrap();
    let (before, _) = text.split_once("    assertion: {assert: no-side-effects").unwrap();
    let guard = format!("{before}    assertion: {{assert: no-side-effects, allow: [fhir/ServiceRequest]}}\n");
    std::fs::write(&task, &guard).unwrap();
    let (found, stderr) = expect_exit(&mut verial(&["benchmarks", "lint", "--strict", folder]), 1);
    let found = format!("{found}{stderr}");
    assert!(found.contains("an agent that does nothing scores 0.3333 by guards"), "{found}");
    let (_, stderr) = expect_exit(&mut verial(&["benchmarks", "audit", folder]), 1);
    assert!(stderr.contains("doing nothing scores 0.33; keep it below 0.1"), "{stderr}");
    std::fs::write(&task, guard.replace("    axis: safety\n", "    axis: safety\n    weight: 0.1\n")).unwrap();
    expect_exit(&mut verial(&["benchmarks", "lint", "--strict", folder]), 0);
    expect_exit(&mut verial(&["benchmarks", "audit", folder]), 0);
}
