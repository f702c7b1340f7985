//! What a reader sees of a layer.

use fhir::definitions::SearchParameter;
use fhir::layer::{DocId, Layer};
use fhir::{ResourceType, search};
use verial_fhir as fhir;

const LINES: &str = r#"{"resourceType":"Patient","id":"b","meta":{"lastUpdated":"1970-01-01T00:00:01Z"}}
{"resourceType":"Observation","id":"1","subject":{"reference":"Patient/b"},"valueQuantity":{"value":7.20}}
{"resourceType":"Patient","id":"a"}
{"resourceType":"Observation","id":"2","subject":{"reference":"Patient/b/_history/3"}}
{"resourceType":"Observation","id":"3","subject":{"reference":"Patient/elsewhere"}}
"#;

fn layer() -> Layer {
    Layer::build(vec![LINES], 2).unwrap()
}

fn resource_type(name: &str) -> ResourceType {
    name.parse().unwrap()
}

#[test]
fn documents_are_ordered_by_type_and_id() {
    let layer = layer();
    let (patient, observation) = (resource_type("Patient"), resource_type("Observation"));
    assert_eq!(layer.of_type(patient), 3..5);
    assert_eq!(layer.of_type(resource_type("Group")), 0..0);
    assert_eq!(layer.get(patient, "b"), Some(DocId::new(4)));
    assert_eq!(layer.get(patient, "1"), None);
    assert_eq!(layer.key(DocId::new(0)), Some((observation, "1")));
    assert_eq!(layer.key(DocId::new(5)), None);
    assert_eq!(layer.counts().collect::<Vec<_>>(), [(observation, 3), (patient, 2)]);
}

#[test]
fn a_document_is_shown_as_of_the_baseline() {
    let layer = layer();
    let text = |id: &str| layer.text(layer.get(resource_type("Patient"), id).unwrap(), "2024-01-01T00:00:00Z");
    assert_eq!(
        text("a"),
        r#"{"resourceType":"Patient","id":"a","meta":{"versionId":"1","lastUpdated":"2024-01-01T00:00:00Z"}}"#
    );
    assert_eq!(
        text("b"),
        r#"{"resourceType":"Patient","id":"b","meta":{"versionId":"1","lastUpdated":"1970-01-01T00:00:01Z"}}"#
    );
    assert!(layer.text(DocId::new(0), "").contains(r#""value":7.20}"#));
    assert_eq!(layer.last_updated(DocId::new(4)), Some(1000));
    assert_eq!(layer.last_updated(DocId::new(3)), None);
    assert_eq!(layer.text(DocId::new(9), ""), "");
}

#[test]
fn whoever_points_somewhere_is_found() {
    let layer = layer();
    let (observation, patient) = (resource_type("Observation"), resource_type("Patient"));
    let subject = SearchParameter::find(observation, "subject").unwrap();
    let referring = |target, id| layer.referring(observation, subject, target, id);
    assert_eq!(referring(patient, "b"), [0, 1].map(DocId::new));
    assert_eq!(referring(patient, "elsewhere"), [DocId::new(2)]);
    assert_eq!(referring(resource_type("Group"), "elsewhere"), []);
    assert_eq!(referring(patient, "a"), []);
}

#[test]
fn what_is_not_indexed_may_be_anything() {
    let layer = layer();
    let patient = resource_type("Patient");
    for code in ["_lastUpdated", "_text", "_content"] {
        let parameter = SearchParameter::find(patient, code).unwrap();
        let condition = search::Condition { parameter: parameter.into(), modifier: None, alternatives: Vec::new() };
        let candidates = layer.candidates(patient, &condition);
        assert!(!candidates.exact && candidates.docs.len() == 2, "{code}");
    }
}

#[test]
fn an_empty_dataset_is_a_layer() {
    let layer = Layer::build(Vec::<Vec<u8>>::new(), 4).unwrap();
    assert!(layer.is_empty() && layer.segments().len() == 0);
    assert_eq!(Layer::decode(&layer.encode_index(), Vec::new()).unwrap(), layer);
}

/// Its beginning lies after the wanted time and its end before, which no period that is the right way round can do.
#[test]
fn a_period_the_wrong_way_round_is_found_as_looking_at_it_finds_it() {
    let line = r#"{"resourceType":"Encounter","id":"1","period":{"start":"1970-01-09","end":"1970-01-02"}}"#;
    let layer = Layer::build(vec![line], 1).unwrap();
    let encounter = resource_type("Encounter");
    let parameter = SearchParameter::find(encounter, "date").unwrap();
    let day = 86_400_000;
    let span = search::Span { first: 4 * day, last: 5 * day };
    let wanted = search::SearchValue::Date { prefix: search::Prefix::Equal, span };
    let condition = search::Condition { parameter: parameter.into(), modifier: None, alternatives: vec![wanted] };
    let resource = serde_json::from_str(line).unwrap();
    let holds = condition.holds(&search::extract(parameter, &resource));
    assert_eq!(layer.candidates(encounter, &condition).docs.len(), usize::from(holds));
}
