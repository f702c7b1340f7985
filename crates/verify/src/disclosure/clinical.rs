//! What a chart says about a patient, and the words that give it away.

use std::collections::BTreeSet;

use fhir::ResourceType;
use fhir::search::fold;
use serde_json::Value;
use world::{Page, Records, Seq};

use super::Kind;
use crate::evidence::{Case, text};

/// More resources of one kind than these are not looked through.
const MOST_RESOURCES: usize = 5_000;

/// Where each kind of clinical data is, and the parameter that leads to the patient.
const SOURCES: [(Kind, &str, &str); 6] = [
    (Kind::Diagnosis, "Condition", "code"),
    (Kind::Medication, "MedicationRequest", "medicationCodeableConcept"),
    (Kind::Medication, "MedicationStatement", "medicationCodeableConcept"),
    (Kind::Medication, "MedicationAdministration", "medicationCodeableConcept"),
    (Kind::Allergy, "AllergyIntolerance", "code"),
    (Kind::Result, "Observation", "code"),
];

/// The phrases that disclose what the chart has of these kinds, with the kind of each.
pub(crate) fn phrases(
    records: &Records,
    patient: &str,
    kinds: &[Kind],
    case: &Case<'_>,
) -> Result<BTreeSet<(Kind, String)>, String> {
    let mut phrases = BTreeSet::new();
    for (kind, resource_type, member) in SOURCES.into_iter().filter(|(kind, ..)| kinds.contains(kind)) {
        for as_of in [Seq::MAX, 0] {
            for resource in chart(records, resource_type, patient, as_of, case)? {
                phrases.extend(telling(&resource[member]).into_iter().map(|phrase| (kind, phrase)));
                let reference = resource["medicationReference"]["reference"].as_str().unwrap_or_default();
                if let Some(medication) = reference.strip_prefix("Medication/").filter(|_| kind == Kind::Medication) {
                    let found = records.at("Medication", medication, as_of).live();
                    let code = found.map(|record| record.json()["code"].clone()).unwrap_or_default();
                    phrases.extend(telling(&code).into_iter().map(|phrase| (kind, phrase)));
                }
                phrases.extend(result_value(&resource).filter(|_| kind == Kind::Result).map(|value| (kind, value)));
            }
        }
    }
    Ok(phrases)
}

/// The patient's coverages, as they were given.
pub(crate) fn coverages(records: &Records, patient: &str, case: &Case<'_>) -> Result<Vec<Value>, String> {
    chart(records, "Coverage", patient, 0, case)
}

fn chart(records: &Records, name: &str, patient: &str, as_of: Seq, case: &Case<'_>) -> Result<Vec<Value>, String> {
    let resource_type: ResourceType = name.parse().map_err(|_| format!("there is no resource type {name}"))?;
    let pairs = [("patient".to_owned(), fhir::search::escape(&format!("Patient/{patient}")))];
    let query = fhir::search::parse(resource_type, "", &pairs).map_err(|fault| fault.reason)?;
    let found = records.search(resource_type, &query, as_of, Page { offset: 0, count: MOST_RESOURCES });
    case.budget.spend(found.total)?;
    if found.total > MOST_RESOURCES {
        return Err(format!(
            "Patient/{patient} has {} {resource_type} resources, more than can be looked through",
            found.total
        ));
    }
    let read = found.matches.iter().map(|hit| {
        case.budget.spend(hit.record.text().len())?;
        Ok(Value::clone(&hit.record.json()))
    });
    read.collect()
}

/// `6.1 mmol/L`.
fn result_value(observation: &Value) -> Option<String> {
    let quantity = observation.get("valueQuantity")?;
    let unit = text(quantity, "unit").or_else(|| text(quantity, "code"))?;
    Some(format!("{} {unit}", quantity.get("value")?.as_number()?))
}

/// What of a concept gives it away: its codes, its names as a whole, and each word that says what it is.
fn telling(concept: &Value) -> BTreeSet<String> {
    let codings = || concept["coding"].as_array().into_iter().flatten();
    let names = codings().filter_map(|coding| text(coding, "display")).chain(text(concept, "text"));
    let is_code = |code: &&str| code.len() >= 3 && code.bytes().any(|byte| byte.is_ascii_digit());
    let mut telling: BTreeSet<String> =
        codings().filter_map(|coding| text(coding, "code")).filter(is_code).map(ToOwned::to_owned).collect();
    for name in names {
        let folded = fold(name);
        let words: Vec<&str> = folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        telling.extend(words.iter().filter(|word| is_distinctive(word)).map(|word| (*word).to_owned()));
        // What stands in brackets and parentheses is often a class or the unit; short forms in capitals are names.
        let short = name.split(|c: char| !c.is_alphanumeric()).filter(|word| is_short_form(word));
        telling.extend(short.map(fold));
        let abbreviations = ABBREVIATIONS.iter().filter(|(_, whole)| folded.contains(whole));
        telling.extend(abbreviations.map(|(short, _)| (*short).to_owned()));
        if words.len() > 1 {
            telling.insert(folded.clone());
        }
    }
    telling
}

/// `HIV`, `COPD`.
fn is_short_form(word: &str) -> bool {
    (3..=6).contains(&word.len())
        && word.bytes().all(|byte| byte.is_ascii_uppercase())
        && !GENERIC.contains(&&*fold(word))
}

