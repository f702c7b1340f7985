//! The same content in other bytes, or announced otherwise.

use serde_json::Value;

use crate::message::Message;

fn json(message: &Message) -> Option<Value> {
    message.content().filter(|content| !content.is_string())
}

pub(super) fn spaced(message: &Message) -> Option<Message> {
    let body = format!("\n{}\n", serde_json::to_string_pretty(&json(message)?).ok()?);
    Some(Message { body: body.into(), ..message.clone() })
}

/// Every letter of a text as `\u0041`.
pub(super) fn escaped(message: &Message) -> Option<Message> {
    let mut body = String::new();
    let mut is_text = false;
    let mut is_escape = false;
    for c in json(message)?.to_string().chars() {
        match c {
            _ if is_escape => {
                is_escape = false;
                body.push(c);
            }
            '\\' => {
                is_escape = true;
                body.push(c);
            }
            '"' => {
                is_text = !is_text;
                body.push(c);
            }
            letter if is_text && letter.is_ascii_alphabetic() => {
                body.push_str(&format!("\\u{:04x}", u32::from(letter)));
            }
            other => body.push(other),
        }
    }
    Some(Message { body: body.into(), ..message.clone() })
}

pub(super) fn media_type(message: &Message) -> Option<Message> {
    json(message)?;
    let name = if message.path.starts_with("fhir") { "application/fhir+json" } else { "application/json" };
    Some(with_header(message, "content-type", &format!("{name}; charset=utf-8")))
}

pub(super) fn more_headers(message: &Message) -> Message {
    let numbered = with_header(message, "x-request-id", "desk-4711");
    match message.path.starts_with("fhir") {
        true => with_header(&numbered, "prefer", "return=representation, handling=strict"),
        false => numbered,
    }
}

/// FHIR takes `_format` with every request.
pub(super) fn named_format(message: &Message) -> Option<Message> {
    let is_plain = message.path.starts_with("fhir/") && !message.path.contains('?');
    is_plain.then(|| Message { path: format!("{}?_format=json", message.path), ..message.clone() })
}

/// Each message has one of its own. FHIR has conditional creation instead.
pub(super) fn idempotency_key(number: usize, message: &Message) -> Option<Message> {
    let is_taken = ["messages", "fax/faxes", "portal/prior-auths"].contains(&message.path.as_str());
    is_taken.then(|| with_header(message, "idempotency-key", &format!("desk-{number}")))
}

fn with_header(message: &Message, name: &str, value: &str) -> Message {
    let mut other = message.clone();
    other.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
    other.headers.push((name.to_owned(), value.to_owned()));
    other
}

#[cfg(test)]
mod tests {
    use super::*;
    use client::Method;
    use serde_json::json;

    #[test]
    fn other_bytes_say_the_same() {
        let content = json!({"Name": "A \"B\" \\ Ünal", "n": 2.50});
        let message = Message::json(Method::POST, "fhir/Task", &content);
        for other in [spaced(&message).unwrap(), escaped(&message).unwrap()] {
            assert_ne!(other.body, message.body);
            assert_eq!(other.content(), Some(content.clone()));
        }
        assert!(media_type(&message).unwrap().headers.iter().any(|(_, value)| value.contains("fhir+json")));
    }
}
