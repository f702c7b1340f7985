//! One group of commands per resource, each used through the real binary.

use serde_json::{Value, json};
use testkit::Database;

use crate::arena::ended;
use crate::process::{Serving, Site, verial, write_file};

pub(crate) struct Shell {
    pub(crate) site: Site,
    serving: Serving,
}

impl Shell {
    pub(crate) fn open() -> Self {
        let site = Site::new(Database::Sqlite);
        Self { serving: site.serve(), site }
    }

    pub(crate) fn command(&self, words: &[&str]) -> std::process::Command {
        let mut command = verial(words);
        command.env("HOME", self.site.directory()).env("VERIAL_URL", &self.serving.base_url);
        command.env("VERIAL_API_KEY", self.serving.first_key.as_deref().unwrap()).current_dir(self.site.directory());
        command
    }

    #[track_caller]
    pub(crate) fn json(&self, words: &[&str]) -> Value {
        let (text, _) = ended(self.command(words).arg("--json"), 0);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{words:?}: {error}: {text}"))
    }

    #[track_caller]
    pub(crate) fn id(&self, words: &[&str]) -> String {
        let made = self.json(words);
        made["id"].as_str().unwrap_or_else(|| panic!("{words:?}: {made}")).to_owned()
    }

    /// What a person sees, at two widths: every line fits, nothing is coloured.
    #[track_caller]
    fn table(&self, words: &[&str]) -> String {
        let mut shown = String::new();
        for columns in [200, 80] {
            let (text, _) = ended(self.command(words).env("COLUMNS", columns.to_string()), 0);
            for line in text.lines() {
                let wide = line.chars().map(|letter| if letter > '\u{2e80}' { 2 } else { 1 }).sum::<usize>();
                assert!(wide <= columns, "{words:?} at {columns}: {line}");
            }
            assert!(!text.contains('\u{1b}'), "{text}");
            shown = text;
        }
        shown
    }
}

