//! One rule, one resource.

use serde_json::{Value, json};

use super::*;

/// Expects faults as `path kind`, in order.
#[track_caller]
fn check(resource: &Value, expected: &[&str]) {
    let faults = validate(resource).err().unwrap_or_default();
    let shown: Vec<String> = faults.iter().map(|fault| format!("{} {}", fault.path, fault.kind)).collect();
    assert_eq!(shown, expected, "{faults:?}");
}

/// A Patient with these members.
#[track_caller]
fn patient(members: Value, expected: &[&str]) {
    let mut resource = json!({"resourceType": "Patient"});
    if let (Some(object), Value::Object(members)) = (resource.as_object_mut(), members) {
        object.extend(members);
    }
    check(&resource, expected);
}

#[test]
fn a_resource_says_its_type() {
    check(&json!({"resourceType": "Patient"}), &[]);
    check(&json!({}), &["Resource invalid"]);
    check(&json!([]), &["Resource structure"]);
    check(&json!(null), &["Resource structure"]);
    check(&json!({"resourceType": 7}), &["Resource invalid"]);
    check(&json!({"resourceType": "DomainResource"}), &["Resource invalid"]);
    let message = validate(&json!({"resourceType": "Pateint"})).unwrap_err()[0].to_string();
    assert_eq!(message, r#"Resource: unknown resource type "Pateint", did you mean "Patient"?"#);
}

#[test]
fn elements_are_known() {
    patient(
        json!({"foo": 1, "_foo": {}, "": 1}),
        &["Patient.foo structure", "Patient._foo structure", "Patient.`` structure"],
    );
    patient(json!({"name": [{"given": ["a"], "nick": "b"}]}), &["Patient.name[0].nick structure"]);
    patient(json!({"contact": [{"resourceType": "x"}]}), &["Patient.contact[0].resourceType structure"]);
    patient(
        json!({"deceasedString": "yes", "deceased": true}),
        &["Patient.deceasedString structure", "Patient.deceased structure"],
    );
    patient(json!({"_name": [{"id": "a"}]}), &["Patient._name structure"]);
    check(&json!({"resourceType": "Bundle", "type": "batch", "text": {}}), &["Bundle.text structure"]);
    let timing = json!({"resourceType": "Basic", "code": {}, "extension": [{"url": "a", "valueTiming": {
        "repeat": {"modifierExtension": [{"url": "b", "valueCode": "c"}]}}}]});
    check(&timing, &["Basic.code structure", "Basic.extension[0].value.repeat.modifierExtension structure"]);
}

#[test]
fn json_types_are_those_of_the_element() {
    patient(json!({"name": [7]}), &["Patient.name[0] structure"]);
    patient(json!({"name": [null]}), &["Patient.name[0] structure"]);
    patient(json!({"maritalStatus": "M"}), &["Patient.maritalStatus structure"]);
    patient(json!({"active": "true"}), &["Patient.active structure"]);
    patient(json!({"multipleBirthInteger": "1"}), &["Patient.multipleBirth structure"]);
    patient(json!({"birthDate": 1970}), &["Patient.birthDate structure"]);
    patient(json!({"birthDate": null}), &["Patient.birthDate structure"]);
    patient(json!({"birthDate": {}}), &["Patient.birthDate structure"]);
}

#[test]
fn arrays_are_for_what_repeats() {
    patient(json!({"name": {"family": "a"}}), &["Patient.name structure"]);
    patient(json!({"gender": ["male"]}), &["Patient.gender structure"]);
    patient(json!({"maritalStatus": [{"text": "a"}]}), &["Patient.maritalStatus structure"]);
    patient(json!({"name": [{"given": "a"}]}), &["Patient.name[0].given structure"]);
    patient(json!({"name": [[{"family": "a"}]]}), &["Patient.name[0] structure"]);
}

#[test]
fn required_elements_are_there() {
    check(&json!({"resourceType": "Observation", "status": "final"}), &["Observation.code required"]);
    patient(json!({"link": [{"type": "seealso"}]}), &["Patient.link[0].other required"]);
    patient(json!({"communication": [{"preferred": true}]}), &["Patient.communication[0].language required"]);
    let annotation = |more: Value| json!({"resourceType": "Basic", "code": {"text": "a"}, "extension": [more]});
    check(&annotation(json!({"valueCode": "a"})), &["Basic.extension[0].url required"]);
    let absent = json!({"resourceType": "Observation", "code": {"text": "a"},
        "_status": {"extension": [{"url": "http://a", "valueCode": "unknown"}]}});
    check(&absent, &[]);
    let dispense = json!({"resourceType": "MedicationDispense", "status": "completed"});
    check(&dispense, &["MedicationDispense.medication required"]);
}

#[test]
fn a_choice_is_made_once() {
    patient(json!({"deceasedBoolean": true, "_deceasedBoolean": {"id": "a"}}), &[]);
    patient(json!({"deceasedBoolean": true, "deceasedDateTime": "2020"}), &["Patient.deceased structure"]);
    patient(json!({"deceasedBoolean": true, "_deceasedDateTime": {"id": "a"}}), &["Patient.deceased structure"]);
    let extension = json!({"url": "http://a", "valueString": "a", "valueInteger": 1});
    patient(json!({"extension": [extension]}), &["Patient.extension[0].value structure"]);
    patient(
        json!({"modifierExtension": [{"url": "a b", "valueId": "a"}]}),
        &["Patient.modifierExtension[0].url value"],
    );
}

#[test]
fn nothing_is_empty() {
    patient(json!({"name": []}), &["Patient.name structure"]);
    patient(json!({"name": [{}]}), &["Patient.name[0] structure"]);
    patient(json!({"maritalStatus": {}}), &["Patient.maritalStatus structure"]);
    patient(json!({"name": [{"family": ""}]}), &["Patient.name[0].family value"]);
    patient(json!({"_birthDate": {}}), &["Patient.birthDate structure"]);
}

#[test]
fn primitives_have_companions_beside_them() {
    let named = |given: Value, companion: Value, expected: &[&str]| {
        patient(json!({"name": [{"given": given, "_given": companion}]}), expected);
    };
    let extended = || json!({"extension": [{"url": "http://a", "valueCode": "b"}]});
    named(json!(["a", null]), json!([null, extended()]), &[]);
    named(json!(["a", "b"]), json!([{"id": "x"}, extended()]), &[]);
    named(json!(["a"]), json!([null, extended()]), &["Patient.name[0].given structure"]);
    named(json!(["a", null]), json!([extended(), null]), &["Patient.name[0].given[1] structure"]);
    named(json!(["a"]), json!(extended()), &["Patient.name[0].given structure"]);
    named(json!(["a"]), json!(["b"]), &["Patient.name[0].given[0] structure"]);
    named(json!(["a"]), json!([{"value": "b"}]), &["Patient.name[0].given[0].value structure"]);
    named(json!(["a"]), json!([{"extension": [{}]}]), &["Patient.name[0].given[0].extension[0] structure"]);
    patient(json!({"name": [{"_given": [extended()]}]}), &[]);
    patient(json!({"name": [{"_given": [null]}]}), &["Patient.name[0].given[0] structure"]);
    patient(json!({"name": [{"given": ["a", null]}]}), &["Patient.name[0].given[1] structure"]);
    patient(json!({"_birthDate": [extended()]}), &["Patient.birthDate structure"]);
    patient(json!({"birthDate": null, "_birthDate": extended()}), &["Patient.birthDate structure"]);
}

#[test]
fn primitive_values_are_checked() {
    patient(json!({"id": "a_b", "birthDate": "2023-02-29"}), &["Patient.id value", "Patient.birthDate value"]);
    patient(json!({"meta": {"lastUpdated": "2023-02-28"}}), &["Patient.meta.lastUpdated value"]);
    patient(json!({"multipleBirthInteger": 1.0}), &["Patient.multipleBirth value"]);
    patient(json!({"telecom": [{"rank": 0}]}), &["Patient.telecom[0].rank value"]);
    let narrative = |div: &str| json!({"text": {"status": "generated", "div": div}});
    patient(narrative("<div xmlns=\"http://www.w3.org/1999/xhtml\">a</div>"), &[]);
    patient(narrative("<p>a</p>"), &["Patient.text.div value"]);
    patient(
        json!({"text": {"status": "empty", "div": "<div/>", "_div": {"extension": [{"url": "a"}]}}}),
        &["Patient.text.div.extension structure"],
    );
}

#[test]
fn required_codes_come_from_their_value_set() {
    patient(json!({"gender": "m"}), &["Patient.gender code-invalid"]);
    patient(json!({"gender": "male", "language": "xx-anything"}), &[]);
    let repeat = json!({"dayOfWeek": ["mon", "Mon"]});
    let basic = json!({"resourceType": "Basic", "code": {"text": "a"},
        "extension": [{"url": "a", "valueTiming": {"repeat": repeat}}]});
    check(&basic, &["Basic.extension[0].value.repeat.dayOfWeek[1] code-invalid"]);
    let message = validate(&json!({"resourceType": "Patient", "gender": "m"})).unwrap_err()[0].message.clone();
    assert_eq!(message, r#"the code "m" is not in the value set administrative-gender"#);
}

#[test]
fn resources_within_resources_are_validated() {
    let contained = |resource: Value| json!({ "contained": [resource] });
    patient(contained(json!({"resourceType": "Organization", "id": "a"})), &[]);
    patient(contained(json!({"resourceType": "Organization", "foo": 1})), &["Patient.contained[0].foo structure"]);
    patient(contained(json!({"id": "a"})), &["Patient.contained[0] invalid"]);
    patient(contained(json!("a")), &["Patient.contained[0] structure"]);
    let nested = json!({"resourceType": "Organization", "contained": [{"resourceType": "Basic"}]});
    patient(contained(nested.clone()), &["Patient.contained[0].contained structure"]);
    let entry = json!({"resource": {"resourceType": "Patient", "contained": [{"resourceType": "Patient", "foo": 1}]}});
    check(
        &json!({"resourceType": "Bundle", "type": "collection", "entry": [entry]}),
        &["Bundle.entry[0].resource.contained[0].foo structure"],
    );
    let parameter = json!({"name": "a", "resource": nested});
    check(
        &json!({"resourceType": "Parameters", "parameter": [parameter]}),
        &["Parameters.parameter[0].resource.contained[0].code required"],
    );
}

#[test]
fn shared_content_is_validated_like_the_first() {
    let item = json!({"linkId": "1", "type": "group", "item": [{"type": "group"}]});
    let questionnaire = json!({"resourceType": "Questionnaire", "status": "draft", "item": [item]});
    check(&questionnaire, &["Questionnaire.item[0].item[0].linkId required"]);
}

#[test]
fn faults_and_their_texts_are_limited() {
    let names: Vec<Value> = (0..1_000).map(|_| json!({"nick": "a"})).collect();
    let faults = validate(&json!({"resourceType": "Patient", "name": names})).unwrap_err();
    assert_eq!(faults.len(), MAX_FAULTS);
    let long = "x\n".repeat(100_000);
    let mut resource = json!({"resourceType": "Patient", "gender": long.clone(), "birthDate": long.clone()});
    resource[&long] = json!(1);
    let faults = validate(&resource).unwrap_err();
    assert_eq!(faults.len(), 3);
    assert!(faults.iter().all(|fault| fault.path.len() + fault.message.len() < 300), "{faults:?}");
}

#[test]
fn depth_is_limited() {
    let mut resource = json!({"resourceType": "Patient"});
    let mut innermost = &mut resource;
    for _ in 0..1_000 {
        innermost["extension"] = json!([{"url": "http://a"}]);
        innermost = &mut innermost["extension"][0];
    }
    let faults = validate(&resource).unwrap_err();
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0].kind, FaultKind::TooCostly);
}
