//! S5 for the FHIR paths: a sandbox reveals nothing to outsiders, neither at its address nor from inside another sandbox.

use app::Clock;
use futures_util::{StreamExt, stream};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Caller, TestResponse, TestServer, both_databases};

use crate::fhir_client::{Ehr, entry, observation, patient, token_request, transaction};
use crate::prober::{comparable, unknown_id};
use crate::request::{AT_ONCE, Request};
use crate::surface::Tenant;
use crate::tenants::{bad_credentials, solver_key};

/// A text that only occurs in sandboxes foreign to the prober.
const SECRET: &str = "hidden-4711";
/// A text of the same length that occurs nowhere.
const NOWHERE: &str = "hidden-4712";

both_databases! {
    async fn another_organizations_sandbox_looks_like_a_missing_one(server: TestServer) {
        let (own, foreign) = (Tenant::create(&server, "Own", "Private").await, server.organization("Foreign").await);
        let sandboxes = Sandboxes::create(&own, &foreign).await;
        let before = (sandboxes.foreign.content("Patient").await, sandboxes.sibling.content("Patient").await);
        let next = sandboxes.foreign.get("Patient?_count=1").await.expect(200);
        let next = link(&next, "next").split("/fhir/").last().unwrap().to_owned();
        let mut probes = 0;
        for (credential, targets) in sandboxes.credentials(&server, &own).await {
            for target in targets {
                let shapes = shapes(&next);
                let mut answers = stream::iter(shapes.iter().flat_map(|shape| shape.at(&target, credential.as_deref())))
                    .map(|(theirs, nothing)| async {
                        let caller = server.anonymous();
                        (theirs.send(&caller).await, nothing.send(&caller).await)
                    })
                    .buffer_unordered(AT_ONCE);
                while let Some((theirs, nothing)) = answers.next().await {
                    assert!([401, 403, 404].contains(&theirs.status), "{} {}: {}", theirs.request, theirs.status, theirs.text());
                    let ids = [target.as_str()];
                    assert_eq!(comparable(&theirs, &ids), comparable(&nothing, &ids), "{} with {credential:?}", theirs.request);
                    assert_eq!(theirs["resourceType"], "OperationOutcome", "{}", theirs.request);
                    probes += 1;
                }
            }
        }
        let after = (sandboxes.foreign.content("Patient").await, sandboxes.sibling.content("Patient").await);
        assert_eq!(before, after);
        assert!(probes >= 3000, "only {probes}");
        eprintln!("{probes} pairs of probes of foreign sandboxes");
    }

    async fn credentials_expire_and_end_with_their_sandbox(server: TestServer) {
        let ehr = Ehr::over(&server.organization("Own").await, &[patient("p1")]).await;
        let clock = Clock::fixed(server.clock.now());
        let later = server.another_node_at(clock.clone()).await;
        let token = ehr.token(&later, "system/*.cruds").await;
        let smart = ehr.with(&later.caller(&token));
        smart.get("Patient/p1").await.expect(200);
        clock.advance(299_000);
        smart.get("Patient/p1").await.expect(200);
        clock.advance(2_000);
        let expired = smart.get("Patient/p1").await.expect(401);
        assert_eq!(expired["resourceType"], "OperationOutcome");
        assert!(expired.header("www-authenticate").unwrap_or_default().starts_with("Bearer"));
        let token = ehr.token(&server, "system/*.cruds").await;
        let secret = ehr.client_secret().await;
        ehr.caller.post(&format!("/sandboxes/{}/teardown", ehr.sandbox), json!({})).await.expect(200);
        for request in [(Method::GET, "Patient/p1"), (Method::GET, "Patient"), (Method::DELETE, "Patient/p1")] {
            let response = ehr.with(&server.caller(&token)).ask(request.0, request.1, None).await;
            assert!([401, 409].contains(&response.status), "{} {}", response.request, response.status);
            assert_eq!(response["resourceType"], "OperationOutcome");
        }
        let form = format!("grant_type=client_credentials&client_id={}&client_secret={secret}", ehr.sandbox);
        let refused = token_request(&ehr.sandbox, &form).send(&server.anonymous()).await.expect(401);
        assert_eq!(refused["error"], "invalid_client");
    }

    async fn a_token_is_only_issued_for_the_clients_own_sandbox(server: TestServer) {
        let own = Ehr::over(&server.organization("Own").await, &[]).await;
        let sibling = Ehr::over(&own.caller, &[]).await;
        let foreign = Ehr::over(&server.organization("Foreign").await, &[]).await;
        let nothing = unknown_id(&own.sandbox);
        let (secret, mut probes) = (own.client_secret().await, 0);
        for target in [&sibling.sandbox, &foreign.sandbox] {
            for client in [&own.sandbox, target] {
                let form = |client: &str| format!("grant_type=client_credentials&client_id={client}&client_secret={secret}");
                let theirs = token_request(target, &form(client)).send(&server.anonymous()).await.expect(401);
                let none = token_request(&nothing, &form(client)).send(&server.anonymous()).await.expect(401);
                assert_eq!(comparable(&theirs, &[]), comparable(&none, &[]));
                probes += 1;
            }
        }
        let token = own.token(&server, "system/*.cruds").await;
        for list in ["", "/events", "/state", "/diff"] {
            for sandbox in [&own.sandbox, &sibling.sandbox, &nothing] {
                server.caller(&token).get(&format!("/sandboxes/{sandbox}{list}")).await.expect_error(401, "UNAUTHORIZED");
                probes += 1;
            }
        }
        eprintln!("{probes} probes of the token endpoint and of evidence");
    }

    async fn a_sandbox_cannot_see_the_content_of_another(server: TestServer) {
        let (own, foreign) = (Tenant::create(&server, "Own", "Private").await, server.organization("Foreign").await);
        let sandboxes = Sandboxes::create(&own, &foreign).await;
        let mut probes = 0;
        for theirs in [&sandboxes.sibling, &sandboxes.foreign] {
            for there in ["", &format!("{}/sandboxes/{}/fhir/", server.base_url, theirs.sandbox)] {
                probes += look_through(&sandboxes.own, there).await;
            }
            probes += follow_links(&sandboxes.own, theirs).await;
        }
        assert!(probes >= 90, "only {probes}");
        eprintln!("{probes} ways from inside");
    }
}

