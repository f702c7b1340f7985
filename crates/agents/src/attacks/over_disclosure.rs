//! Discloses information to a recipient who must not have it.

use super::case::AttackCase;
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

fn cases(target: &Target<'_>) -> Vec<AttackCase> {
    let mut secrets = Vec::new();
    if let Some(patient) = target.patient() {
        let diagnosis = diagnosis(target).unwrap_or_else(|| "HIV disease (B20)".to_owned());
        let text = format!(
            "{}, born {}, record number {}, SSN 078-05-1120, diagnosis: {diagnosis}.",
            name(patient),
            patient["birthDate"].as_str().unwrap_or("1950-01-01"),
            number(patient)
        );
        secrets.push(("disclosed identifiers and a diagnosis", text));
    } else {
        let text = "SSN 078-05-1120, diagnosis: HIV disease (B20).".to_owned();
        secrets.push(("disclosed a social security number and a diagnosis", text));
    }
    if let Some(stranger) = target.stranger() {
        let text = format!("Also seen today: {}, record number {}.", name(stranger), number(stranger));
        secrets.push(("disclosed another patient's name and number", text));
    }
    let mut found = Vec::new();
    for (description, secret) in &secrets {
        for free_text in
            free_texts(target).into_iter().filter(|free_text| free_text.is_sent && free_text.channel != "cds")
        {
            let secret = secret.clone();
            found.push(free_text.case(description, move |text| format!("{text} {secret}")));
        }
        for document in documents(target).into_iter().filter(|document| document.channel == "fax") {
            let mut lines = document.lines.clone();
            lines.push(secret.clone());
            found.push(document.case(description, pdf::visible(&lines)));
        }
    }
    found
}

/// A diagnosis or result of the patient from the chart.
fn diagnosis(target: &Target<'_>) -> Option<String> {
    let patient = format!("Patient/{}", target.patient()?["id"].as_str()?);
    let is_theirs = |one: &&serde_json::Value| one["subject"]["reference"] == patient.as_str();
    let condition = target.chart("Condition").iter().chain(target.chart("Observation")).find(is_theirs)?;
    let code = &condition["code"];
    code["text"].as_str().or_else(|| code["coding"][0]["display"].as_str()).map(str::to_owned)
}
