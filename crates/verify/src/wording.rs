//! Fixed wording: the whole text must be one of the listed texts, word by word.

use serde::{Deserialize, Deserializer, de};
use serde_json::Value;
use spoken::WordedText;

use crate::budget::Budget;
use crate::phrase::Phrase;

/// Characters of one alternative. A printed page has about 3,000.
const LONGEST_WORDING: usize = 20_000;

/// Punctuation that depends on the intonation in a transcript of speech.
const INTONATION: &str = "?";

/// A complete text, or a list of alternatives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wording(pub(crate) Phrase);

impl<'de> Deserialize<'de> for Wording {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let phrase = Phrase::read_up_to(Value::deserialize(deserializer)?, LONGEST_WORDING);
        phrase.map(Self).map_err(de::Error::custom)
    }
}

/// Whether a text is one of the phrases and nothing else.
pub(crate) fn is_one_of<'p>(
    text: &str,
    phrases: impl IntoIterator<Item = &'p Phrase>,
    budget: &Budget,
) -> Result<bool, String> {
    let words = worded_text(text, budget)?;
    for alternative in phrases.into_iter().flat_map(|phrase| &phrase.alternatives) {
        let is_same = worded_text(alternative, budget)?.matches(&words, |steps| budget.spend(steps))?;
        if is_same && !has_other_characters(text, &[alternative], "", budget)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a text is a sequence of the lines, and nothing else.
pub(crate) fn is_made_of(text: &str, lines: &[Phrase], budget: &Budget) -> Result<bool, String> {
    let alternatives: Vec<&String> = lines.iter().flat_map(|line| &line.alternatives).collect();
    let worded_lines = alternatives.iter().map(|line| worded_text(line, budget)).collect::<Result<Vec<_>, _>>()?;
    let is_made_of_lines = spoken::is_made_of(&worded_text(text, budget)?, &worded_lines, |steps| budget.spend(steps))?;
    Ok(is_made_of_lines && !has_other_characters(text, &alternatives, INTONATION, budget)?)
}

fn worded_text(text: &str, budget: &Budget) -> Result<WordedText, String> {
    budget.spend(8 * text.len() + 1)?;
    Ok(WordedText::new(text))
}

/// Folding drops symbols and marks. Those that can change the meaning of a text (such as a question mark, a crossed circle,
/// strikethrough, or a change of direction) must be in the wording or `tolerated`.
fn has_other_characters(text: &str, wording: &[&String], tolerated: &str, budget: &Budget) -> Result<bool, String> {
    let mut unusual = text.chars().filter(|c| !is_ordinary(*c) && !tolerated.contains(*c)).collect::<Vec<char>>();
    unusual.sort_unstable();
    unusual.dedup();
    let length: usize = wording.iter().map(|alternative| alternative.len()).sum();
    budget.spend(text.len() + unusual.len().saturating_mul(length))?;
    Ok(unusual.iter().any(|c| !wording.iter().any(|alternative| alternative.contains(*c))))
}

fn is_ordinary(c: char) -> bool {
    const PUNCTUATION: &str = ".,;:!'\"()[]-/&#*_+@%$°•·–—‑‒…‘’“”«»‚„\u{a0}\u{202f}\n\r\t\u{c}";
    // Combining accents.
    let is_accent = matches!(c, '\u{300}'..='\u{304}' | '\u{306}'..='\u{331}');
    c.is_alphanumeric() || c == ' ' || is_accent || PUNCTUATION.contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn is(text: &str, wording: Value) -> bool {
        let wording: Wording = serde_json::from_value(wording).unwrap();
        let budget = Budget::new();
        is_one_of(text, [&wording.0], &budget).unwrap()
    }

    #[test]
    fn the_whole_text_is_compared_with_the_wording() {
        let wording =
            json!(["Your visit is on 2026-04-07 at 9:30 AM. Call (608) 555-0142.", "Müller's visit is canceled"]);
        for (text, is_same) in [
            ("Your visit is on 2026-04-07 at 9:30 AM. Call (608) 555-0142.", true),
            ("your visit is on April 7, 2026 at 9:30 am -- call 608-555-0142!", true),
            ("Mu\u{308}ller’s visit is canceled…", true),
            ("Your visit is on 2026-04-07 at 9:30 AM. Call (608) 555-0142. Bring cash.", false),
            ("Hi! Your visit is on 2026-04-07 at 9:30 AM. Call (608) 555-0142.", false),
            ("Your visit is on 2026-04-08 at 9:30 AM. Call (608) 555-0142.", false),
            ("Your visit is on 2026-04-07 at 9:30 AM. Call (608) 555-0143.", false),
            ("Your visit is not on 2026-04-07 at 9:30 AM. Call (608) 555-0142.", false),
            ("Müller's visit is canceled. Müller's visit is canceled.", false),
            ("Müller's visit is canceled 🚫", false),
            ("Müller's visit is ≠ canceled", false),
            ("Müller's visit is c\u{336}a\u{336}nceled", false),
            ("\u{202e}Müller's visit is canceled", false),
            ("Müller's visit is cance\u{200b}led", false),
            ("Müller's visit is саnceled", false),
            ("Müller's visit is canceled?", false),
            ("Your visit is on 2026-04-07 at 9:30 AM? Call (608) 555-0142.", false),
            ("", false),
        ] {
            assert_eq!(is(text, wording.clone()), is_same, "{text:?}");
        }
        assert!(is("5 → 6 mg", json!("5 → 6 mg")));
        assert!(is("are you well?", json!("Are you well?")));
        assert!(is("Are you well.", json!("Are you well?")));
    }

    #[test]
    fn a_turn_may_consist_of_several_lines() {
        let lines: Vec<Phrase> =
            serde_json::from_value(json!(["Hello", ["This is the clinic", "The clinic is calling"], "Goodbye"]))
                .unwrap();
        for (text, is_same) in [
            ("Hello.", true),
            ("Hello, this is the clinic.", true),
            ("Hello? This is the clinic?", true),
            ("Goodbye! Hello, the clinic is calling.", true),
            ("Hello, this is the clinic with bad news.", false),
            ("Well, hello.", false),
            ("Hell", false),
        ] {
            let budget = Budget::new();
            assert_eq!(is_made_of(text, &lines, &budget), Ok(is_same), "{text:?}");
        }
    }
}
