//! Isolation of agents in local runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::fixture::{expect_exit, report};
use crate::process::{output, verial};

/// Whether the kernel supports Landlock; without it, `verial confine` fails with 126.
fn has_landlock() -> bool {
    let status = verial(&["confine", "--", "true"]).status().unwrap();
    assert!(matches!(status.code(), Some(0 | 126)), "{status}");
    status.success()
}

/// Landlock restricts signals since Linux 6.12.
fn scopes_signals() -> bool {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release.split(['.', '-']).map(|number| number.parse::<u32>().unwrap_or(0));
    (numbers.next(), numbers.next()) >= (Some(6), Some(12))
}

const SECRET_KEY: &str = "vk_abcdefghijklmnopqrstuvwxyz0123456789AB";
const MARKER: &str = "CRITERION-MARKER";

/// A user's home with a key in it, and a working directory with an agent and a benchmark of the user's own.
struct AgentWorkspace {
    _root: tempfile::TempDir,
    home: PathBuf,
    work: PathBuf,
}

impl AgentWorkspace {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().canonicalize().unwrap().join(path);
        let (home, work) = (at("home"), at("work"));
        for folder in [home.join(".verial"), home.join("project"), work.join("agent"), work.join("out")] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(home.join(".verial/config.json"), format!("{{\"api_key\":\"{SECRET_KEY}\"}}")).unwrap();
        fs::write(home.join("project/notes"), "notes\n").unwrap();
        Self { _root: root, home, work }
    }

    fn agent(&self, script: &str) -> String {
        fs::write(self.work.join("agent/agent.sh"), script).unwrap();
        "sh agent/agent.sh".to_owned()
    }

    fn run(&self, arguments: &[&str]) -> Command {
        let mut command = verial(arguments);
        command.current_dir(&self.work).env("HOME", &self.home).env("VERIAL", env!("CARGO_BIN_EXE_verial"));
        command.env("COLUMNS", "100").env("DEPLOY_KEY", SECRET_KEY).env("VERIAL_API_KEY", "");
        command
    }

    /// The files that agents wrote to `out`, concatenated.
    fn collected(&self) -> String {
        let files = fs::read_dir(self.work.join("out")).unwrap().map(Result::unwrap);
        let files = files.filter(|file| file.file_type().unwrap().is_file());
        files.map(|file| String::from_utf8_lossy(&fs::read(file.path()).unwrap()).into_owned()).collect()
    }

    /// The bundled starter benchmark, pushed to a server on `data`; every file of its folder has the marker in it.
    fn own_benchmark(&self, data: &Path) {
        let folder = self.work.join("chest-x-rays");
        output(verial(&["benchmarks", "init"]).arg(&folder));
        for task in fs::read_dir(folder.join("tasks")).unwrap() {
            let path = task.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, format!("# {MARKER}\n{text}")).unwrap();
        }
        let mut serve = verial(&["serve", "--listen", "127.0.0.1:0", "--log", "error", "--data"]);
        serve.arg(data).stdout(std::process::Stdio::piped());
        let mut server = serve.spawn().unwrap();
        let (url, key) = listening(server.stdout.take().unwrap());
        let mut push = verial(&["benchmarks", "push"]);
        output(push.arg(&folder).env("VERIAL_URL", url).env("VERIAL_API_KEY", key));
        server.kill().unwrap();
        server.wait().unwrap();
    }
}

fn listening(stdout: std::process::ChildStdout) -> (String, String) {
    use std::io::BufRead;
    let mut key = String::new();
    for line in std::io::BufReader::new(stdout).lines().map(Result::unwrap) {
        if let Some(shown) = line.strip_prefix("API key, shown this once: ") {
            shown.clone_into(&mut key);
        }
        if let Some((_, rest)) = line.split_once("listens on ") {
            return (rest.split(' ').next().unwrap().to_owned(), key);
        }
    }
    panic!("the server ended before it listened");
}

