//! R1: what was acknowledged survives `kill -9`, whole; what was not is there whole or not at all.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use testkit::{Database, postgres_url};
use tokio::sync::{Mutex, Semaphore};

use crate::process::{Site, output};

const CLIENTS: usize = 16;
const ROUNDS: usize = 4;
const ACKNOWLEDGED_BEFORE_THE_KILL: u32 = 60;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_on_sqlite() {
    kill_while_writing(Database::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_on_postgres() {
    if postgres_url().is_some() {
        kill_while_writing(Database::Postgres).await;
    }
}

/// What the clients of all rounds know.
#[derive(Default)]
struct Journal {
    environments: BTreeSet<String>,
    slugs: BTreeSet<String>,
    attempted_slugs: BTreeSet<String>,
    files: BTreeSet<String>,
}

async fn kill_while_writing(database: Database) {
    let site = Site::new(database);
    let mut serving = site.serve();
    let key = serving.first_key.clone().expect("a first start prints a key");
    let api = Api::new(&serving.base_url, &key);
    let dataset = api.create("/datasets", json!({"name": "files", "type": "files"})).await.expect("a dataset");
    let dataset = dataset["id"].as_str().unwrap().to_owned();
    let journal = Arc::new(Mutex::new(Journal::default()));
    for round in 0..ROUNDS {
        let api = Api::new(&serving.base_url, &key);
        let acknowledged = Arc::new(Semaphore::new(0));
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let name = format!("r{round}-c{client}");
                tokio::spawn(write_until_refused(
                    api.clone(),
                    name,
                    dataset.clone(),
                    Arc::clone(&journal),
                    Arc::clone(&acknowledged),
                ))
            })
            .collect();
        // A different moment in each round.
        let enough = acknowledged.acquire_many(ACKNOWLEDGED_BEFORE_THE_KILL * (round as u32 + 1)).await;
        enough.expect("clients that write").forget();
        serving.kill();
        for client in clients {
            client.await.unwrap();
        }
        output(&mut site.command(&["admin", "check"]));
        serving = site.serve();
        assert!(serving.first_key.is_none(), "a restart makes no organization");
        check(&Api::new(&serving.base_url, &key), &dataset, &*journal.lock().await).await;
    }
}

/// Writes through every door in turn until the server is gone; notes only what was answered with success.
async fn write_until_refused(
    api: Api,
    client: String,
    dataset: String,
    journal: Arc<Mutex<Journal>>,
    acknowledged: Arc<Semaphore>,
) {
    for number in 0.. {
        let name = format!("{client}-{number}");
        journal.lock().await.attempted_slugs.insert(name.clone());
        if api.create("/environments", json!({"name": name})).await.is_none() {
            return;
        }
        journal.lock().await.environments.insert(name.clone());
        acknowledged.add_permits(1);
        if api.create("/benchmarks", json!({"name": name, "slug": name})).await.is_none() {
            return;
        }
        journal.lock().await.slugs.insert(name.clone());
        acknowledged.add_permits(1);
        if !api.put_file(&dataset, &name).await {
            return;
        }
        journal.lock().await.files.insert(name);
        acknowledged.add_permits(1);
    }
}

async fn check(api: &Api, dataset: &str, journal: &Journal) {
    let environments = api.all("/environments", "name").await;
    assert!(journal.environments.is_subset(&unique(&environments)), "an acknowledged environment is lost");
    let slugs = unique(&api.all("/benchmarks", "slug").await);
    assert!(journal.slugs.is_subset(&slugs), "an acknowledged benchmark is lost");
    // A benchmark and the claim of its slug are one write: a slug is taken exactly when its benchmark is there.
    for slug in journal.attempted_slugs.difference(&slugs) {
        let claimed = api.create("/benchmarks", json!({"name": "probe", "slug": slug})).await.expect("a free slug");
        api.delete(&format!("/benchmarks/{}", claimed["id"].as_str().unwrap())).await;
    }
    let files = unique(&api.all(&format!("/datasets/{dataset}/files"), "path").await);
    assert!(journal.files.is_subset(&files), "an acknowledged file is lost");
    for path in &files {
        assert_eq!(api.read_file(dataset, path).await, content_of(path), "a file has lost its content");
    }
    let counted = api.get(&format!("/datasets/{dataset}")).await;
    assert_eq!(
        counted["counts"]["files"].as_u64().unwrap_or(0),
        files.len() as u64,
        "the dataset and its files disagree"
    );
}

fn unique(values: &[String]) -> BTreeSet<String> {
    let set: BTreeSet<String> = values.iter().cloned().collect();
    assert_eq!(set.len(), values.len(), "something is there twice");
    set
}

fn content_of(path: &str) -> String {
    format!("content of {path}")
}

/// Calls that may find nobody there.
#[derive(Clone)]
struct Api {
    http: reqwest::Client,
    base_url: String,
    key: String,
}

impl Api {
    fn new(base_url: &str, key: &str) -> Self {
        Self { http: reqwest::Client::new(), base_url: base_url.to_owned(), key: key.to_owned() }
    }

    /// `None` when the server was gone before it answered.
    async fn create(&self, path: &str, body: Value) -> Option<Value> {
        let request = self.http.post(format!("{}{path}", self.base_url)).bearer_auth(&self.key).json(&body);
        let answer = request.send().await.ok()?;
        assert_eq!(answer.status(), 201, "{path}");
        answer.json().await.ok()
    }

    async fn put_file(&self, dataset: &str, path: &str) -> bool {
        let url = format!("{}/datasets/{dataset}/files/{path}", self.base_url);
        match self.http.put(url).bearer_auth(&self.key).body(content_of(path)).send().await {
            Ok(answer) => answer.status() == 200,
            Err(_) => false,
        }
    }

    async fn read_file(&self, dataset: &str, path: &str) -> String {
        let url = format!("{}/datasets/{dataset}/files/{path}", self.base_url);
        self.http.get(url).bearer_auth(&self.key).send().await.unwrap().text().await.unwrap()
    }

    async fn delete(&self, path: &str) {
        let answer = self.http.delete(format!("{}{path}", self.base_url)).bearer_auth(&self.key).send().await.unwrap();
        assert_eq!(answer.status(), 204);
    }

    async fn get(&self, path: &str) -> Value {
        let answer = self.http.get(format!("{}{path}", self.base_url)).bearer_auth(&self.key).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        answer.json().await.unwrap()
    }

    /// A member of every row of a list, page by page.
    async fn all(&self, path: &str, member: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut cursor = String::new();
        loop {
            let page = self.get(&format!("{path}?limit=100{cursor}")).await;
            let rows = page["data"].as_array().unwrap();
            found.extend(rows.iter().filter_map(|row| row[member].as_str().map(ToOwned::to_owned)));
            match page["_meta"]["next"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return found,
            }
        }
    }
}
