//! JSON elements that many resources have.

use serde_json::{Value, json};

use crate::milli::Milli;

pub(crate) const US_CORE: &str = "http://hl7.org/fhir/us/core/StructureDefinition/";
pub(crate) const LOINC: &str = "http://loinc.org";
pub(crate) const SNOMED: &str = "http://snomed.info/sct";
pub(crate) const ICD10: &str = "http://hl7.org/fhir/sid/icd-10-cm";
pub(crate) const RXNORM: &str = "http://www.nlm.nih.gov/research/umls/rxnorm";
pub(crate) const CPT: &str = "http://www.ama-assn.org/go/cpt";
const HCPCS: &str = "https://www.cms.gov/Medicare/Coding/HCPCSReleaseCodeSets";
const UCUM: &str = "http://unitsofmeasure.org";

pub(crate) fn reference(kind: &str, id: &str) -> Value {
    json!({"reference": format!("{kind}/{id}")})
}

pub(crate) fn meta(profile: &str) -> Value {
    json!({"profile": [format!("{US_CORE}{profile}")]})
}

pub(crate) fn concept(system: &str, code: &str, display: &str) -> Value {
    json!({"coding": [{"system": system, "code": code, "display": display}], "text": display})
}

/// A code of the HL7 terminology.
pub(crate) fn hl7(system: &str, code: &str, display: &str) -> Value {
    json!({"coding": [{"system": format!("http://terminology.hl7.org/CodeSystem/{system}"), "code": code, "display": display}]})
}

/// A billed service. A code that starts with a letter is HCPCS level II.
pub(crate) fn service(code: &str, name: &str) -> Value {
    let system = if code.starts_with(|letter: char| letter.is_ascii_alphabetic()) { HCPCS } else { CPT };
    concept(system, code, name)
}

pub(crate) fn quantity(value: Milli, digits: u32, unit: &str) -> Value {
    json!({"value": value.number(digits), "unit": unit, "system": UCUM, "code": unit})
}

/// An amount in dollars.
pub(crate) fn money(cents: i64) -> Value {
    json!({"value": Milli(cents * 10).number(2), "currency": "USD"})
}
