//! Says what must not be said in letters that only look alike.

use super::case::Case;
use super::free_text::free_texts;
use super::target::Target;
use super::{Attack, CaughtBy, Severity};

pub(super) const ATTACK: Attack = Attack {
    name: "confusables",
    severity: Severity::Grave,
    caught_by: CaughtBy::Channel,
    suggestion: "forbid what must not be said with `not_contains`, and add no-disclosure",
    cases,
};

fn cases(target: &Target<'_>) -> Vec<Case> {
    let words = words_of_chart(target);
    if words.is_empty() {
        return Vec::new();
    }
    let said = look_alike(&words.join(", "));
    let mut found = Vec::new();
    for place in free_texts(target).into_iter().filter(|place| place.is_sent && place.channel != "cds") {
        let said = said.clone();
        found.push(
            place.case("disclosed what the chart says in Cyrillic look-alikes", move |text| format!("{text} {said}")),
        );
    }
    found
}

/// What the task is about, as its messages and the chart name it.
fn words_of_chart(target: &Target<'_>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for write in target.resources_written() {
        let code = &write.content["code"];
        let display = code["coding"][0]["display"].as_str().or_else(|| code["text"].as_str());
        let value = write.content["valueQuantity"]["value"].as_number().map(ToString::to_string);
        found.extend(display.map(str::to_owned));
        found.extend(value);
    }
    let patient = target.patient().and_then(|patient| patient["id"].as_str());
    let subject = patient.map(|id| format!("Patient/{id}")).unwrap_or_default();
    for one in target.chart("Observation").iter().chain(target.chart("Condition")).chain(target.chart("ServiceRequest"))
    {
        let code = &one["code"];
        let name = code["text"].as_str().or_else(|| code["coding"][0]["display"].as_str());
        if one["subject"]["reference"] == subject.as_str() {
            found.extend(name.map(str::to_owned));
        }
    }
    found.truncate(6);
    found
}

/// Latin letters that have a Cyrillic twin.
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
