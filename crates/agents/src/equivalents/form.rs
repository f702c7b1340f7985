//! Equivalents that change the encoding, headers or query of a message but not its content.

use serde_json::Value;

use crate::message::Message;

fn json(message: &Message) -> Option<Value> {
    message.content().filter(|content| !content.is_string())
}

pub(super) fn with_whitespace(message: &Message) -> Option<Message> {
    let body = format!("\n{}\n", serde_json::to_string_pretty(&json(message)?).ok()?);
    Some(Message { body: body.into(), ..message.clone() })
}

/// Writes every letter of a string as an escape such as `\u0041`.
pub(super) fn with_unicode_escapes(message: &Message) -> Option<Message> {
    let mut body = String::new();
    let mut is_in_string = false;
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
                is_in_string = !is_in_string;
                body.push(c);
            }
            letter if is_in_string && letter.is_ascii_alphabetic() => {
                body.push_str(&format!("\\u{:04x}", u32::from(letter)));
            }
            other => body.push(other),
        }
    }
    Some(Message { body: body.into(), ..message.clone() })
}

pub(super) fn with_media_type(message: &Message) -> Option<Message> {
    json(message)?;
    let name = if message.path.starts_with("fhir") { "application/fhir+json" } else { "application/json" };
    Some(with_header(message, "content-type", &format!("{name}; charset=utf-8")))
}

pub(super) fn with_more_headers(message: &Message) -> Message {
    let numbered = with_header(message, "x-request-id", "desk-4711");
    match message.path.starts_with("fhir") {
        true => with_header(&numbered, "prefer", "return=representation, handling=strict"),
        false => numbered,
    }
}

/// Adds `_format` to a FHIR request without a query.
pub(super) fn with_format_parameter(message: &Message) -> Option<Message> {
    let is_plain = message.path.starts_with("fhir/") && !message.path.contains('?');
    is_plain.then(|| Message { path: format!("{}?_format=json", message.path), ..message.clone() })
}

/// Adds an idempotency key, a different one for each message. FHIR does not take one: it has conditional create.
pub(super) fn with_idempotency_key(number: usize, message: &Message) -> Option<Message> {
    let is_supported = ["messages", "fax/faxes", "portal/prior-auths"].contains(&message.path.as_str());
    is_supported.then(|| with_header(message, "idempotency-key", &format!("desk-{number}")))
}

fn with_header(message: &Message, name: &str, value: &str) -> Message {
    let mut altered = message.clone();
    altered.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
    altered.headers.push((name.to_owned(), value.to_owned()));
    altered
}

#[cfg(test)]
mod tests {
    use super::*;
    use client::Method;
    use serde_json::json;

    #[test]
    fn other_encodings_have_the_same_content() {
        let content = json!({"Name": "A \"B\" \\ Ünal", "n": 2.50});
        let message = Message::json(Method::POST, "fhir/Task", &content);
        for other in [with_whitespace(&message).unwrap(), with_unicode_escapes(&message).unwrap()] {
            assert_ne!(other.body, message.body);
            assert_eq!(other.content(), Some(content.clone()));
        }
        assert!(with_media_type(&message).unwrap().headers.iter().any(|(_, value)| value.contains("fhir+json")));
    }
}
