//! S6 for FHIR: any input gets a FHIR response, never a 5xx, and a rejected request changes nothing.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use testkit::{TestServer, both_databases};

use crate::dice::Dice;
use crate::fhir_client::{Ehr, entry, observation, patient, transaction};
use crate::hostile::HOSTILE;
use crate::raw;

/// The number of cases of each of the seven kinds in continuous integration.
const CASES: usize = 200;

both_databases! {
    async fn malformed_requests_are_rejected_and_change_nothing(server: TestServer) {
        let records = [patient("p1"), patient("p2"), observation("o1", "p1")];
        let ehr = Ehr::over(&server.organization("Acme").await, &records).await;
        let mut trial = Trial::new(&server, ehr.clone()).await;
        let mut dice = Dice(7);
        for _ in 0..CASES {
            for case in [body_case(&mut dice), tree_case(&mut dice), patch_case(&mut dice), bundle_case(&mut dice)] {
                trial.send(case).await;
            }
            for case in [query_case(&mut dice), path_case(&mut dice), header_case(&mut dice)] {
                trial.send(case).await;
            }
        }
        for case in fixed_cases() {
            trial.send(case).await;
        }
        assert!(trial.count >= 1000);
        let events = ehr.evidence("events").await;
        assert_eq!(events.len(), trial.count - trial.unheard, "every request that reaches the sandbox is one event");
        let fresh = server.another_node().await;
        let folded = ehr.with(&fresh.caller(ehr.caller.key()));
        assert_eq!(folded.evidence("state").await, ehr.evidence("state").await);
        eprintln!("{} malformed requests: {:?}, {} refused before they reached the sandbox", trial.count, trial.statuses, trial.unheard);
    }
}

/// A raw request.
struct Case {
    method: String,
    /// The path after the FHIR base.
    address: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Case {
    fn new(method: &str, address: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        let media = match method {
            "PATCH" => "application/json-patch+json",
            _ => "application/fhir+json",
        };
        let headers = vec![("content-type".to_owned(), media.to_owned())];
        Self { method: method.to_owned(), address: address.into(), headers, body: body.into() }
    }
}

impl Case {
    /// Errors that are detected before the request reaches the sandbox.
    fn is_refused_at_the_door(&self) -> bool {
        let path = self.address.split('?').next().unwrap_or_default();
        path.contains("%ff") || self.headers.iter().any(|(name, _)| name == "content-encoding")
    }
}

/// Sends cases and checks that rejected ones change nothing.
struct Trial<'a> {
    server: &'a TestServer,
    ehr: Ehr,
    state: Vec<u8>,
    count: usize,
    unheard: usize,
    statuses: BTreeMap<u16, usize>,
}

impl<'a> Trial<'a> {
    async fn new(server: &'a TestServer, ehr: Ehr) -> Self {
        let state = state(&ehr).await;
        Self { server, ehr, state, count: 0, unheard: 0, statuses: BTreeMap::new() }
    }

    async fn send(&mut self, case: Case) {
        let shown = format!(
            "{} {:.300} {:?} {:.600}",
            case.method,
            case.address,
            case.headers,
            String::from_utf8_lossy(&case.body)
        );
        let response = raw::exchange(self.server, &self.bytes(&case)).await;
        let status: u16 = response
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .unwrap_or_else(|| panic!("{shown}: {response}"));
        let (head, body) = response.split_once("\r\n\r\n").unwrap_or((&response, ""));
        self.count += 1;
        *self.statuses.entry(status).or_default() += 1;
        assert!(status < 500, "{shown}: {response}");
        if status >= 400 && !head.contains("x-request-id") {
            // Invalid HTTP is rejected before it reaches a handler.
            assert!([400, 414, 431].contains(&status) && body.is_empty(), "{shown}: {response}");
            self.unheard += 1;
            return;
        }
        self.unheard += usize::from(case.is_refused_at_the_door());
        if status >= 400 && case.method != "HEAD" {
            let json: Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("{shown}: {response}"));
            assert_eq!(json["resourceType"], "OperationOutcome", "{shown}: {response}");
            assert!(json["issue"][0]["diagnostics"].is_string(), "{shown}: {response}");
            assert!(head.contains("application/fhir+json"), "{shown}: {head}");
        }
        let state = state(&self.ehr).await;
        assert!(status < 300 || state == self.state, "{shown} was refused with {status} and changed something");
        self.state = state;
    }

    fn bytes(&self, case: &Case) -> Vec<u8> {
        let mut head = format!("{} /sandboxes/{}/fhir", case.method, self.ehr.sandbox).into_bytes();
        head.extend(case.address.as_bytes());
        let key = self.ehr.caller.key();
        head.extend(format!(" HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {key}\r\nconnection: close\r\n").bytes());
        for (name, value) in &case.headers {
            head.extend(format!("{name}: {value}\r\n").bytes());
        }
        head.extend(format!("content-length: {}\r\n\r\n", case.body.len()).bytes());
        head.extend_from_slice(&case.body);
        head
    }
}

