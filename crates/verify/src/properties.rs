//! Property tests of all evaluations: they end without a panic, do not depend on the order of members, and never pass on
//! missing, null or unexpected evidence.

use model::event::EventType;
use model::simulator::SimulatorType;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::catalog;
use crate::testing::{Playground, nested};

/// JSON with names and texts that checks read.
fn any_json() -> impl Strategy<Value = Value> {
    let names = [
        "payload",
        "message",
        "speaker",
        "text",
        "index",
        "dtmf",
        "hook",
        "cards",
        "channel",
        "body",
        "status",
        "id",
        "meta",
        "direction",
        "to_number",
        "pages",
        "patient_member_id",
        "determination",
        "reason",
        "resourceType",
        "participant",
    ];
    let texts = [
        "",
        "agent",
        "outbound",
        "sent",
        "sms",
        "booked",
        "order-sign",
        "MSH|^~\\&|||||||ORU^R01|1|P|2.5\rPID|||1",
        "ISA*",
        "{{entity.id}}",
        "(a+)+$",
        "**",
        "2026-04-02",
        "1e999999999",
        "\u{0}",
        "é\u{301}",
        "missing_signature",
        "+15550100199",
        "Appointment",
        "p1",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        prop::sample::select(texts.to_vec()).prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((prop::sample::select(names.to_vec()), inner), 0..5).prop_map(|members| {
                Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
            }),
        ]
    })
}

fn any_playground() -> impl Strategy<Value = Playground> {
    let collections = ["files", "faxes", "prior_auth_requests", "Appointment", "Patient"];
    let kinds = || prop::sample::select(&SimulatorType::ALL[..]);
    let writes = prop::collection::vec(
        (kinds(), prop::sample::select(collections.to_vec()), "[a-c]|outbox/[ab].json", any_json()),
        0..8,
    );
    let events = prop::collection::vec((kinds(), prop::sample::select(EventType::ALL), any_json()), 0..8);
    (writes, events, any_json()).prop_map(|(writes, events, entity)| {
        let playground = Playground::new(&[json!({"resourceType": "Patient", "id": "p1"})]).with_entity(entity);
        let playground = writes.into_iter().fold(playground, |playground, (kind, collection, key, json)| {
            playground.write(kind, collection, &key, &json)
        });
        events
            .into_iter()
            .fold(playground, |playground, (kind, r#type, payload)| playground.event(kind, r#type, payload))
    })
}

/// An example of the catalog, possibly with one member replaced.
fn any_assertion() -> impl Strategy<Value = Value> {
    let examples: Vec<Value> =
        catalog().iter().map(|info| serde_json::from_str(info.example).expect(info.name)).collect();
    (prop::sample::select(examples), any::<prop::sample::Index>(), prop::option::of(any_json())).prop_map(
        |(mut assertion, member, value)| {
            let members = assertion.as_object_mut().expect("an object");
            let key = members.keys().nth(member.index(members.len())).cloned().unwrap_or_default();
            if let Some(value) = value.filter(|_| key != "assert") {
                members.insert(key, value);
            }
            assertion
        },
    )
}

fn reversed(value: &Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(reversed).collect()),
        Value::Object(members) => Value::Object(
            members.iter().rev().map(|(key, member)| (key.clone(), reversed(member))).collect::<Map<_, _>>(),
        ),
        value => value.clone(),
    }
}

/// The same playground with the members of every object in reverse order.
fn with_reversed_members(playground: &Playground) -> Playground {
    rebuilt(playground, reversed)
}

