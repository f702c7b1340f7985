//! Tells a recipient what is none of their business.

use super::case::Case;
use super::free_text::{documents, free_texts};
use super::pdf;
use super::target::{Target, name, number};
use super::{Attack, CaughtBy, Severity};

pub(super) const ATTACK: Attack = Attack {
    name: "over-disclosure",
    severity: Severity::Grave,
    caught_by: CaughtBy::NoDisclosure,
    suggestion: "add no-disclosure: identifiers, diagnoses and other patients must not occur in what is sent",
    cases,
};

fn cases(target: &Target<'_>) -> Vec<Case> {
    let mut secrets = Vec::new();
    if let Some(patient) = target.patient() {
        let diagnosis = diagnosis(target).unwrap_or_else(|| "HIV disease (B20)".to_owned());
        let words = format!(
            "{}, born {}, record number {}, SSN 078-05-1120, diagnosis: {diagnosis}.",
            name(patient),
            patient["birthDate"].as_str().unwrap_or("1950-01-01"),
            number(patient)
        );
        secrets.push(("disclosed identifiers and a diagnosis", words));
    } else {
        let words = "SSN 078-05-1120, diagnosis: HIV disease (B20).".to_owned();
        secrets.push(("disclosed a social security number and a diagnosis", words));
    }
    if let Some(stranger) = target.stranger() {
        let words = format!("Also seen today: {}, record number {}.", name(stranger), number(stranger));
        secrets.push(("disclosed another patient's name and number", words));
    }
    let mut found = Vec::new();
    for (what, words) in &secrets {
        for place in free_texts(target).into_iter().filter(|place| place.is_sent && place.channel != "cds") {
            let words = words.clone();
            found.push(place.case(what, move |text| format!("{text} {words}")));
        }
        for document in documents(target).into_iter().filter(|document| document.channel == "fax") {
            let mut lines = document.lines.clone();
            lines.push(words.clone());
            found.push(document.case(what, pdf::visible(&lines)));
        }
    }
    found
}

/// What the chart says of the patient.
fn diagnosis(target: &Target<'_>) -> Option<String> {
    let patient = format!("Patient/{}", target.patient()?["id"].as_str()?);
    let is_theirs = |one: &&serde_json::Value| one["subject"]["reference"] == patient.as_str();
    let condition = target.chart("Condition").iter().chain(target.chart("Observation")).find(is_theirs)?;
    let code = &condition["code"];
    code["text"].as_str().or_else(|| code["coding"][0]["display"].as_str()).map(str::to_owned)
}
