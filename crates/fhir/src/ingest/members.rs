//! Picks a few members out of a JSON object as they are written; the rest is only checked to be JSON.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::fault::Problem;

/// The values of the named members of the object that is the whole text; `object` is what a fault calls it.
pub(super) fn members<'a, const COUNT: usize>(
    text: &'a str,
    object: &'static str,
    names: [&'static str; COUNT],
) -> Result<[Option<&'a str>; COUNT], Problem> {
    if !text.starts_with('{') {
        return Err(Problem::NotAnObject(object));
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let found = Pick(names).deserialize(&mut deserializer)?;
    deserializer.end()?;
    match found.repeated {
        Some(name) => Err(Problem::Repeated(object, name)),
        None => Ok(found.values),
    }
}

/// The text of a JSON string, if the value is one.
pub(super) fn string(value: &str) -> Option<Cow<'_, str>> {
    let inner = value.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        return serde_json::from_str(value).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(inner))
}

struct ScannedMembers<'a, const COUNT: usize> {
    values: [Option<&'a str>; COUNT],
    repeated: Option<&'static str>,
}

struct Pick<const COUNT: usize>([&'static str; COUNT]);

impl<'de, const COUNT: usize> DeserializeSeed<'de> for Pick<COUNT> {
    type Value = ScannedMembers<'de, COUNT>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, const COUNT: usize> Visitor<'de> for Pick<COUNT> {
    type Value = ScannedMembers<'de, COUNT>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = ScannedMembers { values: [None; COUNT], repeated: None };
        while let Some(key) = map.next_key_seed(Key(&self.0))? {
            let Some(at) = key else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let value: &'de RawValue = map.next_value()?;
            if found.values[at].replace(value.get()).is_some() {
                found.repeated = Some(self.0[at]);
            }
        }
        Ok(found)
    }
}

/// The position of a key among the names.
struct Key<'n>(&'n [&'static str]);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Option<usize>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|name| *name == key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_as_written() {
        let text = r#"{"x":{"id":1}, "id" : "\u0061" ,"type":[1.50, 2]}"#;
        assert_eq!(
            members(text, "it", ["id", "type", "none"]).unwrap(),
            [Some(r#""\u0061""#), Some("[1.50, 2]"), None]
        );
    }

    #[test]
    fn a_key_is_compared_unescaped_and_may_come_once() {
        let problem = members(r#"{"id":1,"\u0069d":2}"#, "it", ["id"]).unwrap_err();
        assert_eq!(problem.to_string(), "it has more than one id");
        assert!(members(r#"{"x":1,"x":2}"#, "it", ["id"]).is_ok());
    }

    #[test]
    fn the_whole_text_must_be_one_object() {
        for text in ["", "[]", "{", "{}{}", "{} x", r#"{"a":01}"#, r#"{"a":1,}"#, r#"{a:1}"#, "{\"a\":\"\t\"}"] {
            assert!(members(text, "it", ["id"]).is_err(), "{text}");
        }
    }

    #[test]
    fn strings_are_unescaped() {
        assert_eq!(string(r#""a""#).as_deref(), Some("a"));
        assert_eq!(string(r#""\u0061\"""#).as_deref(), Some("a\""));
        assert_eq!(string("1"), None);
        assert_eq!(string("null"), None);
    }
}
