//! Math functions (<https://hl7.org/fhirpath/N1/#math>), by decimals; what is not defined or overflows is empty.

use rust_decimal::prelude::ToPrimitive;
use rust_decimal::{Decimal, RoundingStrategy};

use super::equality::number;
use super::{EvaluationResult, Given, wrong_type};
use crate::fhirpath::EvaluationFault;
use crate::fhirpath::item::Item;
use crate::fhirpath::quantity::Quantity;

/// Digits after the point of what has no end.
const DIGITS: u32 = 20;

fn input<'v>(given: &Given<'_, 'v>, input: &[Item<'v>]) -> Result<Option<Decimal>, EvaluationFault> {
    match given.input(input)? {
        None => Ok(None),
        Some(item) => number(&item).map(Some).ok_or_else(|| wrong_type(&item, given.name)),
    }
}

fn mapped<'v>(
    given: &Given<'_, 'v>,
    items: &[Item<'v>],
    apply: impl FnOnce(Decimal) -> Option<Item<'v>>,
) -> EvaluationResult<'v> {
    Ok(input(given, items)?.and_then(apply).into_iter().collect())
}

fn whole<'v>(value: Decimal) -> Option<Item<'v>> {
    value.to_i64().map(Item::Integer)
}

fn rounded<'v>(value: Decimal) -> Item<'v> {
    Item::Decimal(value.round_dp(DIGITS).normalize())
}

pub(in crate::fhirpath) fn abs<'v>(given: &Given<'_, 'v>, items: Vec<Item<'v>>) -> EvaluationResult<'v> {
    let result = match given.input(&items)? {
        Some(Item::Integer(value)) => value.checked_abs().map(Item::Integer),
        Some(Item::Decimal(value)) => Some(Item::Decimal(value.abs())),
        Some(Item::Quantity(quantity)) => {
            Some(Item::quantity(Quantity { value: quantity.value.abs(), unit: quantity.unit }))
        }
        Some(other) => return Err(wrong_type(&other, given.name)),
        None => None,
    };
    Ok(result.into_iter().collect())
}

pub(in crate::fhirpath) fn ceiling<'v>(given: &Given<'_, 'v>, items: Vec<Item<'v>>) -> EvaluationResult<'v> {
    mapped(given, &items, |value| whole(value.ceil()))
}

pub(in crate::fhirpath) fn floor<'v>(given: &Given<'_, 'v>, items: Vec<Item<'v>>) -> EvaluationResult<'v> {
    mapped(given, &items, |value| whole(value.floor()))
}

pub(in crate::fhirpath) fn truncate<'v>(given: &Given<'_, 'v>, items: Vec<Item<'v>>) -> EvaluationResult<'v> {
    mapped(given, &items, |value| whole(value.trunc()))
}

pub(in crate::fhirpath) fn round<'v>(given: &Given<'_, 'v>, items: Vec<Item<'v>>) -> EvaluationResult<'v> {
    let digits = given.integer(0)?.unwrap_or(0);
    let digits = u32::try_from(digits).map_err(|_| given.unusable("digits below zero"))?;
    mapped(given, &items, |value| {
        Some(Item::Decimal(value.round_dp_with_strategy(digits.min(28), RoundingStrategy::MidpointAwayFromZero)))
    })
}

pub(in crate::fhirpath) fn exp<'v>(given: &Given<'_, 'v>, items: Vec<Item<'v>>) -> EvaluationResult<'v> {
    mapped(given, &items, |value| exponential(value).map(rounded))
}

pub(in crate::fhirpath) fn ln<'v>(given: &Given<'_, 'v>, items: Vec<Item<'v>>) -> EvaluationResult<'v> {
    mapped(given, &items, |value| logarithm(value).map(rounded))
}

pub(in crate::fhirpath) fn log<'v>(given: &Given<'_, 'v>, items: Vec<Item<'v>>) -> EvaluationResult<'v> {
    let Some(base) = input(given, &given.argument(0)?)? else { return Ok(Vec::new()) };
    mapped(given, &items, |value| logarithm(value)?.checked_div(logarithm(base)?).map(rounded))
}

pub(in crate::fhirpath) fn sqrt<'v>(given: &Given<'_, 'v>, items: Vec<Item<'v>>) -> EvaluationResult<'v> {
    mapped(given, &items, |value| root(value).map(rounded))
}

