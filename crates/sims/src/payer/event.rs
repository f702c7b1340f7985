//! What the log tells of a message: what was asked, and the row that it left.

use model::api_key::masked;
use model::event::EventType;
use model::reading::shortened;
use serde_json::{Map, Value};
use world::NewEvent;

use super::call::{Call, Refusal};
use super::rows::object;
use crate::redact::without_secrets;

const LONGEST_SUMMARY: usize = 200;

/// What happened, in the words of the log.
pub(super) struct Told<'a> {
    pub(super) r#type: EventType,
    /// `submit`, `add_documents` …
    pub(super) action: &'a str,
    /// What was asked.
    pub(super) asked: Value,
}

impl Told<'_> {
    /// With the row that came of it.
    pub(super) fn with_row(self, call: &Call<'_>, row: &Value) -> NewEvent {
        let number = ["auth_number", "request_id"].into_iter().find_map(|name| row.get(name)?.as_str());
        let words = format!("{} {}", self.action, number.unwrap_or_default());
        self.event(call, &words, object([("row", row.clone())]))
    }

    /// With why nothing came of it.
    pub(super) fn refused(self, call: &Call<'_>, refusal: &Refusal) -> NewEvent {
        let (reason, errors) = match refusal {
            Refusal::Invalid(errors) => ("not valid".to_owned(), serde_json::to_value(errors).unwrap_or_default()),
            Refusal::NotFound(what) => (format!("no such {what}"), Value::Null),
            Refusal::Conflict(message) => (message.clone(), Value::Null),
        };
        let words = format!("{} refused: {reason}", self.action);
        self.event(call, &words, object([("refused", reason.into()), ("errors", errors)]))
    }

    /// With how much was found.
    pub(super) fn with_count(self, call: &Call<'_>, count: usize) -> NewEvent {
        let words = format!("{} found {count}", self.action);
        self.event(call, &words, object([("count", count.into())]))
    }

    pub(super) fn event(self, call: &Call<'_>, summary: &str, more: Map<String, Value>) -> NewEvent {
        let mut payload = object([
            ("action", self.action.into()),
            ("channel", call.client.channel.name().into()),
            ("request", without_secrets(self.asked)),
        ]);
        payload.extend(more);
        let one_line: String = summary.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
        NewEvent {
            sandbox: call.sandbox.id.clone(),
            r#type: self.r#type,
            actor: call.client.name.clone(),
            summary: shortened(&masked(&one_line), LONGEST_SUMMARY),
            payload: Value::Object(payload).into(),
        }
    }
}
