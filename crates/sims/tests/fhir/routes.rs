//! Compartment and system search, Binary as bytes, conditional delete of several resources, FHIRPath Patch and `$lastn`.

use serde_json::{Value, json};

use crate::harness::{JSON, Server, entry, observation, patient};

fn server_with_two_patients() -> Server {
    let encounter = json!({"resourceType": "Encounter", "id": "e", "status": "finished",
        "class": {"code": "AMB"}, "subject": {"reference": "Patient/a"}});
    let mut performed = observation("o2", "b", "8480-6");
    performed["performer"] = json!([{"reference": "Patient/a"}]);
    Server::with_dataset(&[
        patient("a", "Ada"),
        patient("b", "Byron"),
        observation("o1", "a", "8480-6"),
        performed,
        observation("o3", "b", "8462-4"),
        encounter,
    ])
}

#[test]
fn compartment_search() {
    let mut server = server_with_two_patients();
    assert_eq!(server.get("Patient/a/Observation").expect(200).entries(), ["Observation/o1", "Observation/o2"]);
    let one = server.get("Patient/b/Observation?code=8480-6&_include=Observation:performer").expect(200);
    assert_eq!(one.entries(), ["Observation/o2", "include Patient/a"]);
    let page = server.get("Patient/a/Observation?_count=1").expect(200);
    assert_eq!((page.entries().len(), &page.body["total"]), (1, &json!(2)));
    server.put("Observation/o4", &observation("o4", "a", "1")).expect(201);
    let next = page.link("next").unwrap();
    assert!(next.starts_with("Patient/a/Observation?"), "{next}");
    assert_eq!(server.get(&next).expect(200).entries(), ["Observation/o2"]);
    let form = ("content-type", "application/x-www-form-urlencoded");
    let posted = server.request("POST", "Patient/a/Observation/_search", &[form], b"code=8480-6");
    assert_eq!(posted.expect(200).entries(), ["Observation/o1", "Observation/o2"]);
    let all = server.get("Patient/a/*").expect(200);
    assert_eq!(all.entries(), ["Encounter/e", "Observation/o1", "Observation/o2", "Observation/o4", "Patient/a"]);
    assert_eq!(server.get("Patient/a/*?_type=Encounter").expect(200).entries(), ["Encounter/e"]);
    assert!(server.get("Patient/nobody/Observation").expect(200).entries().is_empty());
    server.get("Patient/a/Medication").expect(404);
    server.get("Group/a/Observation").expect(404);
    server.get("Patient/a/Spaceship").expect(404);
    server.get("Patient/a/*?_type=Medication").expect(400);
    server.put("Patient/a/Observation", &patient("a", "Ada")).expect(405);
    server.with_scopes("system/Patient.rs");
    server.get("Patient/a/Observation").expect(403);
    assert_eq!(server.get("Patient/a/*").expect(200).entries(), ["Patient/a"]);
}

