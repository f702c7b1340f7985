//! Escape sequences (HL7 v2.8, chapter 2.7), by which values contain delimiters, line ends and formatting.
//!
//! Unknown and malformed sequences are kept as they are, because guessing would change the data.

use std::borrow::Cow;

use crate::{CharacterSet, Delimiters};

/// A formatting command with a larger line or space count is treated as data.
const MAX_SKIPPED: usize = 99;

/// Escapes a text for use in a value. Does nothing if the delimiters have no escape character, see
/// [`Delimiters::completed`].
pub fn escape<'t>(text: &'t str, delimiters: &Delimiters) -> Cow<'t, str> {
    let Some(mark) = delimiters.escape.map(char::from) else { return Cow::Borrowed(text) };
    if text == "\"\"" {
        // Two quotes alone would mean null.
        return Cow::Owned(format!("{mark}X2222{mark}"));
    }
    let mut escaped = String::new();
    let mut copied = 0;
    for (index, byte) in text.bytes().enumerate() {
        let Some(code) = code_of(byte, delimiters) else { continue };
        escaped.push_str(&text[copied..index]);
        escaped.push(mark);
        escaped.push_str(code);
        escaped.push(mark);
        copied = index + 1;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    escaped.push_str(&text[copied..]);
    Cow::Owned(escaped)
}

fn code_of(byte: u8, delimiters: &Delimiters) -> Option<&'static str> {
    let is = |delimiter: Option<u8>| delimiter == Some(byte);
    match byte {
        b'\r' => Some("X0D"),
        b'\n' => Some("X0A"),
        _ if byte == delimiters.field => Some("F"),
        _ if byte == delimiters.component => Some("S"),
        _ if is(delimiters.subcomponent) => Some("T"),
        _ if is(delimiters.repetition) => Some("R"),
        _ if is(delimiters.escape) => Some("E"),
        _ if is(delimiters.truncation) => Some("P"),
        _ => None,
    }
}

/// Decodes the escape sequences of a value.
pub(crate) fn unescape<'t>(raw: &'t str, delimiters: &Delimiters, set: CharacterSet) -> Cow<'t, str> {
    let Some(mark) = delimiters.escape.map(char::from) else { return Cow::Borrowed(raw) };
    let Some(first) = raw.find(mark) else { return Cow::Borrowed(raw) };
    let mut text = raw[..first].to_owned();
    let mut rest = &raw[first..];
    // `rest` starts with the escape character or is empty.
    while let Some((code, after)) = rest.get(1..).and_then(|inside| inside.split_once(mark)) {
        match decode(code, delimiters, set) {
            Some(decoded) => text.push_str(&decoded),
            None => text.push_str(&rest[..code.len() + 2]),
        }
        let next = after.find(mark).unwrap_or(after.len());
        text.push_str(&after[..next]);
        rest = &after[next..];
    }
    text.push_str(rest);
    Cow::Owned(text)
}

fn decode(code: &str, delimiters: &Delimiters, set: CharacterSet) -> Option<Cow<'static, str>> {
    let delimiter = |byte: u8| Some(Cow::Owned(char::from(byte).to_string()));
    match code {
        "F" => delimiter(delimiters.field),
        "S" => delimiter(delimiters.component),
        "T" => delimiters.subcomponent.and_then(delimiter),
        "R" => delimiters.repetition.and_then(delimiter),
        "E" => delimiters.escape.and_then(delimiter),
        "P" => delimiters.truncation.and_then(delimiter),
        // Highlighting on and off.
        "H" | "N" => Some("".into()),
        _ => match code.as_bytes().first()? {
            b'X' => hexadecimal(&code.as_bytes()[1..], set),
            b'.' => formatting(&code[1..]),
            _ => None,
        },
    }
}

fn hexadecimal(digits: &[u8], set: CharacterSet) -> Option<Cow<'static, str>> {
    let (pairs, odd) = digits.as_chunks::<2>();
    if pairs.is_empty() || !odd.is_empty() {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let byte = |pair: &[u8; 2]| Some(digit(pair[0])? * 16 + digit(pair[1])?);
    let bytes = pairs.iter().map(byte).collect::<Option<Vec<u8>>>()?;
    set.decode(&bytes).ok().map(|text| Cow::Owned(text.into_owned()))
}

