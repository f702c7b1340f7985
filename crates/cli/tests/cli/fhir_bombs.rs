//! S7 for FHIR sandboxes: requests that try to exhaust the server are handled in limited memory.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Caller, Database};

use crate::bombs::MAX_KIBIBYTES;
use crate::process::{ServerData, on_both_databases};

on_both_databases! {
    throw_bombs: fhir_bombs_use_limited_memory_on_sqlite, fhir_bombs_use_limited_memory_on_postgres
}

async fn throw_bombs(database: Database) {
    let data = ServerData::new(database);
    let server = data.serve();
    let caller = server.first_caller();
    let base = sandbox(&caller).await;
    let before = caller.get(&format!("{base}/_history?_count=1000")).await.expect(200)["total"].clone();
    let mut too_large = Vec::new();
    for bomb in bombs() {
        server.reset_peak();
        let (peak, milliseconds) = (server.peak_kibibytes(), server.processor_milliseconds());
        let size = bomb.body.len() + bomb.address.len();
        let content = (!bomb.body.is_empty()).then_some((bomb.media, bomb.body));
        let response = caller.send_bytes(bomb.method, &format!("{base}{}", bomb.address), &[], content).await;
        let milliseconds = server.processor_milliseconds() - milliseconds;
        let grown = server.peak_kibibytes().saturating_sub(peak);
        println!("{:>4} {milliseconds:>6} ms {grown:>6} KiB {size:>10} bytes: {}", response.status, bomb.about);
        assert!(
            bomb.statuses.contains(&response.status),
            "{}: {} {:.500}",
            bomb.about,
            response.status,
            response.text()
        );
        assert!(response.body.len() < 20_000 + 2 * size, "{}: a response of {} bytes", bomb.about, response.body.len());
        if grown > MAX_KIBIBYTES {
            too_large.push(format!("{}: {grown} KiB more", bomb.about));
        }
    }
    assert!(too_large.is_empty(), "{too_large:?}");
    let after = caller.get(&format!("{base}/_history?_count=1000")).await.expect(200)["total"].clone();
    assert_eq!(before, after, "a bomb has left something behind");
    let sandbox = base.trim_end_matches("/fhir");
    caller.get(&format!("{sandbox}/events?limit=100")).await.expect(200);
}

async fn sandbox(caller: &Caller) -> String {
    let simulator = caller.post("/simulators", json!({"type": "Fhir", "name": "EHR"})).await.expect(201).id();
    let sandbox = caller.post("/sandboxes", json!({"simulator_id": simulator})).await.expect(201).id();
    let base = format!("/sandboxes/{sandbox}/fhir");
    // A ring of patients, each of which refers to the next.
    let entry = |number: usize| {
        let link = json!([{"other": {"reference": format!("Patient/p{}", (number + 1) % 50)}, "type": "seealso"}]);
        let patient = json!({"resourceType": "Patient", "id": format!("p{number}"), "link": link, "name": [{"text": "aaaaaaaaaaaaaaaaaaaaaaaaaaaa!"}]});
        json!({"resource": patient, "request": {"method": "PUT", "url": format!("Patient/p{number}")}})
    };
    let ring: Vec<Value> = (0..50).map(entry).collect();
    caller.post(&base, json!({"resourceType": "Bundle", "type": "transaction", "entry": ring})).await.expect(200);
    base
}

struct Bomb {
    about: &'static str,
    method: Method,
    address: String,
    media: &'static str,
    body: Vec<u8>,
    statuses: &'static [u16],
}

fn bombs() -> Vec<Bomb> {
    [body_bombs(), bundle_bombs(), patch_bombs(), search_bombs()].into_iter().flatten().collect()
}

fn body_bombs() -> Vec<Bomb> {
    let put = |about, body: String| Bomb {
        about,
        method: Method::PUT,
        address: "/Patient/p1".into(),
        media: "application/fhir+json",
        body: body.into_bytes(),
        statuses: &[400, 413, 422],
    };
    let patient = |member: &str| format!("{{\"resourceType\":\"Patient\",\"id\":\"p1\",\"name\":{member}}}");
    let extensions = "{\"url\":\"a\",\"extension\":[".repeat(50_000);
    vec![
        put("arrays, 100 000 deep", "[".repeat(100_000)),
        put("objects, 100 000 deep", "{\"a\":".repeat(100_000)),
        put("closed arrays, 100 000 deep", patient(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)))),
        put("extensions, 50 000 deep", format!("{{\"resourceType\":\"Patient\",\"extension\":[{extensions}")),
        put("a string of 12 MB", patient(&format!("[{{\"text\":\"{}\"}}]", "x".repeat(12_000_000)))),
        put("a number of a million digits", patient(&"1".repeat(1_000_000))),
        put("200 000 empty lists", patient(&format!("[{}[]]", "[],".repeat(200_000)))),
        put("50 000 faults", patient(&format!("[{}{{\"x\":1}}]", "{\"x\":1},".repeat(50_000)))),
        put(
            "100 000 unknown members",
            format!(
                "{{\"resourceType\":\"Patient\",{}\"id\":\"p1\"}}",
                (0..100_000).map(|number| format!("\"m{number}\":1,")).collect::<String>()
            ),
        ),
        put("65 MB", " ".repeat(65 << 20)),
    ]
}

