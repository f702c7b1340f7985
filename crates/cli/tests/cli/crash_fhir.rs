//! R1 for FHIR: acknowledged writes of a sandbox survive `kill -9`, by id and by search, and a transaction is stored
//! completely or not at all.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};
use testkit::Database;
use tokio::sync::{Mutex, Semaphore};

use crate::api::Api;
use crate::process::{ServerData, on_both_databases, output};

const CLIENTS: usize = 16;
const ROUNDS: usize = 4;
const ACKNOWLEDGED_BEFORE_KILL: u32 = 80;
/// The number of resources per transaction.
const TRANSACTION_SIZE: usize = 5;

on_both_databases! {
    kill_while_writing: acknowledged_fhir_writes_survive_a_kill_on_sqlite, acknowledged_fhir_writes_survive_a_kill_on_postgres
}

/// What the clients have written in all rounds.
#[derive(Default)]
struct Journal {
    /// Created resources: the server's ids by the client's marks.
    created: BTreeMap<String, String>,
    /// The last acknowledged and the last attempted value of each client's counter.
    counters: BTreeMap<String, (u64, u64)>,
    transactions: BTreeSet<String>,
    attempted_transactions: BTreeSet<String>,
}

async fn kill_while_writing(database: Database) {
    let data = ServerData::new(database);
    let mut server = data.serve();
    let key = server.first_key.clone().expect("a first start prints a key");
    let fhir = sandbox(&Api::new(&server.base_url, &key)).await;
    let journal = Arc::new(Mutex::new(Journal::default()));
    let mut kept = 0;
    for round in 0..ROUNDS {
        let acknowledged = Arc::new(Semaphore::new(0));
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let api = Api::new(&server.base_url, &key);
                let name = (format!("c{client}"), format!("r{round}c{client}"));
                let (fhir, journal, acknowledged) = (fhir.clone(), Arc::clone(&journal), Arc::clone(&acknowledged));
                tokio::spawn(async move { write_until_killed(&api, &fhir, name, &journal, &acknowledged).await })
            })
            .collect();
        let enough = acknowledged.acquire_many(ACKNOWLEDGED_BEFORE_KILL * (round as u32 + 1)).await;
        enough.expect("clients that write").forget();
        server.kill();
        for client in clients {
            client.await.unwrap();
        }
        output(&mut data.command(&["admin", "check"]));
        server = data.serve();
        kept = check(&Api::new(&server.base_url, &key), &fhir, &mut *journal.lock().await).await;
    }
    let journal = journal.lock().await;
    println!(
        "{ROUNDS} kills; acknowledged and kept: {} creates, {} updates, {} transactions of {TRANSACTION_SIZE}; {} transactions were \
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

/// Uses every interaction in turn until the server is killed; records only acknowledged writes.
async fn write_until_killed(
    api: &Api,
    fhir: &str,
    (client, name): (String, String),
    journal: &Mutex<Journal>,
    acknowledged: &Semaphore,
) {
    for number in 0.. {
        let mark = format!("{name}n{number}");
        let Some(created) = api.create(&format!("{fhir}/Patient"), patient(&mark)).await else { return };
        journal.lock().await.created.insert(mark.clone(), created["id"].as_str().unwrap().to_owned());
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
    let entries: Vec<Value> = (0..TRANSACTION_SIZE).map(entry).collect();
    json!({"resourceType": "Bundle", "type": "transaction", "entry": entries})
}

/// Compares the server's state with the journal. Returns the number of stored transactions.
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
        assert_eq!(version, value, "a version of {client} is missing or duplicated");
        (*acknowledged, *attempted) = (value, value);
    }
    let mut whole = 0;
    for mark in &journal.attempted_transactions {
        let found = api.get(&format!("{fhir}/Basic?identifier=urn:together|{mark}")).await["total"].as_u64().unwrap();
        let by_id = api.try_get(&format!("{fhir}/Basic/{mark}-0")).await.is_some();
        let is_whole = found == TRANSACTION_SIZE as u64;
        assert!(is_whole || found == 0, "{found} of {TRANSACTION_SIZE} of the transaction {mark}");
        assert_eq!(by_id, is_whole, "{mark} is found by only one of id and search");
        assert!(is_whole || !journal.transactions.contains(mark), "an acknowledged transaction is lost");
        whole += usize::from(is_whole);
    }
    whole
}
