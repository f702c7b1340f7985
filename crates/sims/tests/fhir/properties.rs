//! Property tests: the server behaves like a map, for resources of datasets and written ones.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::{Server, entry, patient};

#[derive(Clone, Debug)]
enum Deed {
    Put(u8, u8),
    Delete(u8),
    Patch(u8, u8),
    /// Puts, then deletes. Later duplicates of a key are dropped.
    Transaction(Vec<(u8, Option<u8>)>, bool),
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let key = || 0..6u8;
    let deed = prop_oneof![
        (key(), any::<u8>()).prop_map(|(key, value)| Deed::Put(key, value)),
        key().prop_map(Deed::Delete),
        (key(), any::<u8>()).prop_map(|(key, value)| Deed::Patch(key, value)),
        (prop::collection::vec((key(), any::<Option<u8>>()), 0..5), prop::bool::weighted(0.3))
            .prop_map(|(parts, bad)| Deed::Transaction(parts, bad)),
    ];
    prop::collection::vec(deed, 0..30)
}

type Model = BTreeMap<String, String>;

fn family(value: u8) -> String {
    format!("Family{value}")
}

fn carry_out(server: &mut Server, model: &mut Model, deed: &Deed) {
    match deed {
        Deed::Put(key, value) => {
            let (id, name) = (format!("k{key}"), family(*value));
            let status = if model.contains_key(&id) { 200 } else { 201 };
            server.put(&format!("Patient/{id}"), &patient(&id, &name)).expect(status);
            model.insert(id, name);
        }
        Deed::Delete(key) => {
            let id = format!("k{key}");
            let done = server.delete(&format!("Patient/{id}")).expect(204);
            assert_eq!(done.changes, usize::from(model.remove(&id).is_some()));
        }
        Deed::Patch(key, value) => {
            let (id, name) = (format!("k{key}"), family(*value));
            let patch = json!([{"op": "replace", "path": "/name/0/family", "value": name}]);
            let done = server.patch(&format!("Patient/{id}"), &patch);
            assert_eq!(done.status == 200, model.contains_key(&id), "{}", done.text);
            model.entry(id).and_modify(|there| *there = name);
        }
        Deed::Transaction(parts, is_bad) => transaction(server, model, parts, *is_bad),
    }
}

fn transaction(server: &mut Server, model: &mut Model, parts: &[(u8, Option<u8>)], is_bad: bool) {
    let mut after = model.clone();
    let mut entries: Vec<Value> = Vec::new();
    let distinct: BTreeMap<u8, Option<u8>> = parts.iter().copied().collect();
    for (key, value) in distinct {
        let id = format!("k{key}");
        let url = format!("Patient/{id}");
        match value {
            Some(value) => {
                entries.push(entry("PUT", &url, Some(patient(&id, &family(value)))));
                after.insert(id, family(value));
            }
            None => {
                entries.push(entry("DELETE", &url, None));
                after.remove(&id);
            }
        }
    }
    if is_bad {
        entries.insert(
            entries.len() / 2,
            entry("PUT", "Patient/bad", Some(json!({"resourceType": "Patient", "id": "bad", "x": 1}))),
        );
        server.transaction(&entries).expect(422);
    } else if !entries.is_empty() {
        server.transaction(&entries).expect(200);
        *model = after;
    }
}

fn check(server: &mut Server, model: &Model) {
    let found = server.get("Patient?_sort=_id&_count=100").expect(200);
    let entries = found.body["entry"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let held: Model = entries
        .iter()
        .map(|entry| (text(&entry["resource"]["id"]), text(&entry["resource"]["name"][0]["family"])))
        .collect();
    assert_eq!(&held, model);
    for (id, name) in model {
        assert_eq!(&text(&server.get(&format!("Patient/{id}")).expect(200).body["name"][0]["family"]), name);
        let by_name = server.get(&format!("Patient?family:exact={name}&_count=100"));
        assert!(by_name.entries().contains(&format!("Patient/{id}")), "{}", by_name.text);
    }
    for id in (0..6).map(|key| format!("k{key}")).filter(|id| !model.contains_key(id)) {
        assert!(matches!(server.get(&format!("Patient/{id}")).status, 404 | 410));
    }
}

/// Checks the world that results from applying all changes.
fn check_fold(server: &Server) {
    let mut folded = server.first.clone();
    for (seq, change) in &server.changes {
        folded.apply(*seq, change);
    }
    let (left, right) = (&folded.sandboxes[&server.sandbox].records, &server.world.sandboxes[&server.sandbox].records);
    let texts = |records: &world::Records| -> Vec<(String, u64, Option<String>)> {
        let keys = (0..6).map(|key| format!("k{key}"));
        keys.flat_map(|key| {
            let history = records.history("Patient", &key);
            let line =
                |it: world::Revision<'_>| (it.key.to_owned(), it.version, it.record.map(|it| it.text().into_owned()));
            history.into_iter().map(line).collect::<Vec<_>>()
        })
        .collect()
    };
    assert_eq!(texts(left), texts(right));
    for key in (0..6).map(|key| format!("k{key}")) {
        let versions: Vec<u64> = left.history("Patient", &key).iter().map(|it| it.version).collect();
        let counted: Vec<u64> = (1..=versions.len() as u64).rev().collect();
        assert_eq!(versions, counted);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_server_behaves_like_a_map(deeds in deeds()) {
        let base: Vec<Value> = (0..3).map(|key| patient(&format!("k{key}"), &family(key))).collect();
        let mut server = Server::with_dataset(&base);
        let mut model: Model = (0..3).map(|key| (format!("k{key}"), family(key))).collect();
        for deed in &deeds {
            carry_out(&mut server, &mut model, deed);
        }
        check(&mut server, &model);
        check_fold(&server);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_failing_transaction_changes_nothing(values in prop::collection::vec(any::<u8>(), 1..8), place: prop::sample::Index, kind in 0..5u8) {
        let mut server = Server::with_dataset(&[patient("k0", "A")]);
        let mut entries: Vec<Value> = values
            .iter()
            .enumerate()
            .map(|(at, value)| entry("PUT", &format!("Patient/k{at}"), Some(patient(&format!("k{at}"), &family(*value)))))
            .collect();
        let bad = match kind {
            0 => entry("PUT", "Patient/x", Some(json!({"resourceType": "Patient", "id": "x", "active": "yes"}))),
            1 => entry("GET", "Patient/never", None),
            2 => entry("POST", "Observation", Some(json!({"resourceType": "Observation", "status": "final", "code": {"text": "c"}, "subject": {"reference": "urn:uuid:none"}}))),
            3 => entry("DELETE", "Patient", None),
            _ => entry("PUT", "Patient/k0", Some(patient("k0", "again"))),
        };
        entries.insert(place.index(entries.len() + 1), bad);
        let answer = server.transaction(&entries);
        prop_assert!((400..500).contains(&answer.status), "{}", answer.text);
        prop_assert_eq!(answer.changes, 0);
        prop_assert!(answer.expression().starts_with("Bundle.entry["));
        prop_assert_eq!(server.get("Patient").body["total"].clone(), json!(1));
    }
}