fn bundle_bombs() -> Vec<Bomb> {
    let post = |about, entries: String, statuses: &'static [u16]| Bomb {
        about,
        method: Method::POST,
        address: String::new(),
        media: "application/fhir+json",
        body: format!("{{\"resourceType\":\"Bundle\",\"type\":\"transaction\",\"entry\":[{entries}]}}").into_bytes(),
        statuses,
    };
    let create =
        r#"{"resource":{"resourceType":"Basic","code":{"text":"x"}},"request":{"method":"POST","url":"Basic"}}"#;
    let cycle = |number: usize| {
        let other = (number + 1) % 2000;
        format!(
            r#"{{"fullUrl":"urn:uuid:{number}","resource":{{"resourceType":"Patient","link":[{{"other":{{"reference":"urn:uuid:{other}"}},"type":"seealso"}}],"gender":"?"}},"request":{{"method":"POST","url":"Patient"}}}}"#
        )
    };
    let conditional = r#"{"resource":{"resourceType":"Basic","code":{"text":"x"},"subject":{"reference":"Patient?name=nobody"}},"request":{"method":"POST","url":"Basic"}}"#;
    vec![
        post("a transaction of 10 001 entries", vec![create; 10_001].join(","), &[413]),
        post("a transaction of 200 000 empty entries", vec!["{}"; 200_000].join(","), &[413]),
        post(
            "2 000 entries that point to each other in a ring, each at fault",
            (0..2000).map(cycle).collect::<Vec<_>>().join(","),
            &[422],
        ),
        post("2 000 conditional references to nobody", vec![conditional; 2000].join(","), &[412]),
        post("5 000 entries and then a bad one", format!("{}{{}}", format!("{create},").repeat(5000)), &[400, 422]),
    ]
}

fn patch_bombs() -> Vec<Bomb> {
    let patch = |about, operations: Vec<Value>| Bomb {
        about,
        method: Method::PATCH,
        address: "/Patient/p1".into(),
        media: "application/json-patch+json",
        body: Value::Array(operations).to_string().into_bytes(),
        statuses: &[400, 413, 422],
    };
    let seed = json!({"op": "add", "path": "/a", "value": ["0123456789abcdef"]});
    let doubling = json!({"op": "copy", "from": "/a", "path": "/a/-"});
    let small = json!({"op": "add", "path": "/a", "value": [[]]});
    let whole = json!({"op": "copy", "from": "", "path": "/b"});
    let with = |seed: &Value, copy: &Value, count: usize| {
        std::iter::once(seed.clone()).chain(vec![copy.clone(); count]).collect()
    };
    vec![
        patch("40 copies that double", with(&seed, &doubling, 40)),
        patch("40 copies of empty lists that double", with(&small, &doubling, 40)),
        patch("40 copies of the whole into itself", with(&seed, &whole, 40)),
        patch(
            "9 000 copies of the whole beside itself",
            (0..9000).map(|number| json!({"op": "copy", "from": "/name", "path": format!("/x{number}")})).collect(),
        ),
        patch("10 001 operations", vec![json!({"op": "test", "path": "/id", "value": "p1"}); 10_001]),
        patch("a pointer of a megabyte", vec![json!({"op": "test", "path": "/a".repeat(500_000), "value": 1})]),
    ]
}

fn search_bombs() -> Vec<Bomb> {
    let form = |about, body: String, statuses: &'static [u16]| Bomb {
        about,
        method: Method::POST,
        address: "/Patient/_search".into(),
        media: "application/x-www-form-urlencoded",
        body: body.into_bytes(),
        statuses,
    };
    let any: &[u16] = &[200, 400, 413];
    let many = |count: usize, one: &str| vec![one; count].join(",");
    vec![
        form("a search for 10 000 values", format!("_id={}", many(10_000, "nobody")), any),
        form("a search of 1 000 parameters", vec!["name=nobody"; 1000].join("&"), any),
        form("a chain of 10 000 links", format!("{}name=x", "link:Patient.".repeat(10_000)), any),
        form("1 000 parameters of 1 000 values", vec![format!("name={}", many(1000, "x")); 1000].join("&"), any),
        form("_has within _has, 10 000 times", format!("{}name=x", "_has:Patient:link:".repeat(10_000)), any),
        form(
            "includes that go round and round",
            "_id=p1&_include:iterate=*&_revinclude:iterate=Patient:link&_include:iterate=Patient:link".into(),
            any,
        ),
        form("1 000 includes", format!("_id=p1&{}", vec!["_include:iterate=Patient:link"; 1000].join("&")), any),
        form("_elements of 100 000 names", format!("_id=p1&_elements={}", many(100_000, "name")), any),
        form("_sort by 100 000 names", format!("_id=p1&_sort={}", many(100_000, "name")), any),
        form("_count=-1", "_count=-1".into(), &[400]),
        form("what a slow regex would choke on", format!("name:contains={}", "(a+)+$".repeat(1000)), any),
        form("a value of 12 MB", format!("name={}", "a".repeat(12_000_000)), any),
    ]
}
