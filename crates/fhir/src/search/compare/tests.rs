//! Tests of queries against resources, as tables of matching and non-matching values.

use serde_json::{Value, json};

use crate::search::{Clause, extract, parse};

fn holds(resource: &Value, query: &str) -> bool {
    let resource_type = resource["resourceType"].as_str().unwrap().parse().unwrap();
    let (name, value) = query.split_once('=').unwrap();
    let query = parse(resource_type, "http://me/fhir", &[(name.to_owned(), value.to_owned())]).unwrap();
    let [Clause::Simple(condition)] = query.clauses.as_slice() else { panic!("{query:?}") };
    condition.holds(&extract(&condition.parameter, resource))
}

#[track_caller]
fn check(resource: &Value, matching: &[&str], non_matching: &[&str]) {
    assert_eq!(matching.iter().find(|query| !holds(resource, query)), None, "should match");
    assert_eq!(non_matching.iter().find(|query| holds(resource, query)), None, "should not match");
}

#[expect(clippy::needless_pass_by_value, reason = "callers pass fresh values")]
fn observation(key: &str, value: Value) -> Value {
    json!({"resourceType": "Observation", key: value})
}

#[test]
fn case_is_ignored_in_case_insensitive_systems() {
    let coded = |system: &str, code: &str| observation("code", json!({"coding": [{"system": system, "code": code}]}));
    check(
        &coded("http://hl7.org/fhir/sid/icd-10-cm", "E11.9"),
        &["code=e11.9", "code=E11.9", "code=http://hl7.org/fhir/sid/icd-10-cm|e11.9"],
        &["code=e11", "code=|e11.9", "code=http://loinc.org|E11.9"],
    );
    check(&coded("http://unitsofmeasure.org", "mL"), &["code=mL"], &["code=ml", "code=http://unitsofmeasure.org|ML"]);
    check(&coded("urn:local", "Ab"), &["code=Ab", "code=urn:local|Ab"], &["code=ab"]);
    let kind = json!({"coding": [{"system": "k", "code": "MR"}]});
    let identifier = json!({"system": "http://snomed.info/sct", "value": "Ab", "type": kind});
    check(
        &json!({"resourceType": "Patient", "identifier": [identifier]}),
        &["identifier:of-type=k|MR|Ab", "identifier=Ab", "identifier=http://snomed.info/sct|Ab"],
        &["identifier:of-type=k|MR|ab", "identifier=ab"],
    );
}

#[test]
fn strings() {
    check(
        &json!({"resourceType": "Patient", "name": [{"family": "Müller, geb. Li", "given": ["Eve"]}]}),
        &[
            "name=mull",
            "name=EVE",
            "family:contains=GEB",
            "family:exact=Müller\\, geb. Li",
            "name=x,eve",
            "given:missing=false",
        ],
        &["name=uller", "name:exact=Eve ", "given:exact=eve", "given:contains=x", "name=ann,x", "name:missing=true"],
    );
    check(&json!({"resourceType": "Patient"}), &["name:missing=true"], &["name=a", "name:missing=false"]);
}

#[test]
fn tokens() {
    let patient = json!({
        "resourceType": "Patient", "gender": "female", "active": true,
        "identifier": [
            {"system": "s", "value": "1", "type": {"text": "Medical record", "coding": [{"system": "k", "code": "MR"}]}},
            {"value": "2"},
        ],
        "communication": [{"language": {"text": "Low German (Platt)", "coding": [{"system": "l", "code": "nds"}]}}],
    });
    check(
        &patient,
        &[
            "identifier=1",
            "identifier=s|1",
            "identifier=s|",
            "identifier=|2",
            "identifier=2",
            "identifier=9,2",
            "identifier:not=3",
            "identifier:not=t|1",
            "identifier:of-type=k|MR|1",
            "identifier:text=record",
            "language:text=german",
            "language:text=low ger",
            "language:text=platt",
            "gender=female",
            "active=true",
            "gender=http://hl7.org/fhir/administrative-gender|female",
            "address-use:not=home",
            "phone:missing=true",
        ],
        &[
            "identifier=|1",
            "identifier=t|1",
            "identifier=s|2",
            "identifier=t|",
            "identifier:not=1",
            "identifier:not=1,2",
            "identifier:of-type=k|MR|2",
            "identifier:of-type=k|XX|1",
            "language:text=erman",
            "gender=Female",
            "gender=x|female",
            "address-use=home",
            "active=false",
            "language:missing=true",
            "language=ND",
        ],
    );
}