/// Decodes a formatting command (chapter 2.7.6), as far as plain text can represent it.
fn formatting(command: &str) -> Option<Cow<'static, str>> {
    let (name, argument) = command.split_at_checked(2)?;
    let count = match argument.trim_start_matches('+').trim() {
        "" => 1,
        number => number.parse::<usize>().ok().filter(|count| *count <= MAX_SKIPPED)?,
    };
    match name {
        "br" | "ce" if argument.is_empty() => Some("\n".into()),
        "sp" => Some("\n".repeat(count).into()),
        "sk" => Some(" ".repeat(count).into()),
        "fi" | "nf" if argument.is_empty() => Some("".into()),
        "in" | "ti" => Some("".into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(raw: &str, expected: &str) {
        assert_eq!(unescape(raw, &Delimiters::STANDARD, CharacterSet::Utf8), expected, "{raw}");
    }

    #[test]
    fn sequences_are_decoded() {
        check("plain", "plain");
        check(r"a\F\b\S\c\T\d\R\e\E\f", r"a|b^c&d~e\f");
        check(r"one\.br\two\X0D\\X0A\three", "one\ntwo\r\nthree");
        check(r"caf\XC3A9\ \Xc3a9\", "café é");
        check(r"\H\high\N\ low", "high low");
        check(r"a\.sp\b\.sp2\c\.sk3\d\.in+4\e\.ce\f\.fi\g\.sp+2\", "a\nb\n\nc   de\nfg\n\n");
    }

    #[test]
    fn unknown_and_malformed_sequences_are_kept() {
        for raw in [
            r"\",
            r"a\",
            r"\\",
            r"\Z1\",
            r"\C2842\",
            r"\Q\",
            r"\x0d\",
            r"\X\",
            r"\X0\",
            r"\XZZ\",
            r"\XC3\",
            r"\Xaéb\",
            r"\.sp9999\",
            r"\.sp999999999999999999999\",
            r"\.xx\",
            r"\.é\",
            r"\.\",
            r"\.brr\",
            r"\P\",
            r"tail \F",
        ] {
            check(raw, raw);
        }
        check(r"\Q\F\S\", r"\Q\F^");
    }

    #[test]
    fn hexadecimal_bytes_use_the_character_set_of_the_message() {
        let latin = |raw| unescape(raw, &Delimiters::STANDARD, CharacterSet::Latin1).into_owned();
        assert_eq!(latin(r"caf\XE9\"), "café");
        let ascii = unescape(r"caf\XE9\", &Delimiters::STANDARD, CharacterSet::Ascii);
        assert_eq!(ascii, r"caf\XE9\");
    }

    #[test]
    fn special_characters_are_escaped() {
        let written = |text| escape(text, &Delimiters::STANDARD).into_owned();
        assert_eq!(written(r"a|b^c&d~e\f"), r"a\F\b\S\c\T\d\R\e\E\f");
        assert_eq!(written("a\r\nb"), r"a\X0D\\X0A\b");
        assert_eq!(written("\"\""), r"\X2222\");
        assert_eq!(written("say \"\""), "say \"\"");
        let truncating = Delimiters::new('|', r"^~\&#").unwrap();
        assert_eq!(escape("#1", &truncating), r"\P\1");
        assert_eq!(unescape(r"\P\1", &truncating, CharacterSet::Utf8), "#1");
    }

    proptest::proptest! {
        #[test]
        fn any_text_round_trips(text in r#"(?s)([|^~\\&#X0F.br"\r\né]|.){0,40}"#) {
            for delimiters in [Delimiters::STANDARD, Delimiters::new('#', "*!?%").unwrap(), Delimiters::new('|', r"^~\&#").unwrap()] {
                let escaped = escape(&text, &delimiters);
                let is_safe = |byte: u8| Some(byte) == delimiters.escape || delimiters.all().all(|delimiter| delimiter != byte);
                proptest::prop_assert!(escaped.bytes().all(|byte| is_safe(byte) && byte != b'\r' && byte != b'\n'));
                let decoded = unescape(&escaped, &delimiters, CharacterSet::Utf8);
                proptest::prop_assert_eq!(decoded, text.as_str());
            }
        }

        #[test]
        fn decoding_never_panics(raw in r"(?s)([\\X0F.sp9é]|.){0,40}") {
            unescape(&raw, &Delimiters::STANDARD, CharacterSet::Utf8);
            unescape(&raw, &Delimiters::STANDARD, CharacterSet::Latin1);
        }
    }
}