async fn state(ehr: &Ehr) -> Vec<u8> {
    ehr.caller.get(&format!("/sandboxes/{}/state?limit=100", ehr.sandbox)).await.expect(200).body
}

fn a_resource(dice: &mut Dice) -> (&'static str, Value) {
    let rich = json!({"resourceType": "Patient", "id": "p1", "active": true, "birthDate": "1970-01-01",
        "name": [{"family": "Löwe", "given": ["A", "B"]}], "multipleBirthInteger": 2,
        "extension": [{"url": "urn:x", "valueDecimal": 1.50}], "contact": [{"name": {"text": "C"}}]});
    let all = [("/Patient/p1", patient("p1")), ("/Patient/p1", rich), ("/Observation/o1", observation("o1", "p1"))];
    dice.pick(&all)
}

/// A valid body with damaged bytes.
fn body_case(dice: &mut Dice) -> Case {
    let (address, resource) = a_resource(dice);
    let mut bytes = resource.to_string().into_bytes();
    for _ in 0..=dice.below(3) {
        let at = dice.below(bytes.len().max(1)).min(bytes.len().saturating_sub(1));
        match dice.below(6) {
            0 => bytes.truncate(at),
            1 => bytes[at] ^= 1 << dice.below(8),
            2 => bytes.insert(at, 0),
            3 => bytes.insert(at, dice.pick(b"{}[]\",:\\0123456789.eE+-\xff\x80\xf0")),
            4 => drop(bytes.splice(at..at, HOSTILE[dice.below(HOSTILE.len())].bytes())),
            _ => {
                let piece = bytes[at..bytes.len().min(at + 20)].to_vec();
                bytes.splice(at..at, piece);
            }
        }
        if bytes.is_empty() {
            break;
        }
    }
    Case::new(
        dice.pick(&["PUT", "PUT", "POST"]),
        address.replace("/p1", if dice.below(4) == 0 { "" } else { "/p1" }),
        bytes,
    )
}

/// Valid JSON with an unexpected value somewhere.
fn tree_case(dice: &mut Dice) -> Case {
    let (address, mut resource) = a_resource(dice);
    let odd = odd_text(dice);
    spoil(&mut resource, dice);
    Case::new("PUT", address, resource.to_string().replace("\"@odd\"", &odd))
}

/// The text of an unusual JSON value.
fn odd_text(dice: &mut Dice) -> String {
    let deep = [20, 60, 100, 120, 126, 127, 128, 500][dice.below(8)];
    let texts = [
        "null",
        "true",
        "[]",
        "{}",
        "[[]]",
        "\"\"",
        "\" \"",
        "0",
        "-0",
        "1e400",
        "-1e-400",
        "1.0000000000000000000000000000001",
        "99999999999999999999999999",
        "\"\\u0000\"",
        "\"\\ud83d\\ude00\"",
        "\"\\ud800\"",
        "\"\u{202e}\u{feff}\"",
        "\"\\uffff\"",
        "{\"a\":1,\"a\":2}",
        "[null]",
        "{\"reference\":\"Patient/p1\"}",
        "\"2020-13-45\"",
        "{\"extension\":[]}",
        "{\"$serde_json::private::Number\":\"1\"}",
        "{\"$serde_json::private::RawValue\":\"[\"}",
    ];
    match dice.below(5) {
        0 => format!("{}1{}", "[".repeat(deep), "]".repeat(deep)),
        1 => {
            let open = "{\"extension\":[".repeat(deep / 2);
            format!("{open}{{\"url\":\"urn:x\",\"valueString\":\"x\"}}{}", "]}".repeat(deep / 2))
        }
        2 => json!(HOSTILE[dice.below(HOSTILE.len())]).to_string(),
        _ => dice.pick(&texts).to_owned(),
    }
}

