//! The four delimiters of an interchange (X12.5 and X12.6): data element, repetition and component separator, and
//! segment terminator. Each interchange declares them in its ISA.

use thiserror::Error;

/// Four distinct ASCII characters, none of them a letter, a digit or a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delimiters {
    element: u8,
    /// None before 005010, where ISA11 is a letter that identifies the standard.
    repetition: Option<u8>,
    component: u8,
    terminator: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DelimitersError {
    #[error("{0:?} cannot be a delimiter: it must be an ASCII character other than a letter, digit or space")]
    Illegal(char),
    #[error("{0:?} is used for two delimiters")]
    Twice(char),
}

impl Delimiters {
    /// The delimiters of the examples in the implementation guides: `*`, `^`, `:` and `~`.
    pub const USUAL: Self = Self { element: b'*', repetition: Some(b'^'), component: b':', terminator: b'~' };

    pub fn new(element: char, repetition: char, component: char, terminator: char) -> Result<Self, DelimitersError> {
        let repetition = Some(legal(repetition)?);
        let delimiters =
            Self { element: legal(element)?, repetition, component: legal(component)?, terminator: legal(terminator)? };
        delimiters.require_distinct()
    }

    /// The delimiters declared in an ISA. A letter, digit or space in ISA11 means that elements do not repeat.
    pub(crate) fn from_header(
        element: char,
        isa11: char,
        isa16: char,
        terminator: char,
    ) -> Result<Self, DelimitersError> {
        let repetition = if isa11.is_ascii_alphanumeric() || isa11 == ' ' { None } else { Some(legal(isa11)?) };
        let delimiters =
            Self { element: legal(element)?, repetition, component: legal(isa16)?, terminator: legal(terminator)? };
        delimiters.require_distinct()
    }

    fn require_distinct(self) -> Result<Self, DelimitersError> {
        let all: Vec<u8> = self.all().collect();
        match all.iter().enumerate().find(|(at, byte)| all[..*at].contains(byte)) {
            Some((_, twice)) => Err(DelimitersError::Twice(char::from(*twice))),
            None => Ok(self),
        }
    }

    pub fn element(&self) -> char {
        char::from(self.element)
    }

    pub fn repetition(&self) -> Option<char> {
        self.repetition.map(char::from)
    }

    pub fn component(&self) -> char {
        char::from(self.component)
    }

    pub fn terminator(&self) -> char {
        char::from(self.terminator)
    }

    /// Whether the character is one of the delimiters, which values cannot contain.
    pub fn contains(&self, c: char) -> bool {
        self.all().any(|byte| char::from(byte) == c)
    }

    fn all(&self) -> impl Iterator<Item = u8> {
        [Some(self.element), self.repetition, Some(self.component), Some(self.terminator)].into_iter().flatten()
    }
}

fn legal(c: char) -> Result<u8, DelimitersError> {
    match u8::try_from(c) {
        Ok(byte) if byte.is_ascii() && !byte.is_ascii_alphanumeric() && byte != b' ' && byte != 0 => Ok(byte),
        _ => Err(DelimitersError::Illegal(c)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_must_be_distinct_and_not_alphanumeric() {
        assert_eq!(Delimiters::new('*', '^', ':', '~'), Ok(Delimiters::USUAL));
        assert!(Delimiters::new('\u{1d}', '\u{1f}', '\u{1e}', '\n').is_ok());
        assert_eq!(Delimiters::new('*', '^', '*', '~'), Err(DelimitersError::Twice('*')));
        for illegal in ['A', '7', ' ', '\0', 'é'] {
            assert_eq!(Delimiters::new('*', '^', ':', illegal), Err(DelimitersError::Illegal(illegal)));
        }
        let old = Delimiters::from_header('*', 'U', ':', '~').expect("4010");
        assert_eq!((old.repetition(), old.contains('^'), old.contains(':')), (None, false, true));
    }
}
