//! Scopes: data outside of a token's scope can be neither read, nor written, nor inferred.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::both_databases;

use crate::fhir_client::{Ehr, entry, observation, patient, transaction};

both_databases! {
    async fn a_patient_scope_reveals_nothing_about_observations(server: TestServer) {
        let caller = server.organization("Acme").await;
        let patients = [patient("p1"), patient("p2")];
        let observed: Vec<Value> = patients.iter().cloned().chain((0..5).map(|number| observation(&format!("o{number}"), "p1"))).collect();
        let (without, with) = (Ehr::over(&caller, &patients).await, Ehr::over(&caller, &observed).await);
        let mut probes = 0;
        for scope in ["system/Patient.r", "system/Patient.rs", "system/Patient.cruds", "system/Patient.read system/Encounter.rs"] {
            let (without, with) = (without.smart(&server, scope).await, with.smart(&server, scope).await);
            for (method, address, body) in looks() {
                let ask = async |ehr: &Ehr| {
                    let response = ehr.ask(method.clone(), &address, body.as_ref()).await;
                    assert!(response.status < 500, "{}: {}", response.request, response.text());
                    assert!(!response["entry"].to_string().contains("\"Observation\""), "{scope}: {}", response.text());
                    comparable(&response.status, &response.json, &ehr.sandbox)
                };
                assert_eq!(ask(&with).await, ask(&without).await, "{scope} {method} {address}");
                probes += 1;
            }
        }
        eprintln!("{probes} pairs of looks at observations without a scope for them");
    }

    async fn requests_outside_of_the_scope_are_forbidden(server: TestServer) {
        let ehr = Ehr::over(&server.organization("Acme").await, &[patient("p1"), observation("o1", "p1")]).await;
        let reader = ehr.smart(&server, "system/Patient.r").await;
        reader.get("Patient/p1").await.expect(200);
        let before = ehr.content("Observation").await;
        let forbidden = refused(&reader).await;
        assert_eq!(ehr.content("Observation").await, before, "a reader has written");
        let writer = ehr.smart(&server, "system/Observation.c").await;
        writer.post("Observation", &observation("x", "p1")).await.expect(201);
        for address in ["Observation/o1", "Observation", "Observation/o1/_history", "Patient/p1", "_history"] {
            writer.get(address).await.expect(403);
        }
        eprintln!("{forbidden} requests are forbidden to a reader of patients");
    }
}

/// Requests other than reading patients, by a client whose scope only allows that.
async fn refused(reader: &Ehr) -> usize {
    let patch = json!([{"op": "add", "path": "/gender", "value": "male"}]);
    let requests: Vec<(Method, &str, Option<Value>)> = vec![
        (Method::GET, "Patient", None),
        (Method::GET, "Patient/_history", None),
        (Method::GET, "_history", None),
        (Method::GET, "Observation", None),
        (Method::GET, "Observation/o1", None),
        (Method::GET, "Observation/o1/_history", None),
        (Method::GET, "Observation/o1/_history/1", None),
        (Method::GET, "Observation/_history", None),
        (Method::GET, "Observation/o1/$validate", None),
        (Method::POST, "Patient", Some(patient("x"))),
        (Method::POST, "Observation", Some(observation("x", "p1"))),
        (Method::PUT, "Patient/p1", Some(patient("p1"))),
        (Method::PUT, "Patient/new", Some(patient("new"))),
        (Method::PUT, "Patient?_id=p1", Some(patient("p1"))),
        (Method::PATCH, "Patient/p1", Some(patch.clone())),
        (Method::PATCH, "Patient?_id=p1", Some(patch)),
        (Method::DELETE, "Patient/p1", None),
        (Method::DELETE, "Patient?_id=p1", None),
        (Method::DELETE, "Observation/o1", None),
        (Method::POST, "", Some(transaction(vec![entry("GET", "Observation/o1", None)]))),
        (Method::POST, "", Some(transaction(vec![entry("POST", "Patient", Some(patient("x")))]))),
        (Method::POST, "", Some(transaction(vec![entry("DELETE", "Patient/p1", None)]))),
        (Method::POST, "", Some(transaction(vec![entry("PUT", "Patient/p1", Some(patient("p1")))]))),
    ];
    for (method, address, body) in &requests {
        let response = reader.ask(method.clone(), address, body.as_ref()).await;
        assert_eq!(response.status, 403, "{}: {}", response.request, response.text());
        assert_eq!(response["issue"][0]["code"], "forbidden");
    }
    requests.len()
}

/// Requests that reach observations: directly, through patients, and through Bundles.
fn looks() -> Vec<(Method, String, Option<Value>)> {
    let mut looks: Vec<(Method, String, Option<Value>)> = [
        "Observation/o1",
        "Observation/o1/_history",
        "Observation/o1/_history/1",
        "Observation",
        "Observation?_summary=count",
        "Observation?subject=Patient/p1",
        "Observation?subject.active=true",
        "Observation/_history",
        "Observation/o1/$validate",
        "_history",
        "Patient/p1",
        "Patient/p1/$everything",
        "Patient/p1/$everything?_type=Observation",
        "Patient?_has:Observation:subject:status=final",
        "Patient?_has:Observation:subject:_id=o1",
        "Patient?_has:Encounter:subject:reason-reference:Observation.status=final",
        "Patient?_revinclude=Observation:subject",
        "Patient?_revinclude=*",
        "Patient?_revinclude=Observation:subject&_include:iterate=*",
        "Patient?_revinclude=Observation:*&_total=accurate",
        "Patient?_sort=_has:Observation:subject:date",
        "Patient/_history",
        "Encounter?reason-reference:Observation.status=final",
    ]
    .into_iter()
    .map(|address| (Method::GET, address.to_owned(), None))
    .collect();
    let inner = [
        "Observation/o1",
        "Observation?_summary=count",
        "Patient/p1/$everything",
        "Patient?_revinclude=*",
        "Patient?_has:Observation:subject:status=final",
    ];
    for address in inner {
        for kind in ["transaction", "batch"] {
            let mut bundle = transaction(vec![entry("GET", address, None)]);
            bundle["type"] = json!(kind);
            looks.push((Method::POST, String::new(), Some(bundle)));
        }
    }
    let mut referring = json!({"resourceType": "Encounter", "status": "finished", "class": {"code": "AMB"}});
    referring["reasonReference"] = json!([{"reference": "Observation?status=final&subject=Patient/p1"}]);
    looks.push((Method::POST, String::new(), Some(transaction(vec![entry("POST", "Encounter", Some(referring))]))));
    let mut conditional = entry("POST", "Observation", Some(observation("x", "p1")));
    conditional["request"]["ifNoneExist"] = json!("_id=o1");
    looks.push((Method::POST, String::new(), Some(transaction(vec![conditional]))));
    looks
}

/// A response without times and the sandbox's own URL.
fn comparable(status: &u16, json: &Value, sandbox: &str) -> String {
    fn remove_times(value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(remove_times),
            Value::Object(members) => {
                members.retain(|name, _| !["lastUpdated", "lastModified"].contains(&name.as_str()));
                members.values_mut().for_each(remove_times);
            }
            _ => {}
        }
    }
    let mut json = json.clone();
    remove_times(&mut json);
    format!("{status} {json}").replace(sandbox, "the sandbox")
}
