//! Texts in a notation (a path, a glob, a pattern), which are parsed immediately unless they contain a template.

use std::fmt;

use clinical::{InvalidPhoneNumber, PhoneNumber};
use model::template::is_template;
use serde::{Deserialize, Deserializer, de};

use crate::limits;

/// A notation that authors write as one string.
pub trait Notation: Sized {
    const LONGEST: usize;

    /// Parses a text, or says what is wrong with it.
    fn read(text: &str) -> Result<Self, String>;
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Authored<T> {
    Ready(T),
    /// Contains `{{…}}`, so it can only be parsed when the template is filled in.
    Template(String),
}

impl<T: Notation> Authored<T> {
    pub fn read(text: &str) -> Result<Self, String> {
        limits::check_text(text, T::LONGEST)?;
        if is_template(text) { Ok(Self::Template(text.to_owned())) } else { T::read(text).map(Self::Ready) }
    }
}

impl<T> Authored<T> {
    /// The parsed value. Fails if a template was not filled in.
    pub(crate) fn ready(&self) -> Result<&T, String> {
        match self {
            Self::Ready(value) => Ok(value),
            Self::Template(_) => Err("contains a template that was not filled in".to_owned()),
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
    const LONGEST: usize = PhoneNumber::LONGEST;

    fn read(text: &str) -> Result<Self, String> {
        text.parse().map_err(|error: InvalidPhoneNumber| error.to_string())
    }
}
