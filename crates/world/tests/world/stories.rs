//! Small cases that a reader can follow.

use serde_json::{Value, json};
use verial_world::{Change, Lookup, Page, Seq, World, Write};

use crate::plain::{BASELINE, layer, records, sandbox_id, world};
use crate::queries::read_text;
use crate::search::ALL;

/// What a search found: its matches, then what was included.
fn found(world: &World, search: &str, as_of: Seq, page: Page) -> (usize, Vec<String>, Vec<String>) {
    let (resource_type, text) = search.split_once('?').unwrap_or((search, ""));
    let query = read_text(resource_type, text);
    let found = records(world).search(resource_type.parse().unwrap(), &query, as_of, page);
    let name = |hit: &verial_world::Hit<'_>| format!("{}/{}", hit.resource_type, hit.record.key);
    (found.total, found.matches.iter().map(name).collect(), found.included.iter().map(name).collect())
}

fn check(world: &World, search: &str, matches: &[&str], included: &[&str]) {
    let (total, is_matches, is_included) = found(world, search, Seq::MAX, ALL);
    assert_eq!((total, is_matches), (matches.len(), matches.iter().map(ToString::to_string).collect()), "{search}");
    assert_eq!(is_included, included, "{search}");
}

fn write(world: &mut World, seq: Seq, write: Write, resource: &Value) {
    let (collection, key) = (resource["resourceType"].as_str().unwrap(), resource["id"].as_str().unwrap());
    let change = Change {
        sandbox: sandbox_id(1),
        collection: collection.into(),
        key: key.into(),
        version: records(world).next_version(collection, key),
        at: BASELINE.plus_milliseconds(seq * 1000),
        write,
        text: (write != Write::Delete).then(|| resource.to_string().into()),
    };
    world.apply(seq, &change);
}

fn patient(id: &str, family: &str) -> Value {
    json!({"resourceType": "Patient", "id": id, "name": [{"family": family}]})
}

fn organization(id: &str, part_of: &str) -> Value {
    json!({"resourceType": "Organization", "id": id, "partOf": {"reference": format!("Organization/{part_of}")}})
}

#[test]
fn the_later_layer_lies_over_the_earlier_and_what_is_written_over_both() {
    let earlier = layer(&[patient("1", "Earlier"), patient("2", "Earlier"), patient("3", "Earlier")]);
    let mut world = world(vec![earlier, layer(&[patient("2", "Later"), patient("3", "Later")])]);
    write(&mut world, 1, Write::Update, &patient("3", "Written"));
    check(&world, "Patient?family=Earlier", &["Patient/1"], &[]);
    check(&world, "Patient?family=Later", &["Patient/2"], &[]);
    check(&world, "Patient?family=Written", &["Patient/3"], &[]);
    write(&mut world, 2, Write::Delete, &patient("3", ""));
    check(&world, "Patient", &["Patient/1", "Patient/2"], &[]);
    assert!(matches!(records(&world).get("Patient", "3"), Lookup::Deleted { version: 3, .. }));
    assert_eq!(found(&world, "Patient?family=Later", 0, ALL).1, ["Patient/2", "Patient/3"]);
    assert_eq!(found(&world, "Patient?family=Written", 1, ALL).1, ["Patient/3"]);
}

#[test]
fn pages_survive_writes() {
    let mut world = world(vec![layer(&[patient("b", "X"), patient("d", "X")])]);
    write(&mut world, 1, Write::Create, &patient("c", "X"));
    let second = Page { offset: 2, count: 2 };
    assert_eq!(found(&world, "Patient?family=X", 1, second), (3, vec!["Patient/d".to_owned()], vec![]));
    write(&mut world, 2, Write::Create, &patient("a", "X"));
    write(&mut world, 3, Write::Delete, &patient("d", "X"));
    assert_eq!(found(&world, "Patient?family=X", 1, second), (3, vec!["Patient/d".to_owned()], vec![]));
    assert_eq!(found(&world, "Patient?family=X", Seq::MAX, second), (3, vec!["Patient/c".to_owned()], vec![]));
}

#[test]
fn results_are_sorted_by_when_they_were_updated_though_their_text_does_not_say() {
    let mut world = world(vec![layer(&[patient("base", "X")])]);
    write(&mut world, 1, Write::Create, &patient("z", "X"));
    write(&mut world, 2, Write::Create, &patient("a", "X"));
    check(&world, "Patient?_sort=_lastUpdated", &["Patient/base", "Patient/z", "Patient/a"], &[]);
    check(&world, "Patient?_sort=-_lastUpdated", &["Patient/a", "Patient/z", "Patient/base"], &[]);
    check(&world, "Patient?_lastUpdated=ge2024-01-01T00:00:02Z", &["Patient/a"], &[]);
}

