//! Agents of local runs that try to read what they are scored by.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::arena::{ended, report};
use crate::process::{output, verial};

/// Whether the kernel of this machine has Landlock; `verial confine` fails with 126 where it has not.
fn has_landlock() -> bool {
    let status = verial(&["confine", "--", "true"]).status().unwrap();
    assert!(matches!(status.code(), Some(0 | 126)), "{status}");
    status.success()
}

/// Landlock confines signals since Linux 6.12.
fn scopes_signals() -> bool {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release.split(['.', '-']).map(|number| number.parse::<u32>().unwrap_or(0));
    (numbers.next(), numbers.next()) >= (Some(6), Some(12))
}

const SECRET_KEY: &str = "vk_abcdefghijklmnopqrstuvwxyz0123456789AB";
const MARKER: &str = "CRITERION-MARKER";

/// A user's home with a key in it, and a working directory with an agent and a benchmark of the user's own.
struct Desk {
    _root: tempfile::TempDir,
    home: PathBuf,
    work: PathBuf,
}

impl Desk {
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

    fn run(&self, words: &[&str]) -> Command {
        let mut command = verial(words);
        command.current_dir(&self.work).env("HOME", &self.home).env("VERIAL", env!("CARGO_BIN_EXE_verial"));
        command.env("COLUMNS", "100").env("DEPLOY_KEY", SECRET_KEY).env("VERIAL_API_KEY", "");
        command
    }

