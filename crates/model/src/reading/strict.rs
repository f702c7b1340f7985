//! JSON as serde reads it, but only in the shape that was meant, and with the place of a fault.

use std::cell::{Cell, RefCell};
use std::slice;

use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde_json::{Error, Value, map};

/// One step from an object or list to what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Member(String),
    Item(usize),
}

/// What serde said, and of what.
pub(super) struct Refusal {
    pub(super) place: Vec<Step>,
    /// The fault is in the name of the member at the place, not in its value.
    pub(super) is_of_key: bool,
    pub(super) said: String,
}

pub(super) fn read<T: DeserializeOwned>(value: &Value) -> Result<T, Refusal> {
    let trail = Trail::default();
    T::deserialize(Strict { value, trail: &trail }).map_err(|error| {
        let mut place = trail.steps.into_inner();
        place.reverse();
        Refusal { place, is_of_key: trail.is_of_key.get(), said: error.to_string() }
    })
}

/// The way back from a fault to the whole, step by step.
#[derive(Default)]
struct Trail {
    steps: RefCell<Vec<Step>>,
    is_of_key: Cell<bool>,
}

/// By itself serde also takes a list for a struct, by position; `{"word": null}` for a word; and a number that no
/// machine type holds exactly, such as `1.10`, for an object, as which `serde_json` hands it on.
#[derive(Clone, Copy)]
struct Strict<'de, 't> {
    value: &'de Value,
    trail: &'t Trail,
}

impl Strict<'_, '_> {
    /// Whoever tells the fault looks up what is there instead.
    fn wrong<T>(self, expected: &'static str) -> Result<T, Error> {
        Err(Error::invalid_type(Unexpected::Other("another type"), &expected))
    }
}

macro_rules! integers {
    ($($method:ident)+, $expected:literal) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.value.as_i64() {
                Some(number) => visitor.visit_i64(number),
                None => match self.value.as_u64() {
                    Some(number) => visitor.visit_u64(number),
                    None => self.wrong($expected),
                },
            }
        })+
    };
}

macro_rules! as_serde_json_does {
    ($($method:ident)+) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.value.$method(visitor)
        })+
    };
}

impl<'de> Deserializer<'de> for Strict<'de, '_> {
    type Error = Error;

    integers!(deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128, "an integer");
    integers!(
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128, "a whole number from 0"
    );
    as_serde_json_does!(
        deserialize_any deserialize_bool deserialize_f32 deserialize_f64 deserialize_char deserialize_str
        deserialize_string deserialize_bytes deserialize_byte_buf deserialize_unit deserialize_identifier
        deserialize_ignored_any
    );

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.value.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, Error> {
        self.value.deserialize_unit_struct(name, visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let Value::Array(items) = self.value else {
            return self.wrong("a list");
        };
        let mut items = Items { rest: items.iter(), read: 0, trail: self.trail };
        let list = visitor.visit_seq(&mut items)?;
        if items.rest.len() == 0 { Ok(list) } else { self.wrong("a shorter list") }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let Value::Object(members) = self.value else {
            return self.wrong("an object");
        };
        visitor.visit_map(Members { rest: members.iter(), current: None, trail: self.trail })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.value {
            Value::String(word) => visitor.visit_enum(BorrowedStrDeserializer::new(word)),
            _ => self.wrong("a string"),
        }
    }
}

struct Items<'de, 't> {
    rest: slice::Iter<'de, Value>,
    read: usize,
    trail: &'t Trail,
}

impl<'de> SeqAccess<'de> for Items<'de, '_> {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Error> {
        let Some(value) = self.rest.next() else {
            return Ok(None);
        };
        let item = seed.deserialize(Strict { value, trail: self.trail });
        if item.is_err() {
            self.trail.steps.borrow_mut().push(Step::Item(self.read));
        }
        self.read += 1;
        item.map(Some)
    }
}

struct Members<'de, 't> {
    rest: map::Iter<'de>,
    current: Option<(&'de String, &'de Value)>,
    trail: &'t Trail,
}

impl<'de> MapAccess<'de> for Members<'de, '_> {
    type Error = Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Error> {
        self.current = self.rest.next();
        let Some((key, _)) = self.current else {
            return Ok(None);
        };
        let name = seed.deserialize(StrDeserializer::new(key));
        if name.is_err() {
            self.trail.steps.borrow_mut().push(Step::Member(key.clone()));
            self.trail.is_of_key.set(true);
        }
        name.map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        let (key, value) = self.current.ok_or_else(|| Error::custom("a value was asked for before its key"))?;
        let member = seed.deserialize(Strict { value, trail: self.trail });
        if member.is_err() {
            self.trail.steps.borrow_mut().push(Step::Member(key.clone()));
        }
        member
    }
}
