//! A client of one FHIR sandbox, its content, and a deterministic random number generator.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Caller, Database, TestResponse, TestServer};

use crate::request::Request;

/// A client of a sandbox, with an organization key or a token.
#[derive(Clone)]
pub(crate) struct Ehr {
    pub(crate) caller: Caller,
    pub(crate) sandbox: String,
}

impl Ehr {
    /// A sandbox with its own simulator and playground, over these resources.
    pub(crate) async fn over(caller: &Caller, resources: &[Value]) -> Self {
        let simulator = caller.post("/simulators", json!({"type": "Fhir", "name": "EHR"})).await.expect(201).id();
        let mut body = json!({"simulator_id": simulator});
        if !resources.is_empty() {
            let dataset = caller.post("/datasets", json!({"name": "Records", "type": "fhir"})).await.expect(201).id();
            let lines: String = resources.iter().map(|resource| format!("{resource}\n")).collect();
            let data = format!("/datasets/{dataset}/data");
            caller.put_bytes(&data, "application/fhir+ndjson", lines).await.expect(200);
            body["dataset_id"] = json!(dataset);
        }
        let sandbox = caller.post("/sandboxes", body).await.expect(201).id();
        Self { caller: caller.clone(), sandbox }
    }

    pub(crate) fn with(&self, caller: &Caller) -> Self {
        Self { caller: caller.clone(), sandbox: self.sandbox.clone() }
    }

    pub(crate) fn path(&self, address: &str) -> String {
        format!("/sandboxes/{}/fhir/{address}", self.sandbox)
    }

    pub(crate) async fn ask(&self, method: Method, address: &str, body: Option<&Value>) -> TestResponse {
        self.ask_with(method, address, &[], body).await
    }

    pub(crate) async fn ask_with(
        &self,
        method: Method,
        address: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> TestResponse {
        let media = if method == Method::PATCH { "application/json-patch+json" } else { "application/fhir+json" };
        let body = body.map(|body| (media, body.to_string().into_bytes()));
        self.caller.send_bytes(method, &self.path(address), headers, body).await
    }

    pub(crate) async fn get(&self, address: &str) -> TestResponse {
        self.ask(Method::GET, address, None).await
    }

    pub(crate) async fn post(&self, address: &str, body: &Value) -> TestResponse {
        self.ask(Method::POST, address, Some(body)).await
    }

    pub(crate) async fn put(&self, address: &str, body: &Value) -> TestResponse {
        self.ask(Method::PUT, address, Some(body)).await
    }

    pub(crate) async fn total(&self, search: &str) -> u64 {
        self.get(search).await.expect(200)["total"].as_u64().expect("a total")
    }

    pub(crate) async fn reset(&self) {
        let playground = self.caller.get(&format!("/sandboxes/{}", self.sandbox)).await.expect(200);
        let own = playground["own_playground_id"].as_str().or(playground["playground_id"].as_str());
        let playground = own.unwrap().to_owned();
        self.caller.post(&format!("/playgrounds/{playground}/reset"), json!({})).await.expect(200);
    }

    /// All pages of a list of evidence: `events`, `state` or `diff`.
    pub(crate) async fn evidence(&self, list: &str) -> Vec<Value> {
        let (mut found, mut cursor) = (Vec::new(), String::new());
        loop {
            let page =
                self.caller.get(&format!("/sandboxes/{}/{list}?limit=100{cursor}", self.sandbox)).await.expect(200);
            found.extend_from_slice(page.data());
            match page["_meta"]["next"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return found,
            }
        }
    }

    /// The visible content: state, differences, history, and the totals of searches.
    pub(crate) async fn content(&self, counted: &str) -> Value {
        let history = self.get("_history?_count=1000").await.expect(200);
        // Nodes have different addresses.
        let history = history["entry"].as_array().into_iter().flatten();
        let history: Vec<Value> =
            history.map(|entry| json!([entry["resource"], entry["request"], entry["response"]])).collect();
        json!({
            "state": self.evidence("state").await,
            "diff": self.evidence("diff").await,
            "history": history,
            "total": self.total(counted).await,
        })
    }

    /// The credentials to get tokens.
    pub(crate) async fn client_secret(&self) -> String {
        let shown = self.caller.get(&format!("/sandboxes/{}", self.sandbox)).await.expect(200);
        shown["credentials"]["client_secret"].as_str().expect("a secret").to_owned()
    }

    /// The same sandbox with a SMART token of these scopes.
    pub(crate) async fn smart(&self, server: &TestServer, scope: &str) -> Self {
        self.with(&server.caller(&self.token(server, scope).await))
    }

    pub(crate) async fn token(&self, server: &TestServer, scope: &str) -> String {
        let form = format!(
            "grant_type=client_credentials&client_id={}&client_secret={}&scope={}",
            self.sandbox,
            self.client_secret().await,
            scope.replace(' ', "%20")
        );
        let response = token_request(&self.sandbox, &form).send(&server.anonymous()).await.expect(200);
        response["access_token"].as_str().expect("a token").to_owned()
    }
}

pub(crate) fn token_request(sandbox: &str, form: &str) -> Request {
    let path = format!("/sandboxes/{sandbox}/fhir/auth/token");
    Request::new(Method::POST, path).content("application/x-www-form-urlencoded", form)
}

/// The same sandbox on every node that may serve it: two on PostgreSQL, one on SQLite.
pub(crate) async fn on_every_node(server: &TestServer, ehr: &Ehr) -> (Vec<TestServer>, Vec<Ehr>) {
    let mut more = Vec::new();
    if server.database().kind() == Database::Postgres {
        more.push(server.another_node().await);
    }
    let others = more.iter().map(|node| ehr.with(&node.caller(ehr.caller.key())));
    let all = std::iter::once(ehr.clone()).chain(others).collect();
    (more, all)
}

pub(crate) fn patient(id: &str) -> Value {
    json!({"resourceType": "Patient", "id": id, "active": true})
}

pub(crate) fn observation(id: &str, patient: &str) -> Value {
    json!({"resourceType": "Observation", "id": id, "status": "final", "code": {"text": "weight"},
        "subject": {"reference": format!("Patient/{patient}")}})
}

#[expect(clippy::needless_pass_by_value, reason = "entries are made for the one transaction")]
pub(crate) fn transaction(entries: Vec<Value>) -> Value {
    json!({"resourceType": "Bundle", "type": "transaction", "entry": entries})
}

pub(crate) fn entry(method: &str, url: &str, resource: Option<Value>) -> Value {
    let mut entry = json!({"request": {"method": method, "url": url}});
    if let Some(resource) = resource {
        entry["resource"] = resource;
    }
    entry
}