/// Inserts a placeholder for the unusual value at a random position, replacing a value or adding one.
fn spoil(value: &mut Value, dice: &mut Dice) {
    let stop = dice.below(3) == 0;
    match value {
        Value::Object(members) if !stop && !members.is_empty() => {
            let at = dice.below(members.len());
            let (_, member) = members.iter_mut().nth(at).expect("a member");
            spoil(member, dice);
        }
        Value::Array(items) if !stop && !items.is_empty() => {
            let at = dice.below(items.len());
            spoil(&mut items[at], dice);
        }
        Value::Object(members) => {
            let name = dice.pick(&[
                "extension",
                "name",
                "id",
                "meta",
                "text",
                "contained",
                "_active",
                "resourceType",
                "x",
                "",
            ]);
            members.insert(name.to_owned(), json!("@odd"));
        }
        other => *other = json!("@odd"),
    }
}

fn patch_case(dice: &mut Dice) -> Case {
    let paths = [
        "",
        "/",
        "/active",
        "/name/0/family",
        "/name/-",
        "/name/99",
        "/id",
        "/resourceType",
        "/~2",
        "/a/b",
        "x",
        "/meta",
        "//",
    ];
    let operation = |dice: &mut Dice| {
        let op = dice.pick(&["add", "remove", "replace", "move", "copy", "test", "spell", ""]);
        let mut operation = json!({"op": op, "path": dice.pick(&paths), "from": dice.pick(&paths), "value": "@odd"});
        if dice.below(4) == 0 {
            let member = dice.pick(&["op", "path", "from", "value"]);
            operation[member] = json!("@odd");
        }
        operation
    };
    let operations: Vec<Value> = (0..1 + dice.below(4)).map(|_| operation(dice)).collect();
    let body = if dice.below(8) == 0 { json!({"op": "add"}) } else { Value::Array(operations) };
    Case::new("PATCH", "/Patient/p1", body.to_string().replace("\"@odd\"", &odd_text(dice)))
}

fn bundle_case(dice: &mut Dice) -> Case {
    let methods = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "get", "", "TRACE"];
    let urls = [
        "Patient",
        "Patient/p1",
        "Patient/p2",
        "",
        "/",
        "?",
        "Patient?",
        "Patient?_id=p1",
        "http://elsewhere/Patient",
        "$x",
        "../Patient",
        "Patient/p1/_history/1",
        "Patient/p1/$everything",
        "_history",
        "metadata",
        "Bundle",
        "\u{0}",
        "Patient/%00",
    ];
    let mut entries = Vec::new();
    for _ in 0..dice.below(5) {
        let resource = (dice.below(3) > 0).then(|| a_resource(dice).1);
        let mut one = entry(dice.pick(&methods), dice.pick(&urls), resource);
        one["fullUrl"] = json!(dice.pick(&["urn:uuid:1", "urn:uuid:2", "x", "", "http://a/Patient/1"]));
        entries.push(one);
    }
    let mut bundle = transaction(entries);
    bundle["type"] = json!(dice.pick(&["transaction", "batch", "transaction", "collection", "x"]));
    let odd = odd_text(dice);
    if dice.below(2) == 0 {
        spoil(&mut bundle, dice);
    }
    Case::new("POST", dice.pick(&["", "/", "/Bundle", "/Patient"]), bundle.to_string().replace("\"@odd\"", &odd))
}