    /// What agents have left in `out`, all tasks together.
    fn left(&self) -> String {
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

/// Reads whatever it can, tells what it got, and then does the first task of the starter benchmark.
const THIEF: &str = r#"
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
fn an_agent_cannot_read_what_it_is_scored_by() {
    let desk = Desk::new();
    let data = desk.work.join("data");
    desk.own_benchmark(&data);
    let agent = desk.agent(THIEF);
    let words = ["run", "chest-x-rays@1", "--local", "--data", "data", "--scored", "--agent", &agent];
    if !has_landlock() {
        let (_, told) = ended(desk.run(&words).env("DATA", &data), 2);
        assert!(told.contains("--no-isolation"), "{told}");
        return;
    }
    let told = report(desk.run(&words).env("DATA", &data), 0);
    let left = desk.left();
    assert_eq!((&told["isolation"], &told["reference"]), (&json!("landlock"), &json!(false)));
    assert_eq!(told["runs"][0]["tasks"][0]["verdict"], "pass", "the work itself can be done: {told}\n{left}");

    for secret in [MARKER, SECRET_KEY, "\"assert\"", "10-order", "SQLite format", "DEPLOY_KEY"] {
        assert!(!left.contains(secret), "the agent got {secret}: {left}");
    }
    for nothing in
        ["environ", "maps", "mem", "fds", "cwd", "root", "config", "data", "bench", "listed", "linked", "disks"]
    {
        let header = format!("== {nothing}\n");
        let got = left.split(&header).skip(1).map(|rest| rest.split("== ").next().unwrap().trim());
        let got: Vec<&str> = got.filter(|got| !got.is_empty()).collect();
        assert!(left.contains(&header) && got.is_empty(), "{nothing}: {got:?}");
    }
    let is_key = |rest: &str| rest.starts_with(|letter: char| letter.is_ascii_alphanumeric());
    assert!(!left.split("vk_").skip(1).any(is_key), "the agent got a key: {left}");
    assert!(left.contains("takes an organization key"), "its token opens nothing of the owner's: {left}");
    assert!(left.contains("parent verial "), "it found the process to attack: {left}");
    assert!(!scopes_signals() || !left.contains("SIGNALED"), "{left}");
    for done in ["one", "notes", "three", "four"] {
        assert!(left.lines().any(|line| line == done), "{done}: {left}");
    }
    assert!(desk.work.join("chest-x-rays/tasks").is_dir());

    // The same agent without isolation: it knows where to look.
    let mut open = desk.run(&words);
    let told = report(open.arg("--no-isolation").env("DATA", &data).env("ONLY_READ", "yes"), 0);
    let left = desk.left();
    assert_eq!(told["isolation"], "none");
    for secret in [MARKER, SECRET_KEY, "10-order", "SQLite format"] {
        assert!(left.contains(secret), "{secret}");
    }
}

/// The binary holds the bundled benchmarks and agents that do them.
#[test]
fn a_scored_agent_of_a_bundled_benchmark_cannot_use_the_program_that_holds_it() {
    let desk = Desk::new();
    let agent = desk.agent(
        r#"out=out/$VERIAL_TASK_RUN_ID
        "$VERIAL" reference-agent > $out 2>&1; grep -c urn:oid "$VERIAL" >> $out 2>&1; cp "$VERIAL" "$TMPDIR/v" 2>> $out && echo COPIED >> $out; true"#,
    );
    let words =
        ["run", "lab-followup@2", "--local", "--scored", "--allow-critical", "--agent", &agent, "--parallel", "4"];
    if !has_landlock() {
        ended(&mut desk.run(&words), 2);
        return;
    }
    let told = report(&mut desk.run(&words), 0);
    let left = desk.left();
    assert!(left.contains("denied") && !left.contains("COPIED"), "{left}");
    let scores = told["runs"][0]["tasks"].as_array().unwrap().iter().map(|task| &task["verdict"]);
    assert!(scores.clone().count() > 1 && scores.clone().all(|verdict| verdict != "pass"), "{told}");
}

#[test]
fn runs_of_the_reference_agent_say_so_in_every_form() {
    let desk = Desk::new();
    let reference = format!("'{}' reference-agent", env!("CARGO_BIN_EXE_verial"));
    let mut words = vec!["run", "fax-referral@2", "--local", "--agent", &reference, "--parallel", "4", "--scored"];
    words.extend(["--data", "data", "--junit", "j.xml", "--report", "r.html", "--markdown", "r.md"]);
    let isolation = if has_landlock() { "landlock" } else { "none" };
    if !has_landlock() {
        words.push("--no-isolation");
    }
    let told = report(&mut desk.run(&words), 0);
    assert_eq!((&told["isolation"], &told["reference"]), (&json!(isolation), &json!(true)), "{told}");
    assert_eq!(told["agent"]["name"], "verial reference-agent");
    assert_eq!(told["runs"][0]["score"], json!(1.0), "{told}");
    let read = |name: &str| fs::read_to_string(desk.work.join(name)).unwrap();
    let property =
        format!("<property name=\"isolation\" value=\"{isolation}\"/><property name=\"reference\" value=\"true\"/>");
    assert!(read("j.xml").contains(&property), "{}", read("j.xml"));
    for page in ["r.html", "r.md"] {
        assert!(read(page).contains("reference agent, which knows the criteria") && read(page).contains(isolation));
    }
    let journal = told["journal"].as_str().unwrap();
    assert!(journal.starts_with("data/runs/"), "{journal}");
    let (card, _) = ended(&mut desk.run(&["run", "--resume", journal]), 0);
    assert!(
        card.contains(&format!("isolation: {isolation}")) && card.contains("the bundled reference agent"),
        "{card}"
    );

    let again = |more: &[&str]| desk.run(&[&["run", "--resume", journal, "--assume-no-landlock"], more].concat());
    if has_landlock() {
        let (_, told) = ended(&mut again(&[]), 2);
        assert!(told.contains("--no-isolation"), "{told}");
        assert_eq!(report(&mut again(&["--no-isolation"]), 0)["isolation"], "none", "the weaker one counts");
    }
    assert_eq!(report(&mut again(&[]), 0)["isolation"], "none", "a marked run goes on as it began");
}

#[test]
fn without_isolation_a_scored_local_run_is_refused_or_marked() {
    let desk = Desk::new();
    let local = ["run", "fax-referral@2", "--local", "--allow-critical", "--agent", "true", "--assume-no-landlock"];
    let run = |more: &[&str]| desk.run(&[&local, more].concat());
    let (_, told) = ended(&mut run(&["--scored"]), 2);
    assert!(told.contains("--no-isolation") && told.contains("Landlock"), "{told}");
    assert!(!desk.work.join(".verial").exists() && !desk.home.join(".verial/runs").exists(), "nothing was begun");

    let marked: Value = report(&mut run(&["--scored", "--no-isolation", "--junit", "j.xml"]), 0);
    assert_eq!((&marked["isolation"], &marked["agent"]["name"]), (&json!("none"), &json!("isolation: none")));
    let junit = fs::read_to_string(desk.work.join("j.xml")).unwrap();
    assert!(junit.contains("<property name=\"isolation\" value=\"none\"/>"), "{junit}");
    let (card, _) = ended(&mut run(&["--scored", "--no-isolation"]), 0);
    assert!(card.contains("isolation: none: the agent could read the criteria"), "{card}");
    assert_eq!(report(&mut run(&[]), 0)["isolation"], "none", "an unscored run needs no isolation");
}

#[test]
fn a_key_on_the_command_line_is_refused_because_agents_can_read_it() {
    if !has_landlock() {
        return;
    }
    let desk = Desk::new();
    let words = ["run", "fax-referral@2", "--local", "--agent", "true", "--api-key", SECRET_KEY];
    let (_, told) = ended(&mut desk.run(&words), 2);
    assert!(told.contains("needs no key") && !told.contains(SECRET_KEY), "{told}");
}

/// Authors start their agents in the benchmark's own folder.
#[test]
fn an_agent_in_the_benchmark_s_folder_reads_its_own_files_only() {
    if !has_landlock() {
        return;
    }
    let desk = Desk::new();
    desk.own_benchmark(&desk.home.join("data"));
    let folder = desk.work.join("chest-x-rays");
    fs::write(folder.join("agent.sh"), "cat benchmark.yaml tasks/* \"$PWD\"/datasets/*/* answers.txt; cat prompt.txt")
        .unwrap();
    fs::write(folder.join("prompt.txt"), "You are an agent.").unwrap();
    fs::write(folder.join("answers.txt"), MARKER).unwrap();
    let run = |hidden: &str| {
        let mut command =
            desk.run(&["run", "chest-x-rays@1", "--local", "--scored", "--agent", "sh agent.sh", "--data"]);
        command.arg(desk.home.join("data")).args(["--hide", hidden]).current_dir(&folder);
        command
    };
    let told = report(&mut run("answers.txt"), 0);
    let log = fs::read_to_string(told["runs"][0]["tasks"][0]["agent"]["log"].as_str().unwrap()).unwrap();
    assert!(log.contains("You are an agent.") && log.contains("benchmark.yaml"), "{log}");
    assert!(!log.contains(MARKER) && !log.contains("slug:") && !log.contains("resourceType"), "{log}");
    let (_, told) = ended(&mut run("no-such-file"), 2);
    assert!(told.contains("--hide: no-such-file does not exist"), "{told}");
}
