//! Paths into X12 transactions (ASC X12 005010): `EB[n].1`, `NM1[1=IL].9`, and within a loop `2110C.EB.1`.
//!
//! All numbers start at 1. The component follows the element. Without a position, the path selects the segment.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, de};
use x12::query::{self, Query, View};

use crate::authored::Notation;
use crate::limits::LONGEST_PATH;
use crate::path::segment::{Grammar, Position, Selector, read_segment, write_segment};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct X12Path {
    /// The implementation guide's name of the loop, such as `2110C`.
    pub within: Option<String>,
    pub segment: String,
    pub selector: Option<Selector>,
    pub position: Option<Position>,
}

const GRAMMAR: Grammar = Grammar {
    name_length: 2..=3,
    name_error: "must name a segment by two or three capitals or digits, as in `NM1.9`",
    has_subcomponents: false,
};

impl Notation for X12Path {
    const LONGEST: usize = LONGEST_PATH;

    fn read(text: &str) -> Result<Self, String> {
        let (within, rest) = read_loop(text)?;
        let (segment, selector, position) = read_segment(rest, &GRAMMAR)?;
        Ok(Self { within, segment: segment.to_owned(), selector, position })
    }
}

fn read_loop(text: &str) -> Result<(Option<String>, &str), String> {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok((None, text));
    }
    let (name, rest) = text.split_once('.').ok_or("must have a segment after the loop, as in `2110C.EB.1`")?;
    let (digits, letters) = name.split_at_checked(4).unwrap_or((name, ""));
    let is_loop = digits.len() == 4
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && letters.len() <= 2
        && letters.bytes().all(|byte| byte.is_ascii_uppercase());
    if !is_loop {
        return Err("has a loop name that is not four digits and up to two capitals, as in `2110C`".to_owned());
    }
    Ok((Some(name.to_owned()), rest))
}

impl fmt::Display for X12Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(within) = &self.within {
            write!(f, "{within}.")?;
        }
        write_segment(&self.segment, self.selector.as_ref(), self.position.as_ref(), f)
    }
}

impl X12Path {
    /// The values that the path selects, in the order of the text. Skips empty values.
    pub(crate) fn find(&self, view: &View<'_, '_>) -> Vec<String> {
        let query = Query {
            within: self.within.as_deref(),
            segment: &self.segment,
            selector: self.selector.as_ref().map(|selector| match selector {
                Selector::Nth(number) => query::Selector::Nth(number.get().into()),
                Selector::Where { position, value } => {
                    query::Selector::Where { position: codec_position(position), value }
                }
            }),
            position: self.position.as_ref().map(codec_position),
        };
        view.values(&query).into_iter().map(Cow::into_owned).collect()
    }
}

fn codec_position(position: &Position) -> query::Position {
    query::Position {
        element: position.field.get().into(),
        repetition: position.repetition.map(|number| number.get().into()),
        component: position.component.map(|number| number.get().into()),
    }
}

/// A key of `correlate_by`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct X12Key(pub X12Path);

impl<'de> Deserialize<'de> for X12Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        super::read_key(&String::deserialize(deserializer)?).map(Self).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{faulty_notation, round_trip};

    #[test]
    fn parts_of_a_path() {
        let read = X12Path::read("2110C.EB[1=1].3[2].1").expect("a path");
        assert_eq!(read.within.as_deref(), Some("2110C"));
        assert_eq!(read.segment, "EB");
        assert!(matches!(read.selector, Some(Selector::Where { ref value, .. }) if value == "1"));
        assert_eq!(read.position.map(|position| position.to_string()).as_deref(), Some("3[2].1"));

        for text in ["EB[2].1", "NM1[1=IL].9", "2110C.EB.1", "2010AA.NM1.3", "2000.HL", "ISA.6", "AAA", "SVC.1.2"] {
            assert!(X12Path::read(text).is_ok(), "{text}");
            round_trip::<X12Path>(text);
        }
    }

    #[test]
    fn invalid_paths() {
        for (text, expected_text) in [
            ("", "name a segment"),
            ("E.1", "name a segment"),
            ("EBXX.1", "name a segment"),
            ("eb.1", "name a segment"),
            ("EB01", "name a segment"),
            ("2110C", "after the loop"),
            ("211C.EB.1", "loop name"),
            ("2110CCC.EB.1", "loop name"),
            ("2110é.EB.1", "loop name"),
            ("211é.EB.1", "loop name"),
            ("2110C.", "name a segment"),
            ("2110C.2110D.EB", "name a segment"),
            ("EB.0", "start at 1"),
            ("EB.01", "leading zeros"),
            ("SVC.1.2.3", "after its last part"),
            ("NM1[1=IL", "without `]`"),
            ("NM1[IL].9", "number"),
        ] {
            faulty_notation::<X12Path>(text, expected_text);
        }
    }

    proptest::proptest! {
        #[test]
        fn similar_texts_round_trip_or_are_rejected(text in r#"(2110C\.)?(EB|NM1)?[0-9.=\[\]\\a'*]{0,20}"#) {
            round_trip::<X12Path>(&text);
        }

        #[test]
        fn no_text_panics(text in ".*") {
            round_trip::<X12Path>(&text);
        }
    }
}
