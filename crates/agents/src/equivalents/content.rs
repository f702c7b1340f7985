//! Equivalents that change the content of a message but not its meaning.

use serde_json::{Map, Number, Value, json};

use super::Equivalent;
use crate::message::Message;

/// The altered content, or `None` when the equivalent does not apply.
pub(super) fn altered(equivalent: Equivalent, message: &Message) -> Option<Value> {
    let content = message.content()?;
    match equivalent {
        Equivalent::Reordered => Some(reordered(&content)),
        Equivalent::WithNarrative => {
            let text = |name: &str| content[name].as_str().unwrap_or_default();
            let paragraph = format!("<p>This {}: status {}</p>", text("resourceType"), text("status"));
            let div = format!("<div xmlns=\"http://www.w3.org/1999/xhtml\">{paragraph}</div>");
            with_member(content.clone(), "text", json!({"status": "generated", "div": div}))
        }
        Equivalent::WithSource => with_member(content, "meta", json!({"source": "https://desk.example.org"})),
        Equivalent::NoDisplay => Some(map_members(&content, &without_display)),
        Equivalent::Utc => Some(map_members(&content, &in_utc)),
        Equivalent::FractionalSeconds => Some(map_members(&content, &with_milliseconds)),
        Equivalent::OtherZone => Some(map_members(&content, &other_zone)),
        Equivalent::TrailingZeros => Some(map_members(&content, &with_trailing_zeros)),
        Equivalent::TrailingDelimiters => Some(map_members(&content, &trailing_delimiters)),
        Equivalent::OtherControlNumber => Some(map_members(&content, &other_control_number)),
        _ => None,
    }
}

/// Adds a member to a resource that does not have it.
fn with_member(mut content: Value, name: &str, value: Value) -> Option<Value> {
    if !content["resourceType"].is_string() || content.get(name).is_some() {
        return None;
    }
    content[name] = value;
    Some(content)
}

fn reordered(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            members.iter().rev().map(|(key, member)| (key.clone(), reordered(member))).collect::<Map<_, _>>().into()
        }
        Value::Array(items) => items.iter().map(reordered).collect::<Vec<_>>().into(),
        leaf => leaf.clone(),
    }
}

/// Applies `change` to every member, innermost first.
fn map_members(value: &Value, change: &impl Fn(&str, Value) -> Value) -> Value {
    fn map(key: &str, value: &Value, change: &impl Fn(&str, Value) -> Value) -> Value {
        let inner = match value {
            Value::Object(members) => members
                .iter()
                .map(|(key, member)| (key.clone(), map(key, member, change)))
                .collect::<Map<_, _>>()
                .into(),
            // Scalars in a list have no key and stay as they are.
            Value::Array(items) => {
                items.iter().map(|item| if item.is_object() { map("", item, change) } else { item.clone() }).collect()
            }
            scalar => scalar.clone(),
        };
        change(key, inner)
    }
    map("payload", value, change)
}

/// Removes `display` from codings.
fn without_display(_: &str, mut value: Value) -> Value {
    if let Some(members) = value.as_object_mut().filter(|members| members.contains_key("code")) {
        members.remove("display");
    }
    value
}

/// Splits a timestamp at its `T`. A generated id with a `T` in it is not a timestamp.
fn day_and_clock(text: &str) -> Option<(&str, &str)> {
    let (day, clock) = text.split_once('T')?;
    let is_day = day.len() == 10 && day.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    (is_day && clock.get(2..3) == Some(":")).then_some((day, clock))
}

/// Splits a timestamp whose offset is in whole hours into date, hour, the rest of the time, and offset.
fn split_timestamp(value: &Value) -> Option<(&str, i8, &str, i8)> {
    let (day, clock) = day_and_clock(value.as_str()?)?;
    let (hour, rest): (i8, &str) = (clock.get(..2)?.parse().ok()?, clock.get(2..)?);
    let (rest, offset) = rest.split_at(rest.rfind(['+', '-'])?);
    let is_whole = offset.get(3..)? == ":00";
    is_whole.then_some((day, hour, rest, offset.get(..3)?.parse().ok()?))
}

/// Converts a timestamp to UTC, unless that changes the date.
fn in_utc(_: &str, value: Value) -> Value {
    let moved = split_timestamp(&value).and_then(|(day, hour, rest, east)| {
        let hour = hour - east;
        (0..24).contains(&hour).then(|| format!("{day}T{hour:02}{rest}Z"))
    });
    moved.map_or(value, Value::String)
}

/// Adds milliseconds to a timestamp.
fn with_milliseconds(_: &str, value: Value) -> Value {
    let precise = value.as_str().and_then(|text| {
        let (day, clock) = day_and_clock(text)?;
        let (clock, offset) = clock.split_at(clock.find(['+', '-', 'Z'])?);
        (clock.len() == 8).then(|| format!("{day}T{clock}.000{offset}"))
    });
    precise.map_or(value, Value::String)
}

