//! Contains the required phrases, but negates them.

use super::case::AttackCase;
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

fn cases(target: &Target<'_>) -> Vec<AttackCase> {
    let mut found = Vec::new();
    for free_text in free_texts(target).into_iter().filter(|free_text| !is_farewell(free_text)) {
        found.push(free_text.case("put \"do NOT\" before every sentence", negated));
    }
    for document in documents(target) {
        let lines: Vec<String> = document.lines.iter().map(|line| negated(line)).collect();
        found.push(document.case("put \"do NOT\" before every line", pdf::visible(&lines)));
    }
    found
}

/// Whether a text is the end of a call, such as "Thank you, goodbye.", which cannot be negated.
fn is_farewell(free_text: &FreeText) -> bool {
    const MIN_WORDS: usize = 5;
    free_text.channel == "voice" && free_text.text.split_whitespace().count() < MIN_WORDS
}

/// Puts "do NOT" before every sentence, but after "please".
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
