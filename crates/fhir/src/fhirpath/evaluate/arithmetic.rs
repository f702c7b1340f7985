//! Arithmetic of numbers, texts, quantities and dates (<https://hl7.org/fhirpath/N1/#math>, `#datetime-arithmetic`).
//! What overflows is empty, as is division by zero.

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

use super::equality::{number, quantities};
use super::strings::LONGEST_TEXT;
use super::{EvaluationResult, single, wrong_type};
use crate::fhirpath::EvaluationFault;
use crate::fhirpath::item::Item;
use crate::fhirpath::quantity::{CalendarUnit, Quantity, Unit};
use crate::fhirpath::syntax::Operator;
use crate::fhirpath::temporal::Temporal;

pub(super) fn sign(is_negative: bool, operand: Vec<Item<'_>>) -> EvaluationResult<'_> {
    let place = if is_negative { "-" } else { "+" };
    let Some(item) = single(&operand, place)? else { return Ok(operand) };
    let result = match item.atom() {
        Some(Item::Integer(value)) if is_negative => value.checked_neg().map(Item::Integer),
        Some(Item::Decimal(value)) if is_negative => Some(Item::Decimal(-value)),
        Some(Item::Quantity(quantity)) if is_negative => {
            Some(Item::quantity(Quantity { value: -quantity.value, unit: quantity.unit }))
        }
        Some(atom @ (Item::Integer(_) | Item::Decimal(_) | Item::Quantity(_))) => Some(atom),
        _ => return Err(wrong_type(item, place)),
    };
    Ok(result.into_iter().collect())
}

pub(super) fn calculate<'v>(operator: Operator, left: &[Item<'v>], right: &[Item<'v>]) -> EvaluationResult<'v> {
    let place = operator.text();
    let (left, right) = (single(left, place)?, single(right, place)?);
    if operator == Operator::Join {
        return join(left, right);
    }
    let (Some(left), Some(right)) = (left, right) else { return Ok(Vec::new()) };
    let Some(left_atom) = left.atom() else { return missing(left, place) };
    let Some(right_atom) = right.atom() else { return missing(right, place) };
    let result = match (&left_atom, &right_atom) {
        (Item::Integer(left), Item::Integer(right)) => integers(operator, *left, *right),
        (Item::Text(left), Item::Text(right)) if operator == Operator::Plus => {
            bounded(left.len() + right.len(), place)?;
            Some(Item::text(format!("{left}{right}")))
        }
        (Item::Temporal(temporal), Item::Quantity(quantity))
            if matches!(operator, Operator::Plus | Operator::Minus) =>
        {
            shift(temporal, quantity, operator)?.map(Item::Temporal)
        }
        (left, right) => match (number(left), number(right), quantities(left, right)) {
            (Some(left), Some(right), _) => decimals(operator, left, right),
            (.., Some((left, right))) => measured(operator, &left, &right)?.map(Item::quantity),
            _ => {
                let reason = format!("not between {} and {}", left.type_info().name, right.type_info().name);
                return Err(EvaluationFault::Unusable { place, reason });
            }
        },
    };
    Ok(result.into_iter().collect())
}

/// A primitive without a value gives nothing, anything else is of the wrong type.
fn missing<'v>(item: &Item<'v>, place: &'static str) -> EvaluationResult<'v> {
    match item {
        Item::Node(node) if node.is_primitive() => Ok(Vec::new()),
        item => Err(wrong_type(item, place)),
    }
}

fn join<'v>(left: Option<&Item<'v>>, right: Option<&Item<'v>>) -> EvaluationResult<'v> {
    let mut joined = String::new();
    for item in [left, right].into_iter().flatten() {
        match item.atom() {
            Some(Item::Text(text)) => joined.push_str(&text),
            None if matches!(item, Item::Node(node) if node.is_primitive()) => {}
            _ => return Err(wrong_type(item, "&")),
        }
    }
    bounded(joined.len(), "&")?;
    Ok(vec![Item::text(joined)])
}

/// A text that doubles at every turn would fill the memory long before the budget ends it.
fn bounded(length: usize, place: &'static str) -> Result<(), EvaluationFault> {
    if length <= LONGEST_TEXT {
        return Ok(());
    }
    Err(EvaluationFault::Unusable { place, reason: "the text grows too long".to_owned() })
}

fn integers<'v>(operator: Operator, left: i64, right: i64) -> Option<Item<'v>> {
    let result = match operator {
        Operator::Plus => left.checked_add(right),
        Operator::Minus => left.checked_sub(right),
        Operator::Times => left.checked_mul(right),
        Operator::Div => left.checked_div(right),
        Operator::Mod => left.checked_rem(right),
        _ => return decimals(operator, Decimal::from(left), Decimal::from(right)),
    };
    result.map(Item::Integer)
}

fn decimals<'v>(operator: Operator, left: Decimal, right: Decimal) -> Option<Item<'v>> {
    let result = match operator {
        Operator::Plus => left.checked_add(right),
        Operator::Minus => left.checked_sub(right),
        Operator::Times => left.checked_mul(right),
        Operator::Over => left.checked_div(right),
        Operator::Div => return left.checked_div(right)?.trunc().to_i64().map(Item::Integer),
        Operator::Mod => left.checked_rem(right),
        _ => None,
    };
    result.map(Item::Decimal)
}

fn measured(operator: Operator, left: &Quantity, right: &Quantity) -> Result<Option<Quantity>, EvaluationFault> {
    match operator {
        Operator::Plus => Ok(left.plus(right, false)),
        Operator::Minus => Ok(left.plus(right, true)),
        Operator::Times => Ok(left.times(right)),
        Operator::Over => Ok(left.over(right)),
        _ => Err(EvaluationFault::WrongType { place: operator.text(), found: "Quantity" }),
    }
}

/// A date or time some calendar time later or earlier. UCUM years and months have no place in the calendar.
fn shift(temporal: &Temporal, quantity: &Quantity, operator: Operator) -> Result<Option<Temporal>, EvaluationFault> {
    let unit = match &quantity.unit {
        Unit::Calendar(unit) => Some(*unit),
        Unit::Ucum(code) => CalendarUnit::coded(code).filter(|_| !matches!(code.as_str(), "a" | "mo")),
    };
    let unit = unit.ok_or_else(|| EvaluationFault::Unusable {
        place: operator.text(),
        reason: format!("{quantity} is no time of the calendar"),
    })?;
    // Fractions count for seconds only.
    let (value, unit) = match unit {
        CalendarUnit::Second => (quantity.value.checked_mul(Decimal::ONE_THOUSAND), CalendarUnit::Millisecond),
        unit => (Some(quantity.value), unit),
    };
    let amount = value.and_then(|value| value.trunc().to_i64());
    let amount = if operator == Operator::Minus { amount.and_then(i64::checked_neg) } else { amount };
    Ok(amount.and_then(|amount| temporal.plus(amount, unit)))
}
