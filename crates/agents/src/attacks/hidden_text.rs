//! Sends a document that contains the required text where no reader can see it.

use super::case::AttackCase;
use super::free_text::documents;
use super::pdf::{Hiding, hiding};
use super::target::Target;
use super::{Attack, CaughtBy, Severity};

pub(super) const ATTACK: Attack = Attack {
    name: "hidden-text",
    severity: Severity::Grave,
    caught_by: CaughtBy::Channel,
    suggestion: "score documents by their visible text: upgrade to an engine that does",
    cases,
};

fn cases(target: &Target<'_>) -> Vec<AttackCase> {
    let mut found = Vec::new();
    for document in documents(target) {
        for (how, name) in Hiding::ALL {
            let visible = ["There is no record for this patient.".to_owned()];
            let description = format!("showed something else; the text is {name}");
            found.push(document.case(&description, hiding(&document.lines, &visible, how)));
        }
        let blank = hiding(&document.lines, &[], Hiding::Invisible);
        found.push(document.case("showed a blank page; the text is invisible", blank));
    }
    found
}
