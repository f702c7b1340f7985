//! The events of the EHR. `cds_invoke` is an invocation of a service; only answered invocations have `cards`, which checks
//! read. `cds_feedback` is feedback on cards. `cds_read` is everything that reads or registers.

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
