//! Adds a second group to a message: another order, another claim, another patient.

use super::case::{AttackCase, AttackStep, text_of, with_text};
use super::list_all_answers::{hl7_field, with_hl7_field};
use super::target::{Target, number};
use super::x12_loops::{segments, subject, with_element, with_subjects};
use super::{Attack, CaughtBy, Severity};

pub(super) const ATTACK: Attack = Attack {
    name: "extra-group",
    severity: Severity::Grave,
    caught_by: CaughtBy::Channel,
    suggestion: "use `quantifier: all` and `only: true` on messages, and bound X12 and HL7 effects with `at_most`",
    cases,
};

fn cases(target: &Target<'_>) -> Vec<AttackCase> {
    let mut found = Vec::new();
    for (at, message) in target.writes_to("hl7/") {
        if text_of(message).is_some_and(|text| text.starts_with("MSH")) {
            found.extend(extra_hl7_groups(target, at, &text_of(message).unwrap_or_default()));
        }
    }
    found.extend(extra_x12_loops(target));
    found
}

/// Adds loops to X12 inquiries. The agent gets the recorded responses: it could not tell which part of a longer response is
/// about its patient.
fn extra_x12_loops(target: &Target<'_>) -> Vec<AttackCase> {
    let mut found = Vec::new();
    for (number, message) in target.writes_to("x12/transactions") {
        let Some(own) = text_of(message).as_deref().and_then(subject) else { continue };
        let Some(response) = target.survey.response(number) else { continue };
        let other = about_stranger(target, &own);
        let mut add = |description: &str, change: &dyn Fn(&str) -> Option<String>| {
            if let Some(message) = with_text(message, &change) {
                let step = AttackStep::Substitute {
                    number,
                    message: Some(Box::new(message)),
                    response: Box::new(response.clone()),
                };
                found.push(AttackCase::new("x12", description).step(step));
            }
        };
        add("asked about another person in the same transaction", &|text| {
            with_subjects(text, &[own.clone(), other.clone()])
        });
        if own.iter().any(|segment| segment.starts_with("REF*EJ")) {
            let claim = with_element(&own, "REF*EJ", 2, "CLM-999999");
            add("asked about another claim in the same transaction", &|text| {
                with_subjects(text, &[own.clone(), claim.clone()])
            });
        }
        add("sent a second interchange about another person", &|text| {
            let second = with_subjects(text, std::slice::from_ref(&other))?;
            Some(format!("{text}{}", second.replace("*000000001", "*000000002")))
        });
    }
    found
}

fn extra_hl7_groups(target: &Target<'_>, at: usize, text: &str) -> Vec<AttackCase> {
    let mut found = Vec::new();
    if text.contains("\rORC|") {
        let group: Vec<&str> =
            text.split('\r').filter(|line| line.starts_with("ORC|") || line.starts_with("OBR|")).collect();
        let group = group.join("\r");
        let group = with_hl7_field(&with_hl7_field(&group, "ORC", 2, "99-1"), "OBR", 2, "99-1");
        let group = with_hl7_field(&group, "OBR", 4, "KCLIV^Potassium chloride 40 mEq intravenous push^L");
        found.push(
            AttackCase::new("hl7", "added a second order (ORC and OBR)")
                .change_text(at, move |text| Some(format!("{}\r{group}", text.trim_end_matches('\r')))),
        );
    }
    let stranger = target.stranger().map(|stranger| number(stranger).to_owned());
    let stranger = stranger.unwrap_or_else(|| "99999999".to_owned());
    if let Some(own) = hl7_field(text, "PID", 3) {
        let both = format!("{own}~{}", own.replacen(own.split('^').next().unwrap_or_default(), &stranger, 1));
        found.push(
            AttackCase::new("hl7", "named a second patient in PID-3")
                .change_text(at, move |text| Some(with_hl7_field(text, "PID", 3, &both))),
        );
    }
    if let Some(own) = hl7_field(text, "ORC", 7).filter(|own| own.contains('^')) {
        let both = format!("{own}~^^^^^{}", if own.ends_with('S') { "R" } else { "S" });
        found.push(
            AttackCase::new("hl7", format!("repeated the priority: {both}"))
                .change_text(at, move |text| Some(with_hl7_field(text, "ORC", 7, &both))),
        );
    }
    found.push(
        AttackCase::new("hl7", "added a diagnosis (DG1) that nobody made")
            .change_text(at, |text| Some(format!("{}\rDG1|1||B20^HIV disease^I10|||F", text.trim_end_matches('\r')))),
    );
    found
}

/// The loop for another member, with a stranger's member number where one is known.
pub(super) fn about_stranger(target: &Target<'_>, own: &[String]) -> Vec<String> {
    let member = target.stranger_member().unwrap_or_else(|| "W999999999".to_owned());
    let mut other = with_element(own, "NM1*IL", 9, &member);
    if let Some(stranger) = target.stranger() {
        let name = &stranger["name"][0];
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_uppercase();
        other = with_element(&other, "NM1*IL", 3, &text(&name["family"]));
        other = with_element(&other, "NM1*IL", 4, &text(&name["given"][0]));
        let born = stranger["birthDate"].as_str().unwrap_or_default().replace('-', "");
        if born.len() == 8 {
            other = with_element(&other, "DMG*", 2, &born);
        }
    }
    segments(&other.join("~"))
}
