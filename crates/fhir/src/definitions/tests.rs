//! The tables in the repository, and the reader's refusal of bad ones.

use std::collections::HashSet;

use super::*;

fn find(path: &str, key: &str) -> Option<(&'static str, &'static str)> {
    let (_, element, used) = Structure::find(path).unwrap().element(key)?;
    Some((element.path(), used.name()))
}

#[test]
fn a_key_names_an_element_and_its_type() {
    assert_eq!(find("Patient", "name"), Some(("Patient.name", "HumanName")));
    assert_eq!(find("Patient", "id"), Some(("Resource.id", "id")));
    assert_eq!(find("Patient", "contained"), Some(("DomainResource.contained", "Resource")));
    assert_eq!(find("Patient.contact", "modifierExtension"), Some(("BackboneElement.modifierExtension", "Extension")));
    assert_eq!(find("Patient", "deceasedBoolean"), Some(("Patient.deceased[x]", "boolean")));
    assert_eq!(find("Observation", "valueDateTime"), Some(("Observation.value[x]", "dateTime")));
    assert_eq!(find("Extension", "valueUrl"), Some(("Extension.value[x]", "url")));
    assert_eq!(find("Age", "value"), Some(("Quantity.value", "decimal")));
    assert_eq!(find("Questionnaire.item", "item"), Some(("Questionnaire.item.item", "BackboneElement")));
    assert_eq!(find("Patient", "_name"), None);
}

#[test]
fn other_keys_name_nothing() {
    for key in ["", "a", "zz", "ä", "value", "valueAge", "valuequantity", "valueé", "value[x]", "names", "nam"] {
        assert_eq!(find("Observation", key), None, "{key:?}");
    }
    assert_eq!(find("Timing.repeat", "modifierExtension"), None);
    assert_eq!(find("Bundle", "text"), None);
}

#[test]
fn an_element_knows_its_limits_codes_and_targets() {
    let element = |path: &str, key: &str| Structure::find(path).unwrap().element(key).unwrap().1;
    assert!(element("Observation", "status").is_required() && element("Observation", "status").is_modifier());
    assert!(element("Observation", "status").is_summary() && !element("Patient", "photo").is_summary());
    assert_eq!(element("Patient", "name").max(), Max::Many);
    assert_eq!(element("xhtml", "extension").max(), Max::Zero);
    let codes = element("Patient.contact", "gender").codes().unwrap();
    assert_eq!(codes.codes(), Some(&["female", "male", "other", "unknown"][..]));
    assert_eq!(element("Money", "currency").codes().unwrap().codes(), None);
    assert_eq!(element("Patient.link", "other").types()[0].targets(), ["Patient", "RelatedPerson"]);
}

#[test]
fn every_resource_type_and_primitive_has_a_structure() {
    for resource_type in ResourceType::all() {
        assert_eq!(Structure::of(resource_type).unwrap().kind(), StructureKind::Resource, "{resource_type}");
    }
    let resources = Structure::all().filter(|structure| structure.kind() == StructureKind::Resource).count();
    assert_eq!(resources, ResourceType::all().count());
    for (name, primitive) in Primitive::NAMES {
        assert_eq!(Structure::find(name).unwrap().kind(), StructureKind::Primitive(primitive));
        assert_eq!(primitive.name(), name);
    }
}

#[test]
fn every_element_is_reached_by_its_keys() {
    for structure in Structure::all() {
        for (at, element) in structure.elements().enumerate() {
            for used in element.types() {
                let (head, tail) = used.name().split_at(1);
                let suffix = if element.is_choice() { head.to_uppercase() + tail } else { String::new() };
                let key = format!("{}{suffix}", element.name());
                let (found_at, found, found_type) = structure.element(&key).unwrap();
                assert!(found_at == at && std::ptr::eq(found, element), "{} {key}", structure.path());
                assert!(std::ptr::eq(found_type, used), "{} {key}", structure.path());
            }
        }
    }
}

#[test]
fn targets_exist_bindings_are_of_codes_and_every_value_set_is_used() {
    let mut used_sets = HashSet::new();
    for element in &DEFINITIONS.elements {
        for target in element.types().iter().flat_map(|used| used.targets()) {
            let kind = Structure::find(target).unwrap().kind();
            assert!(matches!(kind, StructureKind::Resource | StructureKind::AbstractResource), "{}", element.path());
        }
        if let Some(codes) = element.codes() {
            assert!(element.types().iter().any(|used| used.name() == "code"), "{}", element.path());
            used_sets.insert(codes.name());
        }
    }
    assert_eq!(used_sets.len(), DEFINITIONS.code_sets.len());
}

#[test]
fn a_bad_table_is_refused() {
    let types = "Element COMPLEX -\nstring primitive Element\nPet complex Element\n";
    let read = |line: &str| {
        let table: &'static str = Box::leak(format!("{types}{line}").into_boxed_str());
        load::definitions(table, "sizes big small").map(|_| ())
    };
    assert!(read("Pet.name 0..1 S string").is_ok());
    for line in [
        "Pet.name",
        "Pet.name 0..2 S string",
        "Pet.name 0..1 S strong",
        "Pet.name 0..1 S string colours",
        "Pet.name 0..1 S Reference(Person",
        "Pet.name 0..1 S #Pet.other",
        "Pet.leg.name 0..1 S string\nPet.leg 0..1 S Missing",
        "Pet.name 0..1 S string\nPet.name 0..1 S string",
        "Cat complicated Element",
        "Cat complex Feline",
        "cat primitive Element",
    ] {
        assert!(read(line).is_err(), "{line}");
    }
    assert!(load::definitions("Element COMPLEX -", "b x\na x").is_err());
}
