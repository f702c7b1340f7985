//! V9: concurrent playgrounds of one environment never see each other and all start with the same bytes.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Caller, both_databases};

use crate::fhir_client::{Ehr, entry, observation, patient, transaction};

/// The number of cases in continuous integration.
const PAIRS: usize = 50;

both_databases! {
    async fn playgrounds_of_one_environment_never_see_each_other(server: TestServer) {
        let caller = server.organization("Acme").await;
        let (environment, dataset) = environment(&caller).await;
        let lines = caller.get(&format!("/datasets/{dataset}/data")).await.expect(200).text();
        let baseline: BTreeMap<String, Value> = lines.lines().map(|line| named(serde_json::from_str(line).unwrap())).collect();
        for pairs in (0..PAIRS).collect::<Vec<_>>().chunks(10) {
            join_all(pairs.iter().map(|pair| two_players(&caller, &environment, *pair, &baseline))).await;
        }
        eprintln!("{PAIRS} pairs of playgrounds, {} resources each, before and after a reset", baseline.len());
    }
}

async fn environment(caller: &Caller) -> (String, String) {
    let dataset = caller.post("/datasets", json!({"name": "Shared", "type": "fhir"})).await.expect(201).id();
    let resources = (0..20).flat_map(|number| {
        let id = format!("p{number}");
        [patient(&id), observation(&format!("o{number}"), &id)]
    });
    let lines: String = resources.map(|resource| format!("{resource}\n")).collect();
    caller.put_bytes(&format!("/datasets/{dataset}/data"), "application/fhir+ndjson", lines).await.expect(200);
    let simulator = caller.post("/simulators", json!({"type": "Fhir", "name": "EHR"})).await.expect(201).id();
    caller.post(&format!("/simulators/{simulator}/datasets/{dataset}"), json!({})).await.expect(200);
    let environment = caller.post("/environments", json!({"name": "Clinic"})).await.expect(201).id();
    caller.post(&format!("/environments/{environment}/simulators/{simulator}"), json!({})).await.expect(200);
    (environment, dataset)
}

/// Two concurrent playgrounds, each with its own marks.
async fn two_players(caller: &Caller, environment: &str, pair: usize, baseline: &BTreeMap<String, Value>) {
    let marks = [format!("left-{pair}-mark"), format!("right-{pair}-mark")];
    let play = async |mark: &str| {
        let made = caller.post("/playgrounds", json!({"environment_id": environment})).await.expect(201);
        let ehr = Ehr { caller: caller.clone(), sandbox: made["sandboxes"][0]["id"].as_str().unwrap().to_owned() };
        assert_eq!(state(&ehr).await, *baseline, "the first state is not the dataset's");
        wreck(&ehr, mark).await;
        assert_eq!(ehr.total("Patient").await, 1, "only one's own patient is left");
        let seen = everything_seen(&ehr).await;
        ehr.reset().await;
        assert_eq!(state(&ehr).await, *baseline, "a reset leaves something behind");
        (seen, everything_shown(&ehr).await)
    };
    let (left, right) = futures_util::join!(play(&marks[0]), play(&marks[1]));
    for (own, foreign, (seen, after_reset)) in [(&marks[0], &marks[1], left), (&marks[1], &marks[0], right)] {
        assert!(seen.contains(own.as_str()), "one's own mark is not seen");
        assert!(!seen.contains(foreign.as_str()), "{foreign} is seen in {own}");
        assert_eq!(seen.matches("-mark").count(), seen.matches(own.as_str()).count(), "a foreign mark in {own}");
        assert!(!after_reset.contains("-mark"), "a mark outlived the reset");
    }
}

/// Deletes everything and writes resources that only this playground has.
async fn wreck(ehr: &Ehr, mark: &str) {
    let deletions = (0..20).flat_map(|number| [format!("Patient/p{number}"), format!("Observation/o{number}")]);
    let mut entries: Vec<Value> = deletions.map(|address| entry("DELETE", &address, None)).collect();
    let mut marked = patient(mark);
    marked["name"] = json!([{"family": mark}]);
    entries.push(entry("PUT", &format!("Patient/{mark}"), Some(marked)));
    ehr.post("", &transaction(entries)).await.expect(200);
    ehr.put("Observation/o1", &observation("o1", mark)).await.expect(201);
    ehr.ask(Method::DELETE, "Observation/o1", None).await.expect(204);
}

/// Searches, histories, state, differences and events.
async fn everything_seen(ehr: &Ehr) -> String {
    let events = Value::Array(ehr.evidence("events").await).to_string();
    everything_shown(ehr).await + &events
}

async fn everything_shown(ehr: &Ehr) -> String {
    let mut seen = String::new();
    for address in ["Patient", "Observation?_include=*", "_history?_count=1000", "Patient/_history"] {
        let response = ehr.get(address).await.expect(200);
        seen += &Value::from_iter([response["entry"].clone()]).to_string();
    }
    for list in ["state", "diff"] {
        seen += &Value::Array(ehr.evidence(list).await).to_string();
    }
    seen
}

async fn state(ehr: &Ehr) -> BTreeMap<String, Value> {
    ehr.evidence("state").await.into_iter().map(|record| named(record["value"].clone())).collect()
}

/// A resource by its type and id, without server-managed fields.
fn named(mut resource: Value) -> (String, Value) {
    resource.as_object_mut().unwrap().remove("meta");
    (format!("{}/{}", resource["resourceType"], resource["id"]), resource)
}
