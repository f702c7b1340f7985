//! Text in a notation of its own (a path, a glob, a pattern), read at once unless a template still has to be bound.

use std::fmt;

use model::phone::{self, PhoneNumber};
use model::template::is_template;
use serde::{Deserialize, Deserializer, de};

use crate::limits;

/// A notation that authors write as one string.
pub trait Notation: Sized {
    const LONGEST: usize;

    /// The value, or what is wrong with the text.
    fn read(text: &str) -> Result<Self, String>;
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Authored<T> {
    Ready(T),
    /// Holds `{{…}}`: its syntax can be judged only when that is bound.
    Template(String),
}

impl<T: Notation> Authored<T> {
    pub fn read(text: &str) -> Result<Self, String> {
        limits::check_text(text, T::LONGEST)?;
        if is_template(text) { Ok(Self::Template(text.to_owned())) } else { T::read(text).map(Self::Ready) }
    }
}

impl<T> Authored<T> {
    /// The value, once all templates are bound.
    pub(crate) fn ready(&self) -> Result<&T, String> {
        match self {
            Self::Ready(value) => Ok(value),
            Self::Template(_) => Err("holds a template that is not bound".to_owned()),
        }
    }
}

impl<T: fmt::Display> fmt::Display for Authored<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready(value) => value.fmt(f),
            Self::Template(text) => f.write_str(text),
        }
    }
}

impl<'de, T: Notation> Deserialize<'de> for Authored<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

impl Notation for PhoneNumber {
    const LONGEST: usize = phone::LONGEST;

    fn read(text: &str) -> Result<Self, String> {
        text.parse().map_err(|fault: phone::InvalidPhoneNumber| fault.to_string())
    }
}
