//! `verial run` with agents and servers that do not behave.

use serde_json::json;

use crate::arena::{Arena, WRITES_A, ended, report, statuses, wait_for};

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_cannot_be_started_is_no_failure_of_the_agent() {
    let arena = Arena::open().await;
    let told = report(&mut arena.run("./no-such-agent", &["--min-score", "0.1", "--journal", "j.json"]), 4);
    assert_eq!(statuses(&told), ["infrastructure", "not_run"]);
    assert_eq!((&told["gate"]["passed"], &told["runs"][0]["score"]), (&json!(null), &json!(null)));
    assert!(told["agent_not_started"].as_str().unwrap().contains("exit code 127"), "{told}");
    // However many agents may work at a time, the reason is said once.
    let (card, words) = ended(&mut arena.run("./no-such-agent", &["--parallel", "2"]), 4);
    assert_eq!(format!("{card}{words}").matches("no-such-agent").count(), 1, "{card}{words}");
    // Nothing was sampled, so the task can still be done.
    let told = report(&mut arena.verial(&["run", "--resume", "j.json", "--agent", WRITES_A]), 0);
    assert_eq!((statuses(&told), &told["statistics"]["mean"]), (vec!["completed"; 2], &json!(0.5)));
    assert_eq!(told["runs"][0]["tasks"][0]["attempts"], json!(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_away_is_no_failure_of_the_agent() {
    let mut arena = Arena::open().await;
    let (_, words) = ended(arena.run("true", &["--patience", "1"]).env("VERIAL_URL", "http://127.0.0.1:9"), 4);
    assert!(words.contains("cannot be reached") && words.contains("verial serve"), "{words}");
    assert_eq!(words.matches("asking again for 1 s (--patience)").count(), 1, "{words}");
    // It goes away while the agent works.
    let mut run = arena
        .run("echo x > begun; while [ ! -e go ]; do sleep 0.05; done", &["--patience", "1", "--journal", "j.json"]);
    let mut running = run.arg("--json").stdout(std::process::Stdio::piped()).spawn().unwrap();
    let folder = arena.folder();
    wait_for("the agent's start", || folder.join("begun").exists());
    arena.serving.kill();
    std::fs::write(folder.join("go"), "").unwrap();
    assert_eq!(running.wait().unwrap().code(), Some(4));
    let journal = arena.read("j.json");
    assert!(journal.contains("\"completing\"") && journal.contains("could not be completed"), "{journal}");
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_agents_are_ended_and_their_output_is_bounded() {
    let arena = Arena::open().await;
    let limits = ["--timeout", "4", "--grace", "1", "--parallel", "2"];
    // Ignores the polite signal, and has children that do too.
    let stubborn =
        "trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & echo $! >> children; while :; do sleep 1; done";
    let told = report(&mut arena.run(stubborn, &limits), 0);
    for task in told["runs"][0]["tasks"].as_array().unwrap() {
        // On a machine that is slow enough the shell is ended before it has set its trap.
        let signal = task["agent"]["signal"].as_i64();
        assert!(task["agent"]["timed_out"] == json!(true) && [Some(9), Some(15)].contains(&signal), "{task}");
        assert!(task["notes"].to_string().contains("used up its time"), "{task}");
    }
    for child in std::fs::read_to_string(arena.folder().join("children")).unwrap_or_default().lines() {
        wait_for("the end of the child", || is_gone(child));
    }
    // Leaves a child behind that holds the output open.
    let forks = "sleep 1000 & echo $! >> forked; echo done";
    let told = report(&mut arena.run(forks, &["--parallel", "2"]), 0);
    assert_eq!(statuses(&told), ["completed", "completed"]);
    for child in arena.read("forked").lines() {
        wait_for("the end of the child", || is_gone(child));
    }
    // A gigabyte.
    let told = report(&mut arena.run("head -c 1000000000 /dev/zero; echo the end; exit 3", &["--parallel", "2"]), 1);
    let agent = &told["runs"][0]["tasks"][0]["agent"];
    assert_eq!((&agent["exit_code"], &agent["output_bytes"]), (&json!(3), &json!(1_000_000_008)));
    let log = arena.read(agent["log"].as_str().unwrap());
    assert!(log.len() < 5_000_000 && log.ends_with("the end\n") && log.contains("bytes left out"), "{}", log.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_task_s_own_deadline_counts() {
    let arena = Arena::open().await;
    let author = arena.serving.first_caller();
    let benchmark = author.get("/benchmarks").await.expect(200).data()[0]["id"].as_str().unwrap().to_owned();
    author.patch(&format!("/benchmarks/{benchmark}"), json!({"timeout": 1})).await.expect(200);
    author.post(&format!("/benchmarks/{benchmark}/publish"), json!({})).await.expect(201);
    let slug = arena.reference.split('@').next().unwrap();
    let mut run =
        arena.verial(&["run", &format!("{slug}@2"), "--agent", "sleep 1000", "--min-score", "0.1", "--grace", "1"]);
    let told = report(&mut run, 1);
    for status in statuses(&told) {
        assert!(["timed_out", "completed"].contains(&status), "{told}");
    }
    assert_eq!(told["statistics"]["mean"], json!(0.0));
}

/// No process of this number, or one that is dead and only waits to be noticed.
fn is_gone(process: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"));
    stat.map_or(true, |stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z')))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_stops_in_order_and_the_rest_is_done_later() {
    let arena = Arena::open().await;
    let agent = format!("{WRITES_A}; if [ ! -e go ]; then echo x > begun; sleep 1000; fi");
    let mut run = arena.run(&agent, &["--journal", "j.json", "--grace", "1"]);
    let mut running = run.stdout(std::process::Stdio::null()).spawn().unwrap();
    let folder = arena.folder();
    wait_for("the agent's start", || folder.join("begun").exists());
    let sent = std::process::Command::new("sh").arg("-c").arg(format!("kill -INT {}", running.id())).status();
    assert!(sent.unwrap().success());
    assert_eq!(running.wait().unwrap().code(), Some(130));
    std::fs::write(folder.join("go"), "").unwrap();
    // What was interrupted is not scored, and not scored as a failure either.
    let told = report(&mut arena.verial(&["run", "--resume", "j.json"]), 4);
    assert_eq!((statuses(&told), arena.starts().len()), (vec!["interrupted", "completed"], 2));
    let first = &told["runs"][0]["tasks"][0];
    assert_eq!(
        (&first["score"], &first["verdict"], &told["runs"][0]["score"]),
        (&json!(null), &json!(null), &json!(null))
    );
    // It is measured when it is run again, by a run of its own.
    let told = report(&mut arena.verial(&["run", "--resume", "j.json", "--retry-infra"]), 0);
    assert_eq!((statuses(&told), &told["runs"][0]["score"]), (vec!["completed"; 2], &json!(0.5)));
    let first = &told["runs"][0]["tasks"][0];
    assert!(first["notes"][0].as_str().unwrap().starts_with("run again in br_"), "{first}");
    assert_eq!(arena.starts().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_signal_ends_at_once() {
    let arena = Arena::open().await;
    let folder = arena.folder();
    let agent = "trap '' TERM; echo $$ > begun; while :; do sleep 1; done";
    let told = std::fs::File::create(folder.join("told")).unwrap();
    let mut run = arena.run(agent, &["--journal", "j.json", "--grace", "100000"]);
    let mut running = run.stdout(std::process::Stdio::null()).stderr(told).spawn().unwrap();
    wait_for("the agent's start", || std::fs::read_to_string(folder.join("begun")).is_ok_and(|text| !text.is_empty()));
    let interrupt = |process: u32| {
        let sent = std::process::Command::new("sh").arg("-c").arg(format!("kill -INT {process}")).status();
        assert!(sent.unwrap().success());
    };
    interrupt(running.id());
    wait_for("the first signal", || arena.read("told").contains("stopping"));
    interrupt(running.id());
    assert_eq!(running.wait().unwrap().code(), Some(130));
    wait_for("the end of the agent", || is_gone(arena.read("begun").trim()));
    assert!(arena.read("told").contains("verial run --resume j.json"), "{}", arena.read("told"));
}
