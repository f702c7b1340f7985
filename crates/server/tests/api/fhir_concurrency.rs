//! R5: many concurrent clients of one sandbox on every node: no acknowledged write is lost, nothing is created
//! twice, and acknowledged writes are visible everywhere.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::both_databases;

use crate::fhir_client::{Ehr, entry, observation, on_every_node, patient, transaction};

/// Clients that send the same request concurrently.
const AT_ONCE: usize = 64;
/// Values for continuous integration; change them for a longer run.
const ROUNDS: usize = 10;
const COUNTING_CLIENTS: usize = 12;
const COUNTED_BY_EACH: usize = 6;
const APPENDED_BY_EACH: usize = 8;
const RESETS: usize = 80;

both_databases! {
    async fn only_one_of_many_conditional_creates_creates(server: TestServer) {
        let ehr = Ehr::over(&server.organization("Acme").await, &[]).await;
        conditional_creates(std::slice::from_ref(&ehr), ROUNDS, "alone").await;
        let (_more, nodes) = on_every_node(&server, &ehr).await;
        conditional_creates(&nodes, ROUNDS, "spread").await;
        assert_eq!(ehr.total("Patient").await, 2 * ROUNDS as u64);
        eprintln!("{} rounds of {AT_ONCE} conditional creates on 1 and on {} nodes", ROUNDS, nodes.len());
    }

    async fn no_update_is_lost(server: TestServer) {
        let ehr = Ehr::over(&server.organization("Acme").await, &[]).await;
        let (_more, nodes) = on_every_node(&server, &ehr).await;
        let (counted, refused) = count_together(&nodes, COUNTING_CLIENTS, COUNTED_BY_EACH).await;
        assert_eq!(counted, COUNTING_CLIENTS * COUNTED_BY_EACH);
        for node in &nodes {
            let counter = node.get("Observation/counter").await.expect(200);
            assert_eq!(counter["valueInteger"], counted, "an update is lost");
            assert_eq!(counter["meta"]["versionId"], (counted + 1).to_string());
            let history = node.get("Observation/counter/_history?_count=1000").await.expect(200);
            assert_eq!(history["total"], counted + 1);
        }
        eprintln!("{counted} increments on {} nodes; {refused} came too late and were tried again", nodes.len());
    }

    async fn appends_by_transaction_have_the_same_order_for_all_clients(server: TestServer) {
        let ehr = Ehr::over(&server.organization("Acme").await, &[]).await;
        let (_more, nodes) = on_every_node(&server, &ehr).await;
        let list = json!({"resourceType": "List", "id": "log", "status": "current", "mode": "working", "note": [{"text": "start"}]});
        ehr.put("List/log", &list).await.expect(201);
        let clients = (0..AT_ONCE / 4).map(|client| append(&nodes, client, APPENDED_BY_EACH));
        let seen: Vec<Vec<String>> = join_all(clients).await.into_iter().flatten().collect();
        let last = notes(&nodes[0]).await;
        assert_eq!(last.len(), 1 + AT_ONCE / 4 * APPENDED_BY_EACH, "an append is lost");
        assert_eq!(last.iter().collect::<BTreeSet<_>>().len(), last.len(), "an append was made twice");
        for read in &seen {
            assert_eq!(read[..], last[..read.len()], "a reader saw another order");
        }
        for node in &nodes {
            assert_eq!(notes(node).await, last);
            assert_eq!(node.total("Observation").await as usize, last.len() - 1, "half a transaction");
        }
        eprintln!("{} appends, {} reads that are each a beginning of the last list", last.len() - 1, seen.len());
    }

    async fn every_acknowledged_write_is_in_events_and_state_of_every_node(server: TestServer) {
        let ehr = Ehr::over(&server.organization("Acme").await, &[]).await;
        let (_more, nodes) = on_every_node(&server, &ehr).await;
        let write = async |number: usize| {
            let (here, there) = (&nodes[number % nodes.len()], &nodes[(number + 1) % nodes.len()]);
            let id = format!("w{number}");
            here.put(&format!("Patient/{id}"), &patient(&id)).await.expect(201);
            there.get(&format!("Patient/{id}")).await.expect(200);
            assert_eq!(there.total(&format!("Patient?_id={id}")).await, 1, "{id} is not found where it was not written");
            id
        };
        let acknowledged: BTreeSet<String> = join_all((0..2 * AT_ONCE).map(write)).await.into_iter().collect();
        for node in &nodes {
            node.evidence("events").await;
        }
        let events = nodes[0].evidence("events").await;
        assert_eq!(events.len(), 3 * acknowledged.len(), "a request without its one event");
        let places: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
        assert_eq!(places, (1..=places.len() as u64).collect::<Vec<_>>(), "a gap");
        let written = events.iter().filter(|event| event["payload"]["request"]["method"] == "PUT");
        let written: BTreeSet<String> =
            written.map(|event| event["payload"]["request"]["path"].as_str().unwrap().replace("Patient/", "")).collect();
        assert_eq!(written, acknowledged);
        let state = nodes[0].evidence("state").await;
        assert_eq!(state.iter().map(|record| record["key"].as_str().unwrap().to_owned()).collect::<BTreeSet<_>>(), acknowledged);
        let fresh = server.another_node().await;
        for node in nodes.iter().chain([&ehr.with(&fresh.caller(ehr.caller.key()))]) {
            assert_eq!(node.evidence("events").await, events);
            assert_eq!(node.evidence("state").await, state);
        }
        eprintln!("{} writes and {} events, alike on {} nodes and a fresh one", acknowledged.len(), events.len(), nodes.len());
    }

    async fn after_a_concurrent_reset_memory_matches_the_log(server: TestServer) {
        let caller = server.organization("Acme").await;
        let ehr = Ehr::over(&caller, &[patient("base")]).await;
        let (_more, nodes) = on_every_node(&server, &ehr).await;
        for round in 0..RESETS {
            let ids: Vec<String> = (0..1 + round % 4).map(|number| format!("r{round}-{number}")).collect();
            let write = async |(number, id): (usize, &String)| {
                nodes[number % nodes.len()].put(&format!("Patient/{id}"), &patient(id)).await.expect(201);
            };
            let reset = nodes[round % nodes.len()].reset();
            futures_util::join!(join_all(ids.iter().enumerate().map(write)), reset);
            let shown = join_all(nodes.iter().map(|node| node.total("Patient"))).await;
            let events = ehr.evidence("events").await;
            let after_reset = events.rsplit(|event| event["type"] == "reset").next().unwrap();
            let kept = after_reset.iter().filter(|event| event["payload"]["request"]["method"] == "PUT").count();
            assert_eq!(shown, vec![1 + kept as u64; nodes.len()], "memory and log differ after round {round}");
        }
        eprintln!("{RESETS} resets among writes");
    }
}

