//! Candidates of `cds-response`: invocations of all hooks, including unanswered ones, and feedback.

use std::collections::BTreeSet;

use model::event::EventType;
use model::simulator::SimulatorType;
use serde_json::Value;

use super::{Candidate, newest};
use crate::checks::cds_response::{CdsResponse, is_answer};
use crate::evidence::{EvaluationContext, text};

pub(crate) fn of(check: &CdsResponse, context: &EvaluationContext<'_>) -> Result<Vec<Candidate>, String> {
    let hook = check.hook.as_ref().map(|hook| hook.ready()).transpose()?;
    let events = context.events(SimulatorType::CdsHooks, &[EventType::CdsInvoke, EventType::CdsFeedback])?;
    let mut seen = BTreeSet::new();
    let mut candidates = Vec::new();
    for event in newest(events) {
        let payload = &event.payload;
        let is_feedback = event.r#type == EventType::CdsFeedback;
        // An invocation has one event when it is fired and one when it is answered. The later one has its final state.
        if let Some(invocation) = text(payload, "invocation_id").filter(|_| !is_feedback)
            && !seen.insert(invocation)
        {
            continue;
        }
        let called = text(payload, "hook").unwrap_or("unknown hook");
        let service = text(payload, "service_id").map_or_else(String::new, |service| format!(" of service {service}"));
        let kind = if is_feedback { "feedback on" } else { "invocation of" };
        let mut candidate = Candidate::new(event.id.to_string(), format!("{kind} {called}{service}"));
        if let Some(hook) = hook.filter(|hook| text(payload, "hook") != Some(hook.0.as_str())) {
            candidate.differs("hook", hook.0.as_str(), payload.get("hook").cloned().unwrap_or_default());
        }
        if !is_answer(event) {
            let status = payload.get("status").cloned().unwrap_or(Value::Null);
            candidate.differs_because("status", "answered", status, "the hook has no valid answer");
        }
        candidates.push(candidate);
    }
    Ok(candidates)
}
