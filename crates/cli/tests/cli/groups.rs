//! Uses the command group of each resource through the binary.

use serde_json::{Value, json};
use testkit::Database;

use crate::fixture::expect_exit;
use crate::process::{ServerData, ServerProcess, verial, write_file};

pub(crate) struct Shell {
    pub(crate) data: ServerData,
    server: ServerProcess,
}

impl Shell {
    pub(crate) fn open() -> Self {
        let data = ServerData::new(Database::Sqlite);
        Self { server: data.serve(), data }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> std::process::Command {
        let mut command = verial(arguments);
        command.env("HOME", self.data.directory()).env("VERIAL_URL", &self.server.base_url);
        command.env("VERIAL_API_KEY", self.server.first_key.as_deref().unwrap()).current_dir(self.data.directory());
        command
    }

    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let (text, _) = expect_exit(self.command(arguments).arg("--json"), 0);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {text}"))
    }

    #[track_caller]
    pub(crate) fn id(&self, arguments: &[&str]) -> String {
        let created = self.json(arguments);
        created["id"].as_str().unwrap_or_else(|| panic!("{arguments:?}: {created}")).to_owned()
    }

    /// The output for people at two widths: every line fits, and there are no colors.
    #[track_caller]
    fn table(&self, arguments: &[&str]) -> String {
        let mut shown = String::new();
        for columns in [200, 80] {
            let (text, _) = expect_exit(self.command(arguments).env("COLUMNS", columns.to_string()), 0);
            for line in text.lines() {
                let wide = line.chars().map(|character| if character > '\u{2e80}' { 2 } else { 1 }).sum::<usize>();
                assert!(wide <= columns, "{arguments:?} at {columns}: {line}");
            }
            assert!(!text.contains('\u{1b}'), "{text}");
            shown = text;
        }
        shown
    }
}

#[test]
fn a_benchmark_is_created_published_and_deleted_with_commands() {
    let shell = Shell::open();
    let data = write_file(shell.data.directory(), "p.ndjson", testkit::world::patients(2));
    let dataset = shell.id(&["datasets", "create", "--name", "患者のデータ", "--data", data.to_str().unwrap()]);
    assert!(shell.table(&["datasets", "list"]).contains(&dataset));
    let (content, _) = expect_exit(&mut shell.command(&["datasets", "download", &dataset]), 0);
    assert_eq!(content.lines().count(), 2);
    let entity = shell.id(&[
        "datasets",
        "add-entity",
        &dataset,
        "--name",
        "One",
        "--ref",
        "Patient/p1",
        "--data",
        r#"{"mrn":"1"}"#,
    ]);
    assert!(shell.table(&["datasets", "entities", &dataset]).contains("Patient/p1"));
    let simulator = shell.id(&["simulators", "create", "--type", "fhir", "--name", "EHR", "--config", "{}"]);
    shell.json(&["simulators", "attach", &simulator, &dataset]);
    assert_eq!(shell.json(&["simulators", "get", &simulator])["datasets"], json!([dataset]));
    let environment = shell.id(&["environments", "create", "--name", "Clinic", "--description", "Old"]);
    shell.json(&["environments", "attach", &environment, &simulator]);
    let changed =
        shell.json(&["environments", "update", &environment, "--name", "New clinic", "--clear", "description"]);
    assert_eq!((&changed["name"], &changed["description"]), (&json!("New clinic"), &Value::Null));
    assert!(shell.table(&["environments", "get", &environment]).contains("EHR"));
    tasks_and_versions(&shell, &environment, &entity);
}

