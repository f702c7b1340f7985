//! Decodes and encodes URL paths and queries
//! (<https://url.spec.whatwg.org/#application/x-www-form-urlencoded>).

use std::borrow::Cow;
use std::fmt::Write as _;

/// The decoded `name=value` pairs of a query or form, in order.
pub(crate) fn pairs(query: &str) -> Vec<(String, String)> {
    let parts = query.split('&').filter(|part| !part.is_empty());
    let pair = |part: &str| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        (decoded(name, true).into_owned(), decoded(value, true).into_owned())
    };
    parts.map(pair).collect()
}

/// The decoded segments of a path, without empty ones at its start and end.
pub(crate) fn segments(path: &str) -> Vec<Cow<'_, str>> {
    let path = path.trim_matches('/');
    if path.is_empty() {
        return Vec::new();
    }
    path.split('/').map(|segment| decoded(segment, false)).collect()
}

/// Encodes pairs as a query.
pub(crate) fn query(pairs: &[(String, String)]) -> String {
    let mut text = String::new();
    for (name, value) in pairs {
        if !text.is_empty() {
            text.push('&');
        }
        encode(name, &mut text);
        text.push('=');
        encode(value, &mut text);
    }
    text
}

/// Encodes a value for a path or query.
pub(crate) fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    encode(text, &mut encoded);
    encoded
}

fn encode(text: &str, into: &mut String) {
    for byte in text.bytes() {
        // Characters that queries allow are not encoded, so that links stay readable.
        if byte.is_ascii_alphanumeric() || b"-._~:/,$*@!()".contains(&byte) {
            into.push(char::from(byte));
        } else {
            let _ = write!(into, "%{byte:02X}");
        }
    }
}

fn decoded(text: &str, plus_is_space: bool) -> Cow<'_, str> {
    if !text.bytes().any(|byte| matches!(byte, b'%' | b'+')) {
        return Cow::Borrowed(text);
    }
    let source = text.as_bytes();
    let mut bytes = Vec::with_capacity(source.len());
    let mut at = 0;
    while at < source.len() {
        let (byte, length) = match source[at] {
            b'%' => escaped(source, at).map_or((b'%', 1), |byte| (byte, 3)),
            b'+' if plus_is_space => (b' ', 1),
            byte => (byte, 1),
        };
        bytes.push(byte);
        at += length;
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

fn escaped(source: &[u8], at: usize) -> Option<u8> {
    let digit = |offset: usize| source.get(at + offset).and_then(|byte| char::from(*byte).to_digit(16));
    u8::try_from(digit(1)? * 16 + digit(2)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_round_trip() {
        let text = "name=J%C3%B6rg+%26+Co&code=http://loinc.org%7C8480-6&_sort=-date&empty=&bare&%zz=%";
        let read = pairs(text);
        let of = |at: usize| (read[at].0.as_str(), read[at].1.as_str());
        assert_eq!(of(0), ("name", "Jörg & Co"));
        assert_eq!(of(1), ("code", "http://loinc.org|8480-6"));
        assert_eq!((of(3), of(4), of(5)), (("empty", ""), ("bare", ""), ("%zz", "%")));
        assert_eq!(pairs(&query(&read)), read);
    }

    #[test]
    fn segments_are_decoded_once() {
        assert_eq!(segments("Patient/a%2Fb%252F+"), ["Patient", "a/b%2F+"]);
        assert_eq!(segments("/Patient/"), ["Patient"]);
        assert!(segments("").is_empty());
        assert_eq!(segments("a//b"), ["a", "", "b"]);
    }
}
