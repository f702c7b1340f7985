//! Search parameters that are resources.

use std::rc::Rc;
use std::sync::Arc;

use fhir::layer::Layer;
use model::Timestamp;
use serde_json::json;
use verial_world::{Records, SearchCache, Seq, StoredParameters};

#[test]
fn a_parameter_is_compiled_once_for_a_request() {
    let own = json!({"resourceType": "SearchParameter", "id": "own", "url": "urn:own", "name": "Own", "status": "active",
        "description": "Own", "code": "own", "base": ["Patient", "Person"], "type": "string", "expression": "name.family"});
    let layer = Layer::build(vec![format!("{own}\n").into_bytes()], 1).unwrap();
    let records = Records::new(vec![Arc::new(layer)], Timestamp(0));
    let cache = Rc::new(SearchCache::default());
    let [patient, person, group] = ["Patient", "Person", "Group"].map(|name| name.parse().unwrap());
    let first = StoredParameters::new(&records, Seq::MAX, Rc::clone(&cache));
    let second = StoredParameters::new(&records, Seq::MAX, cache);
    let found = first.find(patient, "own").unwrap();
    assert!(Arc::ptr_eq(&found, &first.find(patient, "own").unwrap()));
    assert!(Arc::ptr_eq(&found, &second.find(patient, "own").unwrap()));
    assert!(!Arc::ptr_eq(&found, &second.find(person, "own").unwrap()));
    assert!(first.find(group, "own").is_none());
    let all: Vec<_> = first.all().into_iter().map(|(kind, parameter)| (kind, parameter.url().to_owned())).collect();
    assert_eq!(all, [(patient, "urn:own".to_owned()), (person, "urn:own".to_owned())]);
}