/// Valid and invalid parameter names.
const NAMES: &[&str] = &[
    "_id",
    "name",
    "birthdate",
    "_count",
    "_sort",
    "_include",
    "_revinclude",
    "_has:Observation:subject:code",
    "general-practitioner.name",
    "identifier",
    "_lastUpdated",
    "_summary",
    "_elements",
    "_total",
    "_page",
    "_format",
    "x",
    "name:exact",
    "name:nonsense",
    "_type",
    "link:Patient.name",
    "_has",
    "_has:",
    "_include:iterate",
    "subject:Patient.name.x",
    "_filter",
    "_text",
    "_list",
    "_contained",
    "%00",
    "family:missing",
    "_since",
    "gender:not",
    ".",
    ":",
    "",
];

/// Valid and invalid values.
const VALUES: &[&str] = &[
    "",
    "p1",
    "-1",
    "0",
    "999999999999999999999",
    "1e9",
    "ge2020",
    "2020-02-31",
    "eq",
    "a|b|c",
    "|",
    ",",
    "\\",
    "\\,",
    "$",
    "*",
    "Patient:*",
    "Observation:subject",
    "(((((a+)+)+)+$",
    "%",
    "%zz",
    "%00",
    "%ff%fe",
    "true",
    "null",
    "NaN",
    "data,text",
    "Patient/p1",
    "http://a/b",
    "%F0%9F%98%80",
    "gt2020-01-01T00:00:00Z",
];

fn query_case(dice: &mut Dice) -> Case {
    let pair = |dice: &mut Dice| format!("{}={}", dice.pick(NAMES), dice.pick(VALUES));
    let pairs: Vec<String> = (0..1 + dice.below(5)).map(|_| pair(dice)).collect();
    let address = dice.pick(&[
        "/Patient",
        "/Observation",
        "/Patient/p1",
        "/_history",
        "/Patient/_history",
        "/Patient/p1/$everything",
        "/metadata",
    ]);
    let query = pairs.join(if dice.below(6) == 0 { ";" } else { "&" });
    if dice.below(4) == 0 {
        let mut case = Case::new("POST", "/Patient/_search", query);
        case.headers = vec![("content-type".into(), "application/x-www-form-urlencoded".into())];
        return case;
    }
    Case::new(dice.pick(&["GET", "GET", "GET", "DELETE", "PUT", "HEAD"]), format!("{address}?{query}"), "")
}

