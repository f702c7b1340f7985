//! SearchParameter resources take effect in their own sandbox, and searches of all types do not lose their criteria.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::both_databases;

use crate::fhir_client::Ehr;

fn parameter(id: &str, code: &str, base: &str, kind: &str, expression: &str) -> Value {
    json!({"resourceType": "SearchParameter", "id": id, "url": format!("http://clinic.example/{id}"), "name": "Own",
        "status": "active", "description": "Own", "code": code, "base": [base], "type": kind, "expression": expression})
}

fn patient(id: &str, city: &str) -> Value {
    json!({"resourceType": "Patient", "id": id, "extension": [{"url": "urn:birthplace", "valueAddress": {"city": city}}]})
}

const BIRTHPLACE: &str = "Patient.extension.where(url = 'urn:birthplace').value.as(Address).city";

/// Whether the CapabilityStatement lists the parameter for the type.
async fn is_listed(ehr: &Ehr, resource_type: &str, code: &str) -> bool {
    let statement = ehr.get("metadata").await.expect(200);
    let resources = statement["rest"][0]["resource"].as_array().unwrap();
    let resource = resources.iter().find(|resource| resource["type"] == resource_type).unwrap();
    resource["searchParam"].as_array().unwrap().iter().any(|parameter| parameter["name"] == code)
}

/// The error message of the server.
async fn refused(ehr: &Ehr, status: u16, resource: &Value) -> String {
    let response = ehr.post("SearchParameter", resource).await.expect(status);
    response["issue"][0]["diagnostics"].as_str().unwrap().to_owned()
}

