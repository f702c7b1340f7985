//! Folds text for comparison: ignores case, accents and repeated white space
//! (<https://hl7.org/fhir/R4/search.html#string>).

use std::str::Chars;
use std::sync::LazyLock;

/// Converts to lower case, removes accents, collapses each run of white space to one space, and trims both ends.
pub fn fold(text: &str) -> String {
    folded(text).collect()
}

/// Whether `text` starts with `expected`, both folded.
pub(super) fn starts_with(text: &str, expected: &str) -> bool {
    let mut text = folded(text);
    folded(expected).all(|character| text.next() == Some(character))
}

/// Whether `text` contains `expected`, both folded.
pub(super) fn contains(text: &str, expected: &str) -> bool {
    fold(text).contains(&fold(expected))
}

/// Whether a word of `text` starts with `expected`, both folded. `expected` can extend over several words.
pub(super) fn has_word(text: &str, expected: &str) -> bool {
    let (text, expected) = (fold(text), fold(expected));
    let starts_word = |at: usize| !text[..at].ends_with(char::is_alphanumeric);
    text.char_indices().any(|(at, _)| starts_word(at) && text[at..].starts_with(&expected))
}

fn folded(text: &str) -> Folded<'_> {
    Folded { chars: text.trim_start().chars(), after_space: None, expansion: "".chars() }
}

struct Folded<'a> {
    chars: Chars<'a>,
    /// The character after a run of white space.
    after_space: Option<char>,
    /// The rest of a letter that folds to several.
    expansion: Chars<'static>,
}

impl Iterator for Folded<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        loop {
            if let Some(character) = self.expansion.next() {
                return Some(character);
            }
            let character = self.after_space.take().or_else(|| self.chars.next())?;
            if character.is_ascii_graphic() {
                return Some(character.to_ascii_lowercase());
            }
            if character.is_whitespace() {
                self.after_space = self.chars.find(|character| !character.is_whitespace());
                return self.after_space.map(|_| ' ');
            }
            if !matches!(character, '\u{300}'..='\u{36f}') {
                return self.base(character);
            }
        }
    }
}

impl Folded<'_> {
    /// Removes the accents. The few letters whose lower case is two characters end in a combining mark.
    fn base(&mut self, character: char) -> Option<char> {
        let lower = character.to_lowercase().next().unwrap_or(character);
        let Ok(at) = BASE_LETTERS.binary_search_by_key(&lower, |(accented, _)| *accented) else {
            return Some(lower);
        };
        self.expansion = BASE_LETTERS[at].1.chars();
        self.expansion.next()
    }
}

/// Sorted by the accented letter.
static BASE_LETTERS: LazyLock<Vec<(char, &'static str)>> = LazyLock::new(|| {
    let mut chars: Vec<_> = ACCENTED_LETTERS
        .iter()
        .flat_map(|(base, accented)| accented.chars().map(|character| (character, *base)))
        .collect();
    chars.sort_unstable();
    chars
});

/// The Unicode decompositions of Latin, Greek and Cyrillic letters, and the ligatures and strokes of European names.
const ACCENTED_LETTERS: [(&str, &str); 44] = [
    ("a", "àáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ"),
    ("ae", "æǣǽ"),
    ("b", "ḃḅḇ"),
    ("c", "çćĉċčḉ"),
    ("d", "ďđðḋḍḏḑḓ"),
    ("e", "èéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ"),
    ("f", "ḟ"),
    ("g", "ĝğġģǧǵḡ"),
    ("h", "ĥħȟḣḥḧḩḫẖ"),
    ("i", "ìíîïĩīĭįıǐȉȋḭḯỉị"),
    ("j", "ĵǰ"),
    ("k", "ķǩḱḳḵ"),
    ("l", "ĺļľłḷḹḻḽ"),
    ("m", "ḿṁṃ"),
    ("n", "ñńņňǹṅṇṉṋ"),
    ("o", "òóôõöøōŏőơǒǫǭǿȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ"),
    ("oe", "œ"),
    ("p", "ṕṗ"),
    ("r", "ŕŗřȑȓṙṛṝṟ"),
    ("s", "śŝşšșṡṣṥṧṩſ"),
    ("ss", "ß"),
    ("t", "ţťŧțṫṭṯṱẗ"),
    ("th", "þ"),
    ("u", "ùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự"),
    ("v", "ṽṿ"),
    ("w", "ŵẁẃẅẇẉẘ"),
    ("x", "ẋẍ"),
    ("y", "ýÿŷȳẏẙỳỵỷỹ"),
    ("z", "źżžẑẓẕ"),
    ("ʒ", "ǯ"),
    ("α", "ά"),
    ("ε", "έ"),
    ("η", "ή"),
    ("ι", "ίϊΐ"),
    ("ο", "ό"),
    ("σ", "ς"),
    ("υ", "ύϋΰ"),
    ("ω", "ώ"),
    ("г", "ѓ"),
    ("е", "ѐё"),
    ("и", "йѝ"),
    ("і", "ї"),
    ("к", "ќ"),
    ("у", "ў"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_accents_and_white_space_are_ignored() {
        for (text, expected) in [
            ("Peter", "peter"),
            ("  Müller\t \nLÜDENSCHEIDT ", "muller ludenscheidt"),
            ("Mu\u{308}ller", "muller"),
            ("STRAẞE Straße", "strasse strasse"),
            ("Ærø Łódź Đặng İzmir", "aero lodz dang izmir"),
            ("ΆΛΦΑ Σίσυφος", "αλφα σισυφοσ"),
            ("O'Brien-Smith, Jr.", "o'brien-smith, jr."),
            ("山田", "山田"),
            ("", ""),
            (" ", ""),
        ] {
            assert_eq!(fold(text), expected, "{text:?}");
        }
    }

    #[test]
    fn the_table_has_no_letter_twice_and_only_lower_case() {
        assert!(BASE_LETTERS.is_sorted_by(|left, right| left.0 < right.0));
        assert!(BASE_LETTERS.iter().all(|(character, base)| character.is_lowercase() && fold(base) == *base));
    }

    #[test]
    fn prefixes_substrings_and_words() {
        assert!(starts_with("Évelyne", "eve") && starts_with("van  der Berg", "van der ") && starts_with("x", ""));
        assert!(!starts_with("Eve", "Eve Ann") && !starts_with("Ann Eve", "Eve"));
        assert!(contains("Ann-Évelyne", "n-ev") && !contains("Ann", "Anna"));
        assert!(has_word("Acute headache (left)", "HEAD") && has_word("Acute headache", "acute head"));
        assert!(has_word("Acute headache (left)", "left") && !has_word("Acute headache", "ache"));
        assert!(has_word("ba a ab", "a a"));
    }
}
