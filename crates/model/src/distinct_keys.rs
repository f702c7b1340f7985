//! Rejects JSON with duplicate keys in one object, because parsers disagree on which value counts.

use std::collections::HashSet;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// Checks a JSON text without keeping any of it. The error names the first duplicate key.
pub fn check(text: &[u8]) -> Result<(), String> {
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    DistinctKeys.deserialize(&mut deserializer).map_err(|error| error.to_string())
}

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

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut seen: HashSet<String> = HashSet::new();
        while let Some(key) = members.next_key::<String>()? {
            members.next_value_seed(DistinctKeys)?;
            if let Some(key) = seen.replace(key) {
                let key = crate::reading::shortened(&key, 100);
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
    fn duplicate_keys_are_rejected() {
        for text in [r#"{"a": 1.50, "b": [{"a": -2e5}, {"a": null}], "c": {"a": "x"}}"#, "[]", "1"] {
            assert_eq!(check(text.as_bytes()), Ok(()), "{text}");
        }
        for text in [r#"{"a": 1, "a": 1}"#, r#"[{"b": {"a": 1, "\u0061": 2}}]"#] {
            assert!(check(text.as_bytes()).unwrap_err().contains("\"a\" stands twice"), "{text}");
        }
    }
}
