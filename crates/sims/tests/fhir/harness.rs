//! A FHIR server in memory that applies the changes of each request.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use fhir::layer::Layer;
use model::simulator::SimulatorType;
use model::{SandboxId, Timestamp};
use serde_json::{Value, json};
use verial_sims::fhir::handle::{FhirClient, handle};
use verial_sims::fhir::http::{Request, Response};
use verial_sims::fhir::scopes::Scopes;
use world::{Change, Context, NewEvent, Records, Sandbox, World};

pub(crate) const BASE: &str = "https://verial.test/sandboxes/1/fhir";
/// 2026-04-23T12:00:00Z
pub(crate) const START: Timestamp = Timestamp(1_776_945_600_000);

pub(crate) struct Server {
    pub(crate) first: World,
    pub(crate) world: World,
    pub(crate) sandbox: SandboxId,
    pub(crate) client: FhirClient,
    pub(crate) changes: Vec<(i64, Change)>,
    pub(crate) events: Vec<NewEvent>,
    ids: Cell<u64>,
}

pub(crate) struct ResponseRecord {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) text: String,
    pub(crate) raw: Option<Vec<u8>>,
    /// Null if there is no body.
    pub(crate) body: Value,
    pub(crate) changes: usize,
}

impl ResponseRecord {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
    }

    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        if status >= 400 {
            assert_eq!(self.body["resourceType"], "OperationOutcome", "{}", self.text);
            assert_eq!(self.changes, 0);
            fhir::validate(&self.body).unwrap();
        }
        self
    }

    pub(crate) fn issue(&self) -> &str {
        self.body["issue"][0]["diagnostics"].as_str().unwrap_or_default()
    }

    pub(crate) fn expression(&self) -> &str {
        self.body["issue"][0]["expression"][0].as_str().unwrap_or_default()
    }

    /// `Patient/1` for each entry, in order, prefixed with the mode if that is not `match`.
    pub(crate) fn entries(&self) -> Vec<String> {
        let entries = self.body["entry"].as_array().map(Vec::as_slice).unwrap_or_default();
        let name = |entry: &Value| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let name = format!("{}/{}", text(&entry["resource"]["resourceType"]), text(&entry["resource"]["id"]));
            match entry["search"]["mode"].as_str() {
                None | Some("match") => name,
                Some(mode) => format!("{mode} {name}"),
            }
        };
        entries.iter().map(name).collect()
    }

    pub(crate) fn link(&self, relation: &str) -> Option<String> {
        let links = self.body["link"].as_array()?;
        let link = links.iter().find(|link| link["relation"] == relation)?;
        Some(link["url"].as_str()?.strip_prefix(BASE)?.trim_start_matches('/').to_owned())
    }
}

impl Server {
    pub(crate) fn new() -> Self {
        Self::with_dataset(&[])
    }

    /// A server with a dataset of these resources.
    pub(crate) fn with_dataset(resources: &[Value]) -> Self {
        let lines: String = resources.iter().map(|resource| format!("{resource}\n")).collect();
        let layer = Layer::build(vec![lines.into_bytes()], 1).unwrap();
        let sandbox: SandboxId = "sbx_01J00000000000000000000000".parse().unwrap();
        let records = Records::new(vec![Arc::new(layer)], START);
        let fhir = Sandbox {
            id: sandbox.clone(),
            kind: SimulatorType::Fhir,
            config: Arc::default(),
            created_at: START,
            is_active: true,
            records,
        };
        let world = World { seq: 0, oldest: 0, sandboxes: BTreeMap::from([(sandbox.clone(), fhir)]) };
        let client = FhirClient { name: "agent".to_owned(), scopes: None };
        let (changes, events) = (Vec::new(), Vec::new());
        Self { first: world.clone(), world, sandbox, client, changes, events, ids: Cell::new(0) }
    }

    pub(crate) fn with_scopes(&mut self, scopes: &str) {
        self.client.scopes = Some(Scopes::parse(scopes));
    }

