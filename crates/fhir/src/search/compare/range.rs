//! Prefixes: ranges against ranges (<https://hl7.org/fhir/R4/search.html#prefix>).

use rust_decimal::Decimal;

use crate::search::{Found, Prefix, Range, Span};

/// A date is approximately another if they have a moment in common; nothing here knows what time it is now, from which
/// R4 would have the tolerance reckoned.
pub(super) fn in_time(prefix: Prefix, wanted: Span, found: Span) -> bool {
    let is_within = wanted.first <= found.first && found.last <= wanted.last;
    let (reaches_above, reaches_below) = (found.last > wanted.last, found.first < wanted.first);
    let (is_above, is_below) = (found.first > wanted.last, found.last < wanted.first);
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

/// Only `eq` and `ne` care how precisely the number was written; `ap` allows a tenth of it.
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

/// The upper end of what the digits stand for is no longer part of it, unless there is nothing between the ends.
fn is_within(written: Range, value: Decimal, found: Range) -> bool {
    let (Some(low), Some(high)) = (found.low, found.high) else { return false };
    let is_below = |most: Decimal| high < most || high == value;
    written.low.is_none_or(|least| least <= low) && written.high.is_none_or(is_below)
}

/// `system|code` by both; `||code` also by the unit that is shown to people. Units are not converted.
pub(super) fn has_unit(system: Option<&str>, code: Option<&str>, quantity: &Found) -> bool {
    let Found::Quantity { system: found_system, code: found_code, unit, .. } = quantity else { return false };
    match (system, code) {
        (None, None) => true,
        (None, code) => found_code.as_deref() == code || unit.as_deref() == code,
        (system, None) => found_system.as_deref() == system,
        (system, code) => found_system.as_deref() == system && found_code.as_deref() == code,
    }
}
