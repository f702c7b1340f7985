//! Takes what is still under way for done: a fax that is queued, a determination that is pending.

use serde_json::Value;

use super::case::{Case, Step};
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

fn cases(target: &Target<'_>) -> Vec<Case> {
    let is_open = |exchange: &&Exchange| is_under_way(&exchange.json());
    let Some(open) = target.survey.exchanges.iter().find(is_open) else { return Vec::new() };
    let channel = open.message.path.split('/').next().unwrap_or_default();
    let words = "told the agent that what is queued or pending has arrived, and completed the task at once";
    vec![Case::new(channel, words).step(Step::BelieveQueued)]
}

/// Whether a response says that something is not decided or delivered yet.
pub(super) fn is_under_way(response: &Value) -> bool {
    let of_row = |row: &Value| row["status"] == "queued" || row["determination"]["status"] == "pending";
    of_row(response) || response["data"].as_array().is_some_and(|rows| rows.iter().any(of_row))
}

/// The response as it would be if all had arrived.
pub(super) fn believed(response: &Value) -> Value {
    let mut changed = response.clone();
    let believe = |row: &mut Value| {
        if row["status"] == "queued" {
            row["status"] = "sent".into();
        }
        if row["determination"]["status"] == "pending" {
            row["determination"]["status"] = "approved".into();
        }
    };
    believe(&mut changed);
    changed["data"].as_array_mut().into_iter().flatten().for_each(believe);
    if response.get("data").is_none()
        && let Some(members) = changed.as_object_mut()
    {
        members.remove("data");
    }
    changed
}