fn tasks_and_versions(shell: &Shell, environment: &str, entity: &str) {
    let benchmark =
        shell.id(&["benchmarks", "create", "--name", "Referrals", "--environment", environment, "--timeout", "60"]);
    let task = write_file(shell.data.directory(), "item.json", r#"{"instruction":"Do it."}"#);
    let item = format!("@{}", task.display());
    let task = shell.id(&[
        "tasks",
        "create",
        "--benchmark",
        &benchmark,
        "--name",
        "One",
        "--tag",
        "easy",
        "--tag",
        "fhir",
        "--task-item",
        &item,
    ]);
    shell.json(&["tasks", "attach", &task, "--entity", entity]);
    assert_eq!(shell.json(&["tasks", "entities", &task])["data"].as_array().unwrap().len(), 1);
    let body = json!({"task_id": task, "label": "Made", "assertion": {"assert": "no-side-effects", "allow": []}});
    let body = write_file(shell.data.directory(), "criterion.json", body.to_string());
    let criterion = shell.id(&[
        "criteria",
        "create",
        "--from",
        body.to_str().unwrap(),
        "--task",
        &task,
        "--label",
        "Nothing changed",
        "--assertion",
        r#"{"assert":"no-side-effects","allow":[]}"#,
        "--weight",
        "2.5",
    ]);
    let found = shell.json(&["criteria", "get", &criterion]);
    assert_eq!((&found["label"], &found["weight"]), (&json!("Nothing changed"), &json!(2.5)));
    assert!(shell.table(&["criteria", "list", "--task", &task]).contains("no-side-effects"));
    let version = shell.json(&["benchmarks", "publish", &benchmark]);
    assert_eq!((&version["slug"], &version["version"]), (&json!("referrals"), &json!(1)));
    assert_eq!(shell.json(&["benchmarks", "get", "referrals@1"])["version"], json!(1));
    assert!(shell.table(&["benchmarks", "versions", &benchmark]).contains('1'));
    assert!(shell.table(&["benchmarks", "list", "--limit", "5"]).contains("Referrals"));
    shell.json(&["benchmarks", "stats", "referrals@1"]);
    by_slug(shell, &benchmark, &task);
    shell.json(&["tasks", "update", &task, "--timeout", "30"]);
    for arguments in
        [["criteria", "delete", &criterion], ["tasks", "delete", &task], ["benchmarks", "delete", &benchmark]]
    {
        expect_exit(&mut shell.command(&arguments), 0);
    }
    expect_exit(&mut shell.command(&["criteria", "get", &criterion]), 3);
}

/// A benchmark's slug can be used wherever its id is expected.
fn by_slug(shell: &Shell, benchmark: &str, task: &str) {
    assert_eq!(shell.json(&["benchmarks", "get", "referrals"])["id"], benchmark);
    assert_eq!(shell.json(&["benchmarks", "update", "referrals", "--timeout", "60"])["id"], benchmark);
    for name in ["referrals", "referrals@1", benchmark] {
        assert_eq!(shell.json(&["benchmarks", "versions", name])["data"][0]["version"], json!(1));
    }
    assert_eq!(shell.json(&["tasks", "list", "--benchmark", "referrals"])["data"][0]["id"], task);
    assert_eq!(shell.json(&["runs", "list", "--benchmark", "referrals"])["data"], json!([]));
    for (arguments, code, expected) in [
        (["benchmarks", "delete", "referrals@1"], 2, "use `referrals`"),
        (["benchmarks", "stats", "referrals"], 2, "the newest is `referrals@1`"),
        (["benchmarks", "versions", "referral"], 3, "verial benchmarks list"),
    ] {
        let (_, text) = expect_exit(&mut shell.command(&arguments), code);
        assert!(text.contains(expected), "{arguments:?}: {text}");
    }
}

#[test]
fn folder_commands_print_json() {
    let shell = Shell::open();
    let get = |arguments: &[&str], member: &str| expect_exit(shell.command(arguments).args(["--get", member]), 0).0;
    assert_eq!(get(&["benchmarks", "init", "chest-x-rays"], "slug"), "chest-x-rays\n");
    assert_eq!(shell.json(&["benchmarks", "lint", "chest-x-rays"]), json!([]));
    assert_eq!(get(&["benchmarks", "push", "chest-x-rays"], "version"), "1\n");
    let pulled = shell.json(&["benchmarks", "pull", "chest-x-rays", "again"]);
    assert_eq!((&pulled["tasks"], &pulled["datasets"]), (&json!(2), &json!(1)));
    let (_, text) = expect_exit(&mut shell.command(&["benchmarks", "init", "again"]), 2);
    assert!(text.contains("is not empty; name a new folder"), "{text}");
}

#[test]
fn running_resources_can_be_inspected() {
    let shell = Shell::open();
    let simulator = shell.id(&["simulators", "create", "--type", "Fhir", "--name", "EHR"]);
    let environment = shell.id(&["environments", "create", "--name", "Clinic"]);
    shell.json(&["environments", "attach", &environment, &simulator]);
    let playground = shell.id(&["playgrounds", "create", "--environment", &environment]);
    let found = shell.json(&["playgrounds", "get", &playground]);
    let sandbox = found["sandboxes"][0]["id"].as_str().unwrap();
    let patient = r#"{"resourceType":"Basic","code":{"text":"x"}}"#;
    expect_exit(&mut shell.command(&["call", "POST", &format!("/sandboxes/{sandbox}/fhir/Basic"), patient]), 0);
    assert!(shell.table(&["sandboxes", "diff", sandbox]).contains("created"));
    assert!(shell.table(&["sandboxes", "events", sandbox]).contains("fhir"));
    assert!(shell.table(&["sandboxes", "state", sandbox, "--resource", "Basic"]).contains("Basic"));
    shell.json(&["playgrounds", "reset", &playground]);
    assert_eq!(shell.json(&["sandboxes", "diff", sandbox])["data"], json!([]));
    let alone = shell.id(&["sandboxes", "create", "--simulator", &simulator]);
    assert_eq!(shell.json(&["sandboxes", "delete", &alone])["status"], "teardown");
    assert_eq!(shell.json(&["playgrounds", "teardown", &playground])["status"], "teardown");
    assert!(shell.table(&["playgrounds", "list", "--all"]).contains("teardown"));

    let files = shell.id(&["datasets", "create", "--name", "Files", "--type", "files"]);
    let file = write_file(shell.data.directory(), "a.txt", "hello");
    shell.json(&["datasets", "put-file", &files, "inbox/a b.txt", file.to_str().unwrap()]);
    assert!(shell.table(&["datasets", "files", &files]).contains("inbox/a b.txt"));
    let (content, _) = expect_exit(&mut shell.command(&["datasets", "get-file", &files, "inbox/a b.txt"]), 0);
    assert_eq!(content, "hello");
    expect_exit(&mut shell.command(&["datasets", "remove-file", &files, "inbox/a b.txt"]), 0);

    let solver = shell.id(&["solvers", "create", "--alias", "one", "--agent-version", "7"]);
    let key = shell.json(&["solvers", "create-key", &solver, "--name", "ci"]);
    assert!(key["key"].as_str().unwrap().starts_with("vrl_slv_"));
    let id = key["id"].as_str().unwrap();
    expect_exit(&mut shell.command(&["solvers", "revoke-key", &solver, id]), 0);
    assert!(shell.json(&["solvers", "keys", &solver])["data"][0]["revoked_at"].is_string());
    shell.table(&["solvers", "list"]);
    let key = shell.id(&["keys", "create", "--name", "other"]);
    expect_exit(&mut shell.command(&["keys", "delete", &key]), 0);
    assert_eq!(shell.json(&["runs", "list"])["data"], json!([]));
    expect_exit(&mut shell.command(&["runs", "list"]), 0);
}

#[test]
fn errors_have_a_hint_and_an_exit_code() {
    let shell = Shell::open();
    let unknown = "env_01K9Z3T5Q8W7N4M2R6V0XBHCDE";
    for (arguments, code, expected) in [
        (vec!["environments", "get", unknown], 3, "verial environments list"),
        (vec!["environments", "create"], 2, "--name"),
        (vec!["environments", "create", "--name", " "], 3, "name: "),
        (vec!["environments", "update", unknown], 2, "nothing to change"),
        (vec!["simulators", "create", "--type", "Fhir", "--name", "x", "--config", "{"], 2, "is not JSON"),
        (vec!["environments", "explode"], 2, "unrecognized subcommand"),
        (vec!["environments"], 2, "Usage: verial environments"),
        (vec!["environments", "list", "--url", "example.org"], 2, "must start with http"),
        (vec!["call", "GET", "/nowhere"], 3, "/docs"),
        (
            vec!["tasks", "create", "--benchmark", "x", "--name", "y", "--task-item", "@nowhere.json"],
            5,
            "cannot read nowhere.json",
        ),
    ] {
        let (_, text) = expect_exit(&mut shell.command(&arguments), code);
        assert!(text.contains(expected), "{arguments:?}: {text}");
    }
    let (_, text) = expect_exit(shell.command(&["environments", "list"]).env("VERIAL_URL", "http://127.0.0.1:9"), 4);
    assert!(text.contains("cannot be reached") && text.contains("verial serve"), "{text}");
    let (_, text) = expect_exit(shell.command(&["environments", "list"]).env_remove("VERIAL_API_KEY"), 2);
    assert!(text.contains("verial auth set-key"), "{text}");
}

#[test]
fn colors_are_only_used_on_terminals() {
    let shell = Shell::open();
    shell.id(&["environments", "create", "--name", "Clinic"]);
    let list = ["environments", "list"];
    let (text, _) = expect_exit(shell.command(&list).env("CLICOLOR_FORCE", "1"), 0);
    assert!(text.contains('\u{1b}'), "{text:?}");
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let (text, _) = expect_exit(shell.command(&list).env("CLICOLOR_FORCE", "1").env(name, value), 0);
        assert!(!text.contains('\u{1b}'), "{name}: {text:?}");
    }
}

