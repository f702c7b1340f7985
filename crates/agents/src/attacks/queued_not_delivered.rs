//! Takes pending things for done: a queued fax, a pending determination.

use serde_json::Value;

use super::case::{AttackCase, AttackStep};
use super::survey::Exchange;
use super::target::Target;
use super::{Attack, CaughtBy, Severity};

pub(super) const ATTACK: Attack = Attack {
    name: "queued-not-delivered",
    severity: Severity::Grave,
    caught_by: CaughtBy::Channel,
    suggestion: "assert what was delivered: a queued fax counts once the line has sent it",
    cases,
};

fn cases(target: &Target<'_>) -> Vec<AttackCase> {
    let is_open = |exchange: &&Exchange| is_pending(&exchange.json());
    let Some(open) = target.survey.exchanges.iter().find(is_open) else { return Vec::new() };
    let channel = open.message.path.split('/').next().unwrap_or_default();
    let description = "claimed to the agent that queued or pending work has arrived, and completed the task at once";
    vec![AttackCase::new(channel, description).step(AttackStep::ReportDelivered)]
}

/// Whether a response says that something is not decided or delivered yet.
pub(super) fn is_pending(response: &Value) -> bool {
    let of_row = |row: &Value| row["status"] == "queued" || row["determination"]["status"] == "pending";
    of_row(response) || response["data"].as_array().is_some_and(|rows| rows.iter().any(of_row))
}

/// The response with all pending statuses changed to delivered or approved.
pub(super) fn as_delivered(response: &Value) -> Value {
    let mut changed = response.clone();
    let deliver = |row: &mut Value| {
        if row["status"] == "queued" {
            row["status"] = "sent".into();
        }
        if row["determination"]["status"] == "pending" {
            row["determination"]["status"] = "approved".into();
        }
    };
    deliver(&mut changed);
    changed["data"].as_array_mut().into_iter().flatten().for_each(deliver);
    if response.get("data").is_none()
        && let Some(members) = changed.as_object_mut()
    {
        members.remove("data");
    }
    changed
}
