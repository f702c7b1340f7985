//! Converts dates, periods and timings (<https://hl7.org/fhir/R4/search.html#date>).

use serde_json::Value;

use super::{items, member, text_of};
use crate::search::Span;
use crate::search::date_span::date_span;

pub(super) fn date_time(value: &Value) -> Option<Span> {
    date_span(text_of(value)?)
}

/// A missing end is open. `None` if both are missing.
pub(super) fn period(value: &Value) -> Option<Span> {
    let end = |key: &str| member(value, key).and_then(date_span);
    let (start, end) = (end("start"), end("end"));
    (start.is_some() || end.is_some()).then(|| Span {
        first: start.map_or(i64::MIN, |start| start.first),
        last: end.map_or(i64::MAX, |end| end.last),
    })
}

/// The outer limits, as R4 defines: of all events and of the period in which they repeat.
pub(super) fn timing(value: &Value) -> Option<Span> {
    let bounds = value.get("repeat").and_then(|repeat| period(repeat.get("boundsPeriod")?));
    items(value, "event").iter().filter_map(date_time).chain(bounds).reduce(Span::with)
}
