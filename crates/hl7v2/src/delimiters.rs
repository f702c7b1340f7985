//! The delimiters that a message declares in MSH-1 and MSH-2 (HL7 v2.8, chapter 2.5.4).

/// The delimiters of a message: distinct ASCII characters. Those that MSH-2 leaves out are not used in the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delimiters {
    pub(crate) field: u8,
    pub(crate) component: u8,
    pub(crate) repetition: Option<u8>,
    pub(crate) escape: Option<u8>,
    pub(crate) subcomponent: Option<u8>,
    /// Marks the end of a truncated value (since 2.7).
    pub(crate) truncation: Option<u8>,
}

impl Delimiters {
    pub const STANDARD: Self = Self {
        field: b'|',
        component: b'^',
        repetition: Some(b'~'),
        escape: Some(b'\\'),
        subcomponent: Some(b'&'),
        truncation: None,
    };

    /// The delimiters of MSH-1 and MSH-2, which has one to five characters.
    pub fn new(field: char, encoding_characters: &str) -> Result<Self, &'static str> {
        let field = u8::try_from(field).map_err(|_| NOT_A_DELIMITER)?;
        Self::read(field, encoding_characters.as_bytes())
    }

    pub(crate) fn read(field: u8, encoding_characters: &[u8]) -> Result<Self, &'static str> {
        let Some((&component, others)) = encoding_characters.split_first() else {
            return Err("MSH-2 is empty: it must contain at least the component separator");
        };
        if others.len() > 4 {
            return Err("MSH-2 has more than five characters");
        }
        let other = |index: usize| others.get(index).copied();
        let delimiters = Self {
            field,
            component,
            repetition: other(0),
            escape: other(1),
            subcomponent: other(2),
            truncation: other(3),
        };
        let all: Vec<u8> = delimiters.all().collect();
        if !all.iter().all(|byte| can_delimit(*byte)) {
            return Err(NOT_A_DELIMITER);
        }
        if all.iter().enumerate().any(|(index, byte)| all[..index].contains(byte)) {
            return Err("MSH-1 and MSH-2 use one character for two delimiters");
        }
        Ok(delimiters)
    }

    /// MSH-1.
    pub fn field_separator(&self) -> char {
        char::from(self.field)
    }

    /// MSH-2.
    pub fn encoding_characters(&self) -> String {
        self.all().skip(1).map(char::from).collect()
    }

    /// Adds the missing delimiters that are needed to write any text.
    #[must_use]
    pub fn completed(mut self) -> Self {
        self.repetition = self.repetition.or_else(|| self.unused(b'~'));
        self.escape = self.escape.or_else(|| self.unused(b'\\'));
        self.subcomponent = self.subcomponent.or_else(|| self.unused(b'&'));
        self
    }

    fn unused(&self, usual: u8) -> Option<u8> {
        // There is one more candidate than there are other delimiters, so one is always free.
        [usual, b'!', b'#', b'$', b'%', b'*'].into_iter().find(|byte| self.all().all(|used| used != *byte))
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = u8> {
        let others = [self.repetition, self.escape, self.subcomponent, self.truncation];
        [self.field, self.component].into_iter().chain(others.into_iter().flatten())
    }
}

impl Default for Delimiters {
    fn default() -> Self {
        Self::STANDARD
    }
}

const NOT_A_DELIMITER: &str =
    "a delimiter in MSH-1 or MSH-2 is a letter, a digit, a space, a quote, an end of line or not ASCII";

/// Whether a byte can be a delimiter. Letters and digits occur in names and escapes, `""` is null, and lines and MLLP
/// frames end with control characters.
fn can_delimit(byte: u8) -> bool {
    (byte.is_ascii_punctuation() && byte != b'"') || (1..=8).contains(&byte) || byte == b'\t' || byte == 0x1f
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_round_trip() {
        for (field, encoding) in
            [('|', r"^~\&"), ('|', r"^~\&#"), ('#', "*!?%"), ('\t', "^~"), ('$', "^"), ('|', "^~\\")]
        {
            let delimiters = Delimiters::new(field, encoding).unwrap();
            assert_eq!((delimiters.field_separator(), delimiters.encoding_characters().as_str()), (field, encoding));
        }
        assert_eq!(Delimiters::new('|', r"^~\&"), Ok(Delimiters::STANDARD));
    }

    #[test]
    fn invalid_delimiters_are_explained() {
        for (field, encoding, message) in [
            ('|', "", "is empty"),
            ('|', r"^~\&#!", "more than five"),
            ('|', r"^^\&", "two delimiters"),
            ('^', r"^~\&", "two delimiters"),
            ('A', r"^~\&", "a letter"),
            ('|', "^~\\\"", "a quote"),
            ('|', "^ \\&", "a space"),
            ('§', r"^~\&", "not ASCII"),
            ('|', "^§", "not ASCII"),
            ('|', "^~\r", "end of line"),
        ] {
            let error = Delimiters::new(field, encoding).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn missing_delimiters_are_added_without_collision() {
        assert_eq!(Delimiters::new('|', "^").unwrap().completed(), Delimiters::STANDARD);
        let completed = Delimiters::new('~', "\\").unwrap().completed();
        assert_eq!((completed.field_separator(), completed.encoding_characters().as_str()), ('~', r"\!#&"));
        assert!(Delimiters::new('~', &completed.encoding_characters()).is_ok());
        assert_eq!(Delimiters::new('#', "*!?%").unwrap().completed(), Delimiters::new('#', "*!?%").unwrap());
    }
}
