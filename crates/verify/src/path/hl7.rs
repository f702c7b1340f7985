//! Paths into HL7 version 2 messages (HL7 v2.8, chapter 2.5): `SEG[n].field[rep].component.sub`, `OBX[3.1=718-7].5`.
//!
//! All numbers start at 1; MSH.1 is the field separator itself. Without a position, the path selects the segment.

use std::fmt;

use serde::{Deserialize, Deserializer, de};

use crate::authored::Notation;
use crate::closed_world::hl7::range;
use crate::limits::LONGEST_PATH;
use crate::path::segment::{Grammar, Position, Selector, read_segment, write_segment};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hl7Path {
    pub segment: String,
    pub selector: Option<Selector>,
    pub position: Option<Position>,
}

const GRAMMAR: Grammar = Grammar {
    name_length: 3..=3,
    name_error: "must start with a segment name of three capitals or digits, as in `PID.3.1`",
    has_subcomponents: true,
};

impl Notation for Hl7Path {
    const LONGEST: usize = LONGEST_PATH;

    fn read(text: &str) -> Result<Self, String> {
        let (segment, selector, position) = read_segment(text, &GRAMMAR)?;
        Ok(Self { segment: segment.to_owned(), selector, position })
    }
}

impl fmt::Display for Hl7Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_segment(&self.segment, self.selector.as_ref(), self.position.as_ref(), f)
    }
}

impl Hl7Path {
    /// The decoded values that the path selects, in the order of the message. Skips empty values and `""`.
    pub(crate) fn find(&self, message: &hl7v2::Message) -> Vec<String> {
        let path = self.codec_path();
        message.find(&path).filter(|element| element.is_valued()).map(|element| element.text().into_owned()).collect()
    }

    /// The byte ranges of the values of [`Self::find`] in the message's text.
    pub(crate) fn ranges(&self, message: &hl7v2::Message) -> Vec<(usize, usize)> {
        let path = self.codec_path();
        let found = message.find(&path).filter(|element| element.is_valued());
        found.map(|element| range(message, element.raw())).collect()
    }

    /// The byte ranges of the values that the selector compares, in the segments that it selects.
    pub(crate) fn selector_ranges(&self, message: &hl7v2::Message) -> Vec<(usize, usize)> {
        match &self.selector {
            Some(Selector::Where { position, .. }) => {
                Self { position: Some(position.clone()), ..self.clone() }.ranges(message)
            }
            _ => Vec::new(),
        }
    }

    fn codec_path(&self) -> hl7v2::Path {
        hl7v2::Path {
            segment: self.segment.clone(),
            selector: self.selector.as_ref().map(|selector| match selector {
                Selector::Nth(number) => hl7v2::Selector::Nth(*number),
                Selector::Where { position, value } => {
                    hl7v2::Selector::Where { position: codec_position(position), value: value.clone() }
                }
            }),
            position: self.position.as_ref().map(codec_position),
        }
    }
}

fn codec_position(position: &Position) -> hl7v2::Position {
    let Position { field, repetition, component, subcomponent } = *position;
    hl7v2::Position { field, repetition, component, subcomponent }
}

/// A key of `correlate_by`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hl7Key {
    MessageType,
    TriggerEvent,
    Path(Hl7Path),
}

impl<'de> Deserialize<'de> for Hl7Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.as_str() {
            "message_type" => Ok(Self::MessageType),
            "trigger_event" => Ok(Self::TriggerEvent),
            path => super::read_key(path).map(Self::Path).map_err(|error| {
                de::Error::custom(format!("must be `message_type`, `trigger_event` or a path: {error}"))
            }),
        }
    }
}

impl fmt::Display for Hl7Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MessageType => f.write_str("message_type"),
            Self::TriggerEvent => f.write_str("trigger_event"),
            Self::Path(path) => path.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::segment::Number;
    use crate::testing::{faulty_notation, round_trip};

    fn number(number: u16) -> Number {
        Number::new(number).expect("above 0")
    }

    #[test]
    fn parts_of_a_path() {
        let read = Hl7Path::read("PID[2].3[4].5.6").expect("a path");
        let position = Position {
            field: number(3),
            repetition: Some(number(4)),
            component: Some(number(5)),
            subcomponent: Some(number(6)),
        };
        assert_eq!(read.segment, "PID");
        assert_eq!(read.selector, Some(Selector::Nth(number(2))));
        assert_eq!(read.position, Some(position));

        let Some(Selector::Where { position, value }) = Hl7Path::read("OBX[3.1=718-7].5").expect("a path").selector
        else {
            panic!("must select by value");
        };
        assert_eq!((position.field, position.component, value.as_str()), (number(3), Some(number(1)), "718-7"));

        for text in ["MSH.1", "ZPI", "OBX[2]", "PID.3[2]", r"NTE[3=see [4\]].3", "PID[3[2].4.1=MRN].5", "PV1.7.2"] {
            assert!(Hl7Path::read(text).is_ok(), "{text}");
            round_trip::<Hl7Path>(text);
        }
    }

    #[test]
    fn invalid_paths() {
        for (text, expected_text) in [
            ("", "segment name"),
            ("pid.3", "segment name"),
            ("PID-3", "segment name"),
            ("PIDX.3", "segment name"),
            ("1PI.3", "segment name"),
            (" PID.3", "segment name"),
            ("PID.", "number"),
            ("PID.x", "number"),
            ("PID.0", "start at 1"),
            ("PID.03", "leading zeros"),
            ("PID.99999", "too large"),
            ("PID.3.1.2.4", "after its last part"),
            ("PID.3 ", "after its last part"),
            ("PID[", "number"),
            ("PID[].3", "number"),
            ("PID[1", "neither"),
            ("PID[1]3", "after `]`"),
            ("PID[3.1].5", "without a value"),
            ("OBX[3.1=].5", "without a value"),
            ("OBX[3.1=a.5", "without `]`"),
            ("OBX[code=a].5", "number"),
            ("PID.3[*]", "number"),
            ("PID.3[1", "repetition"),
        ] {
            faulty_notation::<Hl7Path>(text, expected_text);
        }
    }

    proptest::proptest! {
        #[test]
        fn similar_texts_round_trip_or_are_rejected(text in r#"(PID|OBX|MSH)?[0-9.=\[\]\\a'*]{0,20}"#) {
            round_trip::<Hl7Path>(&text);
        }

        #[test]
        fn no_text_panics(text in ".*") {
            round_trip::<Hl7Path>(&text);
        }
    }
}