#[test]
fn of_what_one_entry_wrote_the_later_version_comes_first() {
    let mut world = world(vec![]);
    write(&mut world, 1, Write::Create, &patient("1", "First"));
    write(&mut world, 1, Write::Update, &patient("1", "Second"));
    let versions: Vec<u64> = records(&world).written("Patient").iter().map(|revision| revision.version).collect();
    assert_eq!(versions, [2, 1]);
}

#[test]
fn records_know_the_layers_that_they_use() {
    let [used, equal] = [(); 2].map(|()| layer(&[patient("1", "X")]));
    let world = world(vec![std::sync::Arc::clone(&used)]);
    assert!(records(&world).uses(&used) && !records(&world).uses(&equal));
}

#[test]
fn what_two_layers_brought_comes_by_key() {
    let world = world(vec![layer(&[patient("b", "X"), patient("c", "X")]), layer(&[patient("a", "X")])]);
    let keys: Vec<&str> = records(&world).baseline_of("Patient").map(|revision| revision.key).collect();
    assert_eq!(keys, ["a", "b", "c"]);
    let keys: Vec<&str> = records(&world).live("Patient", Seq::MAX).map(|record| record.key).collect();
    assert_eq!(keys, ["a", "b", "c"]);
}

#[test]
fn a_chain_leads_from_layer_to_overlay_and_back() {
    let mut world = world(vec![layer(&[
        json!({"resourceType": "Patient", "id": "1", "managingOrganization": {"reference": "Organization/1"}}),
        json!({"resourceType": "Organization", "id": "2", "name": "Top"}),
    ])]);
    check(&world, "Patient?organization.partof.name=Top", &[], &[]);
    write(&mut world, 1, Write::Create, &organization("1", "2"));
    check(&world, "Patient?organization.partof.name=Top", &["Patient/1"], &[]);
    check(&world, "Organization?_has:Organization:partof:_has:Patient:organization:_id=1", &["Organization/2"], &[]);
    write(&mut world, 2, Write::Delete, &organization("1", "2"));
    check(&world, "Patient?organization.partof.name=Top", &[], &[]);
    check(&world, "Patient?organization=Organization/1", &["Patient/1"], &[]);
    assert_eq!(found(&world, "Patient?organization.partof.name=Top", 1, ALL).0, 1);
}

#[test]
fn includes_that_go_in_a_circle_end() {
    let mut world = world(vec![layer(&[organization("1", "2"), organization("2", "3")])]);
    write(&mut world, 1, Write::Create, &organization("3", "1"));
    write(&mut world, 2, Write::Create, &organization("self", "self"));
    let around = ["Organization/2", "Organization/3"];
    check(&world, "Organization?_id=1&_include:iterate=Organization:partof", &["Organization/1"], &around);
    let back = ["Organization/3", "Organization/2"];
    check(&world, "Organization?_id=1&_revinclude:iterate=Organization:partof", &["Organization/1"], &back);
    check(&world, "Organization?_id=1&_include=Organization:partof", &["Organization/1"], &around[..1]);
    check(&world, "Organization?_id=self&_include:iterate=*&_revinclude:iterate=*", &["Organization/self"], &[]);
}

#[test]
fn a_page_includes_at_most_a_thousand() {
    let members = |range: std::ops::Range<u32>| range.map(|number| organization(&number.to_string(), "top"));
    let mut world = world(vec![layer(&members(0..700).collect::<Vec<_>>())]);
    write(&mut world, 1, Write::Create, &json!({"resourceType": "Organization", "id": "top"}));
    let search = "Organization?_id=top&_revinclude:iterate=Organization:partof";
    assert_eq!(found(&world, search, Seq::MAX, ALL).2.len(), 700);
    for (member, seq) in members(700..1200).zip(2..) {
        write(&mut world, seq, Write::Create, &member);
    }
    let (total, matches, included) = found(&world, search, Seq::MAX, ALL);
    assert_eq!((total, matches.len(), included.len()), (1, 1, 1000));
    assert_eq!(found(&world, search, 101, ALL).2.len(), 800);
}
