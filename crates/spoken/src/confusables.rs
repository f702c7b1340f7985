//! Folds look-alike characters, so that text is compared as a person reads it.
//!
//! Based on the prototypes of UTS #39 (<https://www.unicode.org/reports/tr39/#Confusable_Detection>). The standard's
//! skeleton also equates ASCII characters with each other (`m` and `rn`, `I` and `l`), which would find "modem" in
//! "modern". So a word counts as disguised only if it has a character outside of ASCII that looks like an ASCII one, or
//! ASCII characters that are not mixed in normal spelling (`HlV`, `12345O7`). Only disguised words are compared visually.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_security::confusable_detection::skeleton;

use crate::spoken_text::SpokenText;

/// Replaces every look-alike character by the ASCII characters that it looks like. Removes invisible characters and
/// combining marks, and reverses text after a right-to-left override. Keeps characters that look like no ASCII character.
pub fn fold_confusables(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for character in in_reading_order(text) {
        fold_character(character, &mut folded);
    }
    folded
}

/// A text with disguised words, which can be searched for phrases visually.
#[derive(Clone, Debug)]
pub struct DisguisedText {
    /// The folded text, in which numbers and dates are recognized.
    folded: SpokenText,
    visual: VisualText,
}

impl DisguisedText {
    /// None if the text has no disguised words.
    pub fn new(text: &str) -> Option<Self> {
        let (visual, folded) = (VisualText::new(text), fold_confusables(text));
        let is_disguised = folded != text || visual.disguised.contains(&true);
        is_disguised.then(|| Self { folded: SpokenText::new(&folded), visual })
    }

    pub fn has(&self, phrase: &str) -> bool {
        self.folded.has(phrase) || self.visual.has(&VisualText::new(phrase))
    }

    /// The cost of one search, in characters.
    pub fn length(&self) -> usize {
        self.folded.length() + self.visual.text.len()
    }
}

/// Words without spaces, with each character replaced by the representative of its look-alikes.
#[derive(Clone, Debug, Default)]
struct VisualText {
    text: String,
    /// By byte: whether a word starts or ends here.
    starts: Vec<bool>,
    ends: Vec<bool>,
    /// By byte: whether it belongs to a disguised word.
    disguised: Vec<bool>,
}

impl VisualText {
    fn new(text: &str) -> Self {
        let (mut visual, mut word, mut is_disguised) = (Self::default(), String::new(), false);
        for character in in_reading_order(text) {
            let before = word.len();
            fold_character(character, &mut word);
            is_disguised |= !character.is_ascii() && is_disguise(character);
            if word[before..].chars().any(|c| !c.is_alphanumeric()) {
                let rest = word.split_off(before);
                visual.push(&word, is_disguised);
                word.clear();
                is_disguised = false;
                word.extend(rest.chars().filter(|c| c.is_alphanumeric()));
            }
        }
        visual.push(&word, is_disguised);
        visual.starts.push(false);
        visual.ends.push(true);
        visual
    }

    fn push(&mut self, word: &str, is_disguised: bool) {
        let from = self.text.len();
        self.text.extend(word.chars().flat_map(representative));
        let length = self.text.len() - from;
        if length == 0 {
            return;
        }
        let is_disguised = is_disguised || is_suspicious_mix(word);
        self.starts.extend((0..length).map(|at| at == 0));
        self.ends.extend((0..length).map(|at| at == 0));
        self.disguised.resize(from + length, is_disguised);
    }

    /// Whether the phrase occurs as whole words, one of which is disguised.
    fn has(&self, phrase: &Self) -> bool {
        let wanted = phrase.text.as_str();
        let starts = self.starts.iter().enumerate().filter(|(_, starts)| **starts).map(|(at, _)| at);
        !wanted.is_empty()
            && starts.into_iter().any(|at| {
                let end = at + wanted.len();
                self.ends.get(end) == Some(&true)
                    && self.text.get(at..end) == Some(wanted)
                    && self.disguised.get(at..end).is_some_and(|bytes| bytes.contains(&true))
            })
    }
}

/// The representative of an ASCII character among its look-alikes, in lower case.
fn representative(character: char) -> impl Iterator<Item = char> {
    character.to_lowercase().map(|character| match character {
        'i' | '1' | '|' => 'l',
        '0' => 'o',
        other => other,
    })
}

