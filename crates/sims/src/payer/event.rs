//! Log events of the portal: the action, the request, and the resulting row.

use model::api_key::masked;
use model::event::EventType;
use model::reading::shortened;
use serde_json::{Map, Value};
use world::NewEvent;

use super::context::{PortalContext, PortalError};
use super::rows::object;
use crate::redact::without_secrets;

const MAX_SUMMARY_CHARS: usize = 200;

/// An action of a client, as it appears in the log.
pub(super) struct PortalAction<'a> {
    pub(super) r#type: EventType,
    /// `submit`, `add_documents` …
    pub(super) name: &'a str,
    /// The parameters of the request.
    pub(super) request: Value,
}

impl PortalAction<'_> {
    /// The event of an action with its resulting row.
    pub(super) fn row_event(self, portal: &PortalContext<'_>, row: &Value) -> NewEvent {
        let number = ["auth_number", "request_id"].into_iter().find_map(|name| row.get(name)?.as_str());
        let summary = format!("{} {}", self.name, number.unwrap_or_default());
        self.event(portal, &summary, object([("row", row.clone())]))
    }

    /// The event of an action that failed.
    pub(super) fn error_event(self, portal: &PortalContext<'_>, error: &PortalError) -> NewEvent {
        let (reason, errors) = match error {
            PortalError::Invalid(errors) => ("not valid".to_owned(), serde_json::to_value(errors).unwrap_or_default()),
            PortalError::NotFound(what) => (format!("no such {what}"), Value::Null),
            PortalError::Conflict(message) => (message.clone(), Value::Null),
        };
        let summary = format!("{} refused: {reason}", self.name);
        self.event(portal, &summary, object([("refused", reason.into()), ("errors", errors)]))
    }

    /// The event of a search or list.
    pub(super) fn count_event(self, portal: &PortalContext<'_>, count: usize) -> NewEvent {
        let summary = format!("{} found {count}", self.name);
        self.event(portal, &summary, object([("count", count.into())]))
    }

    pub(super) fn event(self, portal: &PortalContext<'_>, summary: &str, members: Map<String, Value>) -> NewEvent {
        let mut payload = object([
            ("action", self.name.into()),
            ("channel", portal.client.interface.name().into()),
            ("request", without_secrets(self.request)),
        ]);
        payload.extend(members);
        let one_line: String = summary.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        NewEvent {
            sandbox: portal.sandbox.id.clone(),
            r#type: self.r#type,
            actor: portal.client.name.clone(),
            summary: shortened(&masked(&one_line), MAX_SUMMARY_CHARS),
            payload: Value::Object(payload).into(),
        }
    }
}
