//! Decodes and encodes URL paths and queries
//! (<https://url.spec.whatwg.org/#application/x-www-form-urlencoded>).

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Without what a query may hold as it is, so that links stay readable.
const ENCODED: AsciiSet = {
    let mut set = NON_ALPHANUMERIC.remove(b'-');
    let mut kept = b"._~:/,$*@!()".as_slice();
    while let [byte, rest @ ..] = kept {
        set = set.remove(*byte);
        kept = rest;
    }
    set
};

/// The decoded `name=value` pairs of a query or form, in order.
pub(crate) fn pairs(query: &str) -> Vec<(String, String)> {
    let decoded = |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned();
    let parts = query.split('&').filter(|part| !part.is_empty());
    let pair = |part: &str| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        (decoded(name), decoded(value))
    };
    parts.map(pair).collect()
}

/// The decoded segments of a path, without empty ones at its start and end.
pub(crate) fn segments(path: &str) -> Vec<Cow<'_, str>> {
    let path = path.trim_matches('/');
    if path.is_empty() {
        return Vec::new();
    }
    path.split('/').map(|segment| percent_decode_str(segment).decode_utf8_lossy()).collect()
}

/// Encodes pairs as a query.
pub(crate) fn query(pairs: &[(String, String)]) -> String {
    let pairs: Vec<String> =
        pairs.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
    pairs.join("&")
}

/// Encodes a value for a path or query.
pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, &ENCODED).to_string()
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
