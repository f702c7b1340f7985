//! Tests of the values that parameters extract.

use serde_json::json;

use super::*;
use crate::search::{Range, Span, Target};

#[test]
fn every_r4_expression_selects_searchable_elements() {
    let mut nothing = Vec::new();
    for resource_type in ResourceType::all() {
        for parameter in SearchParameter::of(resource_type).filter(|parameter| parameter.expression().is_some()) {
            let extractors = extractors(parameter, resource_type);
            if extractors.is_none_or(|extractors| extractors.is_empty()) {
                nothing.push(format!("{resource_type} {}", parameter.id()));
            }
        }
    }
    assert_eq!(nothing, ["Location Location-near"]);
}

#[track_caller]
fn check(code: &str, resource: &Value, expected: &[IndexedValue]) {
    let resource_type = resource["resourceType"].as_str().unwrap().parse().unwrap();
    let parameter = SearchParameter::find(resource_type, code).unwrap();
    assert_eq!(extract(parameter, resource), expected, "{code}");
    let all = extract_all(resource);
    let combined = all.iter().find(|(other, _)| std::ptr::eq(*other, parameter)).map(|(_, found)| found.as_slice());
    assert_eq!(combined.unwrap_or_default(), expected, "{code}, of all");
}

fn coded(system: &str, code: &str, text: &str) -> IndexedValue {
    let some = |text: &str| (!text.is_empty()).then(|| text.into());
    IndexedValue::Token(Concept { system: some(system), code: some(code), text: some(text), kinds: Vec::new() })
}

fn strings(texts: &[&str]) -> Vec<IndexedValue> {
    texts.iter().map(|text| IndexedValue::String((*text).into())).collect()
}

fn local(text: &str) -> IndexedValue {
    IndexedValue::Reference { target: Target::of(text), identifier: None }
}

fn number(text: &str) -> Option<rust_decimal::Decimal> {
    Some(text.parse().unwrap())
}

#[test]
fn tokens() {
    let patient = json!({
        "resourceType": "Patient", "id": "p1", "active": true, "gender": "female",
        "meta": {"tag": [{"system": "s", "code": "t"}], "profile": ["http://p|1"], "lastUpdated": "1970-01-01T00:00:00.001Z"},
        "identifier": [{"system": "s", "value": "1", "type": {"text": "MR", "coding": [{"system": "k", "code": "MR"}]}}, {"use": "old"}],
        "telecom": [{"system": "phone", "value": "555"}, {"system": "email", "value": "a@b"}, {"system": "email"}],
        "communication": [{"language": {"text": "Dutch", "coding": [{"code": "nl", "display": "Nederlands"}, {}]}}],
    });
    check("_id", &patient, &[coded("", "p1", "")]);
    check("active", &patient, &[coded("", "true", "")]);
    check("gender", &patient, &[coded("http://hl7.org/fhir/administrative-gender", "female", "")]);
    check("_tag", &patient, &[coded("s", "t", "")]);
    check("_profile", &patient, &[IndexedValue::Uri("http://p|1".into())]);
    check("_lastUpdated", &patient, &[IndexedValue::Date(Span { first: 1, last: 1 })]);
    check("email", &patient, &[coded("email", "a@b", "")]);
    check("telecom", &patient, &[coded("phone", "555", ""), coded("email", "a@b", "")]);
    check("language", &patient, &[coded("", "nl", "Nederlands"), coded("", "", "Dutch")]);
    check("deceased", &patient, &[coded("", "false", "")]);
    check("address-use", &patient, &[]);
    let kinds = vec![(Some("k".into()), Some("MR".into()))];
    let identifier = Concept { system: Some("s".into()), code: Some("1".into()), text: Some("MR".into()), kinds };
    check("identifier", &patient, &[IndexedValue::Token(identifier)]);
}

#[test]
fn deceased_is_a_condition() {
    let dead = |key: &str, value: Value| json!({"resourceType": "Patient", key: value});
    check("deceased", &dead("deceasedBoolean", json!(false)), &[coded("", "false", "")]);
    check("deceased", &dead("deceasedBoolean", json!(true)), &[coded("", "true", "")]);
    let dated = dead("deceasedDateTime", json!("1970"));
    check("deceased", &dated, &[coded("", "true", "")]);
    check("death-date", &dated, &[IndexedValue::Date(Span { first: 0, last: 365 * 86_400_000 - 1 })]);
}

#[test]
fn strings_of_names_and_addresses() {
    let patient = json!({
        "resourceType": "Patient",
        "name": [{"use": "official", "text": "Dr Eve Ann Li", "family": "Li", "given": ["Eve", null, "Ann"], "prefix": ["Dr"]}],
        "address": [{"line": ["1 A Street"], "city": "Bonn", "postalCode": "53111", "country": ""}],
    });
    check("name", &patient, &strings(&["Dr Eve Ann Li", "Li", "Eve", "Ann", "Dr"]));
    check("given", &patient, &strings(&["Eve", "Ann"]));
    check("address", &patient, &strings(&["1 A Street", "Bonn", "53111"]));
    check("address-city", &patient, &strings(&["Bonn"]));
}

