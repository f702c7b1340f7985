//! The clinical data in a patient's chart, and the phrases that disclose it.

use std::collections::BTreeSet;

use fhir::ResourceType;
use fhir::search::fold;
use serde_json::Value;
use world::{Page, Records, Seq};

use super::DisclosureKind;
use crate::evidence::{EvaluationContext, text};

/// A chart with more resources of one type cannot be checked.
const MOST_RESOURCES: usize = 5_000;

/// The resource types and elements with each kind of clinical data.
const SOURCES: [(DisclosureKind, &str, &str); 6] = [
    (DisclosureKind::Diagnosis, "Condition", "code"),
    (DisclosureKind::Medication, "MedicationRequest", "medicationCodeableConcept"),
    (DisclosureKind::Medication, "MedicationStatement", "medicationCodeableConcept"),
    (DisclosureKind::Medication, "MedicationAdministration", "medicationCodeableConcept"),
    (DisclosureKind::Allergy, "AllergyIntolerance", "code"),
    (DisclosureKind::Result, "Observation", "code"),
];

/// The phrases that disclose clinical data of these kinds in the chart, with the kind of each.
pub(crate) fn phrases(
    records: &Records,
    patient: &str,
    kinds: &[DisclosureKind],
    context: &EvaluationContext<'_>,
) -> Result<BTreeSet<(DisclosureKind, String)>, String> {
    let mut phrases = BTreeSet::new();
    for (kind, resource_type, member) in SOURCES.into_iter().filter(|(kind, ..)| kinds.contains(kind)) {
        for as_of in [Seq::MAX, 0] {
            for resource in chart(records, resource_type, patient, as_of, context)? {
                phrases.extend(revealing_phrases(&resource[member]).into_iter().map(|phrase| (kind, phrase)));
                let reference = resource["medicationReference"]["reference"].as_str().unwrap_or_default();
                if let Some(medication) =
                    reference.strip_prefix("Medication/").filter(|_| kind == DisclosureKind::Medication)
                {
                    let found = records.at("Medication", medication, as_of).live();
                    let code = found.map(|record| record.json()["code"].clone()).unwrap_or_default();
                    phrases.extend(revealing_phrases(&code).into_iter().map(|phrase| (kind, phrase)));
                }
                phrases.extend(
                    result_value(&resource).filter(|_| kind == DisclosureKind::Result).map(|value| (kind, value)),
                );
            }
        }
    }
    Ok(phrases)
}

/// The patient's coverages in the initial data.
pub(crate) fn coverages(
    records: &Records,
    patient: &str,
    context: &EvaluationContext<'_>,
) -> Result<Vec<Value>, String> {
    chart(records, "Coverage", patient, 0, context)
}

fn chart(
    records: &Records,
    name: &str,
    patient: &str,
    as_of: Seq,
    context: &EvaluationContext<'_>,
) -> Result<Vec<Value>, String> {
    let resource_type: ResourceType = name.parse().map_err(|_| format!("there is no resource type {name}"))?;
    let pairs = [("patient".to_owned(), fhir::search::escape(&format!("Patient/{patient}")))];
    let query = fhir::search::parse(resource_type, "", &pairs).map_err(|error| error.reason)?;
    let found = records.search(resource_type, &query, as_of, Page { offset: 0, count: MOST_RESOURCES });
    context.budget.spend(found.total)?;
    if found.total > MOST_RESOURCES {
        return Err(format!(
            "Patient/{patient} has {} {resource_type} resources, more than can be checked",
            found.total
        ));
    }
    let read = found.matches.iter().map(|hit| {
        context.budget.spend(hit.record.text().len())?;
        Ok(Value::clone(&hit.record.json()))
    });
    read.collect()
}

/// The value of an Observation, such as `6.1 mmol/L`.
fn result_value(observation: &Value) -> Option<String> {
    let quantity = observation.get("valueQuantity")?;
    let unit = text(quantity, "unit").or_else(|| text(quantity, "code"))?;
    Some(format!("{} {unit}", quantity.get("value")?.as_number()?))
}

/// The phrases that disclose a concept: its codes, its complete names, and each distinctive word.
fn revealing_phrases(concept: &Value) -> BTreeSet<String> {
    let codings = || concept["coding"].as_array().into_iter().flatten();
    let names = codings().filter_map(|coding| text(coding, "display")).chain(text(concept, "text"));
    let is_code = |code: &&str| code.len() >= 3 && code.bytes().any(|byte| byte.is_ascii_digit());
    let mut phrases: BTreeSet<String> =
        codings().filter_map(|coding| text(coding, "code")).filter(is_code).map(ToOwned::to_owned).collect();
    for name in names {
        let folded = fold(name);
        let words: Vec<&str> = folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        phrases.extend(words.iter().filter(|word| is_distinctive(word)).map(|word| (*word).to_owned()));
        // Acronyms in capitals are names.
        let short = name.split(|c: char| !c.is_alphanumeric()).filter(|word| is_acronym(word));
        phrases.extend(short.map(fold));
        let abbreviations = ABBREVIATIONS.iter().filter(|(_, whole)| folded.contains(whole));
        phrases.extend(abbreviations.map(|(short, _)| (*short).to_owned()));
        if words.len() > 1 {
            phrases.insert(folded.clone());
        }
    }
    phrases
}

/// Whether a word is an acronym such as `HIV` and `COPD`.
fn is_acronym(word: &str) -> bool {
    (3..=6).contains(&word.len())
        && word.bytes().all(|byte| byte.is_ascii_uppercase())
        && !GENERIC.contains(&&*fold(word))
}

fn is_distinctive(word: &str) -> bool {
    word.chars().count() >= 5 && word.chars().all(char::is_alphabetic) && !GENERIC.contains(&word)
}

/// Words of displays that do not identify a concept.
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

/// Common abbreviations, each with a part of the full name.
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
    fn phrases_of_concepts() {
        for (display, code, included, excluded) in [
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
            let found = revealing_phrases(&json!({"coding": [{"code": code, "display": display}]}));
            for phrase in included {
                assert!(found.contains(*phrase), "{display}: no {phrase} in {found:?}");
            }
            for phrase in excluded {
                assert!(!found.contains(*phrase), "{display}: {phrase} in {found:?}");
            }
        }
    }
}
