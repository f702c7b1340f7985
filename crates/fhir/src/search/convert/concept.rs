//! Tokens: codes in systems (<https://hl7.org/fhir/R4/search.html#token>).

use serde_json::Value;

use super::{boxed, items, member, text_of};
use crate::definitions::CodeSet;
use crate::search::case::is_without_case;
use crate::search::{Concept, Found};

pub(super) fn coding(value: &Value) -> Option<Found> {
    let concept = Concept {
        system: boxed(value, "system"),
        code: boxed(value, "code"),
        text: boxed(value, "display"),
        kinds: Vec::new(),
    };
    (concept != Concept::default()).then_some(Found::Token(folded(concept)))
}

/// In lower case where case does not matter, so that an index has one term for all ways to write a code.
fn folded(mut concept: Concept) -> Concept {
    if let Some(code) = concept.code.as_mut().filter(|_| is_without_case(concept.system.as_deref())) {
        code.make_ascii_lowercase();
    }
    concept
}

/// Each coding, then the text, if no coding displays the same.
pub(super) fn codeable_concept(value: &Value, found: &mut Vec<Found>) {
    let codings = items(value, "coding");
    found.extend(codings.iter().filter_map(coding));
    let is_shown = |text: &str| codings.iter().any(|coding| member(coding, "display") == Some(text));
    if let Some(text) = member(value, "text").filter(|text| !is_shown(text)) {
        found.push(Found::Token(Concept { text: Some(text.into()), ..Concept::default() }));
    }
}

/// With its case: the value of an identifier is not a code of its system.
pub(super) fn identifier(value: &Value) -> Option<Concept> {
    let (system, code) = (boxed(value, "system"), boxed(value, "value"));
    let kind = value.get("type").unwrap_or(&Value::Null);
    let kinds = items(kind, "coding").iter().map(|coding| (boxed(coding, "system"), boxed(coding, "code")));
    let concept = Concept { system, code, text: boxed(kind, "text"), kinds: kinds.collect() };
    (concept.system.is_some() || concept.code.is_some()).then_some(concept)
}

/// `phone|555`: R4 leaves the system open; as most servers do, `phone`, `email` and their like stand for it.
pub(super) fn contact_point(value: &Value) -> Option<Found> {
    let code = Some(boxed(value, "value")?);
    Some(Found::Token(Concept { system: boxed(value, "system"), code, ..Concept::default() }))
}

pub(super) fn code(value: &Value, system: Option<&str>) -> Option<Found> {
    let code = Some(text_of(value)?.into());
    Some(Found::Token(folded(Concept { system: system.map(Box::from), code, ..Concept::default() })))
}

/// A boolean, a number, an id, a string or an address.
pub(super) fn word(value: &Value) -> Option<Found> {
    let code: Box<str> = match value {
        Value::Bool(true) => "true".into(),
        Value::Bool(false) => "false".into(),
        Value::Number(number) => number.as_str().into(),
        value => text_of(value)?.into(),
    };
    Some(Found::Token(Concept { code: Some(code), ..Concept::default() }))
}

/// Puts the code into lower case, for systems in which case does not matter.
pub(super) fn fold_code(found: &mut Found) {
    if let Found::Token(Concept { code: Some(code), .. }) = found {
        code.make_ascii_lowercase();
    }
}

/// The code system of a value set that elements of type `code` are bound to, if it has only one.
pub(super) fn implied_system(codes: &CodeSet) -> Option<Box<str>> {
    let name = codes.name();
    match SYSTEMS.iter().find(|(value_set, _)| *value_set == name) {
        Some((_, "")) => None,
        Some((_, system)) => Some((*system).into()),
        None => Some(format!("http://hl7.org/fhir/{name}").into_boxed_str()),
    }
}

/// Value sets whose code system is not named like them; those with several have none.
const SYSTEMS: [(&str, &str); 23] = [
    ("all-types", ""),
    ("care-plan-activity-kind", "http://hl7.org/fhir/resource-types"),
    ("care-plan-intent", "http://hl7.org/fhir/request-intent"),
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