both_databases! {
    async fn a_stored_search_parameter_takes_effect(server: TestServer) {
        let caller = server.organization("Acme").await;
        let linked = parameter("linked", "linked", "Patient", "reference", "Patient.extension.where(url = 'urn:of').value");
        let child = json!({"resourceType": "Patient", "id": "c", "extension": [
            {"url": "urn:of", "valueReference": {"reference": "Patient/a"}}]});
        let ehr = Ehr::over(&caller, &[patient("a", "Ulm"), patient("b", "Bonn"), child, linked]).await;
        let strict = [("prefer", "handling=strict")];
        ehr.ask_with(Method::GET, "Patient?birthplace=ulm", &strict, None).await.expect(400);
        assert!(is_listed(&ehr, "Patient", "linked").await && !is_listed(&ehr, "Patient", "birthplace").await);

        let birthplace = parameter("birthplace", "birthplace", "Patient", "string", BIRTHPLACE);
        ehr.put("SearchParameter/birthplace", &birthplace).await.expect(201);
        ehr.put("Patient/d", &patient("d", "Ulm")).await.expect(201);
        let found = ehr.ask_with(Method::GET, "Patient?birthplace=ulm&_sort=-_id", &strict, None).await.expect(200);
        let ids: Vec<_> = found["entry"].as_array().unwrap().iter().map(|entry| &entry["resource"]["id"]).collect();
        assert_eq!(ids, ["d", "a"]);
        assert!(is_listed(&ehr, "Patient", "birthplace").await);
        assert_eq!(ehr.total("Patient?birthplace:missing=true").await, 1);
        assert_eq!(ehr.total("Patient?linked.birthplace=ulm").await, 1, "a chain through a parameter of the dataset");
        let both = ehr.get("Patient?_id=a&_revinclude=Patient:linked").await.expect(200);
        assert_eq!(both["entry"].as_array().unwrap().len(), 2);
        let sorted = ehr.get("Patient?_sort=birthplace&_elements=id").await.expect(200);
        assert_eq!(sorted["entry"][0]["resource"]["id"], "b");

        // Page links of an earlier search keep their parameter.
        let first = ehr.get("Patient?birthplace=ulm&_count=1").await.expect(200);
        let links = first["link"].as_array().unwrap();
        let next = links.iter().find(|link| link["relation"] == "next").unwrap()["url"].as_str().unwrap().to_owned();
        let next = next.split_once("/fhir/").unwrap().1.to_owned();
        let mut changed = birthplace.clone();
        changed["code"] = json!("born-in");
        ehr.put("SearchParameter/birthplace", &changed).await.expect(200);
        assert_eq!(ehr.total("Patient?born-in=ulm").await, 2);
        ehr.ask_with(Method::GET, "Patient?birthplace=ulm", &strict, None).await.expect(400);
        assert_eq!(ehr.get(&next).await.expect(200)["entry"][0]["resource"]["id"], "d");
        ehr.ask(Method::DELETE, "SearchParameter/birthplace", None).await.expect(204);
        ehr.ask_with(Method::GET, "Patient?born-in=ulm", &strict, None).await.expect(400);
        assert!(!is_listed(&ehr, "Patient", "born-in").await);
        ehr.put("Patient?linked=Patient/a", &json!({"resourceType": "Patient", "id": "c", "active": true})).await.expect(200);
    }

    async fn an_unusable_search_parameter_is_rejected(server: TestServer) {
        let caller = server.organization("Acme").await;
        let ehr = Ehr::over(&caller, &[]).await;
        let own = |code: &str, kind: &str, expression: &str| parameter("x", code, "Patient", kind, expression);
        let other = refused(&ehr, 422, &own("birthdate", "date", "Patient.deceased.as(dateTime)")).await;
        assert!(other.contains("birthdate is already a parameter of Patient with another meaning"), "{other}");
        let path = refused(&ehr, 422, &own("own", "string", "Patient.name.repeat(given)")).await;
        assert!(path.contains("cannot be evaluated by a search"), "{path}");
        refused(&ehr, 422, &own("own", "string", &format!("Patient{}", ".extension.value".repeat(200)))).await;
        refused(&ehr, 422, &own("own", "composite", "Patient.name")).await;
        refused(&ehr, 422, &own("_own", "string", "Patient.name")).await;
        let mut draft = own("birthdate", "string", "Patient.name.repeat(given)");
        draft["status"] = json!("draft");
        ehr.put("SearchParameter/x", &draft).await.expect(201);
        let same = parameter("same", "birthdate", "Patient", "date", "Patient.birthDate");
        ehr.put("SearchParameter/same", &same).await.expect(201);

        ehr.put("SearchParameter/one", &parameter("one", "own", "Patient", "string", "Patient.name")).await.expect(201);
        let twice = refused(&ehr, 422, &own("own", "token", "Patient.active")).await;
        assert_eq!(twice, "SearchParameter/one has the code own for Patient already");
        let patch = json!([{"op": "replace", "path": "/expression", "value": "Patient.nonsense"}]);
        ehr.ask(Method::PATCH, "SearchParameter/one", Some(&patch)).await.expect(422);
        assert_eq!(ehr.total("Patient?own=x").await, 0);

        let entry = |number: usize| {
            let name = format!("own-{number}");
            let resource = parameter(&name, &name, "Patient", "string", "Patient.name");
            json!({"resource": resource, "request": {"method": "PUT", "url": format!("SearchParameter/{name}")}})
        };
        let entries: Vec<_> = (0..101).map(entry).collect();
        let many = json!({"resourceType": "Bundle", "type": "transaction", "entry": entries});
        let refusal = ehr.post("", &many).await.expect(422);
        assert_eq!(refusal["issue"][0]["diagnostics"], "a sandbox takes at most 100 active search parameters");
    }

    async fn a_search_of_all_types_applies_its_criteria(server: TestServer) {
        let caller = server.organization("Acme").await;
        let ehr = Ehr::over(&caller, &[patient("a", "Ulm")]).await;
        let refusal = ehr.get("?nonsense=1&_count=5").await.expect(400);
        assert!(refusal["issue"][0]["diagnostics"].as_str().unwrap().contains("nonsense"));
        ehr.get("?family=x").await.expect(400);
        ehr.ask_with(Method::GET, "?_id=a&nonsense=1", &[("prefer", "handling=strict")], None).await.expect(400);
        for search in ["?_id=a&nonsense=1", "?_type=Patient&nonsense=1", "?nonsense=1&_id=a&_sort=nonsense"] {
            let lenient = ehr.get(search).await.expect(200);
            let entries = lenient["entry"].as_array().unwrap();
            assert_eq!((&lenient["total"], entries.len()), (&json!(1), 2));
            assert_eq!(entries[1]["search"]["mode"], "outcome");
            assert!(!lenient["link"][0]["url"].as_str().unwrap().contains("nonsense"));
        }
        assert_eq!(ehr.total("?_sort=nonsense").await, 1, "nothing was asked that was lost");
        assert_eq!(ehr.total("").await, 1);
    }
}
