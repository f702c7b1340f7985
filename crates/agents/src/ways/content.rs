//! Other content that means the same.

use serde_json::{Map, Number, Value, json};

use super::Variant;
use crate::message::Message;

pub(super) fn other(way: Variant, message: &Message) -> Option<Value> {
    let content = message.content()?;
    match way {
        Variant::Reordered => Some(reordered(&content)),
        Variant::Narrated => {
            let text = |name: &str| content[name].as_str().unwrap_or_default();
            let words = format!("<p>This {}: status {}</p>", text("resourceType"), text("status"));
            let div = format!("<div xmlns=\"http://www.w3.org/1999/xhtml\">{words}</div>");
            with(content.clone(), "text", json!({"status": "generated", "div": div}))
        }
        Variant::Sourced => with(content, "meta", json!({"source": "https://desk.example.org"})),
        Variant::NoDisplay => Some(each(&content, &no_display)),
        Variant::Utc => Some(each(&content, &in_utc)),
        Variant::FractionalSeconds => Some(each(&content, &fractional)),
        Variant::OtherZone => Some(each(&content, &other_zone)),
        Variant::LongNumbers => Some(each(&content, &long_number)),
        Variant::TrailingDelimiters => Some(each(&content, &trailing_delimiters)),
        Variant::OtherControlNumber => Some(each(&content, &other_control_number)),
        _ => None,
    }
}

/// A member more in a resource that does not have it.
fn with(mut content: Value, name: &str, value: Value) -> Option<Value> {
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

/// With every member changed as `change` has it, from the inside to the outside.
fn each(value: &Value, change: &impl Fn(&str, Value) -> Value) -> Value {
    fn inside(key: &str, value: &Value, change: &impl Fn(&str, Value) -> Value) -> Value {
        let inner = match value {
            Value::Object(members) => members
                .iter()
                .map(|(key, member)| (key.clone(), inside(key, member, change)))
                .collect::<Map<_, _>>()
                .into(),
            // Numbers and texts in a list are the list's.
            Value::Array(items) => items
                .iter()
                .map(|item| if item.is_object() { inside("", item, change) } else { item.clone() })
                .collect(),
            scalar => scalar.clone(),
        };
        change(key, inner)
    }
    inside("payload", value, change)
}

/// Codings without their displays.
fn no_display(_: &str, mut value: Value) -> Value {
    if let Some(members) = value.as_object_mut().filter(|members| members.contains_key("code")) {
        members.remove("display");
    }
    value
}

/// A moment with an offset in whole hours: its day, hour, the rest of its clock, and the offset.
fn moment(value: &Value) -> Option<(&str, i8, &str, i8)> {
    let (day, clock) = value.as_str()?.split_once('T')?;
    let (hour, rest): (i8, &str) = (clock.get(..2)?.parse().ok()?, clock.get(2..)?);
    let (rest, offset) = rest.split_at(rest.rfind(['+', '-'])?);
    let is_whole = offset.get(3..)? == ":00";
    is_whole.then_some((day, hour, rest, offset.get(..3)?.parse().ok()?))
}

/// The same moment in UTC; not over midnight.
fn in_utc(_: &str, value: Value) -> Value {
    let moved = moment(&value).and_then(|(day, hour, rest, east)| {
        let hour = hour - east;
        (0..24).contains(&hour).then(|| format!("{day}T{hour:02}{rest}Z"))
    });
    moved.map_or(value, Value::String)
}

/// The same moment with milliseconds.
fn fractional(_: &str, value: Value) -> Value {
    let precise = value.as_str().and_then(|text| {
        let (day, clock) = text.split_once('T')?;
        let (clock, offset) = clock.split_at(clock.find(['+', '-', 'Z'])?);
        (clock.len() == 8).then(|| format!("{day}T{clock}.000{offset}"))
    });
    precise.map_or(value, Value::String)
}

/// Moments with an offset, told by a clock that is an hour ahead; not over midnight.
fn other_zone(_: &str, value: Value) -> Value {
    let moved = value.as_str().and_then(|text| {
        let (day, clock) = text.split_once('T')?;
        let (hour, rest): (u8, &str) = (clock.get(..2)?.parse().ok()?, clock.get(2..)?);
        let (rest, offset) = rest.split_at(rest.rfind(['+', '-'])?);
        let east: i8 = offset.get(..3)?.parse().ok()?;
        (hour < 23)
            .then(|| format!("{day}T{:02}{rest}{:+03}{}", hour + 1, east + 1, offset.get(3..).unwrap_or_default()))
    });
    moved.map_or(value, Value::String)
}

/// Whole counts stay whole; what FHIR calls a decimal and amounts in files may have zeros.
fn long_number(key: &str, value: Value) -> Value {
    let takes = key == "value" || key.ends_with("_amount") || key.ends_with("_remaining");
    let longer = value.as_number().filter(|_| takes).and_then(|number| {
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

/// Of HL7 v2 the message's, of X12 the interchange's at both its ends.
fn other_control_number(key: &str, value: Value) -> Value {
    match value.as_str().filter(|_| key == "payload") {
        Some(text) if text.starts_with("MSH") => {
            let (header, rest) = text.split_once('\r').unwrap_or((text, ""));
            let fields = header.split('|').enumerate();
            let fields = fields.map(|(place, field)| if place == 9 { format!("{field}7") } else { field.to_owned() });
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

    fn one(way: Variant, content: &Value) -> Value {
        other(way, &Message::json(Method::POST, "fhir/Task", content)).unwrap_or_else(|| content.clone())
    }

    #[test]
    fn each_way_says_the_same_otherwise() {
        let task = json!({"resourceType": "Task", "code": {"coding": [{"code": "1", "display": "One"}]},
            "start": "2026-04-14T09:30:00-05:00", "valueQuantity": {"value": 2.5}, "count": 3});
        assert_eq!(one(Variant::OtherZone, &task)["start"], "2026-04-14T10:30:00-04:00");
        assert_eq!(one(Variant::Utc, &task)["start"], "2026-04-14T14:30:00Z");
        assert_eq!(one(Variant::FractionalSeconds, &task)["start"], "2026-04-14T09:30:00.000-05:00");
        assert_eq!(one(Variant::NoDisplay, &task)["code"]["coding"][0], json!({"code": "1"}));
        assert_eq!(one(Variant::LongNumbers, &task)["valueQuantity"]["value"].to_string(), "2.50");
        assert_eq!(one(Variant::LongNumbers, &task)["count"].to_string(), "3");
        assert!(one(Variant::Narrated, &task)["text"]["div"].is_string());
        let sent = json!({"payload": "MSH|^~\\&|A|B|C|D|1||ORM^O01|77|P\rPID|1||7"});
        assert_eq!(
            one(Variant::TrailingDelimiters, &sent)["payload"],
            "MSH|^~\\&|A|B|C|D|1||ORM^O01|77|P\rPID|1||7||\r"
        );
        assert_eq!(one(Variant::OtherControlNumber, &sent)["payload"], "MSH|^~\\&|A|B|C|D|1||ORM^O01|777|P\rPID|1||7");
    }
}
