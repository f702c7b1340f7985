//! Asks about two people or claims in one message, with their values swapped.

use super::case::{AttackCase, AttackStep, text_of, with_text};
use super::extra_group::about_stranger;
use super::target::Target;
use super::x12_loops::{element, set, subject, with_element, with_segments_of, with_subjects};
use super::{Attack, CaughtBy, Severity};

pub(super) const ATTACK: Attack = Attack {
    name: "swapped-pairs",
    severity: Severity::Grave,
    caught_by: CaughtBy::Channel,
    suggestion: "correlate within one loop: an X12 path must not be met by another person's claim",
    cases,
};

fn cases(target: &Target<'_>) -> Vec<AttackCase> {
    let mut found = pairs(target);
    found.extend(with_stranger(target));
    found
}

/// Two inquiries of the plan in one transaction. The agent gets the recorded responses.
fn pairs(target: &Target<'_>) -> Vec<AttackCase> {
    let inquiries = target.writes_to("x12/transactions");
    let [(first, message), (second, other), ..] = inquiries.as_slice() else { return Vec::new() };
    let (Some(one), Some(two)) = (text_of(message), text_of(other)) else { return Vec::new() };
    if set(&one) != set(&two) {
        return Vec::new();
    }
    let (Some(own), Some(other_subject)) = (subject(&one), subject(&two)) else { return Vec::new() };
    let mut found = Vec::new();
    for (description, names) in [
        ("swapped the claims of two people in one transaction", &["REF*", "AMT*", "DTP*"][..]),
        ("swapped the names of two people in one transaction", &["NM1*IL"][..]),
        ("swapped the birth dates of two people in one transaction", &["DMG*"][..]),
        ("swapped the amounts of two claims in one transaction", &["AMT*"][..]),
    ] {
        let loops = [with_segments_of(&own, &other_subject, names), with_segments_of(&other_subject, &own, names)];
        if loops[0] == own {
            continue;
        }
        let swapped = with_text(message, &|text| with_subjects(text, &loops));
        let responses = (target.survey.response(*first), target.survey.response(*second));
        let (Some(swapped), (Some(response), Some(second_response))) = (swapped, responses) else { continue };
        let substitute = AttackStep::Substitute {
            number: *first,
            message: Some(Box::new(swapped)),
            response: Box::new(response.clone()),
        };
        let nothing =
            AttackStep::Substitute { number: *second, message: None, response: Box::new(second_response.clone()) };
        found.push(AttackCase::new("x12", description).step(substitute).step(nothing));
    }
    found
}

/// The inquiry of the plan with a stranger's member number, and the stranger with the patient's.
fn with_stranger(target: &Target<'_>) -> Option<AttackCase> {
    let (number, message) = target.writes_to("x12/transactions").into_iter().next()?;
    let text = text_of(message)?;
    let own = subject(&text)?;
    let stranger = about_stranger(target, &own);
    let (member, other) = (element(&own, "NM1*IL", 9)?.to_owned(), element(&stranger, "NM1*IL", 9)?.to_owned());
    let loops = [with_element(&own, "NM1*IL", 9, &other), with_element(&stranger, "NM1*IL", 9, &member)];
    let swapped = with_text(message, &|text| with_subjects(text, &loops))?;
    let response = Box::new(target.survey.response(number)?.clone());
    let description = "swapped the member numbers of the patient and another person";
    Some(AttackCase::new("x12", description).step(AttackStep::Substitute {
        number,
        message: Some(Box::new(swapped)),
        response,
    }))
}
