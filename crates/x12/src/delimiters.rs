//! The four characters that divide an interchange (X12.5 and X12.6: data element, repetition and component
//! separator, segment terminator), which each interchange names in its own ISA.

use thiserror::Error;

/// Distinct ASCII characters, none of them a letter, a digit or a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delimiters {
    element: u8,
    /// None before 005010, where ISA11 is the letter of a standard.
    repetition: Option<u8>,
    component: u8,
    terminator: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DelimitersError {
    #[error("{0:?} cannot be a delimiter: it must be ASCII and no letter, digit or space")]
    Illegal(char),
    #[error("{0:?} is used for two delimiters")]
    Twice(char),
}

impl Delimiters {
    /// Those of the implementation guides' examples: `*`, `^`, `:` and `~`.
    pub const USUAL: Self = Self { element: b'*', repetition: Some(b'^'), component: b':', terminator: b'~' };

    pub fn new(element: char, repetition: char, component: char, terminator: char) -> Result<Self, DelimitersError> {
        let repetition = Some(legal(repetition)?);
        let read =
            Self { element: legal(element)?, repetition, component: legal(component)?, terminator: legal(terminator)? };
        read.distinct()
    }

    /// As an ISA has them: a letter or digit in ISA11 means that elements do not repeat.
    pub(crate) fn of_header(
        element: char,
        isa11: char,
        isa16: char,
        terminator: char,
    ) -> Result<Self, DelimitersError> {
        let repetition = if isa11.is_ascii_alphanumeric() || isa11 == ' ' { None } else { Some(legal(isa11)?) };
        let read =
            Self { element: legal(element)?, repetition, component: legal(isa16)?, terminator: legal(terminator)? };
        read.distinct()
    }

    fn distinct(self) -> Result<Self, DelimitersError> {
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

    /// Whether a value may not have this character.
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
    fn delimiters_are_distinct_and_never_data() {
        assert_eq!(Delimiters::new('*', '^', ':', '~'), Ok(Delimiters::USUAL));
        assert!(Delimiters::new('\u{1d}', '\u{1f}', '\u{1e}', '\n').is_ok());
        assert_eq!(Delimiters::new('*', '^', '*', '~'), Err(DelimitersError::Twice('*')));
        for illegal in ['A', '7', ' ', '\0', 'é'] {
            assert_eq!(Delimiters::new('*', '^', ':', illegal), Err(DelimitersError::Illegal(illegal)));
        }
        let old = Delimiters::of_header('*', 'U', ':', '~').expect("4010");
        assert_eq!((old.repetition(), old.contains('^'), old.contains(':')), (None, false, true));
    }
}
