//! Every resource is found by what it says, and nothing makes the search panic.
#![expect(clippy::unwrap_used, reason = "a test may panic, also in the functions that its tests share")]

#[path = "../../examples/itself.rs"]
#[allow(dead_code, reason = "its main is for the whole package")]
mod itself;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value};
use verial_fhir::ResourceType;
use verial_fhir::definitions::{SearchParameter, Structure};
use verial_fhir::search::{Sort, extract, extract_all};

#[test]
fn official_examples_answer_their_own_searches() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/examples");
    let mut tally = itself::Tally::default();
    for entry in std::fs::read_dir(directory).unwrap() {
        let text = std::fs::read(entry.unwrap().path()).unwrap();
        tally.search(&serde_json::from_slice(&text).unwrap());
    }
    assert!(tally.resources >= 60 && tally.searches > 1_500, "{tally:?}");
    assert_eq!(tally.misses, [""; 0]);
}

proptest! {
    #[test]
    fn arbitrary_json_does_no_harm(resource in resource()) {
        let all = extract_all(&resource);
        for parameter in SearchParameter::all() {
            let found = extract(parameter, &resource);
            Sort { parameter: parameter.into(), descending: false }.key(&found);
            let together = all.iter().find(|(other, _)| std::ptr::eq(*other, parameter));
            prop_assert_eq!(together.map_or(&[][..], |(_, found)| found), found.as_slice());
        }
    }
}

const WORDS: &[&str] =
    &["", "Patient/1", "#", "#a", "2024-02", "9999-12-31T23:59:60.9999Z", "http://a|1", "1e9", "male", "É\u{301} ß"];

/// JSON that uses the names of the definitions, so that it is looked into.
fn resource() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        select(&["1e28", "-1e-28", "1e400", "79228162514264337593543950335", "0.0"][..])
            .prop_map(|text| serde_json::from_str(text).unwrap()),
        select(WORDS).prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    let keys: Vec<String> = Structure::all()
        .flat_map(|structure| structure.elements())
        .flat_map(|element| element.types().iter().map(move |used| (element, used)))
        .map(|(element, used)| {
            let (first, rest) = used.name().split_at(1);
            if element.is_choice() {
                format!("{}{}{rest}", element.name(), first.to_uppercase())
            } else {
                element.name().to_owned()
            }
        })
        .collect();
    let object = |value: BoxedStrategy<Value>, keys: Vec<String>| {
        vec((select(keys), value), 0..8).prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>()))
    };
    let inner = keys.clone();
    let value = leaf.prop_recursive(4, 48, 6, move |value| {
        prop_oneof![vec(value.clone(), 0..4).prop_map(Value::Array), object(value.boxed(), inner.clone())]
    });
    let names: Vec<_> = ResourceType::all().map(ResourceType::as_str).collect();
    (select(names), object(value.boxed(), keys)).prop_map(|(name, mut resource)| {
        resource["resourceType"] = name.into();
        resource
    })
}
