//! Quantities with calendar or UCUM units (<https://hl7.org/fhirpath/N1/#quantity>).

use std::cmp::Ordering;
use std::fmt::{self, Display, Formatter};

use rust_decimal::{Decimal, RoundingStrategy};

use super::syntax::Delimited;
use super::unit::Measure;
use super::value::decimal;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quantity {
    pub value: Decimal,
    pub unit: Unit,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unit {
    Calendar(CalendarUnit),
    Ucum(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CalendarUnit {
    Year,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
    Millisecond,
}

impl CalendarUnit {
    /// With the name of one and the UCUM code.
    const ALL: [(Self, &'static str, &'static str); 8] = [
        (Self::Year, "year", "a"),
        (Self::Month, "month", "mo"),
        (Self::Week, "week", "wk"),
        (Self::Day, "day", "d"),
        (Self::Hour, "hour", "h"),
        (Self::Minute, "minute", "min"),
        (Self::Second, "second", "s"),
        (Self::Millisecond, "millisecond", "ms"),
    ];

    pub(super) fn named(word: &str) -> Option<Self> {
        let singular = word.strip_suffix('s').unwrap_or(word);
        Self::ALL.iter().find(|(_, name, _)| *name == singular).map(|(unit, ..)| *unit)
    }

    pub(super) fn coded(code: &str) -> Option<Self> {
        Self::ALL.iter().find(|(.., known)| *known == code).map(|(unit, ..)| *unit)
    }

    fn row(self) -> (&'static str, &'static str) {
        Self::ALL.iter().find(|(unit, ..)| *unit == self).map_or(("", ""), |(_, name, code)| (name, code))
    }

    pub(super) fn code(self) -> &'static str {
        self.row().1
    }

    /// Whether its length in days depends on where it stands in the calendar.
    fn is_variable(self) -> bool {
        matches!(self, Self::Year | Self::Month)
    }

    pub(super) fn is_longer_than_hour(self) -> bool {
        matches!(self, Self::Year | Self::Month | Self::Week | Self::Day)
    }

    pub(super) fn seconds(self) -> Option<i64> {
        Some(match self {
            Self::Week => 604_800,
            Self::Day => 86_400,
            Self::Hour => 3_600,
            Self::Minute => 60,
            Self::Second => 1,
            Self::Year | Self::Month | Self::Millisecond => return None,
        })
    }
}

/// Two values in one unit, the coarser of the two.
struct Aligned {
    left: Decimal,
    right: Decimal,
}

impl Quantity {
    pub(super) fn of_number(value: Decimal) -> Self {
        Self { value, unit: Unit::Ucum("1".to_owned()) }
    }

    /// Reads `5`, `5 days` and `5 'mg'`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let end = text.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '+' | '-')).unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let is_plain = number.trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit());
        let value = decimal(number).filter(|_| is_plain && !number.ends_with('.'))?;
        let unit = match unit.trim() {
            "" => Unit::Ucum("1".to_owned()),
            quoted if quoted.len() > 2 && quoted.starts_with('\'') && quoted.ends_with('\'') => {
                Unit::Ucum(quoted[1..quoted.len() - 1].to_owned())
            }
            word => Unit::Calendar(CalendarUnit::named(word)?),
        };
        Some(Self { value, unit })
    }

    fn measure(&self) -> Option<Measure> {
        match &self.unit {
            Unit::Calendar(unit) => Measure::of(unit.code()),
            Unit::Ucum(code) => Measure::of(code),
        }
    }

    fn code(&self) -> &str {
        match &self.unit {
            Unit::Calendar(unit) => unit.code(),
            Unit::Ucum(code) => code,
        }
    }

    fn is_variable(&self) -> bool {
        matches!(self.unit, Unit::Calendar(unit) if unit.is_variable())
    }

    /// Whether one is a year or month of the calendar and the other is not: those have no fixed ratio.
    fn is_apart(&self, other: &Self) -> bool {
        self.is_variable() != other.is_variable() && self.is_comparable(other)
    }

    pub(super) fn is_comparable(&self, other: &Self) -> bool {
        let is_same = self.code() == other.code();
        is_same || matches!((self.measure(), other.measure()), (Some(left), Some(right)) if left.is_comparable(&right))
    }

    fn aligned(&self, other: &Self) -> Option<Aligned> {
        if self.code() == other.code() {
            return Some(Aligned { left: self.value, right: other.value });
        }
        let (left, right) = (self.measure()?, other.measure()?);
        if !left.is_comparable(&right) {
            return None;
        }
        let coarser = left.factor.max(right.factor);
        let in_coarser = |value: Decimal, factor: Decimal| {
            if factor == coarser { Some(value) } else { value.checked_mul(factor)?.checked_div(coarser) }
        };
        Some(Aligned { left: in_coarser(self.value, left.factor)?, right: in_coarser(other.value, right.factor)? })
    }

    /// Nothing if that depends on the calendar or the units measure different things.
    pub(super) fn compare(&self, other: &Self) -> Option<Ordering> {
        if self.is_apart(other) {
            return None;
        }
        let Aligned { left, right } = self.aligned(other)?;
        Some(left.cmp(&right))
    }

    /// Nothing if that depends on the calendar.
    pub(super) fn equals(&self, other: &Self) -> Option<bool> {
        if self.is_apart(other) {
            return None;
        }
        Some(self.aligned(other).is_some_and(|Aligned { left, right }| left == right))
    }

    pub(super) fn is_equivalent(&self, other: &Self) -> bool {
        self.aligned(other).is_some_and(|Aligned { left, right }| is_equivalent(left, right))
    }

    pub(super) fn plus(&self, other: &Self, is_minus: bool) -> Option<Self> {
        let sum = |left: Decimal, right: Decimal| {
            if is_minus { left.checked_sub(right) } else { left.checked_add(right) }
        };
        if self.code() == other.code() {
            return Some(Self { value: sum(self.value, other.value)?, unit: self.unit.clone() });
        }
        if self.is_apart(other) {
            return None;
        }
        let (left, right) = (self.measure()?, other.measure()?);
        let Aligned { left: first, right: second } = self.aligned(other)?;
        let unit = if left.factor >= right.factor { &self.unit } else { &other.unit };
        Some(Self { value: sum(first, second)?, unit: unit.clone() })
    }

    /// The same amount in another unit of its dimension.
    pub(super) fn in_unit(&self, unit: Unit) -> Option<Self> {
        let target = Self { value: Decimal::ONE, unit };
        if self.code() == target.code() {
            return Some(Self { value: self.value, unit: target.unit });
        }
        let (from, to) = (self.measure()?, target.measure()?);
        let is_possible = from.is_comparable(&to) && !self.is_apart(&target);
        let value = self.value.checked_mul(from.factor)?.checked_div(to.factor).filter(|_| is_possible)?;
        Some(Self { value, unit: target.unit })
    }

    pub(super) fn times(&self, other: &Self) -> Option<Self> {
        match (self.code(), other.code()) {
            (_, "1") => Some(Self { value: self.value.checked_mul(other.value)?, unit: self.unit.clone() }),
            ("1", _) => Some(Self { value: self.value.checked_mul(other.value)?, unit: other.unit.clone() }),
            _ => {
                let measure = self.measure()?.times(&other.measure()?)?;
                Some(measure.base_quantity(self.value.checked_mul(other.value)?)?.into())
            }
        }
    }

    pub(super) fn over(&self, other: &Self) -> Option<Self> {
        let value = self.value.checked_div(other.value)?;
        match (self.code(), other.code()) {
            (_, "1") => Some(Self { value, unit: self.unit.clone() }),
            (left, right) if left == right => Some(Self::of_number(value)),
            _ => {
                let measure = self.measure()?.over(&other.measure()?)?;
                Some(measure.base_quantity(value)?.into())
            }
        }
    }
}

impl From<(Decimal, String)> for Quantity {
    fn from((value, unit): (Decimal, String)) -> Self {
        Self { value, unit: Unit::Ucum(unit) }
    }
}

/// Equal when rounded to the digits of the one that has fewer.
pub(super) fn is_equivalent(left: Decimal, right: Decimal) -> bool {
    let digits = left.normalize().scale().min(right.normalize().scale());
    let rounded = |value: Decimal| value.round_dp_with_strategy(digits, RoundingStrategy::MidpointAwayFromZero);
    rounded(left) == rounded(right)
}

impl Display for Quantity {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.unit {
            Unit::Calendar(unit) => {
                let plural = if self.value == Decimal::ONE { "" } else { "s" };
                write!(f, "{} {}{plural}", self.value, unit.row().0)
            }
            Unit::Ucum(code) => write!(f, "{} {}", self.value, Delimited(code, '\'')),
        }
    }
}