#[test]
fn a_benchmark_is_written_published_and_taken_away_by_the_command_line_alone() {
    let shell = Shell::open();
    let data = write_file(shell.site.directory(), "p.ndjson", testkit::world::patients(2));
    let dataset = shell.id(&["datasets", "create", "--name", "患者のデータ", "--data", data.to_str().unwrap()]);
    assert!(shell.table(&["datasets", "list"]).contains(&dataset));
    let (content, _) = ended(&mut shell.command(&["datasets", "download", &dataset]), 0);
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
    let task = write_file(shell.site.directory(), "item.json", r#"{"instruction":"Do it."}"#);
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
    let body = write_file(shell.site.directory(), "criterion.json", body.to_string());
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
    for words in [["criteria", "delete", &criterion], ["tasks", "delete", &task], ["benchmarks", "delete", &benchmark]]
    {
        ended(&mut shell.command(&words), 0);
    }
    ended(&mut shell.command(&["criteria", "get", &criterion]), 3);
}

/// Wherever an id of a benchmark is wanted, its slug will do.
fn by_slug(shell: &Shell, benchmark: &str, task: &str) {
    assert_eq!(shell.json(&["benchmarks", "get", "referrals"])["id"], benchmark);
    assert_eq!(shell.json(&["benchmarks", "update", "referrals", "--timeout", "60"])["id"], benchmark);
    for name in ["referrals", "referrals@1", benchmark] {
        assert_eq!(shell.json(&["benchmarks", "versions", name])["data"][0]["version"], json!(1));
    }
    assert_eq!(shell.json(&["tasks", "list", "--benchmark", "referrals"])["data"][0]["id"], task);
    assert_eq!(shell.json(&["runs", "list", "--benchmark", "referrals"])["data"], json!([]));
    for (words, code, expected) in [
        (["benchmarks", "delete", "referrals@1"], 2, "give `referrals`"),
        (["benchmarks", "pull", "referrals@1"], 2, "give `referrals`"),
        (["benchmarks", "stats", "referrals"], 2, "the newest is `referrals@1`"),
        (["benchmarks", "versions", "referral"], 3, "verial benchmarks list"),
    ] {
        let (_, told) = ended(&mut shell.command(&words), code);
        assert!(told.contains(expected), "{words:?}: {told}");
    }
}

#[test]
fn folders_answer_programs_too() {
    let shell = Shell::open();
    let get = |words: &[&str], member: &str| ended(shell.command(words).args(["--get", member]), 0).0;
    assert_eq!(get(&["benchmarks", "init", "chest-x-rays"], "slug"), "chest-x-rays\n");
    assert_eq!(shell.json(&["benchmarks", "lint", "chest-x-rays"]), json!([]));
    assert_eq!(get(&["benchmarks", "push", "chest-x-rays"], "version"), "1\n");
    let pulled = shell.json(&["benchmarks", "pull", "chest-x-rays", "again"]);
    assert_eq!((&pulled["tasks"], &pulled["datasets"]), (&json!(2), &json!(1)));
    let (_, told) = ended(&mut shell.command(&["benchmarks", "init", "again"]), 2);
    assert!(told.contains("is not empty; name a new folder"), "{told}");
}

#[test]
fn what_runs_can_be_looked_at() {
    let shell = Shell::open();
    let simulator = shell.id(&["simulators", "create", "--type", "Fhir", "--name", "EHR"]);
    let environment = shell.id(&["environments", "create", "--name", "Clinic"]);
    shell.json(&["environments", "attach", &environment, &simulator]);
    let playground = shell.id(&["playgrounds", "create", "--environment", &environment]);
    let found = shell.json(&["playgrounds", "get", &playground]);
    let sandbox = found["sandboxes"][0]["id"].as_str().unwrap();
    let patient = r#"{"resourceType":"Basic","code":{"text":"x"}}"#;
    ended(&mut shell.command(&["call", "POST", &format!("/sandboxes/{sandbox}/fhir/Basic"), patient]), 0);
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
    let file = write_file(shell.site.directory(), "a.txt", "hello");
    shell.json(&["datasets", "put-file", &files, "inbox/a b.txt", file.to_str().unwrap()]);
    assert!(shell.table(&["datasets", "files", &files]).contains("inbox/a b.txt"));
    let (content, _) = ended(&mut shell.command(&["datasets", "get-file", &files, "inbox/a b.txt"]), 0);
    assert_eq!(content, "hello");
    ended(&mut shell.command(&["datasets", "remove-file", &files, "inbox/a b.txt"]), 0);

    let solver = shell.id(&["solvers", "create", "--alias", "one", "--agent-version", "7"]);
    let key = shell.json(&["solvers", "create-key", &solver, "--name", "ci"]);
    assert!(key["key"].as_str().unwrap().starts_with("vrl_slv_"));
    let id = key["id"].as_str().unwrap();
    ended(&mut shell.command(&["solvers", "revoke-key", &solver, id]), 0);
    assert!(shell.json(&["solvers", "keys", &solver])["data"][0]["revoked_at"].is_string());
    shell.table(&["solvers", "list"]);
    let key = shell.id(&["keys", "create", "--name", "other"]);
    ended(&mut shell.command(&["keys", "delete", &key]), 0);
    assert_eq!(shell.json(&["runs", "list"])["data"], json!([]));
    ended(&mut shell.command(&["runs", "list"]), 0);
}

#[test]
fn errors_say_what_to_do_and_end_with_their_code() {
    let shell = Shell::open();
    let unknown = "env_01K9Z3T5Q8W7N4M2R6V0XBHCDE";
    for (words, code, expected) in [
        (vec!["environments", "get", unknown], 3, "verial environments list"),
        (vec!["environments", "create"], 2, "--name"),
        (vec!["environments", "create", "--name", " "], 3, "name: "),
        (vec!["environments", "update", unknown], 2, "nothing to change"),
        (vec!["simulators", "create", "--type", "Fhir", "--name", "x", "--config", "{"], 2, "is not JSON"),
        (vec!["environments", "explode"], 2, "unrecognized subcommand"),
        (vec!["environments"], 2, "Usage: verial environments"),
        (vec!["environments", "list", "--url", "example.org"], 2, "must begin with http"),
        (vec!["call", "GET", "/nowhere"], 3, "/docs"),
        (
            vec!["tasks", "create", "--benchmark", "x", "--name", "y", "--task-item", "@nowhere.json"],
            5,
            "cannot read nowhere.json",
        ),
    ] {
        let (_, told) = ended(&mut shell.command(&words), code);
        assert!(told.contains(expected), "{words:?}: {told}");
    }
    let (_, told) = ended(shell.command(&["environments", "list"]).env("VERIAL_URL", "http://127.0.0.1:9"), 4);
    assert!(told.contains("cannot be reached") && told.contains("verial serve"), "{told}");
    let (_, told) = ended(shell.command(&["environments", "list"]).env_remove("VERIAL_API_KEY"), 2);
    assert!(told.contains("verial auth set-key"), "{told}");
}

#[test]
fn colour_is_for_eyes_only() {
    let shell = Shell::open();
    shell.id(&["environments", "create", "--name", "Clinic"]);
    let list = ["environments", "list"];
    let (text, _) = ended(shell.command(&list).env("CLICOLOR_FORCE", "1"), 0);
    assert!(text.contains('\u{1b}'), "{text:?}");
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let (text, _) = ended(shell.command(&list).env("CLICOLOR_FORCE", "1").env(name, value), 0);
        assert!(!text.contains('\u{1b}'), "{name}: {text:?}");
    }
}