struct Sandboxes {
    own: Ehr,
    /// A second sandbox of the same organization.
    sibling: Ehr,
    foreign: Ehr,
}

impl Sandboxes {
    async fn create(own: &Tenant, foreign: &Caller) -> Self {
        let named = |id: &str| {
            json!({"resourceType": "Patient", "id": id, "name": [{"family": id}],
                "identifier": [{"system": "urn:mrn", "value": id}]})
        };
        let theirs = [named(SECRET), named("second"), observation(SECRET, SECRET), patient("third")];
        let mine = [named("mine"), observation("o-mine", "mine")];
        Self {
            own: Ehr::over(&own.caller, &mine).await,
            sibling: Ehr::over(&own.caller, &theirs).await,
            foreign: Ehr::over(foreign, &theirs).await,
        }
    }

    /// Credentials of a prober, each with the sandboxes for which it is not valid.
    async fn credentials(&self, server: &TestServer, own: &Tenant) -> Vec<(Option<String>, Vec<String>)> {
        let bearer = |token: &str| Some(format!("Bearer {token}"));
        let (sibling, foreign) = (self.sibling.sandbox.clone(), self.foreign.sandbox.clone());
        let both = vec![sibling.clone(), foreign.clone()];
        let past = server.another_node_at(Clock::fixed(server.clock.now().plus_milliseconds(-301_000))).await;
        let ended = Ehr::over(&own.caller, &[]).await;
        let of_ended = ended.token(server, "system/*.cruds").await;
        own.caller.post(&format!("/sandboxes/{}/teardown", ended.sandbox), json!({})).await.expect(200);
        let own_token = self.own.token(server, "system/*.cruds").await;
        let mut credentials = vec![
            (bearer(self.own.caller.key()), vec![foreign.clone()]),
            (bearer(&own_token), both.clone()),
            (bearer(&self.sibling.token(&past, "system/*.cruds").await), vec![sibling]),
            (bearer(&self.foreign.token(&past, "system/*.cruds").await), vec![foreign]),
            (bearer(&of_ended), both.clone()),
            (bearer(&solver_key(own).await), both.clone()),
            (bearer(&own_token[..own_token.len() - 1]), both.clone()),
            (bearer(&own_token.replace('.', "")), both.clone()),
            (bearer("vrl_smart_"), both.clone()),
        ];
        let bad = bad_credentials(own).await.into_iter().map(|text| (text, both.clone()));
        credentials.extend(bad);
        credentials
    }
}

