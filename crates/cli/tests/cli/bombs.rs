//! S7: requests that try to exhaust the server are rejected in limited memory.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::Database;
use testkit::world::{self, Authored};

use crate::process::{ServerData, on_both_databases};

/// How much one bomb may increase the peak resident memory of the process: six copies of the largest body that is read whole.
pub(crate) const MAX_KIBIBYTES: u64 = 80 * 1024;

on_both_databases! {
    throw_bombs: bombs_are_rejected_in_limited_memory_on_sqlite, bombs_are_rejected_in_limited_memory_on_postgres
}

async fn throw_bombs(database: Database) {
    let data = ServerData::new(database);
    let server = data.serve();
    let caller = server.first_caller();
    let created = Authored::create(&caller).await;
    let before = server.peak_kibibytes();
    for bomb in bombs(&created) {
        let (about, size) = (bomb.about, bomb.body.len());
        server.reset_peak();
        let (peak, milliseconds) = (server.peak_kibibytes(), server.processor_milliseconds());
        let content = Some((bomb.media, bomb.body));
        let response = caller.send_bytes(bomb.method, &bomb.path, &bomb.headers, content).await;
        let milliseconds = server.processor_milliseconds() - milliseconds;
        // The kernel counts pages in batches, so a peak may shrink slightly after a reset.
        let grown = server.peak_kibibytes().saturating_sub(peak);
        println!("{:>4} {milliseconds:>6} ms {grown:>6} KiB {size:>10} bytes: {about}", response.status);
        assert!((400..500).contains(&response.status), "{about}: {} {}", response.status, response.text());
        assert!(response.body.len() < 20_000, "{about}: a response of {} bytes", response.body.len());
        assert!(grown <= MAX_KIBIBYTES, "{about}: {grown} KiB more");
        caller.get("/organization").await.expect(200);
    }
    server.reset_peak();
    println!("resident memory: {before} KiB before all bombs, {} KiB after them", server.peak_kibibytes());
}

struct Bomb {
    about: &'static str,
    method: Method,
    path: String,
    media: &'static str,
    headers: Vec<(&'static str, &'static str)>,
    body: Vec<u8>,
}

impl Bomb {
    fn post(about: &'static str, path: &str, body: impl Into<Vec<u8>>) -> Self {
        let (path, media) = (path.to_owned(), "application/json");
        Self { about, method: Method::POST, path, media, headers: Vec::new(), body: body.into() }
    }

    fn put(about: &'static str, path: String, media: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { about, method: Method::PUT, path, media, headers: Vec::new(), body: body.into() }
    }

    fn gzipped(self) -> Self {
        Self { headers: vec![("content-encoding", "gzip")], ..self }
    }
}

fn bombs(created: &Authored) -> Vec<Bomb> {
    [json_bombs(), authored_bombs(created), upload_bombs(created), gzip_bombs(created)].into_iter().flatten().collect()
}

fn json_bombs() -> Vec<Bomb> {
    let member = |value: &str| format!("{{\"name\":{value}}}");
    let many = |one: &str, count: usize| vec![one; count].join(",");
    let unknown: Vec<String> = (0..80_000).map(|number| format!("\"f{number}\":1")).collect();
    let bodies = [
        ("JSON arrays, 100 000 deep", "[".repeat(100_000)),
        ("JSON objects, 100 000 deep", "{\"a\":".repeat(100_000)),
        ("closed arrays, 100 000 deep", member(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)))),
        ("a string of 12 MB", member(&format!("\"{}\"", "x".repeat(12_000_000)))),
        ("a number of a million digits", member(&"1".repeat(1_000_000))),
        ("a string of 170 000 escapes", member(&format!("\"{}\"", "\\u0041".repeat(170_000)))),
        ("340 000 empty lists", member(&format!("[{}]", many("[]", 340_000)))),
        ("340 000 empty objects", member(&format!("[{}]", many("{}", 340_000)))),
        ("80 000 unknown members", format!("{{{}}}", unknown.join(","))),
        ("one member 170 000 times", format!("{{{}}}", many("\"a\":1", 170_000))),
        ("a megabyte of brackets that do not fit", "[}".repeat(500_000)),
    ];
    bodies.into_iter().map(|(about, body)| Bomb::post(about, "/environments", body)).collect()
}

/// Patterns, paths, globs, templates and lists in authored resources.
fn authored_bombs(created: &Authored) -> Vec<Bomb> {
    let criterion = |about, assertion: Value| {
        let mut body = world::criterion(&created.task);
        body["assertion"] = assertion;
        Bomb::post(about, "/criteria", body.to_string())
    };
    let fields = |fields: Value| json!({"assert": "fhir-resource-state", "resource_type": "Patient", "fields": fields});
    let path = |path: String| fields(json!([{"path": path, "expected": 1}]));
    let pattern = |pattern: &str| fields(json!([{"path": "id", "operator": "matches", "expected": pattern}]));
    let mut task = world::task(&created.benchmark);
    let step = task["scenario"]["steps"][0].clone();
    task["scenario"]["steps"] = json!(vec![step; 5_000]);
    vec![
        criterion("a path of 10 000 brackets", path("(".repeat(10_000) + &")".repeat(10_000))),
        criterion("a path of 100 000 steps", path("a.".repeat(100_000) + "a")),
        criterion("a path that repeats 10 000 times", path("repeat()".repeat(10_000))),
        criterion("a pattern of 10 000 groups", pattern(&("(".repeat(10_000) + &")".repeat(10_000)))),
        criterion("a pattern that counts to 10^12", pattern("((((a{1000}){1000}){1000}){1000})")),
        criterion("a glob of 100 000 stars", json!({"assert": "sftp-file-present", "path": "*".repeat(100_000)})),
        criterion("a glob of 100 000 choices", json!({"assert": "sftp-file-present", "path": "{a,".repeat(100_000)})),
        criterion("20 000 fields", fields(json!(vec![json!({"path": "id", "expected": 1}); 20_000]))),
        Bomb::post("a scenario of 5 000 steps", "/tasks", task.to_string()),
        Bomb::post("100 000 open templates", "/tasks", {
            task["scenario"]["steps"] = json!([]);
            task["task_item"] = json!({"instruction": "{{".repeat(100_000)});
            task.to_string()
        }),
    ]
}