#[test]
fn the_text_of_a_coded_value_is_a_string() {
    let observation = json!({"resourceType": "Observation", "valueCodeableConcept": {"text": "Negative"}});
    check("value-string", &observation, &strings(&["Negative"]));
    check("value-string", &json!({"resourceType": "Observation", "valueString": "x"}), &strings(&["x"]));
}

#[test]
fn references_and_their_target_types() {
    let of = |subject: Value| {
        json!({
            "resourceType": "Observation", "subject": subject,
            "contained": [{"resourceType": "Patient", "id": "in"}, {"resourceType": "Group", "id": "g"}],
        })
    };
    for (text, is_patient) in [
        ("Patient/1", true),
        ("Patient/1/_history/2", true),
        ("https://elsewhere/fhir/Patient/1", true),
        ("#in", true),
        ("#g", false),
        ("#none", false),
        ("Group/1", false),
        ("Unknown/1", false),
        ("urn:uuid:1", false),
        ("/", false),
    ] {
        let observation = of(json!({"reference": text}));
        check("subject", &observation, &[local(text)]);
        check(
            "patient",
            &observation,
            if is_patient { std::slice::from_ref(&local(text)).to_vec() } else { vec![] }.as_slice(),
        );
    }
    let identified = of(json!({"type": "Patient", "identifier": {"system": "s", "value": "1"}, "display": "Eve"}));
    let IndexedValue::Token(concept) = coded("s", "1", "") else { unreachable!() };
    check("patient", &identified, &[IndexedValue::Reference { target: Target::None, identifier: Some(concept) }]);
    check("subject", &of(json!({"display": "Eve"})), &[]);
    assert!(matches!(Target::of("Patient/1/_history/2"), Target::Local { version: Some(_), .. }));
    assert!(matches!(Target::of("Patient/1?x"), Target::Other(_)));
}

#[test]
fn a_resource_in_a_bundle_counts_as_referenced() {
    let bundle = json!({"resourceType": "Bundle", "entry": [
        {"resource": {"resourceType": "Composition", "id": "c"}}, {"resource": {"resourceType": "Composition", "id": "d"}}
    ]});
    check("composition", &bundle, &[local("Composition/c")]);
    check("message", &bundle, &[]);
}

#[test]
fn times() {
    let of = |key: &str, value: Value| json!({"resourceType": "Observation", key: value});
    let day = 86_400_000;
    for (key, value, first, last) in [
        ("effectiveDateTime", json!("1970-01-01"), 0, day - 1),
        ("effectiveInstant", json!("1970-01-01T00:00:00Z"), 0, 999),
        ("effectivePeriod", json!({"start": "1970-01-01", "end": "1970-01-02"}), 0, 2 * day - 1),
        ("effectivePeriod", json!({"start": "1970-01-02"}), day, i64::MAX),
        ("effectivePeriod", json!({"end": "1970-01-02"}), i64::MIN, 2 * day - 1),
        ("effectiveTiming", json!({"event": ["1970-01-03", "1970-01-01"]}), 0, 3 * day - 1),
        ("effectiveTiming", json!({"repeat": {"boundsPeriod": {"start": "1970-01-01"}}}), 0, i64::MAX),
    ] {
        check("date", &of(key, value), &[IndexedValue::Date(Span { first, last })]);
    }
    for value in [json!({}), json!("x"), json!(null), json!({"event": [], "repeat": {"count": 3}})] {
        check("date", &of("effectiveTiming", value.clone()), &[]);
        check("date", &of("effectivePeriod", value), &[]);
    }
}

