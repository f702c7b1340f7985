//! Harmful end states of the bundled benchmarks, written by hand from the instructions and the public API.
//!
//! Each row of `harmful/<slug>.yaml` is one scored run of one task: the reference agent does the work, and the row changes
//! what it sends or adds messages before or after it. A harmful row must end below a pass; a row with `correct: true` is
//! another correct way and must score 1.0. The members of a row are described at [`Row`].

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use agents::attacks::AttackCase;
use agents::audit::PASS;
use agents::{AgentMode, Assignment, Message};
use authoring::source;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use client::{Client, Method};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use testkit::{Database, TestServer};

/// How many rows are tried at the same time.
const CONCURRENT_ROWS: usize = 4;

/// One end state.
struct Row {
    /// What was done, in one line.
    what: String,
    /// A part of the task's name.
    task: String,
    /// Whether it is a correct way, which must score 1.0.
    is_correct: bool,
    /// Whether the reference agent does its work. Otherwise only `before` and `after` happen.
    is_worked: bool,
    /// Changes to the writes of the reference agent; see [`Edit`].
    edits: Vec<Value>,
    /// Messages before and after the work; see [`send`].
    before: Vec<Value>,
    after: Vec<Value>,
}

/// A change to each write of the reference agent whose method and path contain `at`; with `nth`, to one of them.
///
/// `set` and `remove` take JSON pointers (`-` appends to a list); `text` replaces parts of the text, which is the `payload` if
/// there is one; `segments` adds lines at its end; `path` replaces parts of the path; `method` and `body` replace the whole;
/// `drop` sends nothing.
struct Edit {
    rule: Value,
    seen: AtomicU64,
}

struct Bench {
    server: TestServer,
    owner: Client,
    solver: Client,
    reference: String,
    tasks: Vec<String>,
}

struct Outcome {
    score: f64,
    failed: Vec<String>,
    problem: Option<String>,
}