fn path_case(dice: &mut Dice) -> Case {
    let parts = [
        "Patient",
        "p1",
        "_history",
        "1",
        "_search",
        "$everything",
        "$validate",
        "$x",
        "..",
        ".",
        "%2e%2e",
        "%2F",
        "%00",
        "%ff",
        "",
        "Pateint",
        "patient",
        "metadata",
        ".well-known",
        "smart-configuration",
        "*",
        "%F0%9F%98%80",
        "\\",
        "{}",
        "|",
        "~",
        "'",
        ";a=b",
        "@",
        "-1",
        "0",
        "x%zz",
    ];
    let path: String = (0..1 + dice.below(5)).map(|_| format!("/{}", dice.pick(&parts))).collect();
    let method =
        dice.pick(&["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "TRACE", "PROPFIND", "M-SEARCH", "X", "get"]);
    let body = if dice.below(2) == 0 { patient("p1").to_string() } else { String::new() };
    Case::new(method, path, body)
}

fn header_case(dice: &mut Dice) -> Case {
    let names = [
        "accept",
        "content-type",
        "prefer",
        "if-match",
        "if-none-match",
        "if-modified-since",
        "if-none-exist",
        "x-provenance",
        "x-request-id",
        "accept-encoding",
        "content-encoding",
        "accept-charset",
        "range",
        "expect",
        "x-http-method-override",
        "origin",
    ];
    let values = [
        "",
        "*",
        "*/*",
        "x",
        "W/\"1\"",
        "\"1\"",
        "W/\"999\"",
        "\"",
        "application/xml",
        "application/fhir+json; charset=utf-16",
        "text/plain",
        "application/fhir+json;fhirVersion=5.0",
        "return=nothing",
        "handling=strict",
        "Mon, 99 Foo 2020",
        "identifier=",
        "identifier=%00",
        "_id=p1",
        "nonsense=1",
        "gender=male&gender=female",
        "?",
        "\u{e9}",
        "\u{1f600}",
        "bytes=0-",
        "gzip",
        "name=((((a+)+)+)",
        "DELETE",
        "null",
    ];
    let (method, address) = dice.pick(&[
        ("GET", "/Patient/p1"),
        ("GET", "/Patient"),
        ("PUT", "/Patient/p1"),
        ("POST", "/Patient"),
        ("DELETE", "/Patient/nobody"),
        ("PATCH", "/Patient/p1"),
    ]);
    let body = if ["PUT", "POST"].contains(&method) {
        json!({"resourceType": "Patient", "id": "p1"}).to_string()
    } else {
        String::new()
    };
    let mut case = Case::new(method, address, body);
    for _ in 0..1 + dice.below(3) {
        let name = dice.pick(&names);
        case.headers.retain(|(known, _)| known != name);
        if name != "expect" {
            case.headers.push((name.to_owned(), dice.pick(&values).to_owned()));
        }
    }
    if method == "POST" && !case.headers.iter().any(|(name, _)| name == "if-none-exist") {
        case.headers.push(("if-none-exist".into(), "_id=p1".into()));
    }
    case
}

/// Cases that random generation would hardly find.
fn fixed_cases() -> Vec<Case> {
    let many = |count: usize, one: &str| vec![one; count].join(",");
    let cyclic = transaction(vec![
        json!({"fullUrl": "urn:uuid:1", "resource": {"resourceType": "Patient", "link": [{"other": {"reference": "urn:uuid:2"}, "type": "seealso"}]},
            "request": {"method": "POST", "url": "Patient"}}),
        json!({"fullUrl": "urn:uuid:2", "resource": {"resourceType": "Patient", "link": [{"other": {"reference": "urn:uuid:1"}, "type": "seealso"}]},
            "request": {"method": "POST", "url": "Patient"}}),
    ]);
    let mut cases = vec![
        Case::new("POST", "", cyclic.to_string()),
        Case::new("GET", format!("/Patient?_id={}", many(5000, "x")), ""),
        Case::new("GET", format!("/Patient?{}", vec!["name=x"; 1000].join("&")), ""),
        Case::new("GET", format!("/Patient?_elements={}", many(5000, "name")), ""),
        Case::new("GET", format!("/Patient?_sort={}", many(5000, "name")), ""),
        Case::new("GET", "/Patient?_count=-1", ""),
        Case::new("GET", "/Observation?_include:iterate=*&_revinclude:iterate=*", ""),
        Case::new("GET", format!("/Observation?{}name=x", "subject:Patient.link:Patient.".repeat(400)), ""),
        Case::new("GET", format!("/Patient?{}_id=x", "_has:Observation:subject:".repeat(400)), ""),
        Case::new("PUT", "/Patient/p1", format!("{{\"a\":{}", "[".repeat(100_000))),
        Case::new("PUT", "/Patient/p1", "{\"a\":".repeat(100_000)),
    ];
    cases.extend((90..=130).flat_map(deep_cases));
    cases
}

/// Bodies around the maximum depth: what is stored as an event must be readable.
fn deep_cases(depth: usize) -> Vec<Case> {
    let mut cases = Vec::new();
    let deep = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    cases.push(Case::new(
        "PUT",
        "/Patient/p1",
        format!("{{\"resourceType\":\"Patient\",\"id\":\"p1\",\"name\":{deep}}}"),
    ));
    let inner = "{\"url\":\"urn:x\",\"extension\":[".repeat(depth / 2);
    let open = format!("{{\"resourceType\":\"Patient\",\"id\":\"p1\",\"extension\":[{inner}");
    cases.push(Case::new(
        "PUT",
        "/Patient/p1",
        format!("{open}{{\"url\":\"urn:y\",\"valueString\":\"x\"}}{}]}}", "]}".repeat(depth / 2)),
    ));
    cases.push(Case::new("PATCH", "/Patient/p1", format!("[{{\"op\":\"test\",\"path\":\"/name\",\"value\":{deep}}}]")));
    cases.push(Case::new("GET", "/Patient/p1", ""));
    cases.push(Case::new("POST", "", transaction(vec![entry("GET", "Patient/p1", None)]).to_string()));
    cases
}
