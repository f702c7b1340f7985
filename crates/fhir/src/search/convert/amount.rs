//! Converts numbers and quantities (<https://hl7.org/fhir/R4/search.html#quantity>).

use rust_decimal::Decimal;
use serde_json::Value;

use super::{boxed, member};
use crate::search::number::{decimal, json_decimal};
use crate::search::{IndexedValue, Range};

/// The code system of currencies.
const CURRENCIES: &str = "urn:iso:std:iso:4217";

pub(super) fn number(value: &Value) -> Option<IndexedValue> {
    json_decimal(value).map(|value| IndexedValue::Number(Range::exactly(value)))
}

/// With a comparator, the range is open on that side: `<5` is anything up to 5.
pub(super) fn quantity(value: &Value) -> Option<IndexedValue> {
    let amount = json_decimal(value.get("value")?)?;
    let range = match member(value, "comparator") {
        Some("<" | "<=") => Range { low: None, high: Some(amount) },
        Some(">" | ">=") => Range { low: Some(amount), high: None },
        _ => Range::exactly(amount),
    };
    Some(measured(range, value))
}

pub(super) fn money(value: &Value) -> Option<IndexedValue> {
    let range = Range::exactly(json_decimal(value.get("value")?)?);
    let code = boxed(value, "currency");
    let system = code.is_some().then(|| CURRENCIES.into());
    Some(IndexedValue::Quantity { range, system, code, unit: None })
}

/// The limits of a Range. One of the two can be missing, which leaves that side open.
pub(super) fn limits(value: &Value) -> Option<Range> {
    let end = |key: &str| value.get(key).and_then(|end| json_decimal(end.get("value")?));
    let range = Range { low: end("low"), high: end("high") };
    (range.low.is_some() || range.high.is_some()).then_some(range)
}

/// Converts a Range, with the unit of either limit.
pub(super) fn range(value: &Value) -> Option<IndexedValue> {
    let range = limits(value)?;
    let has_unit = |end: &&Value| ["system", "code", "unit"].iter().any(|key| end.get(key).is_some());
    let unit = ["low", "high"].iter().filter_map(|key| value.get(key)).find(has_unit).unwrap_or(&Value::Null);
    Some(measured(range, unit))
}

/// From the lowest to the highest sample; the origin if there are none.
pub(super) fn sampled_data(value: &Value) -> Option<IndexedValue> {
    let origin = value.get("origin")?;
    let zero = json_decimal(origin.get("value")?)?;
    let factor = value.get("factor").and_then(json_decimal).unwrap_or(Decimal::ONE);
    let samples = member(value, "data").unwrap_or_default().split_ascii_whitespace().filter_map(decimal);
    let mut values = samples.filter_map(|sample| sample.checked_mul(factor)?.checked_add(zero));
    let first = values.next().unwrap_or(zero);
    let (low, high) = values.fold((first, first), |(low, high), value| (low.min(value), high.max(value)));
    Some(measured(Range { low: Some(low), high: Some(high) }, origin))
}

fn measured(range: Range, unit: &Value) -> IndexedValue {
    IndexedValue::Quantity {
        range,
        system: boxed(unit, "system"),
        code: boxed(unit, "code"),
        unit: boxed(unit, "unit"),
    }
}

impl Range {
    fn exactly(value: Decimal) -> Self {
        Self { low: Some(value), high: Some(value) }
    }
}
