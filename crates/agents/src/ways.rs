//! Other ways of doing the same that must count the same.

mod content;
mod form;

use client::Method;
use serde_json::{Value, json};

use crate::message::Message;

macro_rules! variants {
    ($($(#[$about:meta])* $name:ident = $words:literal,)+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Variant {
            $($(#[$about])* $name,)+
        }

        impl Variant {
            pub const ALL: &[Variant] = &[$(Self::$name,)+];

            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $words,)+
                }
            }
        }
    };
}

variants! {
    /// Members of objects in another order.
    Reordered = "members in another order",
    LooksBefore = "reads more before it begins",
    LooksBetween = "reads more between its writes",
    LooksAfter = "reads more when it is done",
    LooksForNothing = "reads what is not there",
    ReadsTwice = "reads everything twice",
    /// The same request first with a slip that makes it no JSON, which is refused and changes nothing.
    MistypedFirst = "a refused attempt first",
    Spaced = "white space in JSON",
    Escaped = "escapes in JSON",
    /// With a character set, or as FHIR's own media type.
    MediaType = "another media type",
    /// What it would like to have back, and a number of its own.
    MoreHeaders = "more headers",
    Narrated = "a narrative",
    Sourced = "a source",
    /// A display is optional; one that is not there contradicts nothing.
    NoDisplay = "without display texts",
    OtherZone = "another time zone",
    Utc = "times in UTC",
    FractionalSeconds = "fractions of a second",
    LongNumbers = "numbers with zeros behind the point",
    ChosenId = "an id of its own",
    InBundle = "as a transaction",
    InBatch = "as a batch",
    /// What is made is read at once.
    ReadsBack = "reads back what it wrote",
    /// Independent messages in another order.
    FilesLast = "files after everything else",
    /// The format that is sent anyway, named in the query.
    NamedFormat = "a format in the query",
    IdempotencyKey = "an idempotency key",
    /// What is put twice is there once.
    PutAgain = "puts it again",
    /// Empty fields behind the last one of a segment, line breaks behind segments.
    TrailingDelimiters = "delimiters and line breaks",
    OtherControlNumber = "another control number",
}

/// The message in this way, or nothing when the way makes no difference to it.
pub(crate) fn other(way: Variant, number: usize, message: &Message) -> Option<Message> {
    let other = match way {
        Variant::Spaced => form::spaced(message)?,
        Variant::Escaped => form::escaped(message)?,
        Variant::MediaType => form::media_type(message)?,
        Variant::MoreHeaders => form::more_headers(message),
        Variant::NamedFormat => form::named_format(message)?,
        Variant::IdempotencyKey => form::idempotency_key(number, message)?,
        Variant::ChosenId => chosen_id(number, message)?,
        way => message.with(&content::other(way, message)?),
    };
    (other != *message).then_some(other)
}

/// Cut off before its end, so that no reader takes it for JSON.
pub(crate) fn broken(message: &Message) -> Option<Message> {
    message.content().filter(Value::is_object)?;
    let body = message.body.slice(..message.body.len().saturating_sub(1));
    // A file is whatever bytes it has.
    (!message.path.starts_with("files/")).then(|| Message { body, ..message.clone() })
}

fn is_creation(message: &Message) -> Option<&str> {
    let kind = message.path.strip_prefix("fhir/").filter(|_| message.method == Method::POST)?;
    kind.chars().all(|c| c.is_ascii_alphabetic()).then_some(kind)
}

fn chosen_id(number: usize, message: &Message) -> Option<Message> {
    let kind = is_creation(message)?;
    let id = format!("chosen-{number}");
    let mut content = message.content().filter(Value::is_object)?;
    content["id"] = id.as_str().into();
    let path = format!("fhir/{kind}/{id}");
    Some(Message { method: Method::PUT, path, ..message.with(&content) })
}

/// One creation as a transaction or a batch of one entry.
pub(crate) fn bundle(message: &Message, form: &str) -> Option<Message> {
    let kind = is_creation(message)?;
    let bundle = json!({"resourceType": "Bundle", "type": form,
        "entry": [{"resource": message.content()?, "request": {"method": "POST", "url": kind}}]});
    Some(Message { path: "fhir".to_owned(), ..message.with(&bundle) })
}

/// `Type/id` of a location of a transaction's answer.
pub(crate) fn made(location: &str) -> Option<String> {
    let before = location.split("/_history").next().unwrap_or(location);
    let mut parts = before.rsplit('/');
    let (id, kind) = (parts.next()?, parts.next()?);
    Some(format!("{kind}/{id}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_transaction_made_is_found() {
        assert_eq!(made("Task/7/_history/1").as_deref(), Some("Task/7"));
        assert_eq!(made("http://h/fhir/Task/7/_history/1").as_deref(), Some("Task/7"));
    }

    #[test]
    fn creations_can_be_put_and_bundled() {
        let message = Message::json(Method::POST, "fhir/Task", &json!({"resourceType": "Task"}));
        let put = other(Variant::ChosenId, 3, &message).unwrap();
        assert_eq!((put.method.as_str(), put.path.as_str()), ("PUT", "fhir/Task/chosen-3"));
        assert_eq!(bundle(&message, "transaction").unwrap().content().unwrap()["entry"][0]["request"]["url"], "Task");
        let search = Message::json(Method::POST, "fhir/Task/_search", &json!({}));
        assert!(bundle(&search, "batch").is_none());
        assert!(serde_json::from_slice::<Value>(&broken(&message).unwrap().body).is_err());
    }
}
