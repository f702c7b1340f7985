//! Converts tokens: codes in systems (<https://hl7.org/fhir/R4/search.html#token>).

use serde_json::Value;

use super::{boxed, items, member, text_of};
use crate::definitions::CodeSet;
use crate::search::case_insensitive_systems::is_case_insensitive;
use crate::search::{Concept, IndexedValue};

pub(super) fn coding(value: &Value) -> Option<IndexedValue> {
    let concept = Concept {
        system: boxed(value, "system"),
        code: boxed(value, "code"),
        text: boxed(value, "display"),
        kinds: Vec::new(),
    };
    (concept != Concept::default()).then_some(IndexedValue::Token(folded(concept)))
}

/// Converts codes of case-insensitive systems to lower case, so that an index has one term for all spellings.
fn folded(mut concept: Concept) -> Concept {
    if let Some(code) = concept.code.as_mut().filter(|_| is_case_insensitive(concept.system.as_deref())) {
        code.make_ascii_lowercase();
    }
    concept
}

/// Adds each coding, then the text unless it is the display of a coding.
pub(super) fn codeable_concept(value: &Value, found: &mut Vec<IndexedValue>) {
    let codings = items(value, "coding");
    found.extend(codings.iter().filter_map(coding));
    let is_shown = |text: &str| codings.iter().any(|coding| member(coding, "display") == Some(text));
    if let Some(text) = member(value, "text").filter(|text| !is_shown(text)) {
        found.push(IndexedValue::Token(Concept { text: Some(text.into()), ..Concept::default() }));
    }
}

/// Keeps the case: the value of an identifier is not a code of its system.
pub(super) fn identifier(value: &Value) -> Option<Concept> {
    let (system, code) = (boxed(value, "system"), boxed(value, "value"));
    let kind = value.get("type").unwrap_or(&Value::Null);
    let kinds = items(kind, "coding").iter().map(|coding| (boxed(coding, "system"), boxed(coding, "code")));
    let concept = Concept { system, code, text: boxed(kind, "text"), kinds: kinds.collect() };
    (concept.system.is_some() || concept.code.is_some()).then_some(concept)
}

/// Supports `phone|555`: R4 does not define the system; like most servers, this one uses the ContactPoint's system
/// code.
pub(super) fn contact_point(value: &Value) -> Option<IndexedValue> {
    let code = Some(boxed(value, "value")?);
    Some(IndexedValue::Token(Concept { system: boxed(value, "system"), code, ..Concept::default() }))
}

pub(super) fn code(value: &Value, system: Option<&str>) -> Option<IndexedValue> {
    let code = Some(text_of(value)?.into());
    Some(IndexedValue::Token(folded(Concept { system: system.map(Box::from), code, ..Concept::default() })))
}

/// A Boolean, number, id, string or URI.
pub(super) fn word(value: &Value) -> Option<IndexedValue> {
    let code: Box<str> = match value {
        Value::Bool(true) => "true".into(),
        Value::Bool(false) => "false".into(),
        Value::Number(number) => number.as_str().into(),
        value => text_of(value)?.into(),
    };
    Some(IndexedValue::Token(Concept { code: Some(code), ..Concept::default() }))
}

/// Converts the code to lower case.
pub(super) fn fold_code(found: &mut IndexedValue) {
    if let IndexedValue::Token(Concept { code: Some(code), .. }) = found {
        code.make_ascii_lowercase();
    }
}

/// The code system of the value set that a `code` element is bound to, if the value set has exactly one.
pub(super) fn implied_system(codes: &CodeSet) -> Option<Box<str>> {
    let name = codes.name();
    match SYSTEMS.iter().find(|(value_set, _)| *value_set == name) {
        Some((_, "")) => None,
        Some((_, system)) => Some((*system).into()),
        None => Some(format!("http://hl7.org/fhir/{name}").into_boxed_str()),
    }
}

/// Value sets whose code system has another name; empty for value sets with several systems.
const SYSTEMS: [(&str, &str); 23] = [
    ("all-types", ""),
    ("care-compiled-activity-kind", "http://hl7.org/fhir/resource-types"),
    ("care-compiled-intent", "http://hl7.org/fhir/request-intent"),
    ("clinicalimpression-status", "http://hl7.org/fhir/event-status"),
    ("currencies", "urn:iso:std:iso:4217"),
    ("defined-types", ""),
    ("event-timing", ""),
    ("immunization-evaluation-status", "http://terminology.hl7.org/CodeSystem/medication-admin-status"),
    ("immunization-status", "http://hl7.org/fhir/event-status"),
    ("medication-admin-status", "http://terminology.hl7.org/CodeSystem/medication-admin-status"),
    ("medication-statement-status", "http://hl7.org/fhir/CodeSystem/medication-statement-status"),
    ("medication-status", "http://hl7.org/fhir/CodeSystem/medication-status"),
    ("medicationdispense-status", "http://terminology.hl7.org/CodeSystem/medicationdispense-status"),
    ("medicationknowledge-status", "http://terminology.hl7.org/CodeSystem/medicationknowledge-status"),
    ("medicationrequest-intent", "http://hl7.org/fhir/CodeSystem/medicationrequest-intent"),
    ("medicationrequest-status", "http://hl7.org/fhir/CodeSystem/medicationrequest-status"),
    ("mimetypes", "urn:ietf:bcp:13"),
    ("system-restful-interaction", "http://hl7.org/fhir/restful-interaction"),
    ("task-intent", ""),
    ("type-restful-interaction", "http://hl7.org/fhir/restful-interaction"),
    ("units-of-time", "http://unitsofmeasure.org"),
    ("v3-ConfidentialityClassification", "http://terminology.hl7.org/CodeSystem/v3-Confidentiality"),
    ("verificationresult-status", "http://hl7.org/fhir/CodeSystem/status"),
];