/// An agent that reads whatever it can, records it, and then does the first task of the starter benchmark.
const SNOOPING_AGENT: &str = r#"
out=out/$VERIAL_TASK_RUN_ID
grab() { echo "== $1"; shift; "$@" 2>/dev/null | tr -d '\000' | head -c 20000; echo; }
{
    pid=$$
    until [ "$pid" -le 1 ] || grep -q '^Name:.verial$' /proc/$pid/status; do
        pid=$(sed -n 's/^PPid:.//p' /proc/$pid/status)
    done
    echo "parent $(cat /proc/$pid/comm) $pid"
    for pid in $pid; do
        grab environ cat /proc/$pid/environ
        grab maps cat /proc/$pid/maps
        grab mem dd if=/proc/$pid/mem bs=4096 count=1 skip=1024
        grab fds readlink /proc/$pid/fd/*
        grab cwd ls /proc/$pid/cwd/
        grab root ls /proc/$pid/root/tmp/
        grab cmdline cat /proc/$pid/cmdline
    done
    grab config cat "$HOME/.verial/config.json" "$HOME/.verial"/*/*.json
    grab data find "$DATA" -type f -exec cat {} +
    grab bench cat chest-x-rays/benchmark.yaml chest-x-rays/tasks/*.yaml
    grab listed ls -R chest-x-rays "$DATA"
    [ -n "$ONLY_READ" ] || grab linked sh -c 'ln -s ../chest-x-rays/tasks out/link; cat out/link/*; ln chest-x-rays/tasks/10-order.yaml out/hard; cat out/hard; mv chest-x-rays out/moved; cat out/moved/tasks/*'
    grab environment env
    grab disks head -c 4096 /dev/vda /dev/sda /proc/kcore
    echo "== end"
    kill -0 $pid 2>/dev/null && echo SIGNALED
} > $out 2>&1
# Ordinary work goes on: files, temporary files, the user's home, tools.
echo one > "$TMPDIR/a" && cat "$TMPDIR/a" >> $out
cat "$HOME/project/notes" >> $out && echo two > "$HOME/project/new" && rm "$HOME/project/new"
mkdir -p agent/cache && echo three > agent/cache/x && cat agent/cache/x >> $out && rm -r agent/cache
grep -q "$VERIAL_RUN_TOKEN" "$VERIAL_CREDENTIALS_FILE" && echo four >> $out
"$VERIAL" call GET /organization --url $VERIAL_BASE_URL >> $out 2>&1
MRN=$(echo "$VERIAL_INSTRUCTION" | grep -o '[0-9]*\.$' | tr -d .)
FHIR=/v1/task-runs/$VERIAL_TASK_RUN_ID/sandbox/fhir
PATIENT=$("$VERIAL" call GET "$FHIR/Patient?identifier=$MRN" --get entry.0.resource.id)
"$VERIAL" call POST $FHIR/ServiceRequest '{"resourceType":"ServiceRequest","status":"active","intent":"order",
  "subject":{"reference":"Patient/'$PATIENT'"},"code":{"coding":[{"system":"http://loinc.org","code":"36643-5"}]}}'
"#;

#[test]
fn an_isolated_agent_cannot_read_criteria_or_keys() {
    let workspace = AgentWorkspace::new();
    let data = workspace.work.join("data");
    workspace.own_benchmark(&data);
    let agent = workspace.agent(SNOOPING_AGENT);
    let arguments = ["run", "chest-x-rays@1", "--local", "--data", "data", "--scored", "--agent", &agent];
    if !has_landlock() {
        let (_, stderr) = expect_exit(workspace.run(&arguments).env("DATA", &data), 2);
        assert!(stderr.contains("--no-isolation"), "{stderr}");
        return;
    }
    let report_json = report(workspace.run(&arguments).env("DATA", &data), 0);
    let collected = workspace.collected();
    assert_eq!((&report_json["isolation"], &report_json["reference"]), (&json!("landlock"), &json!(false)));
    assert_eq!(
        report_json["runs"][0]["tasks"][0]["verdict"], "pass",
        "the agent can still do the work: {report_json}\n{collected}"
    );

    for secret in [MARKER, SECRET_KEY, "\"assert\"", "10-order", "SQLite format", "DEPLOY_KEY"] {
        assert!(!collected.contains(secret), "the agent got {secret}: {collected}");
    }
    for nothing in
        ["environ", "maps", "mem", "fds", "cwd", "root", "config", "data", "bench", "listed", "linked", "disks"]
    {
        let header = format!("== {nothing}\n");
        let got = collected.split(&header).skip(1).map(|rest| rest.split("== ").next().unwrap().trim());
        let got: Vec<&str> = got.filter(|got| !got.is_empty()).collect();
        assert!(collected.contains(&header) && got.is_empty(), "{nothing}: {got:?}");
    }
    let is_key = |rest: &str| rest.starts_with(|character: char| character.is_ascii_alphanumeric());
    assert!(!collected.split("vk_").skip(1).any(is_key), "the agent got a key: {collected}");
    assert!(
        collected.contains("requires an organization key"),
        "its token has no access to the owner's resources: {collected}"
    );
    assert!(collected.contains("parent verial "), "it found the process to attack: {collected}");
    assert!(!scopes_signals() || !collected.contains("SIGNALED"), "{collected}");
    for done in ["one", "notes", "three", "four"] {
        assert!(collected.lines().any(|line| line == done), "{done}: {collected}");
    }
    assert!(workspace.work.join("chest-x-rays/tasks").is_dir());

    // Without isolation the same agent finds everything.
    let mut open = workspace.run(&arguments);
    let report_json = report(open.arg("--no-isolation").env("DATA", &data).env("ONLY_READ", "yes"), 0);
    let collected = workspace.collected();
    assert_eq!(report_json["isolation"], "none");
    for secret in [MARKER, SECRET_KEY, "10-order", "SQLite format"] {
        assert!(collected.contains(secret), "{secret}");
    }
}

/// The binary contains the bundled benchmarks and their reference agents.
#[test]
fn a_scored_agent_of_a_bundled_benchmark_cannot_execute_the_binary() {
    let workspace = AgentWorkspace::new();
    let agent = workspace.agent(
        r#"out=out/$VERIAL_TASK_RUN_ID
        "$VERIAL" reference-agent > $out 2>&1; grep -c urn:oid "$VERIAL" >> $out 2>&1; cp "$VERIAL" "$TMPDIR/v" 2>> $out && echo COPIED >> $out; true"#,
    );
    let text =
        ["run", "lab-followup@3", "--local", "--scored", "--allow-critical", "--agent", &agent, "--parallel", "4"];
    if !has_landlock() {
        expect_exit(&mut workspace.run(&text), 2);
        return;
    }
    let report_json = report(&mut workspace.run(&text), 0);
    let collected = workspace.collected();
    assert!(collected.contains("denied") && !collected.contains("COPIED"), "{collected}");
    let scores = report_json["runs"][0]["tasks"].as_array().unwrap().iter().map(|task| &task["verdict"]);
    assert!(scores.clone().count() > 1 && scores.clone().all(|verdict| verdict != "pass"), "{report_json}");
}

#[test]
fn every_report_marks_runs_of_the_reference_agent() {
    let workspace = AgentWorkspace::new();
    let reference = format!("'{}' reference-agent", env!("CARGO_BIN_EXE_verial"));
    let mut text = vec!["run", "fax-referral@4", "--local", "--agent", &reference, "--parallel", "4", "--scored"];
    text.extend(["--data", "data", "--junit", "j.xml", "--report", "r.html", "--markdown", "r.md"]);
    let isolation = if has_landlock() { "landlock" } else { "none" };
    if !has_landlock() {
        text.push("--no-isolation");
    }
    let report_json = report(&mut workspace.run(&text), 0);
    assert_eq!(
        (&report_json["isolation"], &report_json["reference"]),
        (&json!(isolation), &json!(true)),
        "{report_json}"
    );
    assert_eq!(report_json["agent"]["name"], "verial reference-agent");
    assert_eq!(report_json["runs"][0]["score"], json!(1.0), "{report_json}");
    let read = |name: &str| fs::read_to_string(workspace.work.join(name)).unwrap();
    let property =
        format!("<property name=\"isolation\" value=\"{isolation}\"/><property name=\"reference\" value=\"true\"/>");
    assert!(read("j.xml").contains(&property), "{}", read("j.xml"));
    for page in ["r.html", "r.md"] {
        assert!(read(page).contains("reference agent, which knows the criteria") && read(page).contains(isolation));
    }
    let journal = report_json["journal"].as_str().unwrap();
    assert!(journal.starts_with("data/runs/"), "{journal}");
    let (card, _) = expect_exit(&mut workspace.run(&["run", "--resume", journal]), 0);
    assert!(
        card.contains(&format!("isolation: {isolation}")) && card.contains("the bundled reference agent"),
        "{card}"
    );

    let again = |more: &[&str]| workspace.run(&[&["run", "--resume", journal, "--assume-no-landlock"], more].concat());
    if has_landlock() {
        let (_, stderr) = expect_exit(&mut again(&[]), 2);
        assert!(stderr.contains("--no-isolation"), "{stderr}");
        assert_eq!(report(&mut again(&["--no-isolation"]), 0)["isolation"], "none", "the weaker isolation counts");
    }
    assert_eq!(report(&mut again(&[]), 0)["isolation"], "none", "a marked run can be resumed");
}

#[test]
fn a_scored_local_run_without_isolation_is_rejected_or_marked() {
    let workspace = AgentWorkspace::new();
    let local = ["run", "fax-referral@4", "--local", "--allow-critical", "--agent", "true", "--assume-no-landlock"];
    let run = |more: &[&str]| workspace.run(&[&local, more].concat());
    let (_, text) = expect_exit(&mut run(&["--scored"]), 2);
    assert!(text.contains("--no-isolation") && text.contains("Landlock"), "{text}");
    assert!(
        !workspace.work.join(".verial").exists() && !workspace.home.join(".verial/runs").exists(),
        "nothing was started"
    );

    let marked: Value = report(&mut run(&["--scored", "--no-isolation", "--junit", "j.xml"]), 0);
    assert_eq!((&marked["isolation"], &marked["agent"]["name"]), (&json!("none"), &json!("isolation: none")));
    let junit = fs::read_to_string(workspace.work.join("j.xml")).unwrap();
    assert!(junit.contains("<property name=\"isolation\" value=\"none\"/>"), "{junit}");
    let (card, _) = expect_exit(&mut run(&["--scored", "--no-isolation"]), 0);
    assert!(card.contains("isolation: none: the agent could read the criteria"), "{card}");
    assert_eq!(report(&mut run(&[]), 0)["isolation"], "none", "an unscored run needs no isolation");
}

#[test]
fn a_key_on_the_command_line_of_a_local_run_is_rejected() {
    if !has_landlock() {
        return;
    }
    let workspace = AgentWorkspace::new();
    let arguments = ["run", "fax-referral@4", "--local", "--agent", "true", "--api-key", SECRET_KEY];
    let (_, output_text) = expect_exit(&mut workspace.run(&arguments), 2);
    assert!(output_text.contains("needs no key") && !output_text.contains(SECRET_KEY), "{output_text}");
}

/// Authors may start their agents in the benchmark folder.
#[test]
fn an_agent_in_the_benchmark_folder_can_only_read_its_own_files() {
    if !has_landlock() {
        return;
    }
    let workspace = AgentWorkspace::new();
    workspace.own_benchmark(&workspace.home.join("data"));
    let folder = workspace.work.join("chest-x-rays");
    fs::write(folder.join("agent.sh"), "cat benchmark.yaml tasks/* \"$PWD\"/datasets/*/* answers.txt; cat prompt.txt")
        .unwrap();
    fs::write(folder.join("prompt.txt"), "You are an agent.").unwrap();
    fs::write(folder.join("answers.txt"), MARKER).unwrap();
    let run = |hidden: &str| {
        let mut command =
            workspace.run(&["run", "chest-x-rays@1", "--local", "--scored", "--agent", "sh agent.sh", "--data"]);
        command.arg(workspace.home.join("data")).args(["--hide", hidden]).current_dir(&folder);
        command
    };
    let report_json = report(&mut run("answers.txt"), 0);
    let log = fs::read_to_string(report_json["runs"][0]["tasks"][0]["agent"]["log"].as_str().unwrap()).unwrap();
    assert!(log.contains("You are an agent.") && log.contains("benchmark.yaml"), "{log}");
    assert!(!log.contains(MARKER) && !log.contains("slug:") && !log.contains("resourceType"), "{log}");
    let (_, stderr) = expect_exit(&mut run("no-such-file"), 2);
    assert!(stderr.contains("--hide: no-such-file does not exist"), "{stderr}");
}