pub(in crate::fhirpath) fn power<'v>(given: &Given<'_, 'v>, items: Vec<Item<'v>>) -> EvaluationResult<'v> {
    let (Some(base), Some(exponent)) = (given.input(&items)?, given.input(&given.argument(0)?)?) else {
        return Ok(Vec::new());
    };
    let (Some(value), Some(power)) = (number(&base), number(&exponent)) else {
        return Err(wrong_type(if number(&base).is_none() { &base } else { &exponent }, given.name));
    };
    let is_whole = matches!((&base, &exponent), (Item::Integer(_), Item::Integer(times)) if *times >= 0);
    let result = raised(value, power);
    let result = if is_whole { result.and_then(whole) } else { result.map(|value| Item::Decimal(value.normalize())) };
    Ok(result.into_iter().collect())
}

fn raised(base: Decimal, exponent: Decimal) -> Option<Decimal> {
    if !exponent.is_integer() {
        let positive = Some(base).filter(|base| !base.is_sign_negative())?;
        if positive.is_zero() {
            return Some(Decimal::ZERO).filter(|_| exponent.is_sign_positive());
        }
        return exponential(logarithm(positive)?.checked_mul(exponent)?).map(|value| value.round_dp(DIGITS));
    }
    let times = exponent.to_i64()?;
    let mut result = Decimal::ONE;
    let (mut square, mut left) = (base, times.unsigned_abs());
    while left > 0 {
        if left & 1 == 1 {
            result = result.checked_mul(square)?;
        }
        left >>= 1;
        if left > 0 {
            square = square.checked_mul(square)?;
        }
    }
    if times < 0 { Decimal::ONE.checked_div(result) } else { Some(result) }
}

/// By Newton, from above.
fn root(value: Decimal) -> Option<Decimal> {
    if value.is_sign_negative() && !value.is_zero() {
        return None;
    }
    let two = Decimal::TWO;
    let mut guess = value.max(Decimal::ONE);
    for _ in 0..200 {
        if guess.is_zero() {
            break;
        }
        let next = guess.checked_add(value.checked_div(guess)?)?.checked_div(two)?;
        if next >= guess {
            break;
        }
        guess = next;
    }
    let near = guess.round_dp(DIGITS).normalize();
    Some(if value.is_zero() { Decimal::ZERO } else { near })
}

/// By its series, on an argument halved until it is small.
fn exponential(value: Decimal) -> Option<Decimal> {
    let mut reduced = value;
    let mut halvings = 0;
    while reduced.abs() > Decimal::ONE {
        reduced = reduced.checked_div(Decimal::TWO)?;
        halvings += 1;
        if halvings > 8 {
            return if value.is_sign_negative() { Some(Decimal::ZERO) } else { None };
        }
    }
    let (mut sum, mut term) = (Decimal::ONE, Decimal::ONE);
    for count in 1..40_u32 {
        term = term.checked_mul(reduced)?.checked_div(Decimal::from(count))?;
        sum = sum.checked_add(term)?;
    }
    for _ in 0..halvings {
        sum = sum.checked_mul(sum)?;
    }
    Some(sum)
}

/// ln v = 2 artanh((v-1)/(v+1)), on an argument brought near 1 by its roots.
fn logarithm(value: Decimal) -> Option<Decimal> {
    if value <= Decimal::ZERO {
        return None;
    }
    let two_log = || series(Decimal::TWO);
    let mut reduced = value;
    let mut doublings = 0_i64;
    while reduced > Decimal::new(15, 1) {
        reduced = reduced.checked_div(Decimal::TWO)?;
        doublings += 1;
    }
    while reduced < Decimal::new(75, 2) {
        reduced = reduced.checked_mul(Decimal::TWO)?;
        doublings -= 1;
    }
    series(reduced)?.checked_add(two_log()?.checked_mul(Decimal::from(doublings))?)
}

fn series(value: Decimal) -> Option<Decimal> {
    let ratio = value.checked_sub(Decimal::ONE)?.checked_div(value.checked_add(Decimal::ONE)?)?;
    let square = ratio.checked_mul(ratio)?;
    let (mut sum, mut power) = (Decimal::ZERO, ratio);
    for count in 0..40_u32 {
        sum = sum.checked_add(power.checked_div(Decimal::from(2 * count + 1))?)?;
        power = power.checked_mul(square)?;
    }
    sum.checked_mul(Decimal::TWO)
}
