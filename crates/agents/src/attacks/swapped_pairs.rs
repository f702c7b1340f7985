//! Asks about two people or claims in one message, with their values swapped.

use super::case::{Case, Step, text_of, with_text};
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

fn cases(target: &Target<'_>) -> Vec<Case> {
    let mut found = pairs(target);
    found.extend(with_stranger(target));
    found
}

/// Two questions of the plan in one transaction. The agent gets the recorded answers.
fn pairs(target: &Target<'_>) -> Vec<Case> {
    let questions = target.writes_to("x12/transactions");
    let [(first, message), (second, other), ..] = questions.as_slice() else { return Vec::new() };
    let (Some(one), Some(two)) = (text_of(message), text_of(other)) else { return Vec::new() };
    if set(&one) != set(&two) {
        return Vec::new();
    }
    let (Some(own), Some(theirs)) = (subject(&one), subject(&two)) else { return Vec::new() };
    let mut found = Vec::new();
    for (words, names) in [
        ("swapped the claims of two people in one transaction", &["REF*", "AMT*", "DTP*"][..]),
        ("swapped the names of two people in one transaction", &["NM1*IL"][..]),
        ("swapped the birth dates of two people in one transaction", &["DMG*"][..]),
        ("swapped the amounts of two claims in one transaction", &["AMT*"][..]),
    ] {
        let loops = [with_segments_of(&own, &theirs, names), with_segments_of(&theirs, &own, names)];
        if loops[0] == own {
            continue;
        }
        let swapped = with_text(message, &|text| with_subjects(text, &loops));
        let answers = (target.survey.response(*first), target.survey.response(*second));
        let (Some(swapped), (Some(answer), Some(second_answer))) = (swapped, answers) else { continue };
        let substitute =
            Step::Substitute { number: *first, message: Some(Box::new(swapped)), response: Box::new(answer.clone()) };
        let nothing = Step::Substitute { number: *second, message: None, response: Box::new(second_answer.clone()) };
        found.push(Case::new("x12", words).step(substitute).step(nothing));
    }
    found
}

/// The question of the plan with a stranger's member number, and the stranger with the right one.
fn with_stranger(target: &Target<'_>) -> Option<Case> {
    let (number, message) = target.writes_to("x12/transactions").into_iter().next()?;
    let text = text_of(message)?;
    let own = subject(&text)?;
    let theirs = about_stranger(target, &own);
    let (member, other) = (element(&own, "NM1*IL", 9)?.to_owned(), element(&theirs, "NM1*IL", 9)?.to_owned());
    let loops = [with_element(&own, "NM1*IL", 9, &other), with_element(&theirs, "NM1*IL", 9, &member)];
    let swapped = with_text(message, &|text| with_subjects(text, &loops))?;
    let response = Box::new(target.survey.response(number)?.clone());
    let words = "swapped the member numbers of the patient and another person";
    Some(Case::new("x12", words).step(Step::Substitute { number, message: Some(Box::new(swapped)), response }))
}