/// Whether an ASCII word mixes characters like a disguise: capitals with `l`, `1` or `0` (`HlV`), or digits with
/// letters that look like digits (`12345O7`).
fn is_suspicious_mix(word: &str) -> bool {
    let count = |is_counted: fn(char) -> bool| word.chars().filter(|c| is_counted(*c)).count();
    let (upper, lower) = (count(|c| c.is_ascii_uppercase()), count(|c| c.is_ascii_lowercase() && c != 'l'));
    let is_capital = upper >= 2 && lower == 0 && count(|c| matches!(c, 'l' | '1' | '0')) > 0;
    let (digits, like_digits) = (count(|c| c.is_ascii_digit()), count(|c| matches!(c, 'O' | 'o' | 'I' | 'l')));
    let is_number = digits >= 3 && like_digits > 0 && digits + like_digits == word.chars().count();
    is_capital || is_number
}

/// Whether the character looks like an ASCII letter or digit, and is not just one with an accent.
fn is_disguise(character: char) -> bool {
    let plain = fhir::search::fold(character.encode_utf8(&mut [0; 4]));
    let mut folded = String::new();
    fold_character(character, &mut folded);
    !plain.is_ascii() && folded.is_ascii() && folded.contains(|c: char| c.is_ascii_alphanumeric())
}

/// Appends the characters that a character looks like.
fn fold_character(character: char, folded: &mut String) {
    if character.is_ascii() {
        folded.push(character);
        return;
    }
    if prototype(character).is_empty() {
        return;
    }
    if character.is_whitespace() {
        folded.push(' ');
        return;
    }
    for part in std::iter::once(character).nfkd().filter(|part| !is_combining_mark(*part)) {
        match ascii_look(part) {
            Some(look) => folded.push_str(&look),
            None => folded.push(part),
        }
    }
}

/// The ASCII characters that a character looks like: itself, or in its other case.
fn ascii_look(character: char) -> Option<String> {
    if character.is_ascii() {
        return Some(character.to_string());
    }
    let cases = [Some(character), character.to_lowercase().next(), character.to_uppercase().next()];
    cases.into_iter().flatten().find_map(|character| {
        let look: String = prototype(character)
            .chars()
            .filter(|part| !is_combining_mark(*part))
            .map(|part| letter_form(part).unwrap_or(part))
            .collect();
        match look.as_str() {
            "rn" => Some("m".to_owned()),
            // The prototype of a capital `I` is `l`.
            "l" if character.is_uppercase() => Some("I".to_owned()),
            look if !look.is_empty() && look.is_ascii() => Some(look.to_owned()),
            _ => None,
        }
    })
}

/// The prototype of UTS #39. Empty for invisible characters.
fn prototype(character: char) -> String {
    skeleton(character.encode_utf8(&mut [0; 4])).collect()
}

/// The ASCII letter of forms that neither compatibility decomposition nor the prototypes cover: small capitals, and letters
/// in squares and circles.
fn letter_form(character: char) -> Option<char> {
    const SMALL_CAPITALS: &str = "ᴀaʙbᴄcᴅdᴇeꜰfɢgʜhɪiᴊjᴋkĸkʟlᴍmʍmɴnᴏoᴘpꞯqʀrꜱsᴛtᴜuᴠvᴡwʏyᴢz";
    let enclosed = [0x1f150, 0x1f170, 0x1f1e6].into_iter().find_map(|first| {
        let index = u32::from(character).checked_sub(first).filter(|index| *index < 26)?;
        char::from_u32(u32::from('a') + index)
    });
    enclosed.or_else(|| {
        let mut forms = SMALL_CAPITALS.chars();
        forms.find(|form| *form == character).filter(|form| !form.is_ascii())?;
        forms.next()
    })
}

