//! Compares ranges by prefix (<https://hl7.org/fhir/R4/search.html#prefix>).

use rust_decimal::Decimal;

use crate::search::{IndexedValue, Prefix, Range, Span};

/// Compares dates. `ap` matches if the ranges overlap: R4 suggests a tolerance relative to the current time, which is
/// not known here.
pub(super) fn in_time(prefix: Prefix, expected: Span, found: Span) -> bool {
    let is_within = expected.first <= found.first && found.last <= expected.last;
    let (reaches_above, reaches_below) = (found.last > expected.last, found.first < expected.first);
    let (is_above, is_below) = (found.first > expected.last, found.last < expected.first);
    match prefix {
        Prefix::Equal => is_within,
        Prefix::NotEqual => !is_within,
        Prefix::Greater => reaches_above,
        Prefix::Less => reaches_below,
        Prefix::GreaterOrEqual => reaches_above || is_within,
        Prefix::LessOrEqual => reaches_below || is_within,
        Prefix::StartsAfter => is_above,
        Prefix::EndsBefore => is_below,
        Prefix::Approximately => !is_above && !is_below,
    }
}

/// Compares numbers. Only `eq` and `ne` use the precision of the search value; `ap` allows a tenth of the value.
pub(super) fn in_number(prefix: Prefix, value: Decimal, written: Range, found: Range) -> bool {
    let low_is = |holds: fn(&Decimal, &Decimal) -> bool, other| found.low.is_some_and(|low| holds(&low, &other));
    let high_is = |holds: fn(&Decimal, &Decimal) -> bool, other| found.high.is_some_and(|high| holds(&high, &other));
    match prefix {
        Prefix::Equal => is_within(written, value, found),
        Prefix::NotEqual => !is_within(written, value, found),
        Prefix::Greater => !high_is(Decimal::le, value),
        Prefix::Less => !low_is(Decimal::ge, value),
        Prefix::GreaterOrEqual => !high_is(Decimal::lt, value),
        Prefix::LessOrEqual => !low_is(Decimal::gt, value),
        Prefix::StartsAfter => low_is(Decimal::gt, value),
        Prefix::EndsBefore => high_is(Decimal::lt, value),
        Prefix::Approximately => {
            let tenth = (value / Decimal::TEN).abs();
            let least = value.checked_sub(tenth).unwrap_or(Decimal::MIN);
            let most = value.checked_add(tenth).unwrap_or(Decimal::MAX);
            !low_is(Decimal::gt, most) && !high_is(Decimal::lt, least)
        }
    }
}

/// Whether the value is within the precision range, whose upper end is exclusive (unless the range is a single value).
fn is_within(written: Range, value: Decimal, found: Range) -> bool {
    let (Some(low), Some(high)) = (found.low, found.high) else { return false };
    let is_below = |most: Decimal| high < most || high == value;
    written.low.is_none_or(|least| least <= low) && written.high.is_none_or(is_below)
}

/// `system|code` matches both; `||code` also matches the human-readable unit. Units are not converted, and other spellings of a UCUM code
/// are not recognized.
pub(super) fn has_unit(system: Option<&str>, code: Option<&str>, quantity: &IndexedValue) -> bool {
    let IndexedValue::Quantity { system: found_system, code: found_code, unit, .. } = quantity else { return false };
    match (system, code) {
        (None, None) => true,
        (None, code) => found_code.as_deref() == code || unit.as_deref() == code,
        (system, None) => found_system.as_deref() == system,
        (system, code) => found_system.as_deref() == system && found_code.as_deref() == code,
    }
}
