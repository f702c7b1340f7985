use super::*;
use crate::SpokenText;
use proptest::prelude::*;

/// Found, and nowhere negated.
fn is_affirmed(text: &str, phrase: &str) -> bool {
    let (said, negations) = (SpokenText::new(text), Negations::new(text));
    let (mut after, mut is_found) = (None, false);
    while let Some(hit) = said.find(phrase, after) {
        if !has_negation(phrase) && negations.is_negated(hit) {
            return false;
        }
        (after, is_found) = (Some(hit.0), true);
    }
    is_found
}

/// Text, phrase, and whether the phrase counts as found: `+` or `-`.
#[test]
fn the_table_of_negations_holds() {
    let lines = include_str!("../../tests/negation.tsv").lines().filter(|line| !line.starts_with('#'));
    let (mut pairs, mut wrong) = (0, Vec::new());
    for line in lines {
        let [expected, phrase, text] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line:?}") };
        let text = text.replace("\\n", "\n");
        pairs += 1;
        if is_affirmed(&text, phrase) != (expected == "+") {
            wrong.push(format!("{expected} {phrase:?} in {text:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {pairs}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(pairs >= 150, "{pairs} pairs");
}

#[test]
fn every_idiom_negates_nothing() {
    for idiom in rules::idioms() {
        let text = format!("Please do {} call the clinic today.", idiom.join(" "));
        assert!(is_affirmed(&text, "the clinic"), "{text}");
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in ".*", words in "(do |not |no |, |\\. |; |if |you |cancel |t |don |is |never |without |call ){0,12}") {
        for text in [&text, &words] {
            let negations = Negations::new(text);
            let count = Negations::new(text).words.len();
            for first in 0..count {
                negations.is_negated((first, first));
            }
            negations.is_negated((count, count + 3));
            has_negation(text);
        }
    }

    /// The words are those that phrases are found at.
    #[test]
    fn words_are_counted_as_phrases_are(text in "[a-z0-9$%.,;:!?\\n /'-]{0,60}") {
        prop_assert_eq!(Negations::new(&text).words.len(), crate::units::units(&text).len());
    }
}
