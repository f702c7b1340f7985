//! The common part of HL7 and X12 paths: a segment name, a selector, and a position in the segment.

use std::fmt;
use std::num::NonZeroU16;
use std::ops::RangeInclusive;

use crate::path::{read_selected_value, split_at_unescaped, write_selected_value};

/// An index that starts at 1, as in both standards.
pub type Number = NonZeroU16;

/// Selects among several segments of one name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Selector {
    Nth(Number),
    /// The segments with this value at the position, as in `OBX[3.1=718-7]`.
    Where {
        position: Position,
        value: String,
    },
}

/// A field (HL7) or element (X12), and optionally a part of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub field: Number,
    pub repetition: Option<Number>,
    pub component: Option<Number>,
    /// HL7 only.
    pub subcomponent: Option<Number>,
}

/// The differences between HL7 and X12 paths.
pub(crate) struct Grammar {
    pub(crate) name_length: RangeInclusive<usize>,
    pub(crate) name_error: &'static str,
    pub(crate) has_subcomponents: bool,
}

/// `name[selector].position`, the last two optional.
pub(crate) type SegmentParts<'a> = (&'a str, Option<Selector>, Option<Position>);

pub(crate) fn read_segment<'a>(text: &'a str, grammar: &Grammar) -> Result<SegmentParts<'a>, String> {
    let end = text.find(['.', '[']).unwrap_or(text.len());
    let (name, mut rest) = text.split_at(end);
    let is_capital_or_digit = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    let starts_with_letter = name.starts_with(|c: char| c.is_ascii_uppercase());
    if !grammar.name_length.contains(&name.len()) || !starts_with_letter || !name.bytes().all(is_capital_or_digit) {
        return Err(grammar.name_error.to_owned());
    }
    let mut selector = None;
    if let Some(inside) = rest.strip_prefix('[') {
        let (read, after) = read_selector(inside, grammar)?;
        selector = Some(read);
        rest = after;
    }
    if rest.is_empty() {
        return Ok((name, selector, None));
    }
    let position = rest.strip_prefix('.').ok_or("must have `.` after `]`")?;
    match read_position(position, grammar)? {
        (position, "") => Ok((name, selector, Some(position))),
        (_, rest) => Err(format!("has `{rest}` after its last part")),
    }
}

fn read_selector<'a>(inside: &'a str, grammar: &Grammar) -> Result<(Selector, &'a str), String> {
    let (position, rest) = read_position(inside, grammar)?;
    if let Some(after) = rest.strip_prefix(']') {
        let is_number = position.repetition.is_none() && position.component.is_none();
        let selector = if is_number { Some(Selector::Nth(position.field)) } else { None };
        return Ok((selector.ok_or("has a selector without a value: write `[3.1=value]`")?, after));
    }
    let rest = rest.strip_prefix('=').ok_or("has a selector that is neither `[2]` nor `[3.1=value]`")?;
    let (value, after) = split_at_unescaped(rest, ']').ok_or("has `[` without `]`")?;
    Ok((Selector::Where { position, value: read_selected_value(value)? }, after))
}

fn read_position<'a>(text: &'a str, grammar: &Grammar) -> Result<(Position, &'a str), String> {
    let (field, mut rest) = read_number(text)?;
    let mut position = Position { field, repetition: None, component: None, subcomponent: None };
    if let Some(inside) = rest.strip_prefix('[') {
        let (repetition, after) = read_number(inside)?;
        position.repetition = Some(repetition);
        rest = after.strip_prefix(']').ok_or("has a repetition that is not a number in brackets, as in `3[2]`")?;
    }
    if let Some(inside) = rest.strip_prefix('.') {
        let (component, after) = read_number(inside)?;
        position.component = Some(component);
        rest = after;
        if let Some(inside) = rest.strip_prefix('.').filter(|_| grammar.has_subcomponents) {
            let (subcomponent, after) = read_number(inside)?;
            position.subcomponent = Some(subcomponent);
            rest = after;
        }
    }
    Ok((position, rest))
}

/// Rejects leading zeros, so that equal paths are equal texts.
fn read_number(text: &str) -> Result<(Number, &str), String> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() {
        return Err("must have a number after `.` and `[`, as in `PID[1].3`".to_owned());
    }
    if digits.starts_with('0') {
        return Err("has a number that is 0 or has leading zeros: numbers start at 1".to_owned());
    }
    digits.parse().map(|number| (number, rest)).map_err(|_| "has a number that is too large".to_owned())
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nth(number) => write!(f, "[{number}]"),
            Self::Where { position, value } => {
                write!(f, "[{position}=")?;
                write_selected_value(value, f)?;
                f.write_str("]")
            }
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.field)?;
        if let Some(repetition) = self.repetition {
            write!(f, "[{repetition}]")?;
        }
        for part in [self.component, self.subcomponent].into_iter().flatten() {
            write!(f, ".{part}")?;
        }
        Ok(())
    }
}

pub(crate) fn write_segment(
    name: &str,
    selector: Option<&Selector>,
    position: Option<&Position>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    f.write_str(name)?;
    if let Some(selector) = selector {
        write!(f, "{selector}")?;
    }
    match position {
        Some(position) => write!(f, ".{position}"),
        None => Ok(()),
    }
}