#[test]
fn settings_are_stored_individually() {
    let shell = Shell::open();
    let key = shell.server.first_key.clone().unwrap();
    let config = |arguments: &[&str]| {
        let mut command = shell.command(&["config"]);
        command.args(arguments).env_remove("VERIAL_URL").env_remove("VERIAL_API_KEY");
        command
    };
    expect_exit(&mut config(&["set", "url", &shell.server.base_url]), 0);
    expect_exit(&mut config(&["set", "api-key", &key]), 0);
    assert_eq!(expect_exit(&mut config(&["get", "url"]), 0).0.trim(), shell.server.base_url);
    let (list, _) = expect_exit(&mut config(&["list"]), 0);
    assert!(list.contains("vk_") && !list.contains(&key) && list.contains("not set"), "{list}");
    let (path, _) = expect_exit(&mut config(&["path"]), 0);
    assert!(path.trim().ends_with(".verial/config.json"), "{path}");
    let mut plain = shell.command(&["environments", "list"]);
    expect_exit(plain.env_remove("VERIAL_URL").env_remove("VERIAL_API_KEY"), 0);
    expect_exit(&mut config(&["set", "api-key", "vk_typo"]), 2);
    expect_exit(&mut config(&["set", "url", "example.org"]), 2);
    expect_exit(&mut config(&["unset", "api-key"]), 0);
    expect_exit(&mut config(&["get", "api-key"]), 1);
}

