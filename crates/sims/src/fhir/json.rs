//! JSON of a request as it is read: a byte order mark is passed over, and a key must not stand twice in an object.

use model::distinct_keys;
use serde_json::Value;

use super::depth;
use super::outcome::Refusal;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The text without a byte order mark, which some clients write before it.
pub(crate) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

pub(crate) fn parse(text: &[u8]) -> Result<Value, Refusal> {
    let text = without_mark(text);
    depth::check_text(text)?;
    let unreadable = |fault| Refusal::bad("invalid", format!("the body is no JSON that can be read: {fault}"));
    let parsed: Value = serde_json::from_slice(text).map_err(unreadable)?;
    depth::check(&parsed)?;
    distinct_keys::check(text).map_err(|fault| Refusal::bad("invalid", fault))?;
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stand_once_in_an_object() {
        for text in [r#"{"a": 1.50, "b": [{"a": -2e5}, {"a": null}], "c": {"a": "x"}}"#, "[]", "\u{feff}{\"a\": true}"]
        {
            assert!(parse(text.as_bytes()).is_ok(), "{text}");
        }
        assert_eq!(parse(b"{\"a\": 1.50}").unwrap()["a"].to_string(), "1.50");
        for text in [r#"{"a": 1, "a": 1}"#, r#"[{"b": {"a": 1, "\u0061": 2}}]"#] {
            let refusal = parse(text.as_bytes()).unwrap_err();
            assert_eq!(refusal.status, 400);
            assert!(refusal.issues[0].diagnostics.contains("\"a\" stands twice"), "{refusal:?}");
        }
        assert!(parse(b"{").is_err() && parse(b"\xef\xbb").is_err());
    }
}
