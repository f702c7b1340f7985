//! Numbers and quantities (<https://hl7.org/fhir/R4/search.html#quantity>).

use rust_decimal::Decimal;
use serde_json::Value;

use super::{boxed, member};
use crate::search::number::{decimal, of_json};
use crate::search::{Found, Range};

/// The system of currencies.
const CURRENCIES: &str = "urn:iso:std:iso:4217";

pub(super) fn number(value: &Value) -> Option<Found> {
    of_json(value).map(|value| Found::Number(Range::exactly(value)))
}

/// With a comparator the quantity is open to that side: `<5` is anything up to 5.
pub(super) fn quantity(value: &Value) -> Option<Found> {
    let amount = of_json(value.get("value")?)?;
    let range = match member(value, "comparator") {
        Some("<" | "<=") => Range { low: None, high: Some(amount) },
        Some(">" | ">=") => Range { low: Some(amount), high: None },
        _ => Range::exactly(amount),
    };
    Some(measured(range, value))
}

pub(super) fn money(value: &Value) -> Option<Found> {
    let range = Range::exactly(of_json(value.get("value")?)?);
    let code = boxed(value, "currency");
    let system = code.is_some().then(|| CURRENCIES.into());
    Some(Found::Quantity { range, system, code, unit: None })
}

/// Of a Range; an end that is not said is open, but one must be.
pub(super) fn ends(value: &Value) -> Option<Range> {
    let end = |key: &str| value.get(key).and_then(|end| of_json(end.get("value")?));
    let range = Range { low: end("low"), high: end("high") };
    (range.low.is_some() || range.high.is_some()).then_some(range)
}

/// The unit is that of either end.
pub(super) fn range(value: &Value) -> Option<Found> {
    let range = ends(value)?;
    let has_unit = |end: &&Value| ["system", "code", "unit"].iter().any(|key| end.get(key).is_some());
    let unit = ["low", "high"].iter().filter_map(|key| value.get(key)).find(has_unit).unwrap_or(&Value::Null);
    Some(measured(range, unit))
}

/// From the least to the greatest of the samples; of none, the origin.
pub(super) fn sampled_data(value: &Value) -> Option<Found> {
    let origin = value.get("origin")?;
    let zero = of_json(origin.get("value")?)?;
    let factor = value.get("factor").and_then(of_json).unwrap_or(Decimal::ONE);
    let samples = member(value, "data").unwrap_or_default().split_ascii_whitespace().filter_map(decimal);
    let mut values = samples.filter_map(|sample| sample.checked_mul(factor)?.checked_add(zero));
    let first = values.next().unwrap_or(zero);
    let (low, high) = values.fold((first, first), |(low, high), value| (low.min(value), high.max(value)));
    Some(measured(Range { low: Some(low), high: Some(high) }, origin))
}

fn measured(range: Range, unit: &Value) -> Found {
    Found::Quantity { range, system: boxed(unit, "system"), code: boxed(unit, "code"), unit: boxed(unit, "unit") }
}

impl Range {
    fn exactly(value: Decimal) -> Self {
        Self { low: Some(value), high: Some(value) }
    }
}
