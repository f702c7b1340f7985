//! `Range` (RFC 9110 section 14): one range of bytes. Several at once are not asked for by any client of files, and a
//! server may answer them with all of it.

use std::ops::Range;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// There is no range that counts.
    Whole,
    Part(Range<u64>),
    /// The file has no such bytes.
    Nowhere,
}

pub(super) fn wanted(header: Option<&str>, size: u64) -> Wanted {
    let Some(range) = header.and_then(|header| header.trim().strip_prefix("bytes=")) else { return Wanted::Whole };
    let Some((first, last)) = range.trim().split_once('-') else { return Wanted::Whole };
    let (Some(first), Some(last)) = (number(first), number(last)) else { return Wanted::Whole };
    match (first, last) {
        (None, None) => Wanted::Whole,
        (Some(first), Some(last)) if last < first => Wanted::Whole,
        (Some(first), _) if first >= size => Wanted::Nowhere,
        (Some(first), last) => Wanted::Part(first..last.map_or(size, |last| size.min(last.saturating_add(1)))),
        (None, Some(0)) => Wanted::Nowhere,
        (None, Some(_)) if size == 0 => Wanted::Nowhere,
        (None, Some(count)) => Wanted::Part(size.saturating_sub(count)..size),
    }
}

/// The inner none is a number that was left out, the outer one is no number.
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
    fn ranges_of_ten_bytes() {
        for (header, expected) in [
            ("bytes=0-0", Wanted::Part(0..1)),
            ("bytes=0-99", Wanted::Part(0..10)),
            ("bytes=3-", Wanted::Part(3..10)),
            ("bytes=-3", Wanted::Part(7..10)),
            ("bytes=-99", Wanted::Part(0..10)),
            ("bytes=9-18446744073709551616", Wanted::Part(9..10)),
            ("bytes=10-", Wanted::Nowhere),
            ("bytes=99999999999999999999-", Wanted::Nowhere),
            ("bytes=-0", Wanted::Nowhere),
            ("bytes=-", Wanted::Whole),
            ("bytes=5-3", Wanted::Whole),
            ("bytes=0-1,3-4", Wanted::Whole),
            ("bytes=a-b", Wanted::Whole),
            ("lines=0-1", Wanted::Whole),
            ("", Wanted::Whole),
        ] {
            assert_eq!(wanted(Some(header), 10), expected, "{header}");
        }
        assert_eq!(wanted(None, 10), Wanted::Whole);
        assert_eq!(wanted(Some("bytes=-5"), 0), Wanted::Nowhere);
    }
}
