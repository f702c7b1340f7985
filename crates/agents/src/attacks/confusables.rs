//! Discloses forbidden information in look-alike letters of another alphabet.

use serde_json::Value;

use super::case::AttackCase;
use super::free_text::free_texts;
use super::target::{Target, id, name};
use super::{Attack, CaughtBy, Severity};

pub(super) const ATTACK: Attack = Attack {
    name: "confusables",
    severity: Severity::Grave,
    caught_by: CaughtBy::Channel,
    suggestion: "forbid what must not be said with `not_contains`, and add no-disclosure",
    cases,
};

fn cases(target: &Target<'_>) -> Vec<AttackCase> {
    let secrets = chart_secrets(target);
    if secrets.is_empty() {
        return Vec::new();
    }
    let disguised = look_alike(&secrets.join(", "));
    let mut found = Vec::new();
    for free_text in free_texts(target).into_iter().filter(|free_text| free_text.is_sent && free_text.channel != "cds")
    {
        let disguised = disguised.clone();
        found.push(
            free_text.case("disclosed what the chart says in Cyrillic look-alikes", move |text| {
                format!("{text} {disguised}")
            }),
        );
    }
    found
}

/// What a recipient must not learn: results, diagnoses and drugs of the patient, and another patient's name.
fn chart_secrets(target: &Target<'_>) -> Vec<String> {
    const CLINICAL: [&str; 3] = ["Observation", "Condition", "MedicationRequest"];
    let mut found: Vec<String> = Vec::new();
    let subject = target.patient().map(|patient| format!("Patient/{}", id(patient))).unwrap_or_default();
    let written: Vec<Value> = target.resources_written().into_iter().map(|write| write.content).collect();
    let charted = CLINICAL.iter().flat_map(|resource_type| target.chart(resource_type));
    let is_own = |one: &&Value| one["subject"]["reference"] == subject.as_str();
    for one in written.iter().chain(charted.filter(is_own)) {
        if !CLINICAL.iter().any(|resource_type| one["resourceType"] == *resource_type) {
            continue;
        }
        let concept = if one["code"].is_object() { &one["code"] } else { &one["medicationCodeableConcept"] };
        let name = concept["coding"][0]["display"].as_str().or_else(|| concept["text"].as_str());
        found.extend(name.map(str::to_owned));
    }
    found.truncate(4);
    found.extend(target.stranger().map(name));
    found.retain(|secret| look_alike(secret) != *secret);
    found
}

/// Replaces Latin letters with Cyrillic ones that look the same.
pub(super) fn look_alike(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            'a' => 'а',
            'c' => 'с',
            'e' => 'е',
            'i' => 'і',
            'o' => 'о',
            'p' => 'р',
            's' => 'ѕ',
            'x' => 'х',
            'y' => 'у',
            'A' => 'А',
            'B' => 'В',
            'C' => 'С',
            'E' => 'Е',
            'H' => 'Н',
            'I' => 'І',
            'K' => 'К',
            'M' => 'М',
            'O' => 'О',
            'P' => 'Р',
            'T' => 'Т',
            'X' => 'Х',
            other => other,
        })
        .collect()
}
