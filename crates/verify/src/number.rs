//! Decimal numbers of any size, compared exactly.

use std::cmp::Ordering;

/// `0.digits · 10^magnitude`, without zeros at either end; zero has no digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    is_negative: bool,
    digits: Vec<u8>,
    magnitude: i64,
}

/// Digits and other characters of a number. No measurement has more.
const LONGEST: usize = 1_000;

impl Decimal {
    /// Parses numbers such as `-12.50`, `+3`, `.5` and `1e3`. Rejects spaces, thousands separators and `NaN`.
    pub(crate) fn read(text: &str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let (is_negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, read_exponent(exponent)?),
            None => (unsigned, 0),
        };
        let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits: Vec<u8> = integer.bytes().chain(fraction.bytes()).collect();
        let ends_in_point = mantissa.ends_with('.');
        if digits.is_empty() || ends_in_point || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let leading = digits.iter().take_while(|digit| **digit == b'0').count();
        digits.drain(..leading);
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        if digits.is_empty() {
            return Some(Self { is_negative: false, digits, magnitude: 0 });
        }
        let point = i64::try_from(integer.len()).ok()? - i64::try_from(leading).ok()?;
        Some(Self { is_negative, digits, magnitude: exponent.checked_add(point)? })
    }
}

fn read_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |number: &Self| match (number.digits.is_empty(), number.is_negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        let size = || self.magnitude.cmp(&other.magnitude).then_with(|| self.digits.cmp(&other.digits));
        match sign(self).cmp(&sign(other)) {
            Ordering::Equal if sign(self) == 0 => Ordering::Equal,
            Ordering::Equal if self.is_negative => size().reverse(),
            Ordering::Equal => size(),
            unequal => unequal,
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Whether two numbers differ by at most the tolerance. None if they are too large to compare.
pub(crate) fn is_within_tolerance(left: &str, right: &str, tolerance: &str) -> Option<bool> {
    let [left, right, tolerance] = [to_exact_decimal(left)?, to_exact_decimal(right)?, to_exact_decimal(tolerance)?];
    Some(left.checked_sub(right)?.abs() <= tolerance)
}

/// Converts a number if that is possible without loss.
fn to_exact_decimal(text: &str) -> Option<rust_decimal::Decimal> {
    let read = if text.contains(['e', 'E']) {
        rust_decimal::Decimal::from_scientific(text).ok()?
    } else {
        rust_decimal::Decimal::from_str_exact(text).ok()?
    };
    (Decimal::read(&read.to_string()) == Decimal::read(text)).then_some(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Decimal {
        Decimal::read(text).expect(text)
    }

    #[test]
    fn equal_numbers_may_be_written_differently() {
        for (left, right) in [
            ("1", "1.0"),
            ("1", "1e0"),
            ("100", "1E2"),
            ("0.1", ".10"),
            ("-0", "0"),
            ("0e99", "0"),
            ("1e400", "10e399"),
            ("+5", "5"),
            ("0012.50", "12.5"),
            ("1200e-2", "12"),
        ] {
            assert_eq!(read(left), read(right), "{left} {right}");
        }
        assert_ne!(read("0.1"), read("0.10000000000000000000000000000000001"));
    }

    #[test]
    fn numbers_are_ordered_by_value() {
        let order = ["-1e9", "-20", "-19.5", "-0.5", "0", "0.05", "0.5", "1", "1.05", "1.5", "9", "10", "1e400"];
        for pair in order.windows(2) {
            assert!(read(pair[0]) < read(pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn other_texts_are_rejected() {
        for text in
            ["", "-", ".", "1.", "e1", "1e", "1e+", "1e99999999999999999999", "NaN", "inf", "1,0", " 1", "0x1", "١"]
        {
            assert_eq!(Decimal::read(text), None, "{text}");
        }
        assert_eq!(is_within_tolerance("7.4", "7.5", "0.1"), Some(true));
        assert_eq!(is_within_tolerance("7.4", "7.51", "0.1"), Some(false));
        assert_eq!(is_within_tolerance("1e300", "1", "1e300"), None);
    }
}
