//! Damaged examples are refused, and nothing makes the validator panic.

use std::sync::LazyLock;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value, json};
use verial_fhir::definitions::Structure;
use verial_fhir::validate::{MAX_FAULTS, ValidationFault, validate};

static EXAMPLES: LazyLock<Vec<(String, Value)>> = LazyLock::new(crate::examples);

/// Places in an example, in order, that a test wants.
fn pointers(value: &Value, wanted: fn(&Value) -> bool) -> Vec<String> {
    fn visit(value: &Value, pointer: &str, wanted: fn(&Value) -> bool, found: &mut Vec<String>) {
        if wanted(value) {
            found.push(pointer.to_owned());
        }
        match value {
            Value::Object(members) => {
                members.iter().for_each(|(key, value)| visit(value, &format!("{pointer}/{key}"), wanted, found));
            }
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(at, item)| visit(item, &format!("{pointer}/{at}"), wanted, found));
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    visit(value, "", wanted, &mut found);
    found
}

/// An example, changed at one of the places that `wanted` picks.
fn changed(example: Index, place: Index, wanted: fn(&Value) -> bool, change: impl Fn(&mut Value)) -> (Value, String) {
    let (name, resource) = &EXAMPLES[example.index(EXAMPLES.len())];
    let pointers = pointers(resource, wanted);
    let mut resource = resource.clone();
    if pointers.is_empty() {
        return (Value::Null, name.clone());
    }
    let pointer = &pointers[place.index(pointers.len())];
    change(resource.pointer_mut(pointer).unwrap());
    (resource, format!("{name} {pointer}"))
}

fn faults(resource: &Value) -> Vec<ValidationFault> {
    validate(resource).err().unwrap_or_default()
}

proptest! {
    #[test]
    fn an_unknown_element_anywhere_is_found(example: Index, place: Index, key in "[a-z]{1,3}_[a-z]{1,3}") {
        let (resource, place) = changed(example, place, Value::is_object, |value| value[&key] = json!("x"));
        let found = faults(&resource);
        prop_assert!(found.iter().any(|fault| fault.path.ends_with(&format!(".{key}"))), "{place}: {found:?}");
    }

    #[test]
    fn another_type_anywhere_is_found(example: Index, place: Index) {
        let other = |value: &mut Value| *value = match value {
            Value::Object(_) | Value::Number(_) => json!("x y"),
            Value::Array(items) => items.swap_remove(0),
            Value::Null | Value::Bool(_) | Value::String(_) => json!(1.5),
        };
        let (resource, place) = changed(example, place, |_| true, other);
        prop_assert!(!faults(&resource).is_empty(), "{place}");
    }

    #[test]
    fn an_empty_value_anywhere_is_found(example: Index, place: Index, empty in select(vec!["{}", "[]", "\"\""])) {
        let empty: Value = serde_json::from_str(empty).unwrap();
        let (resource, place) = changed(example, place, |_| true, |value| *value = empty.clone());
        prop_assert!(!faults(&resource).is_empty(), "{place}");
    }

    #[test]
    fn arbitrary_json_does_no_harm(resource in resource()) {
        prop_assert!(faults(&resource).len() <= MAX_FAULTS);
    }
}

#[test]
fn a_missing_element_is_found() {
    let mut removed = 0;
    for (name, resource) in EXAMPLES.iter() {
        let resource_type = resource["resourceType"].as_str().unwrap();
        for element in Structure::find(resource_type).unwrap().elements().filter(|element| element.is_required()) {
            let belongs = |key: &str| key.trim_start_matches('_').starts_with(element.name());
            let kept = resource.as_object().unwrap().iter().filter(|(key, _)| !belongs(key));
            let resource: Map<String, Value> = kept.map(|(key, value)| (key.clone(), value.clone())).collect();
            let expected = format!("{resource_type}.{}: is missing", element.name());
            let found = faults(&Value::Object(resource));
            assert!(found.iter().any(|fault| fault.to_string() == expected), "{name}: {expected}: {found:?}");
            removed += 1;
        }
    }
    assert!(removed > 100);
}

/// JSON that looks enough like a resource to get far.
fn resource() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        select(vec!["", "a", "Patient", "Bundle", "Parameters", "2024-02-30", "<div>", "é", "final"])
            .prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    let key = prop_oneof![
        8 => select(vec![
            "resourceType", "id", "meta", "text", "div", "contained", "extension", "url", "valueString", "_valueString",
            "valueQuantity", "value", "name", "given", "_given", "entry", "resource", "parameter", "status", "é", "_",
        ])
        .prop_map(String::from),
        1 => any::<String>(),
    ];
    let value = leaf.prop_recursive(8, 64, 6, move |inner| {
        let object =
            vec((key.clone(), inner.clone()), 0..6).prop_map(|members| Value::Object(members.into_iter().collect()));
        prop_oneof![vec(inner, 0..4).prop_map(Value::Array), object]
    });
    (value, select(vec!["", "Patient", "Bundle", "Parameters", "Observation"])).prop_map(|(mut value, name)| {
        if let (Some(object), false) = (value.as_object_mut(), name.is_empty()) {
            object.insert("resourceType".into(), name.into());
        }
        value
    })
}
