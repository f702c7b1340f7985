//! Search: forms, links, stable pages, subsets and includes.

use serde_json::json;

use crate::harness::{BASE, Server, observation, patient};

fn server() -> Server {
    let mut resources = vec![patient("a", "Ada"), patient("b", "Byron"), patient("c", "Curie")];
    resources.extend((0..25).map(|at| observation(&format!("o{at:02}"), if at < 20 { "a" } else { "b" }, "8480-6")));
    Server::with_dataset(&resources)
}

#[test]
fn get_and_post_return_the_same() {
    let mut server = server();
    let found = server.get("Patient?name=ada").expect(200);
    assert_eq!((found.entries(), &found.body["total"]), (vec!["Patient/a".to_owned()], &json!(1)));
    assert_eq!(found.body["entry"][0]["fullUrl"], format!("{BASE}/Patient/a"));
    assert_eq!(found.link("self").unwrap(), "Patient?name=ada");
    fhir::validate(&found.body).unwrap();
    let form = ("content-type", "application/x-www-form-urlencoded");
    let posted = server.request("POST", "Patient/_search?_id=a,b", &[form], b"name=ada").expect(200);
    assert_eq!(posted.entries(), ["Patient/a"]);
    server.request("POST", "Patient/_search", &[("content-type", "application/json")], b"{}").expect(415);
    server.request("POST", "Patient/_search", &[], b"").expect(200);
    let none = server.get("Patient?name=nobody").expect(200);
    assert!(none.body.get("entry").is_none() && none.body["total"] == 0);
    fhir::validate(&none.body).unwrap();
    server.put("Patient/d", &patient("d", "Adams")).expect(201);
    assert_eq!(server.get("Patient?name=ada&_sort=-_id").entries(), ["Patient/d", "Patient/a"]);
}

#[test]
fn pages_are_stable_under_writes() {
    let mut server = server();
    let first = server.get("Observation?subject=Patient/a&_count=8").expect(200);
    assert_eq!((first.entries().len(), &first.body["total"]), (8, &json!(20)));
    assert!(first.link("previous").is_none() && first.link("first").is_some() && first.link("last").is_some());
    server.delete("Observation/o09").expect(204);
    server.put("Observation/o000", &observation("o000", "a", "8480-6")).expect(201);
    server.put("Observation/o10", &observation("o10", "b", "8480-6")).expect(200);
    let mut seen = first.entries();
    let mut next = first.link("next");
    while let Some(address) = next {
        let page = server.get(&address).expect(200);
        seen.extend(page.entries());
        assert_eq!(page.body["total"], 20);
        assert!(page.link("previous").is_some());
        next = page.link("next");
    }
    let all: Vec<String> = (0..20).map(|at| format!("Observation/o{at:02}")).collect();
    assert_eq!(seen, all);
    let last = server.get(&first.link("last").unwrap()).expect(200);
    assert_eq!(last.entries(), all[16..]);
    assert_eq!(server.get("Observation?subject=Patient/a&_count=0").body["total"], 19);
    assert!(server.get("Observation?_summary=count").body.get("entry").is_none());
    assert_eq!(server.get("Observation").entries().len(), 20);
    assert_eq!(server.get("Observation?_count=5000").expect(200).entries().len(), 25);
    server.get("Observation?_page=AAAA").expect(400);
    let mut fresh = self::server();
    fresh.get(&first.link("next").unwrap()).expect(200);
    let later = server.get("Observation?_count=2").link("next").unwrap();
    fresh.get(&later).expect(410);
}

#[test]
fn included_resources_are_marked() {
    let mut server = server();
    let found = server.get("Observation?_id=o01,o21&_include=Observation:subject").expect(200);
    assert_eq!(found.entries(), ["Observation/o01", "Observation/o21", "include Patient/a", "include Patient/b"]);
    assert_eq!(found.body["total"], 2);
    let found = server.get("Patient?_id=b&_revinclude=Observation:subject").expect(200);
    assert_eq!(found.entries().len(), 6);
    assert_eq!(server.get("Patient?_has:Observation:subject:_id=o01").entries(), ["Patient/a"]);
    assert_eq!(server.get("Observation?subject:Patient.name=byron&_count=2").body["total"], 5);
}

