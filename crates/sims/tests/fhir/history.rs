//! history of a resource, a type and the server.

use crate::harness::{Server, observation, patient};

fn lines(answer: &crate::harness::ResponseRecord) -> Vec<String> {
    let entries = answer.body["entry"].as_array().cloned().unwrap_or_default();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let line = |entry: &serde_json::Value| {
        let request = &entry["request"];
        format!("{} {} {}", text(&request["method"]), text(&request["url"]), text(&entry["response"]["etag"]))
    };
    entries.iter().map(line).collect()
}

#[test]
fn history_contains_every_version() {
    let mut server = Server::with_dataset(&[patient("a", "Ada"), patient("z", "Zoe")]);
    server.put("Patient/a", &patient("a", "B")).expect(200);
    server.put("Patient/b", &patient("b", "B")).expect(201);
    server.delete("Patient/a").expect(204);
    server.put("Observation/o", &observation("o", "a", "1")).expect(201);
    let of_a = server.get("Patient/a/_history").expect(200);
    assert_eq!(lines(&of_a), ["DELETE Patient/a W/\"3\"", "PUT Patient/a W/\"2\"", "POST Patient W/\"1\""]);
    assert_eq!((&of_a.body["type"], &of_a.body["total"]), (&"history".into(), &3.into()));
    fhir::validate(&of_a.body).unwrap();
    let of_patients = server.get("Patient/_history").expect(200);
    assert_eq!(
        lines(&of_patients),
        [
            "DELETE Patient/a W/\"3\"",
            "POST Patient W/\"1\"",
            "PUT Patient/a W/\"2\"",
            "POST Patient W/\"1\"",
            "POST Patient W/\"1\""
        ]
    );
    assert_eq!(server.get("_history").expect(200).body["total"], 6);
    server.get("Patient/never/_history").expect(404);
}

#[test]
fn history_is_paged_and_filtered_by_time() {
    let mut server = Server::with_dataset(&[patient("a", "Ada")]);
    for family in ["B", "C", "D"] {
        server.put("Patient/a", &patient("a", family)).expect(200);
    }
    let first = server.get("Patient/a/_history?_count=2").expect(200);
    assert_eq!((first.entries().len(), &first.body["total"]), (2, &4.into()));
    server.put("Patient/a", &patient("a", "E")).expect(200);
    let second = server.get(&first.link("next").unwrap()).expect(200);
    assert_eq!(lines(&second), ["PUT Patient/a W/\"2\"", "POST Patient W/\"1\""]);
    assert!(second.link("next").is_none());
    // The first write was one second after the start, the second two.
    let since = server.get("Patient/a/_history?_since=2026-04-23T12:00:02Z").expect(200);
    assert_eq!(since.body["total"], 3);
    server.get("Patient/a/_history?_since=yesterday").expect(400);
    server.get("Patient/a/_history?_count=-1").expect(400);
    assert!(server.get("Patient/a/_history?_count=0").expect(200).body.get("entry").is_none());
    // A version is current until the next one is written.
    for (at, versions) in [
        ("2026-04-23T12:00:01.500Z", vec!["PUT Patient/a W/\"2\""]),
        ("2026-04-23T12:00:02Z", vec!["PUT Patient/a W/\"3\""]),
        ("2027", vec!["PUT Patient/a W/\"5\""]),
        ("2025", vec![]),
    ] {
        let found = server.get(&format!("Patient/a/_history?_at={at}")).expect(200);
        assert_eq!(lines(&found), versions, "{at}");
    }
    assert_eq!(server.get("_history?_at=2026-04-23").expect(200).body["total"], 5);
    server.get("Patient/a/_history?_at=yesterday").expect(400);
    let ignored = server.get("Patient/a/_history?_list=1").expect(200);
    assert!(ignored.header("warning").contains("_list"), "{:?}", ignored.headers);
    server.get_with("Patient/a/_history?_list=1", &[("prefer", "handling=strict")]).expect(400);
}
