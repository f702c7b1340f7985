//! R16: the same data gives the same responses in the same order on both databases.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Caller, Database, TestServer, postgres_url};

use crate::playgrounds::{fhir, put, sandbox};

const SEARCHES: usize = 1000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_searches_return_the_same_on_both_databases() {
    if postgres_url().is_none() {
        return;
    }
    let (one, other) = tokio::join!(answers(Database::Sqlite), answers(Database::Postgres));
    assert_eq!(one.len(), SEARCHES);
    for (mine, theirs) in one.iter().zip(&other) {
        assert_eq!(mine, theirs);
    }
    let hits: usize = one.iter().map(|(_, ids)| ids.len()).sum();
    assert!(hits > SEARCHES, "{hits}");
    eprintln!("{SEARCHES} searches found {hits} resources, in one order on both databases");
}

/// Every search with its results, in order.
async fn answers(database: Database) -> Vec<(String, Vec<String>)> {
    let server = TestServer::start(database).await;
    let caller = server.organization("Order").await;
    let ehr = loaded(&caller).await;
    let mut answers = Vec::new();
    for number in 0..SEARCHES {
        let search = search(number);
        let found = fhir(&caller, Method::GET, &ehr, &search, None).await.expect(200).json;
        let entries = found["entry"].as_array().cloned().unwrap_or_default();
        let name = |entry: &Value| format!("{}/{}", entry["resource"]["resourceType"], entry["resource"]["id"]);
        let total = format!("{}", found["total"]);
        answers.push((search, std::iter::once(total).chain(entries.iter().map(name)).collect()));
    }
    answers
}

/// A bulk load with some changes on top.
async fn loaded(caller: &Caller) -> String {
    let dataset = caller.post("/datasets", json!({"name": "Bulk", "type": "fhir"})).await.expect(201).id();
    let lines: String = (0..400).map(|number| format!("{}\n", resource(number))).collect();
    caller.put_bytes(&format!("/datasets/{dataset}/data"), "application/fhir+ndjson", lines).await.expect(200);
    let simulator = caller.post("/simulators", json!({"type": "Fhir", "name": "EHR"})).await.expect(201).id();
    let ehr = sandbox(caller, json!({"simulator_id": simulator, "dataset_id": dataset})).await;
    for number in 380..420 {
        let resource = resource(number);
        let path = format!("{}/{}", resource["resourceType"].as_str().unwrap(), resource["id"].as_str().unwrap());
        put(caller, &ehr, &path, resource).await;
    }
    ehr
}

const NAMES: [&str; 8] = ["Ärger", "arger", "Zoë", "zoe", "O\u{2019}Neil", "de la Cruz", "😀", "Nguyễn"];
const CODES: [&str; 5] = ["a", "A", "b-1", "b_1", "ü"];

/// Patients and observations with few distinct values, so that most searches find several.
fn resource(number: usize) -> Value {
    let day = format!("20{:02}-0{}-1{}", number % 20, number % 9 + 1, number % 10);
    if number.is_multiple_of(2) {
        let (id, family) = (format!("p{number}"), NAMES[number / 2 % NAMES.len()]);
        return json!({"resourceType": "Patient", "id": id, "birthDate": day, "name": [{"family": family}]});
    }
    json!({
        "resourceType": "Observation",
        "id": format!("o{number}"),
        "status": "final",
        "code": {"coding": [{"system": "http://codes", "code": CODES[number % CODES.len()]}]},
        "subject": {"reference": format!("Patient/p{}", number % 40 / 2 * 2)},
        "effectiveDateTime": day,
        "valueQuantity": {"value": number % 7, "unit": "mg"},
    })
}

fn search(number: usize) -> String {
    let (name, code, year) = (NAMES[number % NAMES.len()], CODES[number % CODES.len()], 2000 + number % 20);
    let sort = ["", "&_sort=_id", "&_sort=-birthdate", "&_sort=name"][number % 4];
    let order = ["", "&_sort=-date", "&_sort=code,-_id", "&_sort=date"][number % 4];
    match number % 8 {
        0 => format!("Patient?name={name}&_count=30{sort}"),
        1 => format!("Patient?birthdate=ge{year}&_count=15{sort}"),
        2 => format!("Patient?name:contains=e&birthdate=lt{year}{sort}"),
        3 => format!("Observation?code={code}&date=ge{year}{order}"),
        4 => format!("Observation?subject:Patient.name={name}&_count=25{order}"),
        5 => format!("Patient?_has:Observation:subject:code={code}{sort}"),
        6 => format!("Observation?value-quantity=gt{}&_include=Observation:subject{order}", number % 7),
        _ => format!("Patient?_id=p{}&_revinclude=Observation:subject", number % 40 / 2 * 2),
    }
}
