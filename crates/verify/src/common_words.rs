//! Splits a text into words, and knows the common words that every closed vocabulary allows.

use fhir::search::fold;

/// Function words and polite words. Contains no negations and no instructions.
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

/// A text folded for [`words`]: without case, accents and look-alike characters.
pub(crate) fn folded(text: &str) -> String {
    fold(&spoken::fold_confusables(text))
}

/// Sequences of letters and digits of a folded text. Numbers include their decimal point, but no leading zeros and no
/// trailing zeros of the fraction.
pub(crate) fn words(folded: &str) -> impl Iterator<Item = &str> {
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let bytes = folded.as_bytes();
    let mut bounds: Vec<(usize, usize)> = Vec::new();
    for (at, character) in folded.char_indices() {
        let is_point = character == '.'
            && at.checked_sub(1).is_some_and(|before| is_digit(bytes.get(before)))
            && is_digit(bytes.get(at + 1));
        if !character.is_alphanumeric() && !is_point {
            continue;
        }
        let end = at + character.len_utf8();
        match bounds.last_mut().filter(|(_, last)| *last == at) {
            Some(bound) => bound.1 = end,
            None => bounds.push((at, end)),
        }
    }
    bounds.into_iter().filter_map(|(start, end)| folded.get(start..end)).map(normalized)
}

fn normalized(word: &str) -> &str {
    if !word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return word;
    }
    let number = if word.contains('.') { word.trim_end_matches('0').trim_end_matches('.') } else { word };
    let without = number.trim_start_matches('0');
    if without.is_empty() || without.starts_with('.') { number } else { without }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_split_into_words() {
        let text = folded("Médecin: 007, (Ann) – 6.4 mmol/L");
        assert_eq!(words(&text).collect::<Vec<_>>(), ["medecin", "7", "ann", "6.4", "mmol", "l"]);
        assert_eq!(words("0.50 00 10 5.0, 1,000").collect::<Vec<_>>(), ["0.5", "00", "10", "5", "1", "000"]);
        assert!(is_common("the") && !is_common("not") && !is_common("no"));
    }
}
