//! Parses the JSON of a request. Skips a byte order mark and rejects duplicate keys.

use model::distinct_keys;
use serde_json::Value;

use super::depth;
use super::outcome::FhirError;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Removes the byte order mark that some clients send.
pub(crate) fn without_byte_order_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

pub(crate) fn parse(text: &[u8]) -> Result<Value, FhirError> {
    let text = without_byte_order_mark(text);
    depth::check_text(text)?;
    let unreadable = |fault| FhirError::bad("invalid", format!("the body is not valid JSON: {fault}"));
    let parsed: Value = serde_json::from_slice(text).map_err(unreadable)?;
    depth::check(&parsed)?;
    distinct_keys::check(text).map_err(|fault| FhirError::bad("invalid", fault))?;
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicate_keys_are_rejected() {
        for text in [r#"{"a": 1.50, "b": [{"a": -2e5}, {"a": null}], "c": {"a": "x"}}"#, "[]", "\u{feff}{\"a\": true}"]
        {
            assert!(parse(text.as_bytes()).is_ok(), "{text}");
        }
        assert_eq!(parse(b"{\"a\": 1.50}").unwrap()["a"].to_string(), "1.50");
        for text in [r#"{"a": 1, "a": 1}"#, r#"[{"b": {"a": 1, "\u0061": 2}}]"#] {
            let error = parse(text.as_bytes()).unwrap_err();
            assert_eq!(error.status, 400);
            assert!(error.issues[0].diagnostics.contains("\"a\" stands twice"), "{error:?}");
        }
        assert!(parse(b"{").is_err() && parse(b"\xef\xbb").is_err());
    }
}
