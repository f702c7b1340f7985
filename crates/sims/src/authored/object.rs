//! Types that take JSON objects or strings and nothing else, where serde alone would take more.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error, MapAccess, Unexpected, Visitor};

/// A JSON object as a struct. serde alone would also take a list, by position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object<T>(pub T);

impl<T> Deref for Object<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
            type Value = Object<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }

        deserializer.deserialize_map(Members(PhantomData))
    }
}

/// One word of an enum. serde alone would also take an object with the word as its key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Word<T>(pub T);

impl<T> Deref for Word<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        T::deserialize(StrDeserializer::new(&word)).map(Word)
    }
}

/// A JSON object with keys of the author's choice. serde alone would also take some numbers (see `NUMBER_KEY`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entries<V>(pub BTreeMap<String, V>);

impl<V> Deref for Entries<V> {
    type Target = BTreeMap<String, V>;

    fn deref(&self) -> &BTreeMap<String, V> {
        &self.0
    }
}

/// Numbers that no machine type holds exactly, such as `1.10`, come from `serde_json` as a map with this one key.
const NUMBER_KEY: &str = "$serde_json::private::Number";

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Entries<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<V>(PhantomData<V>);

        impl<'de, V: Deserialize<'de>> Visitor<'de> for Members<V> {
            type Value = Entries<V>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<V>, A::Error> {
                let mut entries = BTreeMap::new();
                while let Some(key) = map.next_key::<String>()? {
                    if key == NUMBER_KEY {
                        return Err(A::Error::invalid_type(Unexpected::Other("number"), &self));
                    }
                    entries.insert(key, map.next_value()?);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(Members(PhantomData))
    }
}