/// In each round all clients conditionally create the same resource: one creates it, and all get it.
async fn conditional_creates(nodes: &[Ehr], rounds: usize, about: &str) {
    for round in 0..rounds {
        let (system, value) = ("urn:test", format!("{about}-{round}"));
        let body = json!({"resourceType": "Patient", "identifier": [{"system": system, "value": value}]});
        let condition = format!("identifier={system}|{value}");
        let headers = [("if-none-exist", condition.as_str())];
        let create =
            |number: usize| nodes[number % nodes.len()].ask_with(Method::POST, "Patient", &headers, Some(&body));
        let answers = join_all((0..AT_ONCE).map(create)).await;
        let made = answers.iter().filter(|response| response.status == 201).count();
        assert_eq!(made, 1, "{:?}", answers.iter().map(|response| response.status).collect::<Vec<_>>());
        assert!(answers.iter().all(|response| [200, 201].contains(&response.status)));
        let told: BTreeSet<&str> = answers.iter().map(|response| response["id"].as_str().unwrap()).collect();
        assert_eq!(told.len(), 1, "they were told of different resources");
        for node in nodes {
            assert_eq!(node.total(&format!("Patient?{condition}")).await, 1);
        }
    }
}

/// The number of acknowledged increments, and of those rejected because of a conflict.
async fn count_together(nodes: &[Ehr], clients: usize, each: usize) -> (usize, usize) {
    let mut counter = observation("counter", "nobody");
    counter["valueInteger"] = json!(0);
    nodes[0].put("Observation/counter", &counter).await.expect(201);
    let client = async |client: usize| {
        let node = &nodes[client % nodes.len()];
        let (mut done, mut refused) = (0, 0);
        while done < each {
            let read = node.get("Observation/counter").await.expect(200);
            let mut next = read.json.clone();
            next["valueInteger"] = json!(read["valueInteger"].as_u64().unwrap() + 1);
            let tag = [("if-match", read.etag())];
            match node.ask_with(Method::PUT, "Observation/counter", &tag, Some(&next)).await.status {
                200 => done += 1,
                412 => refused += 1,
                other => panic!("{other}"),
            }
        }
        (done, refused)
    };
    let all = join_all((0..clients).map(client)).await;
    (all.iter().map(|one| one.0).sum(), all.iter().map(|one| one.1).sum())
}

/// Repeatedly appends to the list and creates an Observation in one transaction. Returns what was read after each.
async fn append(nodes: &[Ehr], client: usize, each: usize) -> Vec<Vec<String>> {
    let mut seen = Vec::new();
    for number in 0..each {
        let text = format!("{client}-{number}");
        let patch = json!([{"op": "add", "path": "/note/-", "value": {"text": text}}]).to_string();
        let binary = json!({"resourceType": "Binary", "contentType": "application/json-patch+json", "data": STANDARD.encode(patch)});
        let made = entry("POST", "Observation", Some(observation("x", "nobody")));
        let both = transaction(vec![made, entry("PATCH", "List/log", Some(binary))]);
        nodes[(client + number) % nodes.len()].post("", &both).await.expect(200);
        let read = notes(&nodes[(client + number + 1) % nodes.len()]).await;
        assert!(read.contains(&text), "an acknowledged append is not seen on another node");
        seen.push(read);
    }
    seen
}

async fn notes(ehr: &Ehr) -> Vec<String> {
    let list = ehr.get("List/log").await.expect(200);
    list["note"].as_array().unwrap().iter().map(|note: &Value| note["text"].as_str().unwrap().to_owned()).collect()
}
