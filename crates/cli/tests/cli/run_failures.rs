//! `verial run` with failing agents and servers.

use serde_json::json;

use crate::fixture::{RunFixture, WRITES_A, expect_exit, report, statuses, wait_for};

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_cannot_be_started_is_an_infrastructure_failure() {
    let fixture = RunFixture::open().await;
    let report_json = report(&mut fixture.run("./no-such-agent", &["--min-score", "0.1", "--journal", "j.json"]), 4);
    assert_eq!(statuses(&report_json), ["infrastructure", "not_run"]);
    assert_eq!((&report_json["gate"]["passed"], &report_json["runs"][0]["score"]), (&json!(null), &json!(null)));
    assert!(report_json["agent_not_started"].as_str().unwrap().contains("exit code 127"), "{report_json}");
    // The reason is reported once, regardless of the number of parallel agents.
    let (card, stderr) = expect_exit(&mut fixture.run("./no-such-agent", &["--parallel", "2"]), 4);
    assert_eq!(format!("{card}{stderr}").matches("no-such-agent").count(), 1, "{card}{stderr}");
    // No agent was started, so the task can still be done.
    let report_json = report(&mut fixture.verial(&["run", "--resume", "j.json", "--agent", WRITES_A]), 0);
    assert_eq!((statuses(&report_json), &report_json["statistics"]["mean"]), (vec!["completed"; 2], &json!(0.5)));
    assert_eq!(report_json["runs"][0]["tasks"][0]["attempts"], json!(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_server_is_an_infrastructure_failure() {
    let mut fixture = RunFixture::open().await;
    let (_, stderr) = expect_exit(fixture.run("true", &["--patience", "1"]).env("VERIAL_URL", "http://127.0.0.1:9"), 4);
    assert!(stderr.contains("cannot be reached") && stderr.contains("verial serve"), "{stderr}");
    assert_eq!(stderr.matches("retrying for 1 s (--patience)").count(), 1, "{stderr}");
    // The server is killed while the agent works.
    let mut run = fixture
        .run("echo x > begun; while [ ! -e go ]; do sleep 0.05; done", &["--patience", "1", "--journal", "j.json"]);
    let mut running = run.arg("--json").stdout(std::process::Stdio::piped()).spawn().unwrap();
    let folder = fixture.folder();
    wait_for("the agent's start", || folder.join("begun").exists());
    fixture.server.kill();
    std::fs::write(folder.join("go"), "").unwrap();
    assert_eq!(running.wait().unwrap().code(), Some(4));
    let journal = fixture.read("j.json");
    assert!(journal.contains("\"completing\"") && journal.contains("could not be completed"), "{journal}");
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_agents_are_killed_and_their_output_is_limited() {
    let fixture = RunFixture::open().await;
    let limits = ["--timeout", "4", "--grace", "1", "--parallel", "2"];
    // The agent and its children ignore SIGTERM.
    let stubborn =
        "trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & echo $! >> children; while :; do sleep 1; done";
    let report_json = report(&mut fixture.run(stubborn, &limits), 0);
    for task in report_json["runs"][0]["tasks"].as_array().unwrap() {
        // On a slow machine, the shell may be terminated before it has set its trap.
        let signal = task["agent"]["signal"].as_i64();
        assert!(task["agent"]["timed_out"] == json!(true) && [Some(9), Some(15)].contains(&signal), "{task}");
        assert!(task["notes"].to_string().contains("reached its time limit"), "{task}");
    }
    for child in std::fs::read_to_string(fixture.folder().join("children")).unwrap_or_default().lines() {
        wait_for("the end of the child", || is_gone(child));
    }
    // The agent leaves a child behind that keeps the output open.
    let forks = "sleep 1000 & echo $! >> forked; echo done";
    let report_json = report(&mut fixture.run(forks, &["--parallel", "2"]), 0);
    assert_eq!(statuses(&report_json), ["completed", "completed"]);
    for child in fixture.read("forked").lines() {
        wait_for("the end of the child", || is_gone(child));
    }
    // The agent prints a gigabyte.
    let report_json =
        report(&mut fixture.run("head -c 1000000000 /dev/zero; echo the end; exit 3", &["--parallel", "2"]), 1);
    let agent = &report_json["runs"][0]["tasks"][0]["agent"];
    assert_eq!((&agent["exit_code"], &agent["output_bytes"]), (&json!(3), &json!(1_000_000_008)));
    let log = fixture.read(agent["log"].as_str().unwrap());
    assert!(log.len() < 5_000_000 && log.ends_with("the end\n") && log.contains("bytes left out"), "{}", log.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_stopped_at_the_tasks_deadline() {
    let fixture = RunFixture::open().await;
    let author = fixture.server.first_caller();
    let benchmark = author.get("/benchmarks").await.expect(200).data()[0]["id"].as_str().unwrap().to_owned();
    author.patch(&format!("/benchmarks/{benchmark}"), json!({"timeout": 1})).await.expect(200);
    author.post(&format!("/benchmarks/{benchmark}/publish"), json!({})).await.expect(201);
    let slug = fixture.reference.split('@').next().unwrap();
    let mut run =
        fixture.verial(&["run", &format!("{slug}@2"), "--agent", "sleep 1000", "--min-score", "0.1", "--grace", "1"]);
    let report_json = report(&mut run, 1);
    for status in statuses(&report_json) {
        assert!(["timed_out", "completed"].contains(&status), "{report_json}");
    }
    assert_eq!(report_json["statistics"]["mean"], json!(0.0));
}

/// Whether a process does not exist or is a zombie.
fn is_gone(process: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"));
    stat.map_or(true, |stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z')))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_stops_gracefully_and_the_run_can_be_resumed() {
    let fixture = RunFixture::open().await;
    let agent = format!("{WRITES_A}; if [ ! -e go ]; then echo x > begun; sleep 1000; fi");
    let mut run = fixture.run(&agent, &["--journal", "j.json", "--grace", "1"]);
    let mut running = run.stdout(std::process::Stdio::null()).spawn().unwrap();
    let folder = fixture.folder();
    wait_for("the agent's start", || folder.join("begun").exists());
    let sent = std::process::Command::new("sh").arg("-c").arg(format!("kill -INT {}", running.id())).status();
    assert!(sent.unwrap().success());
    assert_eq!(running.wait().unwrap().code(), Some(130));
    std::fs::write(folder.join("go"), "").unwrap();
    // An interrupted task is not scored, not even as a failure.
    let report_json = report(&mut fixture.verial(&["run", "--resume", "j.json"]), 4);
    assert_eq!((statuses(&report_json), fixture.starts().len()), (vec!["interrupted", "completed"], 2));
    let first = &report_json["runs"][0]["tasks"][0];
    assert_eq!(
        (&first["score"], &first["verdict"], &report_json["runs"][0]["score"]),
        (&json!(null), &json!(null), &json!(null))
    );
    // The task is measured by a rerun.
    let report_json = report(&mut fixture.verial(&["run", "--resume", "j.json", "--retry-infra"]), 0);
    assert_eq!((statuses(&report_json), &report_json["runs"][0]["score"]), (vec!["completed"; 2], &json!(0.5)));
    let first = &report_json["runs"][0]["tasks"][0];
    assert!(first["notes"][0].as_str().unwrap().starts_with("rerun in br_"), "{first}");
    assert_eq!(fixture.starts().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_signal_stops_immediately() {
    let fixture = RunFixture::open().await;
    let folder = fixture.folder();
    let agent = "trap '' TERM; echo $$ > begun; while :; do sleep 1; done";
    let stderr_file = std::fs::File::create(folder.join("told")).unwrap();
    let mut run = fixture.run(agent, &["--journal", "j.json", "--grace", "100000"]);
    let mut running = run.stdout(std::process::Stdio::null()).stderr(stderr_file).spawn().unwrap();
    wait_for("the agent's start", || std::fs::read_to_string(folder.join("begun")).is_ok_and(|text| !text.is_empty()));
    let interrupt = |process: u32| {
        let sent = std::process::Command::new("sh").arg("-c").arg(format!("kill -INT {process}")).status();
        assert!(sent.unwrap().success());
    };
    interrupt(running.id());
    wait_for("the first signal", || fixture.read("told").contains("stopping"));
    interrupt(running.id());
    assert_eq!(running.wait().unwrap().code(), Some(130));
    wait_for("the end of the agent", || is_gone(fixture.read("begun").trim()));
    assert!(fixture.read("told").contains("verial run --resume j.json"), "{}", fixture.read("told"));
}
