//! The objects of PDF files (ISO 32000-1, 7.3).

use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Object {
    Null,
    Boolean(bool),
    Number(f64),
    /// Without its slash.
    Name(String),
    Text(Vec<u8>),
    Array(Vec<Object>),
    Dictionary(Dictionary),
    Stream(Stream),
    /// The number of another object.
    Reference(u32),
    /// An operator, or a word that is none of the above.
    Word(String),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Dictionary(pub(super) BTreeMap<String, Object>);

/// A stream, with its encoded bytes in the file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stream {
    pub(super) dictionary: Dictionary,
    pub(super) start: usize,
}

impl Dictionary {
    pub(super) fn get(&self, name: &str) -> &Object {
        self.0.get(name).unwrap_or(&Object::Null)
    }

    /// The value of the first of two names that exists. Inline pictures use abbreviated names.
    pub(super) fn either(&self, name: &str, short: &str) -> &Object {
        self.0.get(name).unwrap_or_else(|| self.get(short))
    }

    pub(super) fn has_type(&self, name: &str) -> bool {
        self.get("Type").name() == Some(name)
    }
}

impl Object {
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// A non-negative integer. Saturates.
    pub(super) fn whole(&self) -> Option<usize> {
        self.number().filter(|number| *number >= 0.0 && number.fract() == 0.0).map(|number| number as usize)
    }

    pub(super) fn is_true(&self) -> bool {
        matches!(self, Self::Boolean(true))
    }

    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            _ => None,
        }
    }

    pub(super) fn array(&self) -> &[Self] {
        match self {
            Self::Array(items) => items,
            _ => &[],
        }
    }

    pub(super) fn reference(&self) -> Option<u32> {
        match self {
            Self::Reference(number) => Some(*number),
            _ => None,
        }
    }

    /// The dictionary, or that of a stream.
    pub(super) fn dictionary(&self) -> Option<&Dictionary> {
        match self {
            Self::Dictionary(dictionary) | Self::Stream(Stream { dictionary, .. }) => Some(dictionary),
            _ => None,
        }
    }
}
