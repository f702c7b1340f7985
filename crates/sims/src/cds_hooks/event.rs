//! The events of the EHR. `cds_invoke` is a hook at a service: a check reads `cards` of one that was answered, and one
//! that waits, failed or was refused has none. `cds_feedback` is what a user did with cards, `cds_read` all that only
//! looks or registers.

use model::api_key::masked;
use model::event::EventType;
use serde_json::Value;
use world::{NewEvent, Sandbox};

use crate::redact::without_secrets;

pub(super) fn event(sandbox: &Sandbox, r#type: EventType, actor: &str, summary: &str, payload: Value) -> NewEvent {
    let one_line: String = masked(summary).chars().map(|c| if c.is_control() { ' ' } else { c }).take(200).collect();
    NewEvent {
        sandbox: sandbox.id.clone(),
        r#type,
        actor: actor.to_owned(),
        summary: one_line,
        payload: without_secrets(payload).into(),
    }
}