#[test]
fn references() {
    let local = observation("subject", json!({"reference": "Patient/1", "identifier": {"system": "s", "value": "9"}}));
    check(
        &local,
        &[
            "subject=1",
            "subject=Patient/1",
            "subject:Patient=1",
            "subject:Patient=Patient/1",
            "patient=1",
            "subject=http://me/fhir/Patient/1",
            "subject:identifier=s|9",
            "subject:identifier=9",
            "subject=2,1",
        ],
        &[
            "subject=2",
            "subject=Group/1",
            "subject:Group=1",
            "subject=Patient/1/_history/1",
            "subject:identifier=t|9",
            "subject=http://other/Patient/1",
            "subject:missing=true",
        ],
    );
    let versioned = observation("subject", json!({"reference": "Patient/1/_history/2"}));
    check(
        &versioned,
        &["subject=1", "subject=Patient/1", "subject=Patient/1/_history/2"],
        &["subject=Patient/1/_history/1"],
    );
    let elsewhere = observation("subject", json!({"reference": "http://other/Patient/1"}));
    check(
        &elsewhere,
        &["subject=http://other/Patient/1"],
        &["subject=1", "subject=Patient/1", "subject=http://other/Patient"],
    );
    check(&observation("subject", json!({"reference": "#p"})), &["subject=#p"], &["subject=p"]);
    let response = json!({"resourceType": "QuestionnaireResponse", "questionnaire": "http://q|2"});
    check(
        &response,
        &["questionnaire=http://q", "questionnaire=http://q|2", "questionnaire=http://q\\|2"],
        &["questionnaire=http://q|1", "questionnaire=http://q|"],
    );
}

#[test]
fn dates_are_ranges() {
    check(
        &observation("effectiveDateTime", json!("2024-02-29T12:00:00Z")),
        &[
            "date=2024",
            "date=2024-02-29",
            "date=2024-02-29T12:00",
            "date=eq2024-02-29T13:00:00+01:00",
            "date=ne2023",
            "date=gt2024-02-28",
            "date=ge2024-02-29",
            "date=le2024-02-29",
            "date=lt2024-03",
            "date=sa2024-02-28",
            "date=eb2024-03-01",
            "date=ap2024-02-29",
            "date=ge2024-02-29T12:00:00Z",
        ],
        &[
            "date=2023",
            "date=2024-02-29T12:00:01Z",
            "date=ne2024-02",
            "date=gt2024-02-29",
            "date=lt2024-02-29",
            "date=ge2024-03",
            "date=le2024-01",
            "date=sa2024-02-29",
            "date=eb2024-02-29",
            "date=ap2024-03",
        ],
    );
    check(
        &observation("effectivePeriod", json!({"start": "2024-01-10", "end": "2024-01-20"})),
        &[
            "date=2024-01",
            "date=ne2024-01-15",
            "date=gt2024-01-15",
            "date=lt2024-01-15",
            "date=ap2024-01-15",
            "date=sa2024-01-09",
            "date=eb2024-01-21",
            "date=ge2024-01-19",
        ],
        &[
            "date=2024-01-15",
            "date=gt2024-01-20",
            // It ends with the day: neither after the day nor within it.
            "date=ge2024-01-20",
            "date=le2024-01-10",
            "date=lt2024-01-10",
            "date=sa2024-01-10",
            "date=eb2024-01-20",
            "date=ap2024-02",
        ],
    );
    check(
        &observation("effectivePeriod", json!({"start": "2024-01-10"})),
        &["date=gt2030", "date=ge2030", "date=lt2030", "date=ap2030", "date=sa2023"],
        &["date=2024", "date=eb2030", "date=lt2024-01-10"],
    );
}

