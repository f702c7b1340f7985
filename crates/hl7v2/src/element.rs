//! Segments and their parts (HL7 v2.8, chapter 2.5): fields, repetitions, components, subcomponents.
//!
//! All are views into the text of the message, which is split lazily.

use std::borrow::Cow;

use crate::escape::unescape;
use crate::path::Position;
use crate::{CharacterSet, Delimiters};

/// The delimiters and the character set of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Encoding {
    pub(crate) delimiters: Delimiters,
    pub(crate) set: CharacterSet,
}

/// One segment, without its line end.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'m> {
    pub(crate) text: &'m str,
    pub(crate) encoding: &'m Encoding,
}

impl<'m> Segment<'m> {
    pub fn name(&self) -> &'m str {
        self.text.get(..3).unwrap_or(self.text)
    }

    /// The text as received.
    pub fn text(&self) -> &'m str {
        self.text
    }

    /// Whether this is MSH, FHS or BHS, whose first field is the separator itself.
    pub fn is_header(&self) -> bool {
        matches!(self.name(), "MSH" | "FHS" | "BHS")
    }

    /// Whether this is a Z segment, which sites define themselves and the standard does not cover.
    pub fn is_local(&self) -> bool {
        self.text.starts_with('Z')
    }

    /// The field with this number, from 1. None if the segment has fewer fields; a present field may be empty.
    pub fn field(&self, number: usize) -> Option<Element<'m>> {
        let is_header = self.is_header();
        let separator = self.encoding.delimiters.field_separator();
        match (number, is_header) {
            (0, _) => None,
            (1, true) => Some(self.element(self.text.get(3..4)?, Level::Literal)),
            (2, true) => Some(self.element(self.text.split(separator).nth(1)?, Level::Literal)),
            _ => {
                let index = number - usize::from(is_header);
                Some(self.element(self.text.split(separator).nth(index)?, Level::Field))
            }
        }
    }

    pub fn fields(&self) -> impl Iterator<Item = Element<'m>> + use<'m> {
        let segment = *self;
        let separator = self.encoding.delimiters.field_separator();
        let literals = if self.is_header() { 2 } else { 0 };
        let others = self.text.split(separator).skip(1 + usize::from(literals == 2));
        let literals = (1..=literals).filter_map(move |number| segment.field(number));
        literals.chain(others.map(move |raw| segment.element(raw, Level::Field)))
    }

    /// The values at a position, in order, without empty ones. A position without a repetition matches every
    /// repetition.
    pub fn at(&self, position: Position) -> impl Iterator<Item = Element<'m>> + use<'m> {
        let field = self.field(index(position.field));
        let first = position.repetition.map_or(0, |repetition| index(repetition) - 1);
        let count = if position.repetition.is_some() { 1 } else { usize::MAX };
        let repetitions = field.into_iter().flat_map(|field| field.parts()).skip(first).take(count);
        let component = move |repetition: Element<'m>| match position.component {
            Some(component) => repetition.part(index(component)),
            None => Some(repetition),
        };
        let subcomponent = move |component: Element<'m>| match position.subcomponent {
            Some(subcomponent) => component.part(index(subcomponent)),
            None => Some(component),
        };
        repetitions.filter_map(component).filter_map(subcomponent).filter(|value| !value.is_empty())
    }

    /// The decoded component of the first repetition of a field; empty if it does not exist. Both numbers count from 1.
    pub(crate) fn component(&self, field: usize, component: usize) -> Cow<'m, str> {
        let first = self.field(field).and_then(|field| field.part(1)).and_then(|first| first.part(component));
        first.map_or(Cow::Borrowed(""), |component| component.text())
    }

    fn element(&self, raw: &'m str, level: Level) -> Element<'m> {
        Element { raw, level, encoding: self.encoding }
    }
}

fn index(number: crate::path::Number) -> usize {
    usize::from(number.get())
}

/// A field, or a part of one.
#[derive(Clone, Copy, Debug)]
pub struct Element<'m> {
    raw: &'m str,
    level: Level,
    encoding: &'m Encoding,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Segment,
    Field,
    Repetition,
    Component,
    Subcomponent,
    /// MSH-1 and MSH-2, which declare the delimiters and are not split by them.
    Literal,
}

impl<'m> Element<'m> {
    pub(crate) fn of_segment(segment: Segment<'m>) -> Self {
        Self { raw: segment.text, level: Level::Segment, encoding: segment.encoding }
    }

    /// The text as received.
    pub fn raw(&self) -> &'m str {
        self.raw
    }

    /// The text with its escapes decoded. Delimiters between its parts are the message's own.
    pub fn text(&self) -> Cow<'m, str> {
        match self.level {
            Level::Literal => Cow::Borrowed(self.raw),
            _ => unescape(self.raw, &self.encoding.delimiters, self.encoding.set),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// Whether the value is null (`""`): there is no value, and the receiver deletes an earlier one.
    pub fn is_null(&self) -> bool {
        self.raw == "\"\""
    }

    /// Whether the value is neither empty nor null.
    pub fn is_valued(&self) -> bool {
        !self.is_empty() && !self.is_null()
    }

    /// The repetitions of a field, the components of a repetition or the subcomponents of a component. There is at
    /// least one, which may be empty.
    pub fn parts(&self) -> impl Iterator<Item = Self> + use<'m> {
        let (level, delimiter) = self.part_level();
        let mut rest = Some(self.raw);
        let element = *self;
        std::iter::from_fn(move || {
            let raw = rest?;
            let split = delimiter.and_then(|delimiter| raw.split_once(char::from(delimiter)));
            rest = split.map(|(_, after)| after);
            Some(Self { raw: split.map_or(raw, |(before, _)| before), level, ..element })
        })
    }

    /// The part with this number, from 1.
    pub fn part(&self, number: usize) -> Option<Self> {
        self.parts().nth(number.checked_sub(1)?)
    }

    fn part_level(&self) -> (Level, Option<u8>) {
        let delimiters = &self.encoding.delimiters;
        match self.level {
            Level::Segment => (Level::Field, Some(delimiters.field)),
            Level::Field => (Level::Repetition, delimiters.repetition),
            Level::Repetition => (Level::Component, Some(delimiters.component)),
            Level::Component => (Level::Subcomponent, delimiters.subcomponent),
            level @ (Level::Subcomponent | Level::Literal) => (level, None),
        }
    }
}
