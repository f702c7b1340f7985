//! The character sets of MSH-18 (HL7 v2.8, chapter 2.14.9.18 and table 0211).

use std::borrow::Cow;

/// A supported character set. A message without MSH-18 is decoded as UTF-8: the standard defaults to ASCII, which is a
/// subset of it, and most senders that leave it out write UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CharacterSet {
    Ascii,
    /// ISO 8859-1.
    Latin1,
    Utf8,
}

impl CharacterSet {
    /// Parses one repetition of MSH-18: a name of the standard, or a spelling that senders use for it.
    pub fn read(name: &str) -> Option<Self> {
        match name.trim().to_ascii_uppercase().as_str() {
            "" | "UNICODE UTF-8" | "UNICODE" | "UTF-8" | "UTF8" => Some(Self::Utf8),
            "ASCII" | "US-ASCII" => Some(Self::Ascii),
            "8859/1" | "ISO-8859-1" | "ISO8859-1" | "ISO 8859/1" => Some(Self::Latin1),
            _ => None,
        }
    }

    /// The name in table 0211.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ascii => "ASCII",
            Self::Latin1 => "8859/1",
            Self::Utf8 => "UNICODE UTF-8",
        }
    }

    /// Decodes bytes. The error is the offset of the first byte that is not in the set.
    pub(crate) fn decode(self, bytes: &[u8]) -> Result<Cow<'_, str>, usize> {
        match self {
            Self::Latin1 if !bytes.is_ascii() => Ok(bytes.iter().copied().map(char::from).collect::<String>().into()),
            Self::Ascii if !bytes.is_ascii() => Err(bytes.iter().take_while(|byte| byte.is_ascii()).count()),
            _ => std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|error| error.valid_up_to()),
        }
    }

    /// Checks that a text is in the set. The error is the offset of the first character that is not.
    pub(crate) fn check(self, text: &str) -> Result<(), usize> {
        let invalid = match self {
            Self::Utf8 => None,
            _ if text.is_ascii() => None,
            Self::Ascii => text.find(|c: char| !c.is_ascii()),
            Self::Latin1 => text.find(|c: char| u8::try_from(c).is_err()),
        };
        invalid.map_or(Ok(()), Err)
    }

    /// Encodes a text that is known to be in the set.
    pub(crate) fn encode(self, text: &str) -> Cow<'_, [u8]> {
        match self {
            Self::Latin1 if !text.is_ascii() => text.chars().map(|c| u8::try_from(c).unwrap_or(b'?')).collect(),
            _ => Cow::Borrowed(text.as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn supported_names_parse() {
        for set in [CharacterSet::Ascii, CharacterSet::Latin1, CharacterSet::Utf8] {
            assert_eq!(CharacterSet::read(set.name()), Some(set));
        }
        assert_eq!(CharacterSet::read(""), Some(CharacterSet::Utf8));
        for unsupported in ["8859/2", "8859/15", "ISO IR87", "GB 18030-2000", "UNICODE UTF-16", "EBCDIC"] {
            assert_eq!(CharacterSet::read(unsupported), None, "{unsupported}");
        }
    }

    #[test]
    fn bytes_round_trip_and_invalid_ones_are_found() {
        let every_byte: Vec<u8> = (0..=255).collect();
        let latin = CharacterSet::Latin1.decode(&every_byte).unwrap();
        assert_eq!(CharacterSet::Latin1.encode(&latin).as_ref(), every_byte);
        assert_eq!(CharacterSet::Ascii.decode(b"ab\xe9"), Err(2));
        assert_eq!(CharacterSet::Utf8.decode(b"abc\xe9"), Err(3));
        assert_eq!(CharacterSet::Utf8.decode("Zoë".as_bytes()).unwrap(), "Zoë");
        assert_eq!(CharacterSet::Latin1.check("Zoë Łuk"), Err(5));
        assert_eq!(CharacterSet::Ascii.check("Zoë"), Err(2));
        assert_eq!(CharacterSet::Latin1.check("Zoë"), Ok(()));
    }
}