#[test]
fn numbers_match_by_their_written_precision() {
    let risk = |value: &str| json!({"resourceType": "RiskAssessment", "prediction": [{"probabilityDecimal": serde_json::from_str::<Value>(value).unwrap()}]});
    check(
        &risk("100.2"),
        &[
            "probability=100",
            "probability=1e2",
            "probability=100.2",
            "probability=ne101",
            "probability=gt100",
            "probability=ge100.2",
            "probability=le100.2",
            "probability=sa100",
            "probability=eb101",
            "probability=ap110",
            "probability=ap91.1",
        ],
        &[
            "probability=100.0",
            "probability=ne100",
            "probability=gt100.2",
            "probability=lt100.2",
            "probability=le100",
            "probability=sa100.2",
            "probability=ap112",
            "probability=ap90",
        ],
    );
    check(&risk("99.5"), &["probability=100"], &[]);
    check(&risk("100.5"), &["probability=101"], &["probability=100"]);
}

#[test]
fn quantities_have_units() {
    let amount = json!({"value": 5.4, "unit": "milligram", "system": "http://unitsofmeasure.org", "code": "mg"});
    check(
        &observation("valueQuantity", amount),
        &[
            "value-quantity=5.4",
            "value-quantity=5.4|http://unitsofmeasure.org|mg",
            "value-quantity=5.40||mg",
            "value-quantity=lt6||milligram",
            "value-quantity=5|http://unitsofmeasure.org|",
            "value-quantity=ap5.5||mg",
        ],
        &[
            "value-quantity=5.4||g",
            "value-quantity=5.4|x|mg",
            "value-quantity=6||mg",
            "value-quantity=5.4|http://unitsofmeasure.org|g",
        ],
    );
    let age = json!({"resourceType": "Condition", "onsetRange": {"low": {"value": 3}, "high": {"value": 5}}});
    check(
        &age,
        &["onset-age=gt4", "onset-age=lt4", "onset-age=sa2", "onset-age=ap4", "onset-age=ne4"],
        &["onset-age=4", "onset-age=gt5"],
    );
    let below = observation("valueQuantity", json!({"value": 5, "comparator": "<"}));
    check(
        &below,
        &["value-quantity=lt2", "value-quantity=le5", "value-quantity=ne5"],
        &["value-quantity=5", "value-quantity=gt5"],
    );
}

#[test]
fn addresses() {
    check(
        &json!({"resourceType": "ValueSet", "url": "http://acme.org/fhir/ValueSet/123", "meta": {"profile": ["http://p|1"]}}),
        &[
            "url=http://acme.org/fhir/ValueSet/123",
            "url:below=http://acme.org/fhir/",
            "url:below=http://acme.org/fhir",
            "url:above=http://acme.org/fhir/ValueSet/123/_history/5",
            "_profile=http://p",
            "_profile=http://p|1",
        ],
        &[
            "url=http://acme.org/fhir/ValueSet/12",
            "url=http://acme.org/fhir",
            "url:below=http://acme.org/fh",
            "url:above=http://acme.org/fhir",
            "_profile=http://p|2",
            "url=HTTP://acme.org/fhir/ValueSet/123",
        ],
    );
}

#[test]
fn composites() {
    let part = |code: &str, value: u8| json!({"code": {"coding": [{"system": "s", "code": code}]}, "valueQuantity": {"value": value}});
    check(
        &json!({"resourceType": "Observation", "component": [part("a", 1), part("b", 9)]}),
        &[
            "component-code-value-quantity=a$1",
            "component-code-value-quantity=s|b$gt5",
            "combo-code-value-quantity=x$1,b$9",
            "component-code-value-quantity:missing=false",
        ],
        &["component-code-value-quantity=a$9", "component-code-value-quantity=x$1", "code-value-quantity=a$1"],
    );
}