    pub(crate) fn send(&mut self, request: &Request) -> ResponseRecord {
        let new_id = || {
            self.ids.set(self.ids.get() + 1);
            format!("new-{}", self.ids.get())
        };
        // Each entry of the log is a second after the one before.
        let now = START.plus_milliseconds((self.world.seq + 1) * 1000);
        let context = Context { now, new_id: &new_id };
        let outcome = handle(&self.world, &self.sandbox, &self.client, request, &context);
        assert_eq!(outcome.events.len(), 1);
        let seq = self.world.seq + 1;
        for change in &outcome.changes {
            self.world.apply(seq, change);
            self.changes.push((seq, change.clone()));
        }
        self.world.seq = seq;
        self.events.extend(outcome.events);
        let Response { status, headers, body, raw } = outcome.answer;
        let json = serde_json::from_str(&body).unwrap_or_default();
        ResponseRecord { status, headers, text: body, raw, body: json, changes: outcome.changes.len() }
    }

    pub(crate) fn request(
        &mut self,
        method: &str,
        address: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> ResponseRecord {
        self.send(&request(method, address, headers, body))
    }

    pub(crate) fn get(&mut self, address: &str) -> ResponseRecord {
        self.request("GET", address, &[], b"")
    }

    pub(crate) fn get_with(&mut self, address: &str, headers: &[(&str, &str)]) -> ResponseRecord {
        self.request("GET", address, headers, b"")
    }

    pub(crate) fn delete(&mut self, address: &str) -> ResponseRecord {
        self.request("DELETE", address, &[], b"")
    }

    pub(crate) fn post(&mut self, address: &str, body: &Value) -> ResponseRecord {
        self.request("POST", address, &[JSON], body.to_string().as_bytes())
    }

    pub(crate) fn put(&mut self, address: &str, body: &Value) -> ResponseRecord {
        self.request("PUT", address, &[JSON], body.to_string().as_bytes())
    }

    pub(crate) fn with(
        &mut self,
        method: &str,
        address: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> ResponseRecord {
        let headers: Vec<_> = headers.iter().copied().chain([JSON]).collect();
        self.request(method, address, &headers, body.to_string().as_bytes())
    }

    pub(crate) fn patch(&mut self, address: &str, body: &Value) -> ResponseRecord {
        self.request("PATCH", address, &[JSON_PATCH], body.to_string().as_bytes())
    }

    pub(crate) fn transaction(&mut self, entries: &[Value]) -> ResponseRecord {
        self.post("", &json!({"resourceType": "Bundle", "type": "transaction", "entry": entries}))
    }

    pub(crate) fn last_event(&self) -> &NewEvent {
        self.events.last().unwrap()
    }

    pub(crate) fn last_payload(&self) -> Value {
        self.last_event().payload.json()
    }
}

pub(crate) const JSON: (&str, &str) = ("content-type", "application/fhir+json");
pub(crate) const JSON_PATCH: (&str, &str) = ("content-type", "application/json-patch+json");

pub(crate) fn request(method: &str, address: &str, headers: &[(&str, &str)], body: &[u8]) -> Request {
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    Request {
        method: method.to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        body: body.to_vec(),
        base_url: BASE.to_owned(),
        other_paths: Vec::new(),
        token_url: None,
    }
}

pub(crate) fn patient(id: &str, family: &str) -> Value {
    json!({"resourceType": "Patient", "id": id, "name": [{"family": family}]})
}

pub(crate) fn observation(id: &str, patient: &str, code: &str) -> Value {
    json!({
        "resourceType": "Observation",
        "id": id,
        "status": "final",
        "code": {"coding": [{"system": "http://loinc.org", "code": code}]},
        "subject": {"reference": format!("Patient/{patient}")},
    })
}

pub(crate) fn entry(method: &str, url: &str, resource: Option<Value>) -> Value {
    let mut entry = json!({"request": {"method": method, "url": url}});
    if let Some(resource) = resource {
        entry["resource"] = resource;
    }
    entry
}