#[test]
fn system_search() {
    let mut server = server_with_two_patients();
    let both = server.get("?_type=Patient,Encounter&_sort=-_id").expect(200);
    assert_eq!(both.entries(), ["Encounter/e", "Patient/b", "Patient/a"]);
    assert_eq!(server.get("?_id=a,e").expect(200).entries(), ["Encounter/e", "Patient/a"]);
    let paged = server.get("?_type=Patient&_count=1").expect(200);
    assert_eq!(paged.entries(), ["Patient/a"]);
    assert_eq!(server.get(&paged.link("next").unwrap()).expect(200).entries(), ["Patient/b"]);
    let common = server.get("?_type=Observation,Encounter&subject=Patient/a").expect(200);
    assert_eq!(common.entries(), ["Encounter/e", "Observation/o1"]);
    let partly = server.get("?_type=Observation,Encounter&code=8480-6").expect(200);
    let said = partly.body["entry"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((said["search"]["mode"].as_str(), &partly.body["total"]), (Some("outcome"), &json!(4)));
    let strict = [("prefer", "handling=strict")];
    server.get_with("?_type=Observation,Encounter&code=8480-6", &strict).expect(400);
    let form = ("content-type", "application/x-www-form-urlencoded");
    let posted = server.request("POST", "_search", &[form], b"_type=Patient&_id=a").expect(200);
    assert_eq!(posted.entries(), ["Patient/a"]);
    server.get("?_type=Spaceship").expect(400);
    server.delete("").expect(405);
    server.with_scopes("system/Patient.rs");
    assert_eq!(server.get("").expect(200).entries(), ["Patient/a", "Patient/b"]);
    server.get("?_type=Patient,Observation").expect(403);
    server.with_scopes("system/Patient.r");
    server.get("").expect(403);
}

#[test]
fn a_binary_is_written_and_read_as_bytes() {
    let mut server = Server::new();
    let bytes = [0_u8, 159, 146, 150, 255];
    let pdf = ("content-type", "application/pdf");
    let created = server.request("POST", "Binary", &[pdf], &bytes).expect(201);
    assert_eq!((&created.body["contentType"], &created.body["data"]), (&json!("application/pdf"), &json!("AJ+Slv8=")));
    let address = format!("Binary/{}", created.body["id"].as_str().unwrap());
    for accept in ["*/*", "application/pdf", "image/png, application/*;q=0.5"] {
        let read = server.get_with(&address, &[("accept", accept)]).expect(200);
        assert_eq!(read.raw.as_deref(), Some(bytes.as_slice()), "{accept}");
        assert_eq!((read.header("content-type"), read.header("etag")), ("application/pdf", "W/\"1\""));
    }
    for (accept, format) in [("application/fhir+json", ""), ("*/*", "?_format=json"), ("application/json", "")] {
        let read = server.get_with(&format!("{address}{format}"), &[("accept", accept)]).expect(200);
        assert_eq!((read.raw, &read.body["resourceType"]), (None, &json!("Binary")), "{accept}");
    }
    server.get_with(&address, &[("accept", "image/png")]).expect(406);
    server.get_with(&address, &[("accept", "application/fhir+xml")]).expect(406);
    let security = ("x-security-context", "Patient/a");
    let text = server.request("PUT", "Binary/t", &[("content-type", "text/plain; charset=utf-8"), security], b"hello");
    assert_eq!(text.expect(201).body["securityContext"]["reference"], "Patient/a");
    let read = server.get_with("Binary/t/_history/1", &[("accept", "text/plain")]).expect(200);
    assert_eq!(read.raw.as_deref(), Some(b"hello".as_slice()));
    let head = server.request("HEAD", "Binary/t", &[("accept", "*/*")], b"").expect(200);
    assert_eq!((head.raw, head.text), (Some(Vec::new()), String::new()));
    server.request("POST", "Patient", &[pdf], &bytes).expect(415);
    server.get_with("Binary/none", &[("accept", "*/*")]).expect(404);
    let posted =
        server.post("", &json!({"resourceType": "Bundle", "type": "batch", "entry": [entry("GET", "Binary/t", None)]}));
    assert_eq!(posted.expect(200).body["entry"][0]["resource"]["data"], "aGVsbG8=");
}

#[test]
fn a_conditional_delete_deletes_several_resources() {
    let mut server = server_with_two_patients();
    let gone = server.delete("Observation?subject=Patient/b").expect(204);
    assert_eq!(gone.changes, 2);
    assert_eq!(server.get("Observation").expect(200).entries(), ["Observation/o1"]);
    server.delete("Observation").expect(412);
    let done = server.transaction(&[
        entry("DELETE", "Patient?name=ada,byron", None),
        entry("POST", "Patient", Some(json!({"resourceType": "Patient"}))),
    ]);
    assert_eq!(done.expect(200).changes, 3);
    let twice = [entry("DELETE", "Observation?_id=o1", None), entry("DELETE", "Observation/o1", None)];
    server.transaction(&twice).expect(400);
    let prefer = [("prefer", "return=OperationOutcome")];
    server.put("Observation/o4", &observation("o4", "a", "1")).expect(201);
    let response = server.request("DELETE", "Observation?subject=Patient/a", &prefer, b"").expect(200);
    assert!(response.issue().contains("2 resources"), "{}", response.issue());
}

fn replace(path: &str, value: Value) -> Value {
    let mut value = value;
    value["name"] = json!("value");
    json!({"resourceType": "Parameters", "parameter": [{"name": "operation", "part": [
        {"name": "type", "valueCode": "replace"}, {"name": "path", "valueString": path}, value]}]})
}

#[test]
fn resources_are_patched_by_fhirpath() {
    let mut server = server_with_two_patients();
    let renamed = replace("Patient.name[0].family", json!({"valueString": "King"}));
    let patched = server.with("PATCH", "Patient/a", &[("if-match", "W/\"1\"")], &renamed).expect(200);
    assert_eq!(patched.body["name"][0]["family"], "King");
    server.with("PATCH", "Patient/a", &[("if-match", "W/\"1\"")], &renamed).expect(412);
    server
        .with("PATCH", "Patient?name=king", &[], &replace("Patient.name[0].family", json!({"valueString": "B"})))
        .expect(200);
    let wrong = replace("Patient.name[0].family", json!({"valueInteger": 1}));
    server.with("PATCH", "Patient/a", &[], &wrong).expect(422);
    server.with("PATCH", "Patient/a", &[], &replace("Patient.birthDate", json!({"valueDate": "2000"}))).expect(422);
    server.with("PATCH", "Patient/a", &[], &replace("Patient.(", json!({"valueDate": "2000"}))).expect(400);
    server.with("PATCH", "Patient/a", &[], &replace("Patient.id", json!({"valueId": "z"}))).expect(422);
    // A resource is not a patch.
    server.with("PATCH", "Patient/a", &[], &patient("a", "Ada")).expect(415);
    let status = replace("Observation.status", json!({"valueCode": "amended"}));
    let done = server.transaction(&[entry("PATCH", "Observation/o1", Some(status))]).expect(200);
    assert_eq!(done.body["entry"][0]["response"]["status"], "200 OK");
    assert_eq!(server.get("Observation/o1").expect(200).body["status"], "amended");
}

fn dated(id: &str, code: &str, day: &str) -> Value {
    let mut resource = observation(id, "a", code);
    resource["effectiveDateTime"] = json!(day);
    resource
}

#[test]
fn last_n_returns_the_newest_observations_of_each_code() {
    let mut both = dated("o5", "8867-4", "2026-01-05");
    both["code"]["coding"] = json!([{"system": "http://loinc.org", "code": "8867-4"},
        {"system": "http://snomed.info/sct", "code": "364075005"}]);
    let mut snomed = dated("o6", "x", "2026-01-06");
    snomed["code"]["coding"] = json!([{"system": "http://snomed.info/sct", "code": "364075005"}]);
    let mut server = Server::with_dataset(&[
        patient("a", "Ada"),
        dated("o1", "8480-6", "2026-01-01"),
        dated("o2", "8480-6", "2026-01-03"),
        dated("o3", "8480-6", "2026-01-02"),
        dated("o4", "8867-4", "2026-01-04"),
        both,
        snomed,
        observation("o7", "a", "8480-6"),
        observation("o8", "b", "8480-6"),
    ]);
    let last = server.get("Observation/$lastn?patient=Patient/a").expect(200);
    assert_eq!(last.entries(), ["Observation/o6", "Observation/o2"]);
    let two = server.get("Observation/$lastn?patient=a&code=8480-6&max=2").expect(200);
    assert_eq!(two.entries(), ["Observation/o2", "Observation/o3"]);
    let parameters = json!({"resourceType": "Parameters", "parameter": [
        {"name": "patient", "valueString": "a"}, {"name": "max", "valuePositiveInt": 2}]});
    let posted = server.post("Observation/$lastn", &parameters).expect(200);
    assert_eq!(posted.entries(), ["Observation/o6", "Observation/o5", "Observation/o2", "Observation/o3"]);
    let form = ("content-type", "application/x-www-form-urlencoded");
    let posted = server.request("POST", "Observation/$lastn", &[form], b"patient=a&max=1").expect(200);
    assert_eq!(posted.entries().len(), 2);
    server.get("Observation/$lastn?max=0").expect(400);
    server.get("Patient/$lastn").expect(404);
    server.request("POST", "Observation/$lastn", &[JSON], patient("a", "A").to_string().as_bytes()).expect(400);
    server.with_scopes("system/Patient.rs");
    server.get("Observation/$lastn").expect(403);
}

#[test]
fn all_included_resources_can_be_paged() {
    let mut resources = vec![patient("a", "Ada"), patient("b", "Byron")];
    resources.extend((0..2500).map(|number| observation(&format!("o{number:04}"), "a", "1")));
    resources.push(observation("p", "b", "1"));
    let mut server = Server::with_dataset(&resources);
    let mut address = "Patient?_count=1&_revinclude=Observation:subject".to_owned();
    let (mut matched, mut included, mut response) = (Vec::new(), Vec::new(), 0);
    loop {
        let page = server.get(&address).expect(200);
        for name in page.entries() {
            match name.split_once(' ') {
                Some(("include", name)) => included.push(name.to_owned()),
                Some(_) => response += 1,
                None => matched.push(name),
            }
        }
        match page.link("next") {
            Some(next) => address = next,
            None => break,
        }
    }
    included.sort();
    included.dedup();
    assert_eq!((matched, included.len(), response), (vec!["Patient/a".to_owned(), "Patient/b".to_owned()], 2501, 2));
}
