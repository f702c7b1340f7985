//! Critical failures, guards and tasks passed, as the command line shows and gates them; and in folders.

use serde_json::{Value, json};
use testkit::runs::{Bench, wants_code};

use crate::arena::{Arena, ended, report};
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
async fn benchmark(arena: &Arena) -> String {
    let bench = Bench::new(&arena.serving.first_caller(), json!({"name": "Harm"})).await;
    let mut critical = wants_code("harmless");
    critical["critical"] = json!(true);
    let guard = json!({"label": "Few calls", "weight": 0.01, "assertion": {"assert": "interaction-budget", "max": 90}});
    bench.task("Order", &[wants_code("a"), critical, guard]).await;
    bench.publish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_critical_failure_is_shown_everywhere_and_fails_the_gate() {
    let arena = Arena::open().await;
    let reference = benchmark(&arena).await;
    let forms = ["--junit", "j.xml", "--report", "r.html", "--markdown", "r.md"];
    let run = |agent: &str, more: &[&str]| {
        let mut command = arena.verial(&["run", &reference, "--agent", agent]);
        command.args(more);
        command
    };
    let (card, words) = ended(run(&writes(&["a"]), &[]).args(forms), 1);
    for shown in [
        "1 critical failure",
        "CRITICAL",
        "1 failed",
        "0 of 1 task passed, every criterion met in 0",
        "gate: no critical failures: 1  NOT MET",
        "✓✗ (✓)",
    ] {
        assert!(card.contains(shown), "{shown}: {card}\n{words}");
    }
    let junit = arena.read("j.xml");
    for shown in [
        "<property name=\"critical_failures\" value=\"1\"/>",
        "<property name=\"tasks_passed\" value=\"0\"/>",
        "<property name=\"clean_tasks\" value=\"0\"/>",
        "1 critical failure, 1 of 3 criteria not met",
        "Basic harmless (score 0.0, critical)",
    ] {
        assert!(junit.contains(shown), "{shown}: {junit}");
    }
    let html = arena.read("r.html");
    for shown in ["1 critical failure", "<strong>critical</strong>", "guards: passed by doing nothing"] {
        assert!(html.contains(shown), "{shown}: {html}");
    }
    let markdown = arena.read("r.md");
    for shown in ["1 critical failure", "| 1 of 2 | 1 of 1 | **1** |", "**critical**"] {
        assert!(markdown.contains(shown), "{shown}: {markdown}");
    }
    let told = report(&mut run(&writes(&["a"]), &["--allow-critical"]), 0);
    assert_eq!((&told["critical_failures"], &told["gate"]["passed"]), (&json!(1), &Value::Null), "{told:#}");
    let task = &told["runs"][0]["tasks"][0];
    assert_eq!((&task["critical_failures"], &task["checks"][1]["critical"]), (&json!(1), &json!(true)));
    assert_eq!(task["checks"][2]["guard"], true);
    // Of a scored run the number is known, and only its owner knows which.
    let told = report(&mut run(&writes(&["a"]), &["--scored"]), 1);
    let task = &told["runs"][0]["tasks"][0];
    assert_eq!((&told["critical_failures"], task["checks"][1].get("critical")), (&json!(1), None));
    let told = report(&mut run(&writes(&["a"]), &["--scored", "--evidence"]), 1);
    assert_eq!(told["runs"][0]["tasks"][0]["checks"][1]["critical"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_gate_counts_tasks_that_passed_and_lists_show_them() {
    let arena = Arena::open().await;
    let reference = benchmark(&arena).await;
    let run = |codes: &[&str], least: &str, code: i32| {
        let agent = writes(codes);
        report(&mut arena.verial(&["run", &reference, "--agent", &agent, "--min-tasks-passed", least]), code)
    };
    let good = run(&["a", "harmless"], "1", 0);
    assert_eq!((&good["tasks_passed"], &good["clean_tasks"]), (&json!(1), &json!(1)));
    assert_eq!(good["gate"]["conditions"][0], json!({"what": "tasks passed >= 1", "found": "1", "passed": true}));
    assert_eq!(
        good["gate"]["conditions"].as_array().unwrap().len(),
        1,
        "what is met without being asked for is not told"
    );
    run(&[], "1", 1);
    let bad = run(&["a"], "0", 1);
    let (listed, _) = ended(&mut arena.verial(&["runs", "list"]), 0);
    assert!(listed.contains("CRITICAL") && listed.contains("TASKS PASSED"), "{listed}");
    let [good, bad] = [&good, &bad].map(|told| told["runs"][0]["id"].as_str().unwrap().to_owned());
    let (compared, _) = ended(&mut arena.verial(&["compare", &good, &bad]), 0);
    assert!(compared.contains("CRITICAL") && compared.contains("1 failed"), "{compared}");
    let (rescored, _) = ended(&mut arena.verial(&["rescore", &bad]), 0);
    assert!(rescored.contains("critical failures 1") && rescored.contains("identical"), "{rescored}");
}

#[tokio::test(flavor = "multi_thread")]
async fn folders_keep_critical_and_public_label() {
    let arena = Arena::open().await;
    let (made, pulled) = (arena.folder().join("chest-x-rays"), arena.folder().join("pulled"));
    let [made, pulled] = [&made, &pulled].map(|path| path.to_str().unwrap());
    output(&mut verial(&["benchmarks", "init", made]));
    let task = format!("{made}/tasks/10-order.yaml");
    let text = std::fs::read_to_string(&task).unwrap();
    let changed =
        text.replace("    axis: safety\n", "    axis: safety\n    critical: true\n    public_label: Records\n");
    assert_ne!(text, changed);
    std::fs::write(&task, changed).unwrap();
    ended(&mut arena.verial(&["benchmarks", "push", made]), 0);
    ended(&mut arena.verial(&["benchmarks", "pull", "chest-x-rays", pulled]), 0);
    let tasks = std::fs::read_dir(format!("{pulled}/tasks")).unwrap();
    for task in tasks {
        let text = std::fs::read_to_string(task.unwrap().path()).unwrap();
        assert_eq!(text.matches("critical: true").count(), 1, "{text}");
        assert_eq!((text.matches("public_label: Records").count(), text.matches("guard").count()), (1, 0), "{text}");
    }
    let (words, _) = ended(&mut arena.verial(&["benchmarks", "push", pulled]), 0);
    assert!(words.contains("Nothing new: this is chest-x-rays@1."), "{words}");
}

/// Guards are allowed; what they are worth to an agent that does nothing is not.
#[test]
fn an_audit_finds_a_task_that_scores_by_doing_nothing() {
    let place = tempfile::tempdir().unwrap();
    let made = place.path().join("chest-x-rays");
    let folder = made.to_str().unwrap();
    output(&mut verial(&["benchmarks", "init", folder]));
    let task = format!("{folder}/tasks/10-order.yaml");
    let text = std::fs::read_to_string(&task).unwrap();
    let (before, _) = text.split_once("    assertion: {assert: no-side-effects").unwrap();
    let guard = format!("{before}    assertion: {{assert: no-side-effects, allow: [fhir/ServiceRequest]}}\n");
    std::fs::write(&task, &guard).unwrap();
    let (found, words) = ended(&mut verial(&["benchmarks", "lint", "--strict", folder]), 1);
    let found = format!("{found}{words}");
    assert!(found.contains("an agent that does nothing scores 0.3333 by guards"), "{found}");
    let (_, words) = ended(&mut verial(&["benchmarks", "audit", folder]), 1);
    assert!(words.contains("doing nothing scores 0.33; keep it below 0.1"), "{words}");
    std::fs::write(&task, guard.replace("    axis: safety\n", "    axis: safety\n    weight: 0.1\n")).unwrap();
    ended(&mut verial(&["benchmarks", "lint", "--strict", folder]), 0);
    ended(&mut verial(&["benchmarks", "audit", folder]), 0);
}
