//! JSON of a request as it is read: a byte order mark is passed over, and a key must not stand twice in an object.

use std::collections::HashSet;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
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
    let mut reader = serde_json::Deserializer::from_slice(text);
    // Which of the two values counts would depend on the reader.
    DistinctKeys.deserialize(&mut reader).map_err(|fault| Refusal::bad("invalid", fault.to_string()))?;
    Ok(parsed)
}

/// Reads any JSON and keeps nothing of it; an error if an object has a key twice.
struct DistinctKeys;

impl<'de> DeserializeSeed<'de> for DistinctKeys {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for DistinctKeys {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(DistinctKeys)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let mut seen: HashSet<String> = HashSet::new();
        while let Some(key) = fields.next_key::<String>()? {
            fields.next_value_seed(DistinctKeys)?;
            if let Some(key) = seen.replace(key) {
                let key = super::outcome::excerpt(&key);
                return Err(de::Error::custom(format_args!("the key \"{key}\" stands twice in one object")));
            }
        }
        Ok(())
    }
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
