//! R1: acknowledged writes survive `kill -9`; other writes are stored completely or not at all.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;
use testkit::Database;
use tokio::sync::{Mutex, Semaphore};

use crate::api::Api;
use crate::crash_uploads::Uploads;
use crate::process::{ServerData, on_both_databases, output};

const CLIENTS: usize = 16;
const ROUNDS: usize = 4;
const ACKNOWLEDGED_BEFORE_KILL: u32 = 60;

on_both_databases! {
    kill_while_writing: acknowledged_writes_survive_a_kill_on_sqlite, acknowledged_writes_survive_a_kill_on_postgres
}

/// What the clients have written in all rounds.
#[derive(Default)]
struct Journal {
    environments: BTreeSet<String>,
    slugs: BTreeSet<String>,
    attempted_slugs: BTreeSet<String>,
    files: BTreeSet<String>,
}

async fn kill_while_writing(database: Database) {
    let data = ServerData::new(database);
    let mut server = data.serve();
    let key = server.first_key.clone().expect("a first start prints a key");
    let api = Api::new(&server.base_url, &key);
    let dataset = api.create("/datasets", json!({"name": "files", "type": "files"})).await.expect("a dataset");
    let dataset = dataset["id"].as_str().unwrap().to_owned();
    let mut uploads = Vec::new();
    for client in 0..CLIENTS {
        uploads.push(Uploads::create(&api, client).await);
    }
    let journal = Arc::new(Mutex::new(Journal::default()));
    for round in 0..ROUNDS {
        let api = Api::new(&server.base_url, &key);
        let acknowledged = Arc::new(Semaphore::new(0));
        let clients: Vec<_> = uploads
            .drain(..)
            .enumerate()
            .map(|(client, uploads)| {
                let name = format!("r{round}-c{client}");
                tokio::spawn(write_until_killed(
                    api.clone(),
                    name,
                    dataset.clone(),
                    uploads,
                    Arc::clone(&journal),
                    Arc::clone(&acknowledged),
                ))
            })
            .collect();
        // Kill at a different time in each round.
        let enough = acknowledged.acquire_many(ACKNOWLEDGED_BEFORE_KILL * (round as u32 + 1)).await;
        enough.expect("clients that write").forget();
        server.kill();
        for client in clients {
            uploads.push(client.await.unwrap());
        }
        output(&mut data.command(&["admin", "check"]));
        server = data.serve();
        assert!(server.first_key.is_none(), "a restart creates no organization");
        let api = Api::new(&server.base_url, &key);
        check(&api, &dataset, &*journal.lock().await).await;
        for uploads in &mut uploads {
            uploads.check(&api).await;
        }
    }
    let journal = journal.lock().await;
    println!(
        "{ROUNDS} kills; acknowledged and kept: {} environments, {} benchmarks, {} files, {} uploads of NDJSON; \
         {} uploads were cut off, of which {} are there, whole",
        journal.environments.len(),
        journal.slugs.len(),
        journal.files.len(),
        uploads.iter().map(|one| one.acknowledged).sum::<usize>(),
        uploads.iter().map(|one| one.cut_off).sum::<usize>(),
        uploads.iter().map(|one| one.cut_off_and_kept).sum::<usize>(),
    );
}

/// Writes to every endpoint in turn until the server is killed; records only acknowledged writes.
async fn write_until_killed(
    api: Api,
    client: String,
    dataset: String,
    mut uploads: Uploads,
    journal: Arc<Mutex<Journal>>,
    acknowledged: Arc<Semaphore>,
) -> Uploads {
    for number in 0.. {
        let name = format!("{client}-{number}");
        journal.lock().await.attempted_slugs.insert(name.clone());
        if api.create("/environments", json!({"name": name})).await.is_none() {
            return uploads;
        }
        journal.lock().await.environments.insert(name.clone());
        acknowledged.add_permits(1);
        if api.create("/benchmarks", json!({"name": name, "slug": name})).await.is_none() {
            return uploads;
        }
        journal.lock().await.slugs.insert(name.clone());
        acknowledged.add_permits(1);
        let file = format!("/datasets/{dataset}/files/{name}");
        if api.put(&file, "text/plain", content_of(&name)).await.is_none() {
            return uploads;
        }
        journal.lock().await.files.insert(name);
        acknowledged.add_permits(1);
        if !uploads.upload(&api).await {
            return uploads;
        }
        acknowledged.add_permits(1);
    }
    uploads
}

async fn check(api: &Api, dataset: &str, journal: &Journal) {
    let environments = api.all("/environments", "name").await;
    assert!(journal.environments.is_subset(&unique(&environments)), "an acknowledged environment is lost");
    let slugs = unique(&api.all("/benchmarks", "slug").await);
    assert!(journal.slugs.is_subset(&slugs), "an acknowledged benchmark is lost");
    // A benchmark and its slug are written together: a slug is taken exactly when its benchmark exists.
    for slug in journal.attempted_slugs.difference(&slugs) {
        let claimed = api.create("/benchmarks", json!({"name": "probe", "slug": slug})).await.expect("a free slug");
        api.delete(&format!("/benchmarks/{}", claimed["id"].as_str().unwrap())).await;
    }
    let files = unique(&api.all(&format!("/datasets/{dataset}/files"), "path").await);
    assert!(journal.files.is_subset(&files), "an acknowledged file is lost");
    for path in &files {
        assert_eq!(
            api.read(&format!("/datasets/{dataset}/files/{path}")).await,
            content_of(path),
            "a file has lost its content"
        );
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
    assert_eq!(set.len(), values.len(), "duplicate values");
    set
}

fn content_of(path: &str) -> String {
    format!("content of {path}")
}
