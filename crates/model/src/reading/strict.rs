//! A strict deserializer for JSON values that reports the path of an error.

use std::cell::{Cell, RefCell};
use std::slice;

use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde_json::{Error, Value, map};

/// One step of a path: a member of an object or an item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathStep {
    Member(String),
    Item(usize),
}

/// An error message of serde and its path.
pub(super) struct SerdeError {
    pub(super) path: Vec<PathStep>,
    /// Whether the error is in the name of the member at the path, not in its value.
    pub(super) is_in_key: bool,
    pub(super) message: String,
}

pub(super) fn read<T: DeserializeOwned>(value: &Value) -> Result<T, SerdeError> {
    let trace = ErrorTrace::default();
    T::deserialize(Strict { value, trace: &trace }).map_err(|error| {
        let mut path = trace.steps.into_inner();
        path.reverse();
        SerdeError { path, is_in_key: trace.is_in_key.get(), message: error.to_string() }
    })
}

/// The path of an error, collected from the inside out.
#[derive(Default)]
struct ErrorTrace {
    steps: RefCell<Vec<PathStep>>,
    is_in_key: Cell<bool>,
}

/// The strict deserializer. Plain serde also accepts a list for a struct, by position; `{"name": null}` for an enum
/// name; and a number without an exact machine type, such as `1.10`, for an object, because `serde_json` represents it
/// as one.
#[derive(Clone, Copy)]
struct Strict<'de, 't> {
    value: &'de Value,
    trace: &'t ErrorTrace,
}

impl Strict<'_, '_> {
    /// A type error. The actual value is looked up when the message is written.
    fn type_error<T>(self, expected: &'static str) -> Result<T, Error> {
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
                    None => self.type_error($expected),
                },
            }
        })+
    };
}

macro_rules! delegate_to_serde_json {
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
    delegate_to_serde_json!(
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
            return self.type_error("a list");
        };
        let mut items = Items { rest: items.iter(), read: 0, trace: self.trace };
        let list = visitor.visit_seq(&mut items)?;
        if items.rest.len() == 0 { Ok(list) } else { self.type_error("a shorter list") }
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
            return self.type_error("an object");
        };
        visitor.visit_map(Members { rest: members.iter(), current: None, trace: self.trace })
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
            Value::String(name) => visitor.visit_enum(BorrowedStrDeserializer::new(name)),
            _ => self.type_error("a string"),
        }
    }
}

struct Items<'de, 't> {
    rest: slice::Iter<'de, Value>,
    read: usize,
    trace: &'t ErrorTrace,
}

impl<'de> SeqAccess<'de> for Items<'de, '_> {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Error> {
        let Some(value) = self.rest.next() else {
            return Ok(None);
        };
        let item = seed.deserialize(Strict { value, trace: self.trace });
        if item.is_err() {
            self.trace.steps.borrow_mut().push(PathStep::Item(self.read));
        }
        self.read += 1;
        item.map(Some)
    }
}

struct Members<'de, 't> {
    rest: map::Iter<'de>,
    current: Option<(&'de String, &'de Value)>,
    trace: &'t ErrorTrace,
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
            self.trace.steps.borrow_mut().push(PathStep::Member(key.clone()));
            self.trace.is_in_key.set(true);
        }
        name.map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        let (key, value) = self.current.ok_or_else(|| Error::custom("a value was requested before its key"))?;
        let member = seed.deserialize(Strict { value, trace: self.trace });
        if member.is_err() {
            self.trace.steps.borrow_mut().push(PathStep::Member(key.clone()));
        }
        member
    }
}
