//! A server with a small published benchmark, for tests of `verial run`.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};
use testkit::Database;
use testkit::runs::{Bench, wants_code};

use crate::process::{ServerData, ServerProcess, verial};

/// An agent that always does the work of the first task.
pub(crate) const WRITES_A: &str = r#"echo "$VERIAL_TASK_RUN_ID" >> starts; "$VERIAL" call POST /v1/task-runs/$VERIAL_TASK_RUN_ID/sandbox/fhir/Basic '{"resourceType":"Basic","code":{"text":"a"}}'"#;

pub(crate) struct RunFixture {
    pub(crate) server: ServerProcess,
    pub(crate) reference: String,
    data: ServerData,
}

impl RunFixture {
    /// Two tasks: the first wants `a` on the axis `safety`, the second wants `b` and has no axis.
    pub(crate) async fn open() -> Self {
        Self::open_on(Database::Sqlite, "Write b").await
    }

    pub(crate) async fn open_on(database: Database, second: &str) -> Self {
        let data = ServerData::new(database);
        let server = data.serve();
        let author = server.first_caller();
        let bench = Bench::new(&author, json!({"concurrency": 2})).await;
        let mut safe = wants_code("a");
        safe["axis"] = json!("safety");
        let task = json!({"name": "Write a", "task_item": {"instruction": "Write a.", "mrn": "10001"}});
        bench.task_with(task, &[safe]).await;
        bench.task(second, &[wants_code("b")]).await;
        let reference = bench.publish().await;
        Self { server, reference, data }
    }

    /// The working directory of agents, with journals and reports.
    pub(crate) fn folder(&self) -> PathBuf {
        let folder = self.data.directory().join("work");
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    pub(crate) fn key(&self) -> &str {
        self.server.first_key.as_deref().unwrap()
    }

    /// A `verial` command in the folder, with the organization key.
    pub(crate) fn verial(&self, arguments: &[&str]) -> Command {
        let mut command = verial(arguments);
        let folder = self.folder();
        command.env("HOME", &folder).env("VERIAL", env!("CARGO_BIN_EXE_verial")).env("COLUMNS", "100");
        command.env("VERIAL_URL", &self.server.base_url).env("VERIAL_API_KEY", self.key()).current_dir(folder);
        command
    }

    pub(crate) fn run(&self, agent: &str, options: &[&str]) -> Command {
        let mut command = self.verial(&["run", &self.reference, "--agent", agent]);
        command.args(options);
        command
    }

    pub(crate) fn read(&self, name: &str) -> String {
        let path = self.folder().join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The task runs for which an agent was started, one entry per start.
    pub(crate) fn starts(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder().join("starts")).unwrap_or_default();
        text.lines().map(ToOwned::to_owned).collect()
    }
}

/// Asserts the exit code, and returns standard output and standard error.
#[track_caller]
pub(crate) fn expect_exit(command: &mut Command, code: i32) -> (String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let (stdout, stderr) = (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
    assert_eq!(status.code(), Some(code), "{command:?}\n{stdout}\n{stderr}");
    (stdout, stderr)
}

#[track_caller]
pub(crate) fn report(command: &mut Command, code: i32) -> Value {
    let (stdout, stderr) = expect_exit(command.arg("--json"), code);
    serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}\n{stderr}"))
}

/// The statuses of all tasks of all runs.
pub(crate) fn statuses(report: &Value) -> Vec<&str> {
    let runs = report["runs"].as_array().unwrap().iter();
    let tasks = runs.flat_map(|run| run["tasks"].as_array().unwrap());
    tasks.map(|task| task["status"].as_str().unwrap()).collect()
}

pub(crate) fn wait_for(event: &str, mut condition: impl FnMut() -> bool) {
    let until = std::time::Instant::now() + std::time::Duration::from_secs(120);
    while !condition() {
        assert!(std::time::Instant::now() < until, "{event} did not happen");
        std::thread::yield_now();
        let (_sender, never) = std::sync::mpsc::channel::<()>();
        let _ = never.recv_timeout(std::time::Duration::from_millis(10));
    }
}