#[test]
fn settings_are_kept_one_by_one() {
    let shell = Shell::open();
    let key = shell.serving.first_key.clone().unwrap();
    let config = |words: &[&str]| {
        let mut command = shell.command(&["config"]);
        command.args(words).env_remove("VERIAL_URL").env_remove("VERIAL_API_KEY");
        command
    };
    ended(&mut config(&["set", "url", &shell.serving.base_url]), 0);
    ended(&mut config(&["set", "api-key", &key]), 0);
    assert_eq!(ended(&mut config(&["get", "url"]), 0).0.trim(), shell.serving.base_url);
    let (list, _) = ended(&mut config(&["list"]), 0);
    assert!(list.contains("vk_") && !list.contains(&key) && list.contains("not set"), "{list}");
    let (path, _) = ended(&mut config(&["path"]), 0);
    assert!(path.trim().ends_with(".verial/config.json"), "{path}");
    let mut plain = shell.command(&["environments", "list"]);
    ended(plain.env_remove("VERIAL_URL").env_remove("VERIAL_API_KEY"), 0);
    ended(&mut config(&["set", "api-key", "vk_typo"]), 2);
    ended(&mut config(&["set", "url", "example.org"]), 2);
    ended(&mut config(&["unset", "api-key"]), 0);
    ended(&mut config(&["get", "api-key"]), 1);
}

#[test]
fn a_script_gets_one_member_of_an_answer() {
    let shell = Shell::open();
    let get = |words: &[&str], member: &str| ended(shell.command(words).args(["--get", member]), 0).0;
    let made = get(&["environments", "create", "--name", "Clinic \"A\""], "id");
    let id = made.trim_end();
    assert!(id.starts_with("env_") && made.lines().count() == 1, "{made}");
    assert_eq!(get(&["environments", "get", id], "name"), "Clinic \"A\"\n");
    assert_eq!(get(&["environments", "list"], "data.0.id"), made);
    assert_eq!(get(&["call", "GET", "/environments"], "data.0.simulators"), "[]\n");
    for words in [["environments", "get", id], ["call", "GET", "/environments"]] {
        let (out, told) = ended(shell.command(&words).args(["--get", "nme"]), 2);
        assert!(out.is_empty() && told.contains("no `nme`; it has "), "{told}");
    }
    ended(shell.command(&["environments", "list"]).args(["--get", "data", "--json"]), 2);
}

#[test]
fn shells_can_complete_and_the_manual_is_true() {
    for shell in ["bash", "zsh", "fish"] {
        let (script, _) = ended(&mut verial(&["completions", shell]), 0);
        assert!(script.contains("benchmarks") && script.contains("min-score"), "{shell}");
    }
    for name in ["command-line", "criteria"] {
        let (page, _) = ended(&mut verial(&["manual", name]), 0);
        let kept = format!("{}/../../docs/{name}.md", env!("CARGO_MANIFEST_DIR"));
        let kept = std::fs::read_to_string(kept).unwrap();
        assert!(page == kept, "docs/{name}.md is not what `verial manual {name}` prints: write it anew");
    }
}
