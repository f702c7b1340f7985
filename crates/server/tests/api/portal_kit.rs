//! A clinic with a FHIR server and a payer portal, for the tests of portals.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Caller, TestServer};

/// The FHIR data: patients with and without coverage, and providers.
pub(crate) fn people() -> String {
    let patient = |id: &str, given: &str, family: &str, birth: &str, number: &str| {
        json!({"resourceType": "Patient", "id": id, "birthDate": birth, "gender": "female",
            "name": [{"use": "official", "family": family, "given": [given]}],
            "identifier": [{"system": "urn:mrn", "value": number}]})
    };
    let resources = [
        patient("maria", "Maria", "Lopez", "1980-02-03", "MRN-1"),
        patient("mark", "Mark", "López", "1975-11-30", "MRN-2"),
        patient("uma", "Uma", "Stone", "1990-01-01", "M300"),
        json!({"resourceType": "Coverage", "id": "c1", "status": "cancelled", "beneficiary": {"reference": "Patient/maria"},
            "payor": [{"display": "Old Health"}], "subscriberId": "OLD1"}),
        json!({"resourceType": "Coverage", "id": "c2", "status": "active", "beneficiary": {"reference": "Patient/maria"},
            "payor": [{"display": "Acme Health"}], "subscriberId": "M100", "class": [{"type": {"text": "plan"}, "value": "gold", "name": "Gold PPO"}]}),
        json!({"resourceType": "Coverage", "id": "c3", "status": "active", "beneficiary": {"reference": "Patient/mark"},
            "payor": [{"display": "Acme Health"}], "identifier": [{"value": "M200"}]}),
        json!({"resourceType": "Practitioner", "id": "dr", "name": [{"family": "Reyes", "given": ["Ana"], "prefix": ["Dr."]}],
            "identifier": [{"system": "http://hl7.org/fhir/sid/us-npi", "value": "1234567893"}],
            "qualification": [{"code": {"text": "Neurology"}}]}),
        json!({"resourceType": "Organization", "id": "imaging", "name": "Lakeside Imaging",
            "identifier": [{"system": "http://hl7.org/fhir/sid/us-npi", "value": "1003000126"}]}),
    ];
    resources.iter().map(|resource| format!("{resource}\n")).collect()
}

pub(crate) struct Clinic {
    pub(crate) author: Caller,
    pub(crate) playground: String,
    /// The portal's sandbox.
    pub(crate) sandbox: Value,
}

impl Clinic {
    /// A clinic with a portal of this config.
    pub(crate) async fn open(server: &TestServer, config: Value) -> Self {
        let author = server.organization("Clinic").await;
        let environment = environment(&author, config).await;
        let made = author.post("/playgrounds", json!({"environment_id": environment})).await.expect(201);
        let sandboxes = made["sandboxes"].as_array().unwrap();
        let sandbox = sandboxes.iter().find(|sandbox| sandbox["type"] == "Payer").unwrap().clone();
        Self { playground: made.id(), sandbox, author }
    }

    pub(crate) fn id(&self) -> &str {
        self.sandbox["id"].as_str().unwrap()
    }

    pub(crate) fn credential(&self, name: &str) -> &str {
        self.sandbox["credentials"][name].as_str().unwrap()
    }

    pub(crate) fn path(&self, rest: &str) -> String {
        format!("/sandboxes/{}/portal{rest}", self.id())
    }

    pub(crate) async fn submit(&self, change: Value) -> testkit::TestResponse {
        self.author.post(&self.path("/prior-auths"), request(change)).await
    }

    /// The rows of a collection, from the evidence.
    pub(crate) async fn rows(&self, kind: &str) -> Vec<Value> {
        let state = self.author.get(&format!("/sandboxes/{}/state?resource={kind}&limit=100", self.id())).await;
        state.expect(200).data().iter().map(|record| record["value"].clone()).collect()
    }

    pub(crate) async fn events(&self, kind: &str) -> Vec<Value> {
        let events = self.author.get(&format!("/sandboxes/{}/events?type={kind}&limit=100", self.id())).await;
        events.expect(200).data().to_vec()
    }
}

pub(crate) async fn environment(author: &Caller, config: Value) -> String {
    let dataset = author.post("/datasets", json!({"name": "People", "type": "fhir"})).await.expect(201).id();
    let upload = format!("/datasets/{dataset}/data");
    author.put_bytes(&upload, "application/fhir+ndjson", people()).await.expect(200);
    let ehr = author.post("/simulators", json!({"type": "Fhir", "name": "EHR"})).await.expect(201).id();
    let portal = json!({"type": "Payer", "name": "Portal", "config": config});
    let portal = author.post("/simulators", portal).await.expect(201).id();
    let environment = author.post("/environments", json!({"name": "Clinic"})).await.expect(201).id();
    for path in [
        format!("/simulators/{ehr}/datasets/{dataset}"),
        format!("/environments/{environment}/simulators/{ehr}"),
        format!("/environments/{environment}/simulators/{portal}"),
    ] {
        author.send(Method::POST, &path, &[], None).await.expect(200);
    }
    environment
}

/// A valid request with these fields changed; null removes a field.
pub(crate) fn request(change: Value) -> Value {
    let mut body = json!({"patient_member_id": "M100", "procedure_code": "70551", "diagnosis_code": "G43.909",
        "provider_npi": "1234567893"});
    let Value::Object(members) = change else { panic!("members") };
    for (name, value) in members {
        match value {
            Value::Null => drop(body.as_object_mut().unwrap().remove(&name)),
            value => body[name] = value,
        }
    }
    body
}
