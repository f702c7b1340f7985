//! Percent-encoding of path segments (RFC 3986).

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

const SEGMENT: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

pub(super) fn encode_segment(text: &str) -> String {
    let encoded = utf8_percent_encode(text, &SEGMENT).to_string();
    // A segment of dots would be resolved as a relative path.
    if encoded.bytes().all(|byte| byte == b'.') { encoded.replace('.', "%2E") } else { encoded }
}

/// None if the text is not UTF-8 or has control characters.
pub(super) fn decode_segment(text: &str) -> Option<String> {
    let text = percent_decode_str(text).decode_utf8().ok()?.into_owned();
    (!text.chars().any(char::is_control)).then_some(text)
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
        for bad in ["%ff", "a%0d%0ab"] {
            assert_eq!(decode_segment(bad), None, "{bad}");
        }
    }
}
