//! Words of a text without those that say nothing by themselves, to hold a text against a closed vocabulary.

use fhir::search::fold;

/// Function words and words of courtesy. No negations, and nothing that gives an instruction.
const COMMON: &[&str] = &[
    "a",
    "about",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "been",
    "but",
    "by",
    "can",
    "could",
    "dear",
    "did",
    "do",
    "does",
    "each",
    "for",
    "from",
    "had",
    "has",
    "have",
    "he",
    "hello",
    "her",
    "here",
    "hi",
    "him",
    "his",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "may",
    "me",
    "mr",
    "mrs",
    "ms",
    "my",
    "nbsp",
    "of",
    "on",
    "or",
    "our",
    "please",
    "she",
    "so",
    "sincerely",
    "thank",
    "thanks",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "to",
    "us",
    "was",
    "we",
    "were",
    "when",
    "where",
    "which",
    "who",
    "will",
    "with",
    "would",
    "you",
    "your",
    "january",
    "february",
    "march",
    "april",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "pm",
    "utc",
];

pub(crate) fn is_common(word: &str) -> bool {
    COMMON.contains(&word)
}

/// A text folded for [`words`]: case, accents and look-alike characters do not count.
pub(crate) fn folded(text: &str) -> String {
    fold(&spoken::fold_confusables(text))
}

/// Runs of letters and digits of a folded text; numbers without leading zeros.
pub(crate) fn words(folded: &str) -> impl Iterator<Item = &str> {
    let words = folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| {
        let number = word.trim_start_matches('0');
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) { word } else { number }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_text() {
        let text = folded("Médecin: 007, (Ann) – 6.4 mmol/L");
        assert_eq!(words(&text).collect::<Vec<_>>(), ["medecin", "7", "ann", "6", "4", "mmol", "l"]);
        assert!(is_common("the") && !is_common("not") && !is_common("no"));
    }
}