/// The characters in display order, considering direction overrides only.
fn in_reading_order(text: &str) -> Vec<char> {
    const RIGHT_TO_LEFT_OVERRIDE: char = '\u{202e}';
    const ENDS: [char; 3] = ['\u{202c}', '\u{202d}', '\n'];
    let mut ordered: Vec<char> = Vec::with_capacity(text.len());
    let mut override_start = None;
    for character in text.chars() {
        if ENDS.contains(&character)
            && let Some(start) = override_start.take()
        {
            ordered.get_mut(start..).unwrap_or_default().reverse();
        }
        ordered.push(character);
        if character == RIGHT_TO_LEFT_OVERRIDE {
            override_start = override_start.or(Some(ordered.len()));
        }
    }
    if let Some(start) = override_start {
        ordered.get_mut(start..).unwrap_or_default().reverse();
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::sync::LazyLock;

    fn has(text: &str, phrase: &str) -> bool {
        SpokenText::new(text).has(phrase) || DisguisedText::new(text).is_some_and(|text| text.has(phrase))
    }

    #[test]
    fn look_alikes_are_found() {
        for (text, phrase) in [
            ("She is НІV positive", "HIV"),
            ("She is hіv positive", "HIV positive"),
            ("ｈｉｖ", "hiv"),
            ("𝐇𝐈𝐕 and 𝒉𝒊𝒗", "HIV"),
            ("ⓗⓘⓥ", "HIV"),
            ("ʜɪᴠ", "hiv"),
            ("🇭🇮🇻", "hiv"),
            ("🅷🅸🆅", "hiv"),
            ("H\u{200b}I\u{2060}V", "HIV"),
            ("H\u{335}I\u{20dd}V\u{489}", "HIV"),
            ("H\u{ad}IV", "HIV"),
            ("H I V", "HIV"),
            ("H.I.V.", "HIV"),
            ("H∣V", "HIV"),
            ("HlV test", "HIV"),
            ("H1V", "HIV"),
            ("HOSPlCE", "hospice"),
            ("dіаgnоsіs: саncеr", "diagnosis cancer"),
            ("ΗΙV", "hiv"),
            ("１２３-４５-６７８９", "123-45-6789"),
            ("𝟏𝟐𝟑-𝟒𝟓-𝟔𝟕𝟖𝟗", "123456789"),
            ("12\u{200b}3-45-6789", "123-45-6789"),
            ("123456789 or 12345O789", "12345 0789"),
            ("\u{202e}VIH\u{202c}", "HIV"),
            ("\u{202e}recnac", "cancer"),
            ("iӀӀegal drug", "illegal drug"),
            ("СПИД", "СПИД"),
        ] {
            assert!(has(text, phrase), "{phrase:?} in {text:?}: {:?}", fold_confusables(text));
        }
    }

    #[test]
    fn normal_words_are_not_look_alikes() {
        for (text, phrase) in [
            ("a modern clinic", "modem"),
            ("the mall", "mail"),
            ("a fall risk", "fail"),
            ("FALL RISK", "fail"),
            ("call 1011 at 10", "lol"),
            ("café Müller", "cafe Miller"),
            ("Привет", "HIV"),
            ("naïve", "native"),
            ("room IO", "10"),
            ("", "x"),
        ] {
            assert!(!has(text, phrase), "{phrase:?} in {text:?}: {:?}", fold_confusables(text));
        }
    }

    /// Characters by the one ASCII letter or digit that they look like.
    static ALIKE: LazyLock<BTreeMap<char, Vec<char>>> = LazyLock::new(|| {
        let mut alike: BTreeMap<char, Vec<char>> = BTreeMap::new();
        for character in (0x80..0x2_0000).filter_map(char::from_u32) {
            let mut look = String::new();
            fold_character(character, &mut look);
            let mut letters = look.chars();
            if let (Some(letter), None) = (letters.next().filter(char::is_ascii_alphanumeric), letters.next()) {
                alike.entry(letter.to_ascii_lowercase()).or_default().push(character);
            }
        }
        alike
    });

    #[test]
    fn every_letter_and_digit_has_look_alikes() {
        for letter in ('a'..='z').chain('0'..='9') {
            let known = ALIKE.get(&letter).map_or(0, Vec::len);
            assert!(known >= 5, "{letter}: {known}");
        }
    }

    fn disguised(phrase: &str, choices: &[(u8, prop::sample::Index)]) -> String {
        const INVISIBLE: [char; 6] = ['\u{200b}', '\u{200d}', '\u{2060}', '\u{ad}', '\u{34f}', '\u{301}'];
        let mut text = String::new();
        for (letter, (choice, index)) in phrase.chars().zip(choices.iter().cycle()) {
            match ALIKE.get(&letter.to_ascii_lowercase()).filter(|_| choice % 2 == 0) {
                Some(alike) => text.push(alike[index.index(alike.len())]),
                None => text.push(letter),
            }
            if choice % 3 == 0 && letter != ' ' {
                text.push(INVISIBLE[index.index(INVISIBLE.len())]);
            }
        }
        text
    }

    proptest! {
        #[test]
        fn folding_is_idempotent(text in ".*") {
            let folded = fold_confusables(&text);
            prop_assert_eq!(fold_confusables(&folded), folded);
        }

        #[test]
        fn disguised_phrases_are_found(
            phrase in "[A-Za-z]{2,8}( [A-Za-z]{2,8}){0,2}",
            before in "([a-z]{1,6} ){0,3}",
            choices in prop::collection::vec((any::<u8>(), any::<prop::sample::Index>()), 1..12),
        ) {
            let text = format!("{before}{}.", disguised(&phrase, &choices));
            prop_assert!(has(&text, &phrase), "{phrase:?} in {text:?}: {:?}", fold_confusables(&text));
        }
    }
}