#[test]
fn get_prints_one_member_of_a_response() {
    let shell = Shell::open();
    let get = |arguments: &[&str], member: &str| expect_exit(shell.command(arguments).args(["--get", member]), 0).0;
    let created = get(&["environments", "create", "--name", "Clinic \"A\""], "id");
    let id = created.trim_end();
    assert!(id.starts_with("env_") && created.lines().count() == 1, "{created}");
    assert_eq!(get(&["environments", "get", id], "name"), "Clinic \"A\"\n");
    assert_eq!(get(&["environments", "list"], "data.0.id"), created);
    assert_eq!(get(&["call", "GET", "/environments"], "data.0.simulators"), "[]\n");
    for arguments in [["environments", "get", id], ["call", "GET", "/environments"]] {
        let (out, text) = expect_exit(shell.command(&arguments).args(["--get", "nme"]), 2);
        assert!(out.is_empty() && text.contains("no `nme`; it has "), "{text}");
    }
    expect_exit(shell.command(&["environments", "list"]).args(["--get", "data", "--json"]), 2);
}

#[test]
fn completions_work_and_generated_pages_are_up_to_date() {
    for shell in ["bash", "zsh", "fish"] {
        let (script, _) = expect_exit(&mut verial(&["completions", shell]), 0);
        assert!(script.contains("benchmarks") && script.contains("min-score"), "{shell}");
    }
    for name in ["command-line", "criteria"] {
        let (page, _) = expect_exit(&mut verial(&["manual", name]), 0);
        let kept = format!("{}/../../docs/{name}.md", env!("CARGO_MANIFEST_DIR"));
        let kept = std::fs::read_to_string(kept).unwrap();
        assert!(page == kept, "docs/{name}.md is outdated: regenerate it with `verial manual {name}`");
    }
}
