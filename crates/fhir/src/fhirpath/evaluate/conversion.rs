//! Conversion (<https://hl7.org/fhirpath/N1/#conversion>): what cannot be converted is empty.

use rust_decimal::Decimal;

use super::{EvaluationResult, Given, Scope, boolean, single, wrong_type};
use crate::fhirpath::EvaluationFault;
use crate::fhirpath::item::Item;
use crate::fhirpath::quantity::{CalendarUnit, Quantity, Unit};
use crate::fhirpath::temporal::{Temporal, TemporalType};
use crate::fhirpath::value::decimal;

/// Only the branch that is taken is evaluated.
pub(in crate::fhirpath) fn iif<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    single(&input, given.name)?;
    let scope = Scope { this: &input, index: given.scope.index, total: given.scope.total };
    let evaluate = |at: usize| match given.arguments.get(at) {
        Some(argument) => given.evaluator.evaluate(argument, &scope),
        None => Ok(Vec::new()),
    };
    let condition = evaluate(0)?;
    let holds = match single(&condition, given.name)? {
        None => false,
        Some(item) => match item.atom() {
            Some(Item::Boolean(value)) => value,
            _ => return Err(wrong_type(item, given.name)),
        },
    };
    evaluate(if holds { 1 } else { 2 })
}

type Convert = for<'v> fn(&Item<'v>) -> Option<Item<'v>>;

fn converted<'v>(given: &Given<'_, 'v>, input: &[Item<'v>], convert: Convert) -> EvaluationResult<'v> {
    Ok(atom(given, input)?.as_ref().and_then(convert).into_iter().collect())
}

fn converts<'v>(given: &Given<'_, 'v>, input: &[Item<'v>], convert: Convert) -> EvaluationResult<'v> {
    match single(input, given.name)? {
        None => Ok(Vec::new()),
        Some(_) => boolean(atom(given, input)?.as_ref().and_then(convert).is_some()),
    }
}

/// Complex elements convert to nothing.
fn atom<'v>(given: &Given<'_, 'v>, input: &[Item<'v>]) -> Result<Option<Item<'v>>, EvaluationFault> {
    Ok(single(input, given.name)?.and_then(Item::atom))
}

pub(in crate::fhirpath) fn to_boolean<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    converted(given, &input, as_boolean)
}

pub(in crate::fhirpath) fn converts_to_boolean<'v>(
    given: &Given<'_, 'v>,
    input: Vec<Item<'v>>,
) -> EvaluationResult<'v> {
    converts(given, &input, as_boolean)
}

fn as_boolean<'v>(item: &Item<'v>) -> Option<Item<'v>> {
    let value = match item {
        Item::Boolean(value) => *value,
        Item::Integer(0) => false,
        Item::Integer(1) => true,
        Item::Decimal(value) if value.is_zero() => false,
        Item::Decimal(value) if *value == Decimal::ONE => true,
        Item::Text(text) => match text.to_ascii_lowercase().as_str() {
            "true" | "t" | "yes" | "y" | "1" | "1.0" => true,
            "false" | "f" | "no" | "n" | "0" | "0.0" => false,
            _ => return None,
        },
        _ => return None,
    };
    Some(Item::Boolean(value))
}

pub(in crate::fhirpath) fn to_integer<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    converted(given, &input, as_integer)
}

pub(in crate::fhirpath) fn converts_to_integer<'v>(
    given: &Given<'_, 'v>,
    input: Vec<Item<'v>>,
) -> EvaluationResult<'v> {
    converts(given, &input, as_integer)
}

fn as_integer<'v>(item: &Item<'v>) -> Option<Item<'v>> {
    let value = match item {
        Item::Integer(value) => *value,
        Item::Boolean(value) => i64::from(*value),
        Item::Text(text) => text.parse::<i32>().ok()?.into(),
        _ => return None,
    };
    Some(Item::Integer(value))
}

pub(in crate::fhirpath) fn to_decimal<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    converted(given, &input, as_decimal)
}

pub(in crate::fhirpath) fn converts_to_decimal<'v>(
    given: &Given<'_, 'v>,
    input: Vec<Item<'v>>,
) -> EvaluationResult<'v> {
    converts(given, &input, as_decimal)
}