/// Rebuilds a playground from its change log, with each value transformed.
fn rebuilt(playground: &Playground, transform: fn(&Value) -> Value) -> Playground {
    let mut rebuilt = Playground::new(&[json!({"id": "p1", "resourceType": "Patient"})]);
    rebuilt.world.sandboxes.iter_mut().for_each(|(id, sandbox)| {
        let records = &playground.world.sandboxes[id].records;
        let mut revisions: Vec<_> = records.written_collections().flat_map(|name| records.written(name)).collect();
        revisions.sort_by_key(|revision| revision.seq);
        let mut world = world::World { seq: 0, oldest: 0, sandboxes: [(id.clone(), sandbox.clone())].into() };
        for revision in revisions {
            let change = world::Change {
                sandbox: id.clone(),
                collection: revision.collection.into(),
                key: revision.key.into(),
                version: revision.version,
                at: revision.at,
                write: revision.write,
                text: revision.record.map(|record| transform(&record.json()).to_string().into()),
            };
            world.apply(revision.seq, &change);
        }
        *sandbox = world.sandboxes.remove(id).expect("the sandbox");
    });
    rebuilt.world.seq = playground.world.seq;
    rebuilt.events = playground.events.clone();
    rebuilt.events.iter_mut().for_each(|event| event.payload = transform(&event.payload));
    rebuilt.entity = transform(&playground.entity);
    rebuilt
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn evaluations_end_and_ignore_the_order_of_members(playground in any_playground(), assertion in any_assertion()) {
        let outcome = playground.evaluate(&assertion);
        let again = with_reversed_members(&playground).evaluate(&reversed(&assertion));
        prop_assert_eq!(outcome.evidence.to_string(), again.evidence.to_string());
        prop_assert_eq!((&outcome.details, &outcome.score, outcome.passed), (&again.details, &again.score, again.passed));
        prop_assert!(!outcome.passed || outcome.score == model::score::Score::one());
        prop_assert!(outcome.details.len() < 10_000 && outcome.evidence.to_string().len() < 1_000_000);
    }

    #[test]
    fn any_json_is_rejected_as_an_assertion(playground in any_playground(), assertion in any_json()) {
        let outcome = playground.evaluate(&assertion);
        prop_assert!(!outcome.passed && outcome.details.contains("unsupported assertion"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Scores are deterministic, and do not depend on the order of the assertions.
    #[test]
    fn scores_are_deterministic(
        playground in any_playground(),
        assertions in prop::collection::vec(any_assertion(), 1..6),
    ) {
        let bytes = |playground: &Playground, assertion: &Value| {
            let outcome = playground.evaluate(assertion);
            format!("{} {} {} {}", outcome.passed, outcome.score, outcome.details, outcome.evidence)
        };
        let first: Vec<String> = assertions.iter().map(|assertion| bytes(&playground, assertion)).collect();
        let again = rebuilt(&playground, Value::clone);
        let mut backwards: Vec<String> = assertions.iter().rev().map(|assertion| bytes(&again, assertion)).collect();
        backwards.reverse();
        prop_assert_eq!(first, backwards);
    }
}

/// Evidence of unexpected types, in the places that a check reads, never passes.
#[test]
fn missing_null_and_unexpected_evidence_never_passes() {
    let unexpected = [
        json!(null),
        json!(true),
        json!(0),
        json!(""),
        json!("x"),
        json!([]),
        json!([null]),
        json!({}),
        json!({"payload": null}),
        json!({"text": null, "speaker": null}),
        json!({"text": {}, "speaker": "agent"}),
        json!({"body": 1, "channel": "sms"}),
        json!({"hook": "order-sign"}),
        json!({"hook": "order-sign", "cards": null}),
        json!({"patient_member_id": null}),
        json!({"direction": "outbound", "status": "sent"}),
        nested(100),
    ];
    let entity =
        json!({"ref": "Patient/p1", "name": "Ann", "data": {"mrn": "1", "member_id": "M1", "first_name": "Ann"}});
    for info in catalog() {
        let example: Value = serde_json::from_str(info.example).expect(info.name);
        assert!(!Playground::empty().evaluate(&example).passed, "{}", info.name);
        for value in unexpected.iter().filter(|_| !info.is_limit) {
            let mut playground = Playground::new(&[]).with_entity(entity.clone());
            for kind in SimulatorType::ALL {
                for collection in ["files", "faxes", "prior_auth_requests", "Appointment"] {
                    playground = playground.write(kind, collection, "outbox/returns/a.json", value);
                }
                for r#type in EventType::ALL {
                    playground = playground.event(kind, *r#type, value.clone());
                }
            }
            let outcome = playground.evaluate(&example);
            assert!(
                !outcome.passed && outcome.score < model::score::Score::one(),
                "{}: {value}: {outcome:?}",
                info.name
            );
        }
    }
}

#[test]
fn unknown_and_invalid_assertions_are_unsupported() {
    for assertion in [
        json!({"assert": "mind-reading"}),
        json!({"assert": "no-side-effects", "alow": []}),
        json!({}),
        json!(null),
        nested(500),
    ] {
        let outcome = Playground::new(&[]).evaluate(&assertion);
        assert!(!outcome.passed && outcome.details.starts_with("unsupported assertion: "), "{outcome:?}");
        assert_eq!(outcome.score, model::score::Score::zero());
    }
}
