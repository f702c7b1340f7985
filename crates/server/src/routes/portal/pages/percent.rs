//! Percent-encoding of path segments (RFC 3986).

use std::fmt::Write;

pub(super) fn encode_segment(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    // A segment of dots would be resolved as a relative path.
    if encoded.bytes().all(|byte| byte == b'.') { encoded.replace('.', "%2E") } else { encoded }
}

/// None if the encoding is invalid, or the text is not UTF-8 or has control characters.
pub(super) fn decode_segment(text: &str) -> Option<String> {
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
    fn segments_round_trip() {
        for text in ["PA-100001", "a/b?c#d%", "..", "é \"<>", ""] {
            let encoded = encode_segment(text);
            assert!(encoded.bytes().all(|byte| byte.is_ascii_graphic() && !b"/?#<>\"'".contains(&byte)), "{encoded}");
            assert_eq!(decode_segment(&encoded).as_deref(), Some(text));
        }
        for bad in ["%", "%4", "%zz", "%ff", "a%0d%0ab"] {
            assert_eq!(decode_segment(bad), None, "{bad}");
        }
    }
}
