//! Parses `Range` (RFC 9110 section 14) with a single range of bytes. Requests for several ranges get the complete file, as
//! the RFC allows.

use std::ops::Range;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum RangeRequest {
    /// There is no valid range: the complete file is sent.
    None,
    Bytes(Range<u64>),
    /// The file has no such bytes.
    Unsatisfiable,
}

pub(super) fn parse_range(header: Option<&str>, size: u64) -> RangeRequest {
    let Some(range) = header.and_then(|header| header.trim().strip_prefix("bytes=")) else { return RangeRequest::None };
    let Some((first, last)) = range.trim().split_once('-') else { return RangeRequest::None };
    let (Some(first), Some(last)) = (number(first), number(last)) else { return RangeRequest::None };
    match (first, last) {
        (None, None) => RangeRequest::None,
        (Some(first), Some(last)) if last < first => RangeRequest::None,
        (Some(first), _) if first >= size => RangeRequest::Unsatisfiable,
        (Some(first), last) => RangeRequest::Bytes(first..last.map_or(size, |last| size.min(last.saturating_add(1)))),
        (None, Some(0)) => RangeRequest::Unsatisfiable,
        (None, Some(_)) if size == 0 => RangeRequest::Unsatisfiable,
        (None, Some(count)) => RangeRequest::Bytes(size.saturating_sub(count)..size),
    }
}

/// The outer `None` is an invalid number, the inner one a missing number.
fn number(text: &str) -> Option<Option<u64>> {
    match text {
        "" => Some(None),
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => Some(Some(digits.parse().unwrap_or(u64::MAX))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_parsed_and_clamped_to_the_file_size() {
        for (header, expected) in [
            ("bytes=0-0", RangeRequest::Bytes(0..1)),
            ("bytes=0-99", RangeRequest::Bytes(0..10)),
            ("bytes=3-", RangeRequest::Bytes(3..10)),
            ("bytes=-3", RangeRequest::Bytes(7..10)),
            ("bytes=-99", RangeRequest::Bytes(0..10)),
            ("bytes=9-18446744073709551616", RangeRequest::Bytes(9..10)),
            ("bytes=10-", RangeRequest::Unsatisfiable),
            ("bytes=99999999999999999999-", RangeRequest::Unsatisfiable),
            ("bytes=-0", RangeRequest::Unsatisfiable),
            ("bytes=-", RangeRequest::None),
            ("bytes=5-3", RangeRequest::None),
            ("bytes=0-1,3-4", RangeRequest::None),
            ("bytes=a-b", RangeRequest::None),
            ("lines=0-1", RangeRequest::None),
            ("", RangeRequest::None),
        ] {
            assert_eq!(parse_range(Some(header), 10), expected, "{header}");
        }
        assert_eq!(parse_range(None, 10), RangeRequest::None);
        assert_eq!(parse_range(Some("bytes=-5"), 0), RangeRequest::Unsatisfiable);
    }
}
