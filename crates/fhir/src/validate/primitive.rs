//! The values that primitive types allow (<https://hl7.org/fhir/R4/datatypes.html#primitive>).

use clinical::{PartialDateTime, PartialTime, Precision};
use serde_json::Value;

use super::walk::shape;
use super::{FaultKind, xhtml};
use crate::definitions::Primitive;
use crate::excerpt::Excerpt;
use crate::reference::is_id;

/// What is wrong with a value.
#[derive(Debug)]
pub(super) struct Flaw {
    pub(super) kind: FaultKind,
    pub(super) message: String,
}

/// Characters of a string.
const MAX_LENGTH: usize = 1024 * 1024;

pub(super) fn check(primitive: Primitive, value: &Value) -> Result<(), Flaw> {
    match (json(primitive), value) {
        (Json::Boolean, Value::Bool(_)) => Ok(()),
        (Json::Number, Value::Number(number)) => require(primitive, number.as_str(), is_number),
        (Json::String, Value::String(text)) if text.is_empty() => {
            Err(Flaw { kind: FaultKind::Value, message: "must not be empty".into() })
        }
        (Json::String, Value::String(text)) if is_too_long(primitive, text) => {
            Err(Flaw { kind: FaultKind::TooLong, message: format!("has more than {MAX_LENGTH} characters") })
        }
        (Json::String, Value::String(text)) => require(primitive, text, is_text),
        (expected, other) => {
            let message = format!("must be {} ({}), not {}", expected.name(), primitive.name(), shape(other));
            Err(Flaw { kind: FaultKind::Structure, message })
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Json {
    Boolean,
    Number,
    String,
}

impl Json {
    fn name(self) -> &'static str {
        match self {
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
        }
    }
}

fn json(primitive: Primitive) -> Json {
    match primitive {
        Primitive::Boolean => Json::Boolean,
        Primitive::Decimal | Primitive::Integer | Primitive::PositiveInt | Primitive::UnsignedInt => Json::Number,
        _ => Json::String,
    }
}

fn require(primitive: Primitive, text: &str, rule: fn(Primitive, &str) -> bool) -> Result<(), Flaw> {
    if rule(primitive, text) {
        return Ok(());
    }
    let message = format!("{} is not a valid {}", Excerpt::of(text), primitive.name());
    Err(Flaw { kind: FaultKind::Value, message })
}

fn is_number(primitive: Primitive, text: &str) -> bool {
    match primitive {
        Primitive::Integer => is_integer(text, i32::MIN),
        Primitive::UnsignedInt => is_integer(text, 0),
        Primitive::PositiveInt => is_integer(text, 1),
        // Every number of JSON is a decimal.
        _ => true,
    }
}

/// Within 32 bits, without fraction and exponent; JSON has no superfluous zeros and `-0` is none of R4's.
fn is_integer(text: &str, least: i32) -> bool {
    text != "-0" && text.parse::<i32>().is_ok_and(|number| number >= least)
}

fn is_too_long(primitive: Primitive, text: &str) -> bool {
    matches!(primitive, Primitive::String | Primitive::Markdown)
        && text.len() > MAX_LENGTH
        && text.chars().nth(MAX_LENGTH).is_some()
}

fn is_date_time(text: &str, is_of_type: fn(&PartialDateTime) -> bool) -> bool {
    PartialDateTime::parse_fhir(text).is_some_and(|parsed| is_of_type(&parsed))
}

fn is_time(text: &str) -> bool {
    PartialTime::parse_fhirpath(text).is_some_and(|time| time.precision() == Precision::Second)
}

fn is_text(primitive: Primitive, text: &str) -> bool {
    match primitive {
        Primitive::String | Primitive::Markdown => is_string(text),
        Primitive::Uri | Primitive::Url | Primitive::Canonical => is_uri(text),
        Primitive::Code => is_code(text),
        Primitive::Id => is_id(text),
        Primitive::Date => is_date_time(text, PartialDateTime::is_fhir_date),
        Primitive::DateTime => is_date_time(text, PartialDateTime::is_fhir_date_time),
        Primitive::Instant => is_date_time(text, PartialDateTime::is_fhir_instant),
        Primitive::Time => is_time(text),
        Primitive::Oid => is_oid(text),
        Primitive::Uuid => is_uuid(text),
        Primitive::Base64Binary => is_base64(text),
        Primitive::Xhtml => xhtml::is_division(text),
        Primitive::Boolean
        | Primitive::Decimal
        | Primitive::Integer
        | Primitive::PositiveInt
        | Primitive::UnsignedInt => false,
    }
}

fn is_string(text: &str) -> bool {
    text.bytes().all(|byte| byte >= b' ' || matches!(byte, b'\t' | b'\r' | b'\n'))
}

/// White space is what XML Schema means by it, here and in codes: a no-break space is none.
fn is_uri(text: &str) -> bool {
    text.bytes().all(|byte| byte > b' ' && byte != 0x7F)
}

/// Words with one space between them.
fn is_code(text: &str) -> bool {
    let is_word = |word: &[u8]| !word.is_empty() && word.iter().all(|byte| *byte > b' ' && *byte != 0x7F);
    text.as_bytes().split(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')).all(is_word)
}

/// `urn:oid:1.2.3`, without superfluous zeros.
fn is_oid(text: &str) -> bool {
    let is_arc = |arc: &str| {
        !arc.is_empty() && arc.bytes().all(|byte| byte.is_ascii_digit()) && (arc == "0" || !arc.starts_with('0'))
    };
    let Some((root, arcs)) = text.strip_prefix("urn:oid:").and_then(|arcs| arcs.split_once('.')) else {
        return false;
    };
    matches!(root, "0" | "1" | "2") && arcs.split('.').all(is_arc)
}

/// `urn:uuid:` and 36 characters, in lower case.
fn is_uuid(text: &str) -> bool {
    let is_digit = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
    };
    text.strip_prefix("urn:uuid:").is_some_and(|uuid| uuid.len() == 36 && uuid.bytes().enumerate().all(is_digit))
}

/// Groups of four with white space anywhere, padded at the end.
fn is_base64(text: &str) -> bool {
    let (mut digits, mut padding) = (0_usize, 0_usize);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        match byte {
            b'=' => padding += 1,
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'+' | b'/' if padding == 0 => digits += 1,
            _ => return false,
        }
    }
    digits > 0 && padding <= 2 && (digits + padding).is_multiple_of(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn rule(primitive: Primitive, good: &[&str], bad: &[&str]) {
        let is_valid = |text: &&str| {
            let value = serde_json::from_str(text).unwrap_or_else(|_| Value::String((*text).to_owned()));
            let value = match json(primitive) {
                Json::String => Value::String((*text).to_owned()),
                _ => value,
            };
            check(primitive, &value).is_ok()
        };
        assert_eq!(good.iter().find(|text| !is_valid(text)), None, "good");
        assert_eq!(bad.iter().find(|text| is_valid(text)), None, "bad");
    }

    #[test]
    fn booleans_and_numbers() {
        rule(Primitive::Boolean, &["true", "false"], &["1", "\"true\"", "null", "[]"]);
        rule(
            Primitive::Integer,
            &["0", "-1", "2147483647", "-2147483648"],
            &["-0", "1.0", "1e2", "2147483648", "-2147483649", "\"1\"", "null"],
        );
        rule(Primitive::UnsignedInt, &["0", "1"], &["-1", "0.0", "-0"]);
        rule(Primitive::PositiveInt, &["1", "2147483647"], &["0", "-1", "4294967296"]);
        rule(Primitive::Decimal, &["0", "-0.50", "1e-5", "1.5E+10", "123456789012345678901.5"], &["\"1\"", "true"]);
    }

    #[test]
    fn texts() {
        rule(Primitive::String, &["a", " ", "a\tb\r\nc", "é😀"], &["", "a\u{0}", "a\u{b}", "\u{1f}"]);
        rule(Primitive::Markdown, &["# a\n\nb"], &["", "\u{7}"]);
        rule(Primitive::Uri, &["http://a.b/c", "urn:oid:1", "#a", "é"], &["", "a b", "a\n", "\u{7f}x"]);
        rule(Primitive::Url, &["https://a"], &["a b"]);
        rule(Primitive::Canonical, &["http://a|1.0"], &["http://a |1"]);
        rule(Primitive::Code, &["a", "a b", "<=", "\u{a0}"], &["", " a", "a ", "a  b", "a\t b", "a\u{0}"]);
        rule(Primitive::Id, &["a-1.B"], &["", "a_b", "a b"]);
    }

    #[test]
    fn identifiers_and_bytes() {
        rule(Primitive::Oid, &["urn:oid:1.2.0.34"], &["1.2", "urn:oid:3.1", "urn:oid:1", "urn:oid:1.02", "urn:oid:1."]);
        let good = "urn:uuid:c757873d-ec9a-4326-a141-556f43239520";
        rule(Primitive::Uuid, &[good], &[&good[9..], &good.to_uppercase(), &good[..44], "urn:uuid:"]);
        rule(
            Primitive::Base64Binary,
            &["QQ==", "QUI=", "QUJD", "QUJD\nQUJD", " Q Q = = "],
            &["", " ", "Q", "QQ=", "====", "Q=Q=", "QQ==QQ==", "QQ-_", "Q==="],
        );
    }

    #[test]
    fn a_string_is_limited_by_characters() {
        let text = |length: usize| Value::String("é".repeat(length));
        assert!(check(Primitive::String, &text(MAX_LENGTH)).is_ok());
        assert_eq!(check(Primitive::String, &text(MAX_LENGTH + 1)).unwrap_err().kind, FaultKind::TooLong);
        assert!(check(Primitive::Base64Binary, &Value::String("QUJD".repeat(MAX_LENGTH))).is_ok());
    }
}
