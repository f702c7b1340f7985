//! The doors of R1 for FHIR: what a sandbox acknowledged is there after `kill -9`, by id and by search, and a transaction is
//! there whole or not at all.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};
use testkit::Database;
use tokio::sync::{Mutex, Semaphore};

use crate::api::Api;
use crate::process::{Site, on_both_databases, output};

const CLIENTS: usize = 16;
const ROUNDS: usize = 4;
const ACKNOWLEDGED_BEFORE_THE_KILL: u32 = 80;
/// Resources that one transaction makes.
const TOGETHER: usize = 5;

on_both_databases! {
    kill_while_writing: nothing_that_a_sandbox_acknowledged_is_lost_on_sqlite, nothing_that_a_sandbox_acknowledged_is_lost_on_postgres
}

/// What the clients of all rounds know.
#[derive(Default)]
struct Journal {
    /// Made by create: the ids that the server gave, by the mark of the client.
    created: BTreeMap<String, String>,
    /// The last acknowledged and the last attempted value of each client's counter.
    counters: BTreeMap<String, (u64, u64)>,
    transactions: BTreeSet<String>,
    attempted_transactions: BTreeSet<String>,
}

async fn kill_while_writing(database: Database) {
    let site = Site::new(database);
    let mut serving = site.serve();
    let key = serving.first_key.clone().expect("a first start prints a key");
    let fhir = sandbox(&Api::new(&serving.base_url, &key)).await;
    let journal = Arc::new(Mutex::new(Journal::default()));
    let mut kept = 0;
    for round in 0..ROUNDS {
        let acknowledged = Arc::new(Semaphore::new(0));
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let api = Api::new(&serving.base_url, &key);
                let name = (format!("c{client}"), format!("r{round}c{client}"));
                let (fhir, journal, acknowledged) = (fhir.clone(), Arc::clone(&journal), Arc::clone(&acknowledged));
                tokio::spawn(async move { write_until_refused(&api, &fhir, name, &journal, &acknowledged).await })
            })
            .collect();
        let enough = acknowledged.acquire_many(ACKNOWLEDGED_BEFORE_THE_KILL * (round as u32 + 1)).await;
        enough.expect("clients that write").forget();
        serving.kill();
        for client in clients {
            client.await.unwrap();
        }
        output(&mut site.command(&["admin", "check"]));
        serving = site.serve();
        kept = check(&Api::new(&serving.base_url, &key), &fhir, &mut *journal.lock().await).await;
    }
    let journal = journal.lock().await;
    println!(
        "{ROUNDS} kills; acknowledged and kept: {} creates, {} updates, {} transactions of {TOGETHER}; {} transactions were \
         attempted, of which {kept} are there, whole",
        journal.created.len(),
        journal.counters.values().map(|(acknowledged, _)| acknowledged).sum::<u64>(),
        journal.transactions.len(),
        journal.attempted_transactions.len(),
    );
}

/// The base path of a new sandbox.
async fn sandbox(api: &Api) -> String {
    let simulator = api.create("/simulators", json!({"type": "Fhir", "name": "EHR"})).await.expect("a simulator");
    let sandbox = api.create("/sandboxes", json!({"simulator_id": simulator["id"]})).await.expect("a sandbox");
    format!("/sandboxes/{}/fhir", sandbox["id"].as_str().unwrap())
}

/// Writes through every door in turn until the server is gone; notes only what was answered with success.
async fn write_until_refused(
    api: &Api,
    fhir: &str,
    (client, name): (String, String),
    journal: &Mutex<Journal>,
    acknowledged: &Semaphore,
) {
    for number in 0.. {
        let mark = format!("{name}n{number}");
        let Some(made) = api.create(&format!("{fhir}/Patient"), patient(&mark)).await else { return };
        journal.lock().await.created.insert(mark.clone(), made["id"].as_str().unwrap().to_owned());
        acknowledged.add_permits(1);
        let next = {
            let mut journal = journal.lock().await;
            let counter = journal.counters.entry(client.clone()).or_default();
            counter.1 = counter.0.max(counter.1) + 1;
            counter.1
        };
        if api.send("PUT", &format!("{fhir}/Observation/{client}"), counter(&client, next)).await.is_none() {
            return;
        }
        journal.lock().await.counters.insert(client.clone(), (next, next));
        acknowledged.add_permits(1);
        journal.lock().await.attempted_transactions.insert(mark.clone());
        if api.send("POST", fhir, transaction(&mark)).await.is_none() {
            return;
        }
        journal.lock().await.transactions.insert(mark);
        acknowledged.add_permits(1);
    }
}

fn patient(mark: &str) -> Value {
    json!({"resourceType": "Patient", "identifier": [{"system": "urn:mark", "value": mark}]})
}

fn counter(client: &str, value: u64) -> Value {
    json!({"resourceType": "Observation", "id": client, "status": "final", "code": {"text": "count"}, "valueInteger": value})
}

fn transaction(mark: &str) -> Value {
    let entry = |number: usize| {
        let resource = json!({"resourceType": "Basic", "id": format!("{mark}-{number}"), "code": {"text": "x"},
            "identifier": [{"system": "urn:together", "value": mark}]});
        json!({"resource": resource, "request": {"method": "PUT", "url": format!("Basic/{mark}-{number}")}})
    };
    let entries: Vec<Value> = (0..TOGETHER).map(entry).collect();
    json!({"resourceType": "Bundle", "type": "transaction", "entry": entries})
}

/// Holds the server against the journal. Answers how many transactions are there.
async fn check(api: &Api, fhir: &str, journal: &mut Journal) -> usize {
    for (mark, id) in &journal.created {
        assert_eq!(api.get(&format!("{fhir}/Patient/{id}")).await["identifier"][0]["value"], *mark);
        let found = api.get(&format!("{fhir}/Patient?identifier=urn:mark|{mark}")).await;
        assert_eq!((&found["total"], &found["entry"][0]["resource"]["id"]), (&json!(1), &json!(id)), "{mark}");
    }
    for (client, (acknowledged, attempted)) in &mut journal.counters {
        let shown = api.try_get(&format!("{fhir}/Observation/{client}")).await;
        let value = shown.as_ref().map_or(0, |shown| shown["valueInteger"].as_u64().unwrap());
        assert!(
            (*acknowledged..=*attempted).contains(&value),
            "{client} is at {value}, not {acknowledged} to {attempted}"
        );
        let version = shown.map_or(0, |shown| shown["meta"]["versionId"].as_str().unwrap().parse().unwrap());
        assert_eq!(version, value, "a version of {client} is missing or was made twice");
        (*acknowledged, *attempted) = (value, value);
    }
    let mut whole = 0;
    for mark in &journal.attempted_transactions {
        let found = api.get(&format!("{fhir}/Basic?identifier=urn:together|{mark}")).await["total"].as_u64().unwrap();
        let by_id = api.try_get(&format!("{fhir}/Basic/{mark}-0")).await.is_some();
        let is_whole = found == TOGETHER as u64;
        assert!(is_whole || found == 0, "{found} of {TOGETHER} of the transaction {mark}");
        assert_eq!(by_id, is_whole, "{mark} is there by one way and not by the other");
        assert!(is_whole || !journal.transactions.contains(mark), "an acknowledged transaction is lost");
        whole += usize::from(is_whole);
    }
    whole
}
