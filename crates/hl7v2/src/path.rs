//! Paths into messages, in the notation of the criteria: `SEG[n].field[rep].component.sub`, `OBX[3.1=718-7].5`.
//!
//! All numbers count from 1; MSH.1 is the field separator itself (HL7 v2.8, chapter 2.5). An omitted number matches
//! everything: `OBX.5` selects every repetition of the fifth field of every OBX.

use std::fmt;
use std::num::NonZeroU16;
use std::str::FromStr;

use crate::element::Segment;

/// A number that counts from 1.
pub type Number = NonZeroU16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    pub segment: String,
    pub selector: Option<Selector>,
    /// None selects the whole segment.
    pub position: Option<Position>,
}

/// Selects some of the segments with the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    Nth(Number),
    /// The segments with this value at the position.
    Where {
        position: Position,
        value: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub field: Number,
    pub repetition: Option<Number>,
    pub component: Option<Number>,
    pub subcomponent: Option<Number>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PathError(&'static str);

impl Position {
    pub fn of_field(field: Number) -> Self {
        Self { field, repetition: None, component: None, subcomponent: None }
    }
}

impl Path {
    /// Whether the path selects this segment, which is the `nth` of its name, from 1.
    pub(crate) fn selects(&self, segment: Segment<'_>, nth: usize) -> bool {
        match &self.selector {
            None => true,
            Some(Selector::Nth(number)) => usize::from(number.get()) == nth,
            Some(Selector::Where { position, value }) => segment.at(*position).any(|at| at.text() == value.as_str()),
        }
    }
}

impl FromStr for Path {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        let end = text.find(['.', '[']).unwrap_or(text.len());
        let (segment, mut rest) = text.split_at(end);
        if !is_segment_name(segment.as_bytes()) {
            return Err(PathError(
                "must start with a segment name of three uppercase letters or digits, such as `PID.3.1`",
            ));
        }
        let mut selector = None;
        if let Some(inside) = rest.strip_prefix('[') {
            let (read, after) = read_selector(inside)?;
            (selector, rest) = (Some(read), after);
        }
        let position = match rest.strip_prefix('.') {
            Some(position) => Some(read_position(position)?),
            None if rest.is_empty() => None,
            None => return Err(PathError("must have `.` after `]`")),
        };
        match position {
            Some((_, rest)) if !rest.is_empty() => Err(PathError("has extra characters after its last part")),
            _ => Ok(Self { segment: segment.to_owned(), selector, position: position.map(|(position, _)| position) }),
        }
    }
}

/// Whether a name is three uppercase letters or digits, starting with a letter.
pub(crate) fn is_segment_name(name: &[u8]) -> bool {
    let is_uppercase_or_digit = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    name.len() == 3 && name[0].is_ascii_uppercase() && name.iter().all(is_uppercase_or_digit)
}

fn read_selector(inside: &str) -> Result<(Selector, &str), PathError> {
    let (position, rest) = read_position(inside)?;
    if let Some(after) = rest.strip_prefix(']') {
        let is_number = position == Position::of_field(position.field);
        let selector = is_number.then_some(Selector::Nth(position.field));
        return Ok((selector.ok_or(PathError("has a selector without a value: write `[3.1=value]`"))?, after));
    }
    let rest = rest.strip_prefix('=').ok_or(PathError("has a selector that is neither `[2]` nor `[3.1=value]`"))?;
    let mut value = String::new();
    let mut characters = rest.char_indices();
    while let Some((index, c)) = characters.next() {
        match c {
            ']' if value.is_empty() => break,
            ']' => return Ok((Selector::Where { position, value }, &rest[index + 1..])),
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            _ => value.push(c),
        }
    }
    Err(PathError("has a selector without a value, or `[` without `]`"))
}

fn read_position(text: &str) -> Result<(Position, &str), PathError> {
    let (field, mut rest) = read_number(text)?;
    let mut position = Position::of_field(field);
    if let Some(inside) = rest.strip_prefix('[') {
        let (repetition, after) = read_number(inside)?;
        position.repetition = Some(repetition);
        rest = after.strip_prefix(']').ok_or(PathError("has a repetition that is not a number in brackets"))?;
    }
    for part in [&mut position.component, &mut position.subcomponent] {
        let Some(inside) = rest.strip_prefix('.') else { break };
        let (number, after) = read_number(inside)?;
        *part = Some(number);
        rest = after;
    }
    Ok((position, rest))
}

fn read_number(text: &str) -> Result<(Number, &str), PathError> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let number = digits.parse().ok().filter(|_| !digits.starts_with('0'));
    Ok((number.ok_or(PathError("must have a number from 1 after `.` and `[`, without leading zeros"))?, rest))
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.segment)?;
        match &self.selector {
            None => {}
            Some(Selector::Nth(number)) => write!(f, "[{number}]")?,
            Some(Selector::Where { position, value }) => {
                let escaped = value.replace('\\', r"\\").replace(']', r"\]");
                write!(f, "[{position}={escaped}]")?;
            }
        }
        match self.position {
            Some(position) => write!(f, ".{position}"),
            None => Ok(()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_round_trip() {
        for text in [
            "MSH.1",
            "ZPI",
            "OBX[2]",
            "PID.3[2]",
            r"NTE[3=see [4\]].3",
            "PID[3[2].4.1=MRN].5",
            "PV1.7.2",
            "PID[2].3[4].5.6",
        ] {
            let path: Path = text.parse().unwrap();
            assert_eq!(path.to_string(), text);
        }
    }

    #[test]
    fn invalid_paths_are_rejected() {
        for text in [
            "",
            "pid.3",
            "PID-3",
            "PIDX.3",
            "1PI.3",
            " PID.3",
            "PID.",
            "PID.x",
            "PID.0",
            "PID.03",
            "PID.99999",
            "PID.3.1.2.4",
            "PID.3 ",
            "PID[",
            "PID[].3",
            "PID[1",
            "PID[1]3",
            "PID[3.1].5",
            "OBX[3.1=].5",
            "OBX[3.1=a.5",
            "OBX[code=a].5",
            "PID.3[*]",
            "PID.3[1",
            r"OBX[3=a\",
        ] {
            assert!(text.parse::<Path>().is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_parses_or_is_rejected(text in r#"(PID|OBX|MSH)?([0-9.=\[\]\\aé]{0,20}|.*)"#) {
            if let Ok(path) = text.parse::<Path>() {
                proptest::prop_assert_eq!(path.to_string().parse::<Path>(), Ok(path));
            }
        }
    }
}