fn as_decimal<'v>(item: &Item<'v>) -> Option<Item<'v>> {
    let value = match item {
        Item::Integer(value) => Decimal::from(*value),
        Item::Decimal(value) => *value,
        Item::Boolean(value) => Decimal::from(u8::from(*value)),
        Item::Text(text) => {
            let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
            let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
            let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            decimal(text).filter(|_| is_digits(whole) && is_digits(fraction))?
        }
        _ => return None,
    };
    Some(Item::Decimal(value))
}

pub(in crate::fhirpath) fn to_text<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    converted(given, &input, as_text)
}

pub(in crate::fhirpath) fn converts_to_text<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    converts(given, &input, as_text)
}

fn as_text<'v>(item: &Item<'v>) -> Option<Item<'v>> {
    Some(match item {
        Item::Text(text) => Item::Text(text.clone()),
        Item::Boolean(value) => Item::text(value.to_string()),
        Item::Integer(value) => Item::text(value.to_string()),
        Item::Decimal(value) => Item::text(value.to_string()),
        Item::Temporal(temporal) => Item::text(temporal.to_string()),
        Item::Quantity(quantity) => Item::text(quantity.to_string()),
        Item::Type(info) => Item::text(format!("{}.{}", info.namespace, info.name)),
        Item::Node(_) => return None,
    })
}

pub(in crate::fhirpath) fn to_date<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    converted(given, &input, as_date)
}

pub(in crate::fhirpath) fn converts_to_date<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    converts(given, &input, as_date)
}

fn as_date<'v>(item: &Item<'v>) -> Option<Item<'v>> {
    match item {
        Item::Temporal(temporal) => temporal.to_date().map(Item::Temporal),
        Item::Text(text) => Temporal::parse(TemporalType::DateTime, text)?.to_date().map(Item::Temporal),
        _ => None,
    }
}

pub(in crate::fhirpath) fn to_date_time<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    converted(given, &input, as_date_time)
}

pub(in crate::fhirpath) fn converts_to_date_time<'v>(
    given: &Given<'_, 'v>,
    input: Vec<Item<'v>>,
) -> EvaluationResult<'v> {
    converts(given, &input, as_date_time)
}

fn as_date_time<'v>(item: &Item<'v>) -> Option<Item<'v>> {
    match item {
        Item::Temporal(temporal) => temporal.to_date_time().map(Item::Temporal),
        Item::Text(text) => Temporal::parse(TemporalType::DateTime, text).map(Item::Temporal),
        _ => None,
    }
}

pub(in crate::fhirpath) fn to_time<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    converted(given, &input, as_time)
}

pub(in crate::fhirpath) fn converts_to_time<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    converts(given, &input, as_time)
}

fn as_time<'v>(item: &Item<'v>) -> Option<Item<'v>> {
    match item {
        Item::Temporal(temporal) => {
            (temporal.temporal_type() == TemporalType::Time).then_some(Item::Temporal(*temporal))
        }
        Item::Text(text) => {
            Temporal::parse(TemporalType::Time, text.strip_prefix('T').unwrap_or(text)).map(Item::Temporal)
        }
        _ => None,
    }
}

pub(in crate::fhirpath) fn to_quantity<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    let Some(quantity) = atom(given, &input)?.as_ref().and_then(quantity) else { return Ok(Vec::new()) };
    let Some(code) = given.text(0)? else { return Ok(vec![Item::quantity(quantity)]) };
    let unit = CalendarUnit::named(&code).map_or_else(|| Unit::Ucum(code.into_owned()), Unit::Calendar);
    Ok(quantity.in_unit(unit).map(Item::quantity).into_iter().collect())
}

pub(in crate::fhirpath) fn converts_to_quantity<'v>(
    given: &Given<'_, 'v>,
    input: Vec<Item<'v>>,
) -> EvaluationResult<'v> {
    match single(&input, given.name)? {
        None => Ok(Vec::new()),
        Some(_) => boolean(!to_quantity(given, input)?.is_empty()),
    }
}

fn quantity(item: &Item<'_>) -> Option<Quantity> {
    match item {
        Item::Quantity(quantity) => Some(Quantity::clone(quantity)),
        Item::Text(text) => Quantity::parse(text),
        item => match as_decimal(item)? {
            Item::Decimal(value) => Some(Quantity::of_number(value)),
            _ => None,
        },
    }
}