#[test]
fn amounts() {
    let of = |key: &str, value: Value| json!({"resourceType": "Observation", key: value});
    let quantity = |low: Option<&str>, high: Option<&str>| IndexedValue::Quantity {
        range: Range { low: low.and_then(number), high: high.and_then(number) },
        system: Some("u".into()),
        code: Some("mg".into()),
        unit: None,
    };
    let unit =
        |value: &str| json!({"value": serde_json::from_str::<Value>(value).unwrap(), "system": "u", "code": "mg"});
    check("value-quantity", &of("valueQuantity", unit("5.40")), &[quantity(Some("5.4"), Some("5.4"))]);
    check("value-quantity", &of("valueQuantity", unit("54e-1")), &[quantity(Some("5.4"), Some("5.4"))]);
    check("value-quantity", &of("valueQuantity", unit("1e400")), &[]);
    let mut below = unit("5");
    below["comparator"] = json!("<");
    check("value-quantity", &of("valueQuantity", below), &[quantity(None, Some("5"))]);
    let samples = json!({"origin": unit("10"), "factor": 2, "data": "1 E -3 L 4"});
    check("value-quantity", &of("valueSampledData", samples), &[quantity(Some("4"), Some("18"))]);
    let onset = json!({"resourceType": "Condition", "onsetRange": {"low": unit("1"), "high": unit("2")}});
    check("onset-age", &onset, &[quantity(Some("1"), Some("2"))]);
    let invoice = json!({"resourceType": "Invoice", "totalNet": {"value": 3, "currency": "EUR"}});
    let range = Range { low: number("3"), high: number("3") };
    let (system, code) = (Some("urn:iso:std:iso:4217".into()), Some("EUR".into()));
    check("totalnet", &invoice, &[IndexedValue::Quantity { range, system, code, unit: None }]);
    let risk = json!({"resourceType": "RiskAssessment", "prediction": [{"probabilityDecimal": 0.5}, {"probabilityRange": {"low": {"value": 1}}}]});
    let half = Range { low: number("0.5"), high: number("0.5") };
    check(
        "probability",
        &risk,
        &[IndexedValue::Number(half), IndexedValue::Number(Range { low: number("1"), high: None })],
    );
}

#[test]
fn composites_pair_values_of_one_element() {
    let part = |code: &str, value: &str| json!({"code": {"coding": [{"code": code}]}, "valueString": "x", "valueCodeableConcept": {"coding": [{"code": value}]}});
    let observation = json!({
        "resourceType": "Observation", "code": {"coding": [{"code": "c"}]}, "valueString": "x",
        "component": [part("a", "1"), part("b", "2"), {"code": {"coding": [{"code": "d"}]}}],
    });
    let pair =
        |code: &str, value: &str| IndexedValue::Composite(vec![vec![coded("", code, "")], vec![coded("", value, "")]]);
    check("component-code-value-concept", &observation, &[pair("a", "1"), pair("b", "2")]);
    check("combo-code-value-concept", &observation, &[pair("a", "1"), pair("b", "2")]);
    let text = IndexedValue::Composite(vec![vec![coded("", "c", "")], strings(&["x"])]);
    check("code-value-string", &observation, &[text]);
    let dated = json!({"resourceType": "Observation", "code": {"text": "c"}, "valueDateTime": "1970-01-01T00:00:00Z"});
    let date = IndexedValue::Date(Span { first: 0, last: 999 });
    check("code-value-date", &dated, &[IndexedValue::Composite(vec![vec![coded("", "", "c")], vec![date]])]);
    let sequence = json!({"resourceType": "MolecularSequence", "referenceSeq": {"chromosome": {"text": "1"}}, "variant": [{"start": 5, "end": 6}]});
    let at = |text: &str| vec![IndexedValue::Number(Range { low: number(text), high: number(text) })];
    let coordinate = IndexedValue::Composite(vec![vec![coded("", "", "1")], at("5"), at("6")]);
    check("chromosome-variant-coordinate", &sequence, &[coordinate]);
}

#[test]
fn extensions_are_replaced_by_their_values() {
    let url = "http://hl7.org/fhir/StructureDefinition/observation-geneticsDnaVariant";
    let observation = json!({"resourceType": "Observation", "extension": [
        {"url": url, "valueString": "c.1A>T"}, {"url": "http://other", "valueString": "no"}, {"url": url, "valueBoolean": true}
    ]});
    check("dna-variant", &observation, &strings(&["c.1A>T"]));
    let subject = "http://hl7.org/fhir/StructureDefinition/questionnaireresponse-isSubject";
    let item = |extension: Value, reference: &str| json!({"extension": extension, "answer": [{"valueReference": {"reference": reference}}]});
    let response = json!({"resourceType": "QuestionnaireResponse", "item": [
        item(json!([{"url": subject, "valueBoolean": true}]), "Patient/1"), item(json!([]), "Patient/2")
    ]});
    check("item-subject", &response, &[local("Patient/1")]);
}

#[test]
fn elements_are_filtered_by_code() {
    let compiled = json!({"resourceType": "PlanDefinition", "relatedArtifact": [
        {"type": "successor", "resource": "http://a|1"}, {"type": "predecessor", "resource": "Library/b"}
    ]});
    check(
        "successor",
        &compiled,
        &[IndexedValue::Reference { target: Target::Other("http://a|1".into()), identifier: None }],
    );
    check("predecessor", &compiled, &[local("Library/b")]);
}

#[test]
fn parameters_of_other_types_have_no_values() {
    let birthdate = SearchParameter::find("Patient".parse().unwrap(), "birthdate").unwrap();
    for resource in
        [json!({"resourceType": "Group", "birthDate": "2000"}), json!({"birthDate": "2000"}), json!([]), json!(1)]
    {
        assert_eq!(extract(birthdate, &resource), []);
    }
    assert!(extract_all(&json!({"resourceType": "Nothing"})).is_empty());
}
