//! Text as strings are compared: without case, accents and repeated white space
//! (<https://hl7.org/fhir/R4/search.html#string>).

use std::str::Chars;
use std::sync::LazyLock;

/// The text in lower case and without accents, each run of white space as one space, none at either end.
pub fn fold(text: &str) -> String {
    folded(text).collect()
}

/// Whether `text` starts with `wanted`, both folded.
pub(super) fn starts_with(text: &str, wanted: &str) -> bool {
    let mut text = folded(text);
    folded(wanted).all(|letter| text.next() == Some(letter))
}

/// Whether `wanted` stands somewhere in `text`, both folded.
pub(super) fn contains(text: &str, wanted: &str) -> bool {
    fold(text).contains(&fold(wanted))
}

/// Whether a word of `text` starts with `wanted`, both folded; `wanted` may go on over the following words.
pub(super) fn has_word(text: &str, wanted: &str) -> bool {
    let (text, wanted) = (fold(text), fold(wanted));
    let starts_word = |at: usize| !text[..at].ends_with(char::is_alphanumeric);
    text.char_indices().any(|(at, _)| starts_word(at) && text[at..].starts_with(&wanted))
}

fn folded(text: &str) -> Folded<'_> {
    Folded { letters: text.trim_start().chars(), held: None, rest: "".chars() }
}

struct Folded<'a> {
    letters: Chars<'a>,
    /// What follows the space that was given for a run of white space.
    held: Option<char>,
    /// Of a letter that became several.
    rest: Chars<'static>,
}

impl Iterator for Folded<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        loop {
            if let Some(letter) = self.rest.next() {
                return Some(letter);
            }
            let letter = self.held.take().or_else(|| self.letters.next())?;
            if letter.is_ascii_graphic() {
                return Some(letter.to_ascii_lowercase());
            }
            if letter.is_whitespace() {
                self.held = self.letters.find(|letter| !letter.is_whitespace());
                return self.held.map(|_| ' ');
            }
            if !matches!(letter, '\u{300}'..='\u{36f}') {
                return self.base(letter);
            }
        }
    }
}

impl Folded<'_> {
    /// The letter below the accents. The few letters whose lower case is two letters end in a combining mark.
    fn base(&mut self, letter: char) -> Option<char> {
        let lower = letter.to_lowercase().next().unwrap_or(letter);
        let Ok(at) = BASES.binary_search_by_key(&lower, |(accented, _)| *accented) else {
            return Some(lower);
        };
        self.rest = BASES[at].1.chars();
        self.rest.next()
    }
}

/// By letter.
static BASES: LazyLock<Vec<(char, &'static str)>> = LazyLock::new(|| {
    let mut letters: Vec<_> =
        ACCENTED.iter().flat_map(|(base, accented)| accented.chars().map(|letter| (letter, *base))).collect();
    letters.sort_unstable();
    letters
});

/// The decompositions of Unicode for Latin, Greek and Cyrillic letters, and the ligatures and strokes of European names.
const ACCENTED: [(&str, &str); 44] = [
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
    fn case_accents_and_white_space_do_not_count() {
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
        assert!(BASES.is_sorted_by(|left, right| left.0 < right.0));
        assert!(BASES.iter().all(|(letter, base)| letter.is_lowercase() && fold(base) == *base));
    }

    #[test]
    fn starts_contents_and_words() {
        assert!(starts_with("Évelyne", "eve") && starts_with("van  der Berg", "van der ") && starts_with("x", ""));
        assert!(!starts_with("Eve", "Eve Ann") && !starts_with("Ann Eve", "Eve"));
        assert!(contains("Ann-Évelyne", "n-ev") && !contains("Ann", "Anna"));
        assert!(has_word("Acute headache (left)", "HEAD") && has_word("Acute headache", "acute head"));
        assert!(has_word("Acute headache (left)", "left") && !has_word("Acute headache", "ache"));
        assert!(has_word("ba a ab", "a a"));
    }
}