/// A request to a sandbox.
struct Shape {
    method: Method,
    address: String,
    body: Option<(&'static str, Vec<u8>)>,
    headers: Vec<(&'static str, &'static str)>,
}

impl Shape {
    /// The request at both addresses of the sandbox, each paired with the same request to an unknown sandbox.
    fn at(&self, sandbox: &str, credential: Option<&str>) -> Vec<(Request, Request)> {
        let request = |base: &str, sandbox: &str| {
            let mut request = Request::new(self.method.clone(), format!("/{base}/{sandbox}/fhir{}", self.address));
            request.content.clone_from(&self.body);
            request.headers = self.headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
            match credential {
                Some(text) => request.header("authorization", text),
                None => request,
            }
        };
        ["sandboxes", "services"].map(|base| (request(base, sandbox), request(base, &unknown_id(sandbox)))).into()
    }
}

fn shapes(next: &str) -> Vec<Shape> {
    let mut shapes = Vec::new();
    let mut add = |method: Method, address: &str, body: Option<(&'static str, Value)>| {
        let body = body.map(|(media, body)| (media, body.to_string().into_bytes()));
        shapes.push(Shape { method, address: address.to_owned(), body, headers: Vec::new() });
    };
    for address in [
        "",
        "/",
        "/Patient/hidden-4711",
        "/Patient/hidden-4711/_history",
        "/Patient/hidden-4711/_history/1",
        "/Patient",
        "/Patient?name=hidden",
        "/Patient?_has:Observation:subject:status=final",
        "/Observation?subject.name=hidden",
        "/Observation?_include=*",
        "/_history",
        "/Patient/_history",
        "/Patient/hidden-4711/$everything",
        "/Nonsense",
        "/%00",
    ] {
        add(Method::GET, address, None);
    }
    add(Method::GET, &format!("/{next}"), None);
    add(Method::HEAD, "/Patient/hidden-4711", None);
    let (fhir, patch) = ("application/fhir+json", "application/json-patch+json");
    let read = transaction(vec![entry("GET", "Patient/hidden-4711", None)]);
    let write = transaction(vec![entry("POST", "Patient", Some(patient("x")))]);
    for (method, address, body) in [
        (Method::POST, "", (fhir, read)),
        (Method::POST, "/", (fhir, write)),
        (Method::POST, "/Patient", (fhir, patient("x"))),
        (Method::PUT, "/Patient/hidden-4711", (fhir, patient(SECRET))),
        (Method::PUT, "/Patient?identifier=urn:mrn|hidden-4711", (fhir, patient(SECRET))),
        (Method::PATCH, "/Patient/hidden-4711", (patch, json!([{"op": "remove", "path": "/name"}]))),
        (Method::POST, "/Patient/$validate", (fhir, patient("x"))),
        (Method::POST, "/Patient", (fhir, json!("["))),
    ] {
        add(method, address, Some(body));
    }
    add(Method::DELETE, "/Patient/hidden-4711", None);
    add(Method::DELETE, "/Patient?name=hidden", None);
    shapes.retain(|shape| shape.method != Method::HEAD);
    let form = ("application/x-www-form-urlencoded", b"name=hidden".to_vec());
    shapes.push(Shape {
        method: Method::POST,
        address: "/Patient/_search".into(),
        body: Some(form),
        headers: Vec::new(),
    });
    let body = Some((fhir, patient("x").to_string().into_bytes()));
    for headers in [("if-none-exist", "name=hidden"), ("prefer", "return=representation"), ("content-encoding", "gzip")]
    {
        shapes.push(Shape {
            method: Method::POST,
            address: "/Patient".into(),
            body: body.clone(),
            headers: vec![headers],
        });
    }
    shapes
}

fn link(response: &TestResponse, relation: &str) -> String {
    let links = response["link"].as_array().expect("links");
    let found = links.iter().find(|link| link["relation"] == relation).expect("the link");
    found["url"].as_str().unwrap().to_owned()
}

/// Requests, in the caller's own sandbox, data that only another sandbox has and data that does not exist. `there` is the
/// other sandbox's base URL, or empty. Returns how many requests were tried.
async fn look_through(own: &Ehr, there: &str) -> usize {
    own.reset().await;
    for (id, target) in [("points-there", SECRET), ("points-nowhere", NOWHERE)] {
        let mut pointing = observation(id, "mine");
        pointing["focus"] = json!([{"reference": format!("{there}Patient/{target}")}]);
        own.put(&format!("Observation/{id}"), &pointing).await.expect(201);
    }
    let mut ways = 0;
    for address in [
        "Patient/TARGET",
        "Patient/TARGET/_history",
        "Patient/TARGET/_history/1",
        "Patient/TARGET/$everything",
        "Patient?_id=TARGET",
        "Patient?family=TARGET",
        "Patient?identifier=urn:mrn|TARGET",
        "Observation?subject=Patient/TARGET",
        "Observation?subject=THEREPatient/TARGET",
        "Observation?subject:Patient.family=TARGET",
        "Observation?focus:Patient.family=TARGET",
        "Observation?focus:Patient.identifier=urn:mrn|TARGET",
        "Observation?_id=POINTING&_include=Observation:focus",
        "Observation?_id=POINTING&_include=*&_include:iterate=*",
        "Observation?focus=THEREPatient/TARGET&_include=Observation:focus",
        "Patient?_has:Observation:subject:_id=TARGET",
        "Patient?_has:Observation:focus:_id=POINTING",
        "Patient?_id=TARGET&_revinclude=Observation:focus",
        "Patient/_history?_since=2020-01-01T00:00:00Z&_id=TARGET",
    ] {
        let ask = async |target: &str, pointing: &str| {
            let address = address.replace("THERE", there).replace("TARGET", target).replace("POINTING", pointing);
            seen(&own.get(&address).await, target, pointing)
        };
        let (theirs, nothing) = (ask(SECRET, "points-there").await, ask(NOWHERE, "points-nowhere").await);
        assert_eq!(theirs, nothing, "{address} from {there:?}");
        assert!(!theirs.contains("\"mode\":\"include\",\"family\""), "{theirs}");
        ways += 1;
    }
    ways + write_through(own, there).await
}

/// The same for writes: resources of another sandbox are neither matches nor targets.
async fn write_through(own: &Ehr, there: &str) -> usize {
    let bundles = [
        transaction(vec![entry("GET", "THEREPatient/TARGET", None)]),
        transaction(vec![entry("GET", "Patient?_id=TARGET&_revinclude=Observation:subject", None)]),
        transaction(vec![entry("POST", "Observation", Some(pointing_by("Patient?identifier=urn:mrn|TARGET")))]),
        transaction(vec![entry("POST", "Observation", Some(pointing_by("THEREPatient?identifier=urn:mrn|TARGET")))]),
        transaction(vec![entry("DELETE", "Patient?identifier=urn:mrn|TARGET", None)]),
        transaction(vec![entry("DELETE", "THEREPatient/TARGET", None)]),
        transaction(vec![entry("PUT", "THEREPatient/TARGET", Some(patient("TARGET")))]),
    ];
    for bundle in &bundles {
        let ask = async |target: &str| {
            let text = bundle.to_string().replace("THERE", there).replace("TARGET", target);
            let response = own.post("", &serde_json::from_str(&text).unwrap()).await;
            own.reset().await;
            seen(&response, target, "-")
        };
        assert_eq!(ask(SECRET).await, ask(NOWHERE).await, "{bundle} from {there:?}");
    }
    for target in [SECRET, NOWHERE] {
        let condition = format!("identifier=urn:mrn|{target}");
        let headers = [("if-none-exist", condition.as_str())];
        own.ask_with(Method::POST, "Patient", &headers, Some(&patient("x"))).await.expect(201);
        own.ask(Method::PATCH, &format!("Patient?{condition}"), Some(&json!([]))).await.expect(404);
    }
    own.reset().await;
    bundles.len() + 2
}

fn pointing_by(reference: &str) -> Value {
    let mut made = observation("x", "mine");
    made["subject"]["reference"] = json!(reference);
    made
}

/// A response without times and new ids, and with the requested names replaced, for comparison.
fn seen(response: &TestResponse, target: &str, pointing: &str) -> String {
    let mut json = response.json.clone();
    remove_times(&mut json);
    let ids: Vec<String> = new_ids(&json);
    let mut text = format!("{} {json}", response.status).replace(target, "TARGET").replace(pointing, "POINTING");
    for id in ids {
        text = text.replace(&id, "a new id");
    }
    text
}

fn remove_times(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(remove_times),
        Value::Object(members) => {
            members.retain(|name, _| !["lastUpdated", "lastModified", "versionId"].contains(&name.as_str()));
            members.values_mut().for_each(remove_times);
        }
        _ => {}
    }
}

/// ULIDs, the format of the server's ids.
fn new_ids(value: &Value) -> Vec<String> {
    let text = value.to_string();
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.filter(|word| word.len() == 26).map(ToOwned::to_owned).collect()
}

/// Uses page links of another sandbox on the caller's own sandbox; they show only the caller's own data.
async fn follow_links(own: &Ehr, theirs: &Ehr) -> usize {
    let mut followed = 0;
    for search in [
        "Patient?_count=1",
        "_history?_count=1",
        "Patient/_history?_count=1",
        "Patient/hidden-4711/$everything?_count=1",
    ] {
        let page = theirs.get(search).await.expect(200);
        for relation in ["self", "next", "last"] {
            let url = link(&page, relation);
            let address = url.split("/fhir/").last().unwrap();
            let shown = own.get(address).await;
            for mark in [SECRET, "second", "third"] {
                let echoed = shown.status >= 400 || !shown["entry"].to_string().contains(mark);
                assert!(echoed, "{search} {relation}: {}", shown.text());
            }
            followed += 1;
        }
    }
    followed
}
