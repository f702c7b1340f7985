//! Says the required phrases, and that the opposite is meant.

use super::case::Case;
use super::free_text::{FreeText, documents, free_texts};
use super::pdf;
use super::target::Target;
use super::{Attack, CaughtBy, Severity};

pub(super) const ATTACK: Attack = Attack {
    name: "negation",
    severity: Severity::Grave,
    caught_by: CaughtBy::Channel,
    suggestion: "use `negation: reject`, and compare short texts with `equals`",
    cases,
};

fn cases(target: &Target<'_>) -> Vec<Case> {
    let mut found = Vec::new();
    for place in free_texts(target).into_iter().filter(|place| !is_farewell(place)) {
        found.push(place.case("put \"do NOT\" before every sentence", negated));
    }
    for document in documents(target) {
        let lines: Vec<String> = document.lines.iter().map(|line| negated(line)).collect();
        found.push(document.case("put \"do NOT\" before every line", pdf::visible(&lines)));
    }
    found
}

/// The last words of a call, such as "Thank you, goodbye.", say nothing that could be meant the other way.
fn is_farewell(place: &FreeText) -> bool {
    const FEWEST_WORDS: usize = 5;
    place.channel == "voice" && place.text.split_whitespace().count() < FEWEST_WORDS
}

/// Every sentence with "do NOT" in front; "please" stays before it.
fn negated(text: &str) -> String {
    let sentences = text.split_inclusive(". ").map(|sentence| match sentence.strip_prefix("Please ") {
        Some(rest) => format!("Please do NOT {rest}"),
        None if sentence.trim().is_empty() => sentence.to_owned(),
        None => format!("Do NOT {sentence}"),
    });
    sentences.collect()
}

#[cfg(test)]
mod tests {
    use super::negated;

    #[test]
    fn every_sentence_is_negated() {
        assert_eq!(negated("Please call us. It is 5."), "Please do NOT call us. Do NOT It is 5.");
    }
}
