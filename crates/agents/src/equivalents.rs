//! Equivalents of an agent's work: other requests that mean the same and must score the same.

mod content;
mod form;

use client::Method;
use serde_json::{Value, json};

use crate::message::Message;

macro_rules! equivalents {
    ($($(#[$about:meta])* $name:ident = $words:literal,)+) => {
        /// A way to send the same work differently.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Equivalent {
            $($(#[$about])* $name,)+
        }

        impl Equivalent {
            pub const ALL: &[Equivalent] = &[$(Self::$name,)+];

            /// The name in reports.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $words,)+
                }
            }
        }
    };
}

equivalents! {
    /// JSON members in another order.
    Reordered = "members in another order",
    ReadsBefore = "reads more before it begins",
    ReadsBetween = "reads more between its writes",
    ReadsAfter = "reads more when it is done",
    ReadsMissing = "reads what is not there",
    ReadsTwice = "reads everything twice",
    /// Each request is sent first as invalid JSON, which the server rejects.
    InvalidFirst = "a refused attempt first",
    Whitespace = "white space in JSON",
    UnicodeEscapes = "escapes in JSON",
    /// The media type with a character set, or FHIR's own media type.
    MediaType = "another media type",
    /// With `Prefer` and `X-Request-Id`.
    MoreHeaders = "more headers",
    WithNarrative = "a narrative",
    WithSource = "a source",
    /// Codings without `display`, which is optional.
    NoDisplay = "without display texts",
    OtherZone = "another time zone",
    Utc = "times in UTC",
    FractionalSeconds = "fractions of a second",
    TrailingZeros = "numbers with zeros behind the point",
    /// Creates with PUT and an id that the client chooses.
    ClientAssignedId = "an id of its own",
    AsTransaction = "as a transaction",
    AsBatch = "as a batch",
    /// Reads each created record immediately.
    ReadsBack = "reads back what it wrote",
    /// Sends files after all other writes.
    FilesLast = "files after everything else",
    /// Adds `_format` to the query.
    FormatParameter = "a format in the query",
    IdempotencyKey = "an idempotency key",
    /// Sends each PUT twice.
    RepeatedPut = "puts it again",
    /// Empty fields after the last one of a segment, or line breaks after segments.
    TrailingDelimiters = "delimiters and line breaks",
    OtherControlNumber = "another control number",
}

/// The altered message, or `None` when the equivalent does not change it.
pub(crate) fn altered(equivalent: Equivalent, number: usize, message: &Message) -> Option<Message> {
    let altered = match equivalent {
        Equivalent::Whitespace => form::with_whitespace(message)?,
        Equivalent::UnicodeEscapes => form::with_unicode_escapes(message)?,
        Equivalent::MediaType => form::with_media_type(message)?,
        Equivalent::MoreHeaders => form::with_more_headers(message),
        Equivalent::FormatParameter => form::with_format_parameter(message)?,
        Equivalent::IdempotencyKey => form::with_idempotency_key(number, message)?,
        Equivalent::ClientAssignedId => with_client_assigned_id(number, message)?,
        other => message.with(&content::altered(other, message)?),
    };
    (altered != *message).then_some(altered)
}

/// Cuts off the last byte, so that the body is not valid JSON. `None` for files, which may have any content.
pub(crate) fn truncated(message: &Message) -> Option<Message> {
    message.content().filter(Value::is_object)?;
    let body = message.body.slice(..message.body.len().saturating_sub(1));
    (!message.path.starts_with("files/")).then(|| Message { body, ..message.clone() })
}

/// The resource type that a message creates, if it is a FHIR create.
fn created_type(message: &Message) -> Option<&str> {
    let resource_type = message.path.strip_prefix("fhir/").filter(|_| message.method == Method::POST)?;
    resource_type.chars().all(|c| c.is_ascii_alphabetic()).then_some(resource_type)
}

fn with_client_assigned_id(number: usize, message: &Message) -> Option<Message> {
    let resource_type = created_type(message)?;
    let id = format!("chosen-{number}");
    let mut content = message.content().filter(Value::is_object)?;
    content["id"] = id.as_str().into();
    let path = format!("fhir/{resource_type}/{id}");
    Some(Message { method: Method::PUT, path, ..message.with(&content) })
}

/// Wraps a FHIR create in a transaction or batch with one entry.
pub(crate) fn bundle(message: &Message, bundle_type: &str) -> Option<Message> {
    let resource_type = created_type(message)?;
    let bundle = json!({"resourceType": "Bundle", "type": bundle_type,
        "entry": [{"resource": message.content()?, "request": {"method": "POST", "url": resource_type}}]});
    Some(Message { path: "fhir".to_owned(), ..message.with(&bundle) })
}

/// Extracts `Type/id` from the location in a transaction response.
pub(crate) fn reference_from_location(location: &str) -> Option<String> {
    let before = location.split("/_history").next().unwrap_or(location);
    let mut parts = before.rsplit('/');
    let (id, resource_type) = (parts.next()?, parts.next()?);
    Some(format!("{resource_type}/{id}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_created_reference_is_read_from_the_location() {
        assert_eq!(reference_from_location("Task/7/_history/1").as_deref(), Some("Task/7"));
        assert_eq!(reference_from_location("http://h/fhir/Task/7/_history/1").as_deref(), Some("Task/7"));
    }

    #[test]
    fn creates_become_puts_and_bundles() {
        let message = Message::json(Method::POST, "fhir/Task", &json!({"resourceType": "Task"}));
        let put = altered(Equivalent::ClientAssignedId, 3, &message).unwrap();
        assert_eq!((put.method.as_str(), put.path.as_str()), ("PUT", "fhir/Task/chosen-3"));
        assert_eq!(bundle(&message, "transaction").unwrap().content().unwrap()["entry"][0]["request"]["url"], "Task");
        let search = Message::json(Method::POST, "fhir/Task/_search", &json!({}));
        assert!(bundle(&search, "batch").is_none());
        assert!(serde_json::from_slice::<Value>(&truncated(&message).unwrap().body).is_err());
    }
}