fn upload_bombs(created: &Authored) -> Vec<Bomb> {
    const NDJSON: &str = "application/fhir+ndjson";
    const BUNDLE: &str = "application/fhir+json";
    let data = || format!("/datasets/{}/data", created.dataset);
    let bad = "{\"resourceType\":\"Nothing\",\"id\":\"x\"}";
    let patient = |member: &str| format!("{{\"resourceType\":\"Patient\",\"id\":\"x\",\"a\":{member}}}");
    let bundle =
        |entries: &str| format!("{{\"resourceType\":\"Bundle\",\"type\":\"collection\",\"entry\":[{entries}]}}");
    let million = |open: &str, close: &str| -> String {
        let one = |number| format!("{open}{{\"resourceType\":\"Basic\",\"id\":\"{number}\"}}{close}");
        (0..1_000_000).map(one).collect()
    };
    let (mega, deep) = (1 << 20, "[".repeat(100_000));
    vec![
        Bomb::put("a line of 24 MB without an end", data(), NDJSON, "x".repeat(24 * mega)),
        Bomb::put("a resource of 24 MB", data(), NDJSON, patient(&format!("\"{}\"", "x".repeat(24 * mega)))),
        Bomb::put(
            "a resource with a string of 12 MB",
            data(),
            NDJSON,
            patient(&format!("\"{}\"", "x".repeat(12_000_000))),
        ),
        Bomb::put("a resource 100 000 deep", data(), NDJSON, patient(&deep)),
        Bomb::put("a resource of 3 million lists, then a bad one", data(), NDJSON, {
            format!("{}\n{bad}", patient(&format!("[{}[]]", "[],".repeat(3_000_000))))
        }),
        Bomb::put("5 million empty lines, then a bad one", data(), NDJSON, "\n".repeat(5_000_000) + bad),
        Bomb::put("a million resources, then a bad one", data(), NDJSON, million("", "\n") + bad),
        Bomb::put("a Bundle of a million entries, then a bad one", data(), BUNDLE, {
            bundle(&format!("{}{{\"resource\":{bad}}}", million("{\"resource\":", "},")))
        }),
        Bomb::put("a Bundle of a million empty entries", data(), BUNDLE, bundle(&vec!["{}"; 1_000_000].join(","))),
        Bomb::put("a Bundle 100 000 deep", data(), BUNDLE, bundle(&"{\"resource\":".repeat(100_000))),
        Bomb::put("a Bundle of 65 MB", data(), BUNDLE, bundle(&" ".repeat(65 * mega))),
        Bomb::put(
            "a Bundle with a member of 24 MB",
            data(),
            BUNDLE,
            format!("{{\"a\":\"{}\"}}", "x".repeat(24 * mega)),
        ),
        Bomb::put(
            "a file of 65 MB",
            format!("/datasets/{}/files/a", created.files_dataset),
            "text/plain",
            "x".repeat(65 * mega),
        ),
    ]
}

/// A megabyte that decompresses to a gigabyte, for every endpoint.
fn gzip_bombs(created: &Authored) -> Vec<Bomb> {
    let data = format!("/datasets/{}/data", created.dataset);
    let file = format!("/datasets/{}/files/inbox/a.txt", created.files_dataset);
    let gzipped = gzip_of_zeros().repeat(1024);
    vec![
        Bomb::post("gzip, 1000 to 1, as JSON", "/environments", gzipped.clone()).gzipped(),
        Bomb::put("gzip, 1000 to 1, as NDJSON", data.clone(), "application/fhir+ndjson", gzipped.clone()).gzipped(),
        Bomb::put("gzip, 1000 to 1, as a Bundle", data.clone(), "application/fhir+json", gzipped.clone()).gzipped(),
        Bomb::put("gzip, 1000 to 1, as a file", file, "text/plain", gzipped.clone()).gzipped(),
        Bomb::put("gzip that is not said to be packed", data, "application/fhir+ndjson", gzipped),
    ]
}

/// A gzip file of 1051 bytes with a mebibyte of zeros. Concatenated files are one file.
fn gzip_of_zeros() -> Vec<u8> {
    const START: [u8; 25] = [
        0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0x02, 0xff, 0xed, 0xc1, 0x31, 0x01, 0, 0, 0, 0xc2, 0xa0, 0xf5, 0x4f, 0x6d,
        0x08, 0x5f, 0xa0,
    ];
    const END: [u8; 10] = [0x3e, 0x03, 0x1c, 0xea, 0x38, 0xa7, 0, 0, 0x10, 0];
    [START.as_slice(), &[0; 1016], &END].concat()
}