/// Converts a timestamp to the time zone one hour to the east, unless that changes the date.
fn other_zone(_: &str, value: Value) -> Value {
    let moved = value.as_str().and_then(|text| {
        let (day, clock) = day_and_clock(text)?;
        let (hour, rest): (u8, &str) = (clock.get(..2)?.parse().ok()?, clock.get(2..)?);
        let (rest, offset) = rest.split_at(rest.rfind(['+', '-'])?);
        let east: i8 = offset.get(..3)?.parse().ok()?;
        (hour < 23)
            .then(|| format!("{day}T{:02}{rest}{:+03}{}", hour + 1, east + 1, offset.get(3..).unwrap_or_default()))
    });
    moved.map_or(value, Value::String)
}

/// Adds trailing zeros to decimals and amounts. Other numbers may be integers and stay as they are.
fn with_trailing_zeros(key: &str, value: Value) -> Value {
    let is_decimal = key == "value" || key.ends_with("_amount") || key.ends_with("_remaining");
    let longer = value.as_number().filter(|_| is_decimal).and_then(|number| {
        let text = number.to_string();
        let longer = if text.contains('.') { format!("{text}0") } else { format!("{text}.00") };
        longer.parse::<Number>().ok()
    });
    longer.map_or(value, Value::Number)
}

fn trailing_delimiters(key: &str, value: Value) -> Value {
    match value.as_str().filter(|_| key == "payload") {
        Some(text) if text.starts_with("MSH") => {
            let (header, rest) = text.split_once('\r').unwrap_or((text, ""));
            let lines = rest.split('\r').filter(|line| !line.is_empty()).map(|line| format!("{line}||\r"));
            format!("{header}\r{}", lines.collect::<String>()).into()
        }
        Some(text) if text.starts_with("ISA") => text.replace('~', "~\n").into(),
        _ => value,
    }
}

/// Changes the control number of an HL7 v2 message, or of an X12 interchange in both envelope segments.
fn other_control_number(key: &str, value: Value) -> Value {
    match value.as_str().filter(|_| key == "payload") {
        Some(text) if text.starts_with("MSH") => {
            let (header, rest) = text.split_once('\r').unwrap_or((text, ""));
            let fields = header.split('|').enumerate();
            let fields = fields.map(|(index, field)| if index == 9 { format!("{field}7") } else { field.to_owned() });
            format!("{}\r{rest}", fields.collect::<Vec<_>>().join("|")).into()
        }
        Some(text) if text.starts_with("ISA") => text.replace("*000000001", "*000000007").into(),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use client::Method;

    fn apply(equivalent: Equivalent, content: &Value) -> Value {
        altered(equivalent, &Message::json(Method::POST, "fhir/Task", content)).unwrap_or_else(|| content.clone())
    }

    #[test]
    fn each_equivalent_changes_the_content() {
        let task = json!({"resourceType": "Task", "code": {"coding": [{"code": "1", "display": "One"}]},
            "start": "2026-04-14T09:30:00-05:00", "valueQuantity": {"value": 2.5}, "count": 3});
        assert_eq!(apply(Equivalent::OtherZone, &task)["start"], "2026-04-14T10:30:00-04:00");
        assert_eq!(apply(Equivalent::Utc, &task)["start"], "2026-04-14T14:30:00Z");
        assert_eq!(apply(Equivalent::FractionalSeconds, &task)["start"], "2026-04-14T09:30:00.000-05:00");
        let id = json!({"item": {"reference": "MedicationRequest/01M7TXEWCYNPHZ49967ZWJQMQJ"}});
        assert_eq!(apply(Equivalent::FractionalSeconds, &id), id);
        assert_eq!(apply(Equivalent::NoDisplay, &task)["code"]["coding"][0], json!({"code": "1"}));
        assert_eq!(apply(Equivalent::TrailingZeros, &task)["valueQuantity"]["value"].to_string(), "2.50");
        assert_eq!(apply(Equivalent::TrailingZeros, &task)["count"].to_string(), "3");
        assert!(apply(Equivalent::WithNarrative, &task)["text"]["div"].is_string());
        let sent = json!({"payload": "MSH|^~\\&|A|B|C|D|1||ORM^O01|77|P\rPID|1||7"});
        assert_eq!(
            apply(Equivalent::TrailingDelimiters, &sent)["payload"],
            "MSH|^~\\&|A|B|C|D|1||ORM^O01|77|P\rPID|1||7||\r"
        );
        assert_eq!(
            apply(Equivalent::OtherControlNumber, &sent)["payload"],
            "MSH|^~\\&|A|B|C|D|1||ORM^O01|777|P\rPID|1||7"
        );
    }
}
