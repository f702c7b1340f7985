//! Segments of a path as they are written in an address (RFC 3986).

use std::fmt::Write;

pub(super) fn encoded(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            written.push(char::from(byte));
        } else {
            let _ = write!(written, "%{byte:02X}");
        }
    }
    // A segment of dots would be read as a way up.
    if written.bytes().all(|byte| byte == b'.') { written.replace('.', "%2E") } else { written }
}

/// None when it is no text.
pub(super) fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let (high, low) = (digit(rest.next())?, digit(rest.next())?);
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok().filter(|text| !text.chars().any(char::is_control))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_survive() {
        for text in ["PA-100001", "a/b?c#d%", "..", "é \"<>", ""] {
            let written = encoded(text);
            assert!(written.bytes().all(|byte| byte.is_ascii_graphic() && !b"/?#<>\"'".contains(&byte)), "{written}");
            assert_eq!(decoded(&written).as_deref(), Some(text));
        }
        for bad in ["%", "%4", "%zz", "%ff", "a%0d%0ab"] {
            assert_eq!(decoded(bad), None, "{bad}");
        }
    }
}