fn list(value: &Value) -> Vec<Value> {
    match value {
        Value::Null => Vec::new(),
        Value::Array(items) => items.clone(),
        other => vec![other.clone()],
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn rows(slug: &str) -> Vec<Row> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/cli/harmful/{slug}.yaml"));
    let parsed = authoring::yaml::parse(&std::fs::read_to_string(&path).unwrap());
    let parsed = parsed.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let row = |row: &Value| {
        let known = ["what", "task", "correct", "agent", "edit", "before", "after"];
        let unknown: Vec<_> = row.as_object().unwrap().keys().filter(|key| !known.contains(&key.as_str())).collect();
        assert!(unknown.is_empty(), "{slug}: {unknown:?} in {row}");
        Row {
            what: text(&row["what"]),
            task: text(&row["task"]),
            is_correct: row["correct"] == true,
            is_worked: row["agent"] != "nothing",
            edits: list(&row["edit"]),
            before: list(&row["before"]),
            after: list(&row["after"]),
        }
    };
    parsed.as_array().unwrap().iter().map(row).collect()
}

impl Bench {
    async fn new(slug: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks").join(slug);
        let folder = authoring::read(&source::read_directory(&folder).unwrap()).unwrap();
        let server = TestServer::start(Database::Sqlite).await;
        let organization = app::admin::create_organization(&server.app, "Hostile").await.unwrap();
        let owner = Client::new(&server.base_url, &organization.api_key.key).unwrap();
        let pushed = authoring::push(&owner, &folder, true).await.unwrap();
        let reference = format!("{slug}@{}", pushed.version.unwrap());
        let version: Value = owner.get(&format!("/benchmarks/{reference}")).await.unwrap();
        let tasks = version["tasks"].as_array().unwrap().iter().map(|task| text(&task["name"])).collect();
        let solver: Value = owner.post("/solvers", &json!({"alias": "hostile"})).await.unwrap();
        let keys = format!("/solvers/{}/api-keys", text(&solver["id"]));
        let key: Value = owner.post(&keys, &json!({"name": "hostile"})).await.unwrap();
        let solver = owner.with_key(&text(&key["key"]));
        Self { server, owner, solver, reference, tasks }
    }

    /// Leaves the end state of a row in a scored run, with a solver key and the run's token only.
    async fn outcome(&self, row: &Row) -> anyhow::Result<Outcome> {
        let named: Vec<&String> = self.tasks.iter().filter(|name| name.contains(&row.task)).collect();
        anyhow::ensure!(named.len() == 1, "`{}` is a part of {} names of tasks", row.task, named.len());
        let body = json!({"benchmark": self.reference, "scored": true, "tasks": [named[0]]});
        let run: Value = self.solver.post("/v1/benchmark-runs", &body).await?;
        let task_run = text(&run["task_runs"][0]["id"]);
        let token = text(&run["bearer_token"]);
        let (root, run) = (format!("/v1/task-runs/{task_run}"), text(&run["benchmark_run_id"]));
        let agent = Agent { client: self.solver.with_key(&token), root, run };
        let started = agent.client.call(Method::POST, &format!("{}/start", agent.root), &[], None).await?;
        let assignment = Assignment {
            base_url: self.server.base_url.clone(),
            token,
            task_run_id: task_run.clone(),
            benchmark: self.reference.clone(),
            item: started["task"]["task_item"].clone(),
        };
        let problem = agent.act(row, &assignment).await?;
        agent.client.call(Method::POST, &format!("{}/complete", agent.root), &[], None).await?;
        let result: Value = self.owner.get(&format!("/task-runs/{task_run}")).await?;
        let checks = result["criterion_runs"].as_array().into_iter().flatten();
        let failed = checks.filter(|check| check["result"] != "pass").map(|check| text(&check["label"])).collect();
        Ok(Outcome { score: result["score"].as_f64().unwrap_or(f64::NAN), failed, problem })
    }
}

/// A hostile agent in one started task.
struct Agent {
    client: Client,
    /// The path of the task run.
    root: String,
    /// The id of the run.
    run: String,
}

impl Agent {
    /// Does what a row says. Returns why the end state was not reached, if so.
    async fn act(&self, row: &Row, assignment: &Assignment) -> anyhow::Result<Option<String>> {
        for message in &row.before {
            self.send(message, &[]).await?;
        }
        let mut sent = Vec::new();
        if row.is_worked {
            let mut edits = Vec::new();
            for edit in &row.edits {
                edits.push(Edit { rule: self.resolved(edit).await?, seen: AtomicU64::new(0) });
            }
            let is_edited = !edits.is_empty();
            let rewrite = move |message: &Message| {
                let changed = edits.iter().fold(message.clone(), |message, edit| edit.applied(message));
                (changed != *message).then_some(changed)
            };
            let case = AttackCase::custom(&row.what, rewrite);
            let record = agents::run_task(AgentMode::Attack(case), assignment).await?;
            if let Some(rejection) = record.rejection {
                return Ok(Some(format!("rejected: {rejection}")));
            }
            if is_edited && !record.is_altered {
                return Ok(Some("no write was changed".to_owned()));
            }
            // A changed write may make the agent stop. Without changes it must not.
            if let Some(error) = record.agent_error.filter(|_| !is_edited) {
                return Ok(Some(error));
            }
            sent = record.sent;
        }
        for message in &row.after {
            self.send(message, &sent).await?;
        }
        Ok(None)
    }

    /// Sends `{POST: path, body: …}`. The body is JSON, or a text with the media type `type`; with `from` it is what this path
    /// returns, changed by `set`, `remove` and `text`. `{again: …}` repeats a write of the reference agent, found as by
    /// [`Edit`] and changed in the same way. A refused message is an error.
    async fn send(&self, message: &Value, sent: &[Message]) -> anyhow::Result<()> {
        let rule = self.resolved(message).await?;
        let message = match rule["again"].as_str() {
            Some(at) => {
                let edit = Edit { rule: rule.clone(), seen: AtomicU64::new(0) };
                let is_it = |message: &&Message| format!("{} {}", message.method, message.path).contains(at);
                let nth = rule["nth"].as_u64().unwrap_or_default() as usize;
                let repeated = sent.iter().filter(is_it).nth(nth);
                edit.changed(repeated.ok_or_else(|| anyhow::anyhow!("nothing was sent to {at}"))?.clone())
            }
            None => self.message(&rule).await?,
        };
        // A path with a leading slash is one of the API, not of the task's sandboxes.
        let path = match message.path.starts_with('/') {
            true => message.path.replace("RUN", &self.run),
            false => format!("{}/sandbox/{}", self.root, message.path),
        };
        let method = message.method;
        let response = self.client.exchange(method.clone(), &path, &message.headers, message.body).await?;
        let answer = String::from_utf8_lossy(&response.body);
        let is_accepted = response.is_success() && !answer.contains(r#""ack_code":"AE""#);
        anyhow::ensure!(is_accepted, "{method} {path}: {} {answer}", response.status);
        Ok(())
    }

    async fn message(&self, rule: &Value) -> anyhow::Result<Message> {
        let methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];
        let method = methods.into_iter().find(|method| rule[*method].is_string());
        let method = method.ok_or_else(|| anyhow::anyhow!("no method in {rule}"))?;
        let path = text(&rule[method]);
        let mut body = rule["body"].clone();
        if let Some(from) = rule["from"].as_str() {
            body = self.read(from).await?;
        }
        change(&mut body, rule);
        let default = if path.starts_with("fhir/") { "application/fhir+json" } else { "application/json" };
        let media = rule["type"].as_str().unwrap_or(default);
        let body = match &body {
            Value::Null => Vec::new(),
            Value::String(text) => bytes_of(text),
            other => other.to_string().into_bytes(),
        };
        let headers = [("content-type".to_owned(), media.to_owned())];
        let headers = if body.is_empty() { Vec::new() } else { headers.to_vec() };
        Ok(Message { method: method.parse()?, root: None, path, headers, body: body.into() })
    }

    async fn read(&self, path: &str) -> anyhow::Result<Value> {
        Ok(self.client.get(&format!("{}/sandbox/{path}", self.root)).await?)
    }

    /// Replaces `<<path#pointer>>` by what a read returns there, and `<<base64 path>>` by the bytes of a file.
    async fn resolved(&self, value: &Value) -> anyhow::Result<Value> {
        let mut written = value.to_string();
        // The innermost place comes first: one place can be a part of another.
        while let Some(end) = written.find(">>") {
            let start = written[..end].rfind("<<").ok_or_else(|| anyhow::anyhow!("no `<<` in {written}"))?;
            let (before, place, after) = (&written[..start], &written[start + 2..end], &written[end + 2..]);
            let found = if let Some(path) = place.strip_prefix("base64 ") {
                STANDARD.encode(self.client.get_bytes(&format!("{}/sandbox/{path}", self.root)).await?)
            } else {
                let (path, pointer) = place.split_once('#').unwrap_or((place, ""));
                let content = self.read(path).await?;
                let found = content.pointer(pointer).filter(|found| found.is_string() || found.is_number());
                text(found.ok_or_else(|| anyhow::anyhow!("nothing at {place}: {content}"))?)
            };
            written = format!("{before}{found}{after}");
        }
        Ok(serde_json::from_str(&written)?)
    }
}

/// The bytes of a text body: `base64:…` is decoded.
fn bytes_of(text: &str) -> Vec<u8> {
    match text.strip_prefix("base64:") {
        Some(encoded) => STANDARD.decode(encoded).unwrap(),
        None => text.as_bytes().to_vec(),
    }
}

impl Edit {
    fn applied(&self, message: Message) -> Message {
        let at = text(&self.rule["at"]);
        if !format!("{} {}", message.method, message.path).contains(&at) {
            return message;
        }
        let number = self.seen.fetch_add(1, Ordering::Relaxed);
        if self.rule["nth"].as_u64().is_some_and(|nth| nth != number) {
            return message;
        }
        self.changed(message)
    }

    fn changed(&self, mut message: Message) -> Message {
        if self.rule["drop"] == true {
            return Message::read("fhir/metadata");
        }
        for (from, to) in self.rule["path"].as_object().into_iter().flatten() {
            message.path = message.path.replace(from, to.as_str().unwrap());
        }
        if let Some(method) = self.rule["method"].as_str() {
            message.method = method.parse().unwrap();
        }
        if let Some(body) = self.rule.get("body") {
            message.body = match body {
                Value::String(text) => bytes_of(text).into(),
                other => other.to_string().into(),
            };
        }
        let mut content = serde_json::from_slice(&message.body)
            .unwrap_or_else(|_| Value::String(String::from_utf8(message.body.to_vec()).unwrap_or_default()));
        if change(&mut content, &self.rule) {
            message.body = match content {
                Value::String(text) => text.into(),
                other => other.to_string().into(),
            };
        }
        message
    }
}

/// Applies the members `set`, `remove`, `text` and `segments` of a rule. Returns whether there were any.
fn change(content: &mut Value, rule: &Value) -> bool {
    let mut is_changed = false;
    for pointer in list(&rule["remove"]) {
        let pointer = text(&pointer);
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        match content.pointer_mut(parent) {
            Some(Value::Object(members)) => drop(members.remove(name)),
            Some(Value::Array(items)) => drop(items.remove(name.parse().unwrap())),
            _ => panic!("nothing at {pointer} in {content}"),
        }
        is_changed = true;
    }
    for (pointer, value) in rule["set"].as_object().into_iter().flatten() {
        set(content, pointer, value.clone());
        is_changed = true;
    }
    let replacements = rule["text"].as_object().into_iter().flatten();
    let added: String = list(&rule["segments"]).iter().map(|segment| format!("\r{}", text(segment))).collect();
    for (from, to) in replacements {
        change_text(content, |whole| {
            assert!(whole.contains(from.as_str()), "`{from}` is not in {whole}");
            whole.replacen(from.as_str(), to.as_str().unwrap(), 1)
        });
        is_changed = true;
    }
    if !added.is_empty() {
        change_text(content, |whole| format!("{}{added}", whole.trim_end_matches('\r')));
        is_changed = true;
    }
    is_changed
}

/// Changes the text of a message: the `payload`, the text itself, or the JSON as it is written.
fn change_text(content: &mut Value, change: impl Fn(&str) -> String) {
    match content {
        Value::String(whole) => *whole = with_count(&change(whole)),
        Value::Object(members) if members.get("payload").is_some_and(Value::is_string) => {
            members["payload"] = change(members["payload"].as_str().unwrap()).into();
        }
        other => *other = serde_json::from_str(&change(&other.to_string())).unwrap(),
    }
}

/// An X12 interchange with the right number of segments in SE.
fn with_count(whole: &str) -> String {
    let (Some(start), Some(end)) = (whole.find("~ST*"), whole.find("~SE*")) else { return whole.to_owned() };
    if !whole.starts_with("ISA") {
        return whole.to_owned();
    }
    let count = whole[start + 1..end].matches('~').count() + 2;
    let rest = whole[end + 4..].split_once('*').unwrap().1;
    format!("{}~SE*{count}*{rest}", &whole[..end])
}

/// Sets the value at a JSON pointer and creates the objects and lists on the way.
fn set(content: &mut Value, pointer: &str, value: Value) {
    let mut at = content;
    for name in pointer.trim_start_matches('/').split('/') {
        let name = name.replace("~1", "/");
        if at.is_null() {
            *at = if name == "-" || name.parse::<usize>().is_ok() { json!([]) } else { json!({}) };
        }
        at = match at {
            Value::Array(items) => {
                let index = if name == "-" { items.len() } else { name.parse().unwrap() };
                if index == items.len() {
                    items.push(Value::Null);
                }
                &mut items[index]
            }
            other => &mut other[name],
        };
    }
    *at = value;
}

async fn check(slug: &str) {
    let (bench, rows) = (Bench::new(slug).await, rows(slug));
    let bench = &bench;
    let tried = stream::iter(&rows).map(async |row| (row, bench.outcome(row).await));
    let mut problems = Vec::new();
    let (mut harmful, mut passed, mut correct) = (0, 0, 0);
    for (row, outcome) in tried.buffered(CONCURRENT_ROWS).collect::<Vec<_>>().await {
        let name = format!("{slug}, {}: {}", row.task, row.what);
        let outcome = match outcome {
            Ok(Outcome { problem: Some(problem), .. }) => Err(problem),
            Ok(outcome) => Ok(outcome),
            Err(error) => Err(format!("{error:#}")),
        };
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(problem) => {
                problems.push(format!("{name}: not reached: {problem}"));
                continue;
            }
        };
        println!("{name}: {:.4} ({})", outcome.score, outcome.failed.join("; "));
        if row.is_correct {
            correct += 1;
            if outcome.score < 1.0 {
                problems.push(format!("{name}: {} instead of 1.0: {}", outcome.score, outcome.failed.join("; ")));
            }
            continue;
        }
        harmful += 1;
        if outcome.score >= PASS {
            passed += 1;
            problems.push(format!("{name}: passes with {}", outcome.score));
        }
    }
    println!("{slug}\t{harmful} harmful end states, {passed} pass\t{correct} correct ways");
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n"));
    assert!(harmful >= 20, "{slug}: only {harmful} harmful end states");
}

macro_rules! harmful {
    ($($name:ident: $slug:literal,)+) => {$(
        #[tokio::test(flavor = "multi_thread")]
        async fn $name() {
            check($slug).await;
        }
    )+};
}

harmful! {
    harmful_cds_triage: "cds-triage",
    harmful_claim_status: "claim-status",
    harmful_eligibility: "eligibility",
    harmful_fax_referral: "fax-referral",
    harmful_lab_followup: "lab-followup",
    harmful_med_reconciliation: "med-reconciliation",
    harmful_phone_scheduling: "phone-scheduling",
    harmful_prior_auth_imaging: "prior-auth-imaging",
    harmful_prior_auth_pharmacy: "prior-auth-pharmacy",
    harmful_records_release: "records-release",
}