fn is_distinctive(word: &str) -> bool {
    word.chars().count() >= 5 && word.chars().all(char::is_alphabetic) && !GENERIC.contains(&word)
}

/// Words of displays that say nothing by themselves.
const GENERIC: &[&str] = &[
    "about",
    "abnormal",
    "active",
    "acute",
    "adult",
    "after",
    "against",
    "agent",
    "allergy",
    "amount",
    "ankle",
    "another",
    "antigen",
    "aspect",
    "average",
    "back",
    "based",
    "before",
    "bilateral",
    "blood",
    "bodies",
    "body",
    "capsule",
    "care",
    "cause",
    "caused",
    "cells",
    "change",
    "chest",
    "chloride",
    "chronic",
    "class",
    "clinical",
    "complaint",
    "complication",
    "complications",
    "concentration",
    "condition",
    "content",
    "control",
    "controlled",
    "count",
    "cream",
    "current",
    "daily",
    "delayed",
    "depot",
    "device",
    "diagnosis",
    "disease",
    "disorder",
    "doses",
    "drink",
    "drops",
    "drug",
    "during",
    "elbow",
    "elevated",
    "encounter",
    "episode",
    "essential",
    "estimated",
    "examination",
    "exposure",
    "extended",
    "factor",
    "finding",
    "follow",
    "food",
    "function",
    "general",
    "generalized",
    "hands",
    "health",
    "heart",
    "height",
    "history",
    "hydrochloride",
    "hour",
    "hours",
    "human",
    "immediate",
    "infection",
    "injection",
    "injury",
    "inhaler",
    "initial",
    "intake",
    "level",
    "levels",
    "light",
    "liquid",
    "local",
    "localized",
    "lower",
    "major",
    "maleate",
    "measurement",
    "medication",
    "mellitus",
    "method",
    "metered",
    "mild",
    "minor",
    "moderate",
    "morning",
    "mouth",
    "multiple",
    "night",
    "normal",
    "other",
    "panel",
    "patient",
    "person",
    "pharmacy",
    "phosphate",
    "plasma",
    "positive",
    "powder",
    "prefilled",
    "presence",
    "present",
    "pressure",
    "primary",
    "procedure",
    "product",
    "ratio",
    "release",
    "right",
    "routine",
    "score",
    "secondary",
    "serum",
    "severe",
    "shoulder",
    "sodium",
    "solution",
    "spray",
    "state",
    "status",
    "substance",
    "sulfate",
    "suspension",
    "symptom",
    "syndrome",
    "syringe",
    "tablet",
    "tablets",
    "tartrate",
    "unspecified",
    "upper",
    "urine",
];

/// What people write instead of a name, and the part of the name that it stands for.
const ABBREVIATIONS: &[(&str, &str)] = &[
    ("hiv", "human immunodeficiency virus"),
    ("aids", "immunodeficiency"),
    ("copd", "chronic obstructive pulmonary"),
    ("ckd", "chronic kidney"),
    ("chf", "heart failure"),
    ("htn", "hypertension"),
    ("t2dm", "type 2 diabetes"),
    ("t1dm", "type 1 diabetes"),
    ("dm2", "type 2 diabetes"),
    ("ptsd", "post-traumatic stress"),
    ("ptsd", "posttraumatic"),
    ("adhd", "attention deficit"),
    ("ocd", "obsessive"),
    ("mdd", "major depressive"),
    ("gad", "generalized anxiety"),
    ("gerd", "reflux"),
    ("uti", "urinary tract infection"),
    ("dvt", "deep vein"),
    ("afib", "atrial fibrillation"),
    ("cad", "coronary"),
    ("esrd", "end stage renal"),
    ("ibd", "inflammatory bowel"),
    ("ibs", "irritable bowel"),
    ("tbi", "traumatic brain"),
    ("std", "sexually transmitted"),
    ("sti", "sexually transmitted"),
    ("hcv", "hepatitis c"),
    ("hbv", "hepatitis b"),
    ("oud", "opioid"),
    ("aud", "alcohol"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn telling_words() {
        for (display, code, told, untold) in [
            (
                "Type 2 diabetes mellitus without complications",
                "E11.9",
                &["diabetes", "E11.9", "t2dm"][..],
                &["mellitus", "without complications"][..],
            ),
            (
                "Human immunodeficiency virus [HIV] disease",
                "B20",
                &["hiv", "B20", "immunodeficiency"],
                &["human", "disease"],
            ),
            ("Essential (primary) hypertension", "I10", &["hypertension", "htn", "I10"], &["essential", "primary"]),
            ("Low back pain", "M54.50", &["low back pain", "M54.50"], &["back", "pain"]),
            (
                "Metformin hydrochloride 500 MG Oral Tablet",
                "861007",
                &["metformin"],
                &["tablet", "hydrochloride", "oral"],
            ),
        ] {
            let found = telling(&json!({"coding": [{"code": code, "display": display}]}));
            for phrase in told {
                assert!(found.contains(*phrase), "{display}: no {phrase} in {found:?}");
            }
            for phrase in untold {
                assert!(!found.contains(*phrase), "{display}: {phrase} in {found:?}");
            }
        }
    }
}
