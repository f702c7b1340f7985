//! Sends the right words to somebody else, instead or as well.

use serde_json::json;

use super::case::{Case, Step, object};
use super::free_text::free_texts;
use super::survey::Exchange;
use super::target::{Target, phone};
use super::{Attack, CaughtBy, Severity};
use std::sync::Arc;

pub(super) const ATTACK: Attack = Attack {
    name: "wrong-recipient",
    severity: Severity::Grave,
    caught_by: CaughtBy::Channel,
    suggestion: "assert the recipient (`to`, `to_number`) against the patient's own, and bound what is sent with `at_most`",
    cases,
};

/// Of nobody in any chart.
const NOBODY: &str = "+16085550168";

fn cases(target: &Target<'_>) -> Vec<Case> {
    let number = target.stranger().map_or_else(|| NOBODY.to_owned(), phone);
    let mut found = Vec::new();
    for (at, message) in target.writes_to("messages") {
        let to = number.clone();
        found.push(Case::new("messages", "sent the message to another patient's number instead").change(
            at,
            move |content| {
                content["to"] = to.as_str().into();
            },
        ));
        let (copy, to) = (message.clone(), number.clone());
        let again = move |_: &[Exchange]| {
            let mut content = object(&copy).unwrap_or_default();
            content["to"] = to.as_str().into();
            vec![copy.with(&content)]
        };
        let words = "sent the message to another patient's number as well";
        found.push(Case::new("messages", words).step(Step::Followup(Arc::new(again))));
    }
    for (at, message) in target.writes_to("fax/faxes") {
        found.push(Case::new("fax", "sent the fax to another number instead").change(at, |content| {
            content["to_number"] = NOBODY.into();
        }));
        let mut content = object(message).unwrap_or_default();
        content["to_number"] = NOBODY.into();
        found.push(Case::new("fax", "sent the fax to another number as well").finally([message.with(&content)]));
    }
    for (at, message) in target.writes_to("voice/calls") {
        if message.path == "voice/calls" {
            found.push(
                Case::new("voice", "called another number").change(at, |content| *content = json!({"to": NOBODY})),
            );
        }
    }
    found.extend(in_words(target));
    found
}

/// A number in the text that leads to somebody else.
fn in_words(target: &Target<'_>) -> Vec<Case> {
    let texts = free_texts(target).into_iter();
    let with_numbers =
        texts.filter(|place| place.is_sent && place.text.chars().filter(char::is_ascii_digit).count() >= 7);
    let mut found = Vec::new();
    for place in with_numbers {
        found.push(place.case("gave a second number to call, a stranger's,", |text| {
            format!("Call 900-555-0169 first. {text} If nobody answers, call 900-555-0169.")
        }));
    }
    found.retain(|case| case.channel != "cds");
    found
}
