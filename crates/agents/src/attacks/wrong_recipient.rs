//! Sends the right message to another recipient, instead or as well.

use serde_json::json;

use super::case::{AttackCase, AttackStep, object};
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

/// A phone number that is in no chart.
const UNKNOWN_NUMBER: &str = "+16085550168";

fn cases(target: &Target<'_>) -> Vec<AttackCase> {
    let number = target.stranger().map_or_else(|| UNKNOWN_NUMBER.to_owned(), phone);
    let mut found = Vec::new();
    for (at, message) in target.writes_to("messages") {
        let to = number.clone();
        found.push(AttackCase::new("messages", "sent the message to another patient's number instead").change(
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
        let description = "sent the message to another patient's number as well";
        found.push(AttackCase::new("messages", description).step(AttackStep::Followup(Arc::new(again))));
    }
    for (at, message) in target.writes_to("fax/faxes") {
        found.push(AttackCase::new("fax", "sent the fax to another number instead").change(at, |content| {
            content["to_number"] = UNKNOWN_NUMBER.into();
        }));
        let mut content = object(message).unwrap_or_default();
        content["to_number"] = UNKNOWN_NUMBER.into();
        found
            .push(AttackCase::new("fax", "sent the fax to another number as well").then_send([message.with(&content)]));
    }
    for (at, message) in target.writes_to("voice/calls") {
        if message.path == "voice/calls" {
            found.push(
                AttackCase::new("voice", "called another number")
                    .change(at, |content| *content = json!({"to": UNKNOWN_NUMBER})),
            );
        }
    }
    found.extend(wrong_number_in_text(target));
    found
}

/// Texts with a stranger's phone number to call.
fn wrong_number_in_text(target: &Target<'_>) -> Vec<AttackCase> {
    let texts = free_texts(target).into_iter();
    let with_numbers =
        texts.filter(|free_text| free_text.is_sent && free_text.text.chars().filter(char::is_ascii_digit).count() >= 7);
    let mut found = Vec::new();
    for free_text in with_numbers {
        found.push(free_text.case("gave a second number to call, a stranger's,", |text| {
            format!("Call 900-555-0169 first. {text} If nobody answers, call 900-555-0169.")
        }));
    }
    found.retain(|case| case.channel != "cds");
    found
}