#[test]
fn unknown_parameters_are_reported_or_rejected() {
    let mut server = server();
    let lenient = server.get("Patient?shoe-size=44&name=ada").expect(200);
    assert_eq!(lenient.entries(), ["Patient/a", "outcome OperationOutcome/"]);
    assert_eq!(lenient.link("self").unwrap(), "Patient?name=ada");
    assert_eq!(lenient.body["total"], 1);
    let strict = server.get_with("Patient?shoe-size=44&name=ada", &[("prefer", "handling=strict")]).expect(400);
    assert!(strict.issue().contains("shoe-size"));
    server.get_with("Patient?name=ada&_format=json&_pretty=true", &[("prefer", "handling=strict")]).expect(200);
}

#[test]
fn subsets_apply_to_matches() {
    let mut server = server();
    let found = server.get("Observation?_id=o01&_elements=subject&_include=Observation:subject").expect(200);
    assert!(found.body["entry"][0]["resource"].get("subject").is_some());
    assert_eq!(found.body["entry"][0]["resource"]["meta"]["tag"][0]["code"], "SUBSETTED");
    assert!(found.body["entry"][1]["resource"]["meta"].get("tag").is_none());
    let found = server.get("Patient?_id=a&_summary=true").expect(200);
    assert_eq!(found.body["entry"][0]["resource"]["meta"]["tag"][0]["code"], "SUBSETTED");
    assert!(server.get("Patient?_total=none").body.get("total").is_none());
}

#[test]
fn invalid_searches_are_rejected() {
    let mut server = server();
    for address in [
        "Patient?_count=-1",
        "Patient?_count=many",
        "Patient?birthdate=gestern",
        "Patient?birthdate=2024-13-45",
        "Patient?name:spoken=ada",
        "Observation?value-quantity=much",
    ] {
        server.get(address).expect(400);
    }
}

#[test]
fn us_core_parameters_are_supported() {
    let race = |code: &str| {
        json!([{"url": "http://hl7.org/fhir/us/core/StructureDefinition/us-core-race", "extension": [
            {"url": "ombCategory", "valueCoding": {"system": "urn:oid:2.16.840.1.113883.6.238", "code": code}},
            {"url": "text", "valueString": "as told"}]}])
    };
    let mut ada = patient("a", "Ada");
    ada["extension"] = race("2106-3");
    let condition = |id: &str, day: &str| {
        json!({"resourceType": "Condition", "id": id, "subject": {"reference": "Patient/a"}, "extension": [
            {"url": "http://hl7.org/fhir/StructureDefinition/condition-assertedDate", "valueDateTime": day}]})
    };
    let mut server = Server::with_dataset(&[
        ada,
        patient("b", "Byron"),
        condition("c1", "2024-01-01"),
        condition("c2", "2025-01-01"),
    ]);
    let mut carl = patient("c", "Carl");
    carl["extension"] = race("2054-5");
    server.put("Patient/c", &carl).expect(201);
    server.put("Condition/c3", &condition("c3", "2025-06-01")).expect(201);
    let strict = [("prefer", "handling=strict")];
    for (search, expected) in [
        ("Patient?race=2106-3", vec!["Patient/a"]),
        ("Patient?race=urn:oid:2.16.840.1.113883.6.238|2106-3,2054-5", vec!["Patient/a", "Patient/c"]),
        ("Patient?race:missing=true", vec!["Patient/b"]),
        ("Patient?ethnicity=2106-3", vec![]),
        ("Condition?asserted-date=ge2025", vec!["Condition/c2", "Condition/c3"]),
        ("CareTeam?role=x", vec![]),
        ("Encounter?discharge-disposition=home", vec![]),
        ("Goal?description=x", vec![]),
    ] {
        assert_eq!(server.get_with(search, &strict).expect(200).entries(), expected, "{search}");
    }
    let statement = server.get("metadata").expect(200).text;
    assert!(statement.contains("http://hl7.org/fhir/us/core/SearchParameter/us-core-race"));
}

#[test]
fn language_codes_are_case_insensitive() {
    let speaking = |id: &str, language: &str| {
        let mut resource = patient(id, "X");
        resource["communication"] =
            json!([{"language": {"coding": [{"system": "urn:ietf:bcp:47", "code": language}]}}]);
        resource
    };
    let mut server = Server::with_dataset(&[speaking("a", "en-US"), speaking("b", "es")]);
    server.put("Patient/c", &speaking("c", "EN-us")).expect(201);
    for search in ["Patient?language=en-us", "Patient?language=EN-US", "Patient?language=urn:ietf:bcp:47|en-US"] {
        assert_eq!(server.get(search).expect(200).entries(), ["Patient/a", "Patient/c"], "{search}");
    }
    assert_eq!(server.get("Patient?language:not=en-us").expect(200).entries(), ["Patient/b"]);
}
