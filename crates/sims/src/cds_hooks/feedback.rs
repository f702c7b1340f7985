//! Feedback on cards (CDS Hooks 2.0, "Feedback"): it is stored and sent to the service of the card.

use model::FieldErrors;
use model::cds::CardFeedback;
use model::event::EventType;
use model::page::{Page, PageRequest};
use serde_json::{Map, Value, json};
use world::{Change, Context, NewEvent, Outcome, Sandbox};

use super::cards::check_coding;
use super::error::CdsError;
use super::event::event;
use super::invocations;
use super::json_object::UnknownMembers;
use super::services::{self, Service};
use crate::idempotency::{BOOKKEEPING, IdempotencyKey};
use crate::pagination::{self, SortOrder};

/// Rows are `{id, invocation_id, hook, service, card, outcome, acceptedSuggestions, overrideReason, outcomeTimestamp,
/// applied, delivery}`.
pub(super) const FEEDBACK: &str = "feedback";
const MAX_ENTRIES: usize = 50;

/// Validated feedback on one card.
#[derive(Clone, Debug)]
pub struct FeedbackEntry {
    /// The body for the service.
    pub body: Value,
    pub(super) invocation: Value,
    /// The service to notify. None if the agent implements it, or if the service does not know the uuids.
    pub service: Option<Service>,
}

/// Whether the feedback was sent to the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// There is no service to notify.
    None,
    Sent,
    Failed(String),
}

impl Delivery {
    fn json(&self) -> Value {
        match self {
            Self::None => json!({"status": "none", "error": null}),
            Self::Sent => json!({"status": "sent", "error": null}),
            Self::Failed(reason) => json!({"status": "failed", "error": reason}),
        }
    }
}

pub fn list(sandbox: &Sandbox, actor: &str, request: &PageRequest) -> Outcome<Page<Value>> {
    let rows = sandbox.records.own(FEEDBACK).map(|record| (record.key.to_owned(), Value::clone(&record.json())));
    let page = pagination::page(rows.collect(), request, SortOrder::Ascending);
    let payload = json!({"action": "list_feedback", "count": page.items.len()});
    let events = vec![event(sandbox, EventType::CdsRead, actor, &format!("{} were listed", page.items.len()), payload)];
    Outcome { answer: page, changes: Vec::new(), events }
}

/// Validates the feedback and finds its cards.
pub fn plan(sandbox: &Sandbox, context: &Context<'_>, given: &[CardFeedback]) -> Result<Vec<FeedbackEntry>, CdsError> {
    let mut errors = FieldErrors::new();
    if given.is_empty() {
        errors.add("feedback", "must not be empty");
    }
    errors.size("feedback", given.len(), MAX_ENTRIES);
    let mut entries = Vec::new();
    for (index, one) in given.iter().take(MAX_ENTRIES).enumerate() {
        errors.inside(&format!("feedback.{index}"), |errors| entries.extend(read_entry(errors, sandbox, context, one)));
    }
    errors.into_result()?;
    Ok(entries)
}

fn read_entry(
    errors: &mut FieldErrors,
    sandbox: &Sandbox,
    context: &Context<'_>,
    given: &CardFeedback,
) -> Option<FeedbackEntry> {
    let Some((invocation, card)) = find_card(sandbox, &given.card) else {
        errors.add("card", "is not the uuid of a received card");
        return None;
    };
    let accepted: Vec<&str> = given.accepted_suggestions.iter().flatten().map(|one| one.id.as_str()).collect();
    check_outcome(errors, given, &accepted, &card);
    let mut body = Map::new();
    body.insert("card".to_owned(), given.card.as_str().into());
    body.insert("outcome".to_owned(), given.outcome.as_str().into());
    if given.outcome == "accepted" {
        let ids: Vec<Value> = accepted.iter().map(|id| json!({"id": id})).collect();
        body.insert("acceptedSuggestions".to_owned(), ids.into());
    }
    if let Some(reason) = &given.override_reason {
        let members =
            [("reason", reason.reason.clone()), ("userComment", reason.user_comment.clone().map(Value::from))];
        let members = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        body.insert("overrideReason".to_owned(), Value::Object(members.collect()));
    }
    let at = given.outcome_timestamp.unwrap_or(context.now);
    body.insert("outcomeTimestamp".to_owned(), at.to_string().into());
    let uuids = std::iter::once(given.card.as_str()).chain(accepted);
    let service = feedback_recipient(sandbox, &invocation, uuids).filter(|_| given.outcome != "ignored");
    Some(FeedbackEntry { body: Value::Object(body), invocation, service })
}

fn check_outcome(errors: &mut FieldErrors, given: &CardFeedback, accepted: &[&str], card: &Value) {
    let known: Vec<&str> =
        card["suggestions"].as_array().into_iter().flatten().filter_map(|one| one["uuid"].as_str()).collect();
    match given.outcome.as_str() {
        "accepted" if accepted.is_empty() && !known.is_empty() => {
            errors.add("acceptedSuggestions", "is required for the outcome `accepted`")
        }
        "accepted" => {
            for (index, _) in accepted.iter().enumerate().filter(|(_, id)| !known.contains(id)) {
                errors.add(format!("acceptedSuggestions.{index}.id"), "is not the uuid of a suggestion of the card");
            }
            if accepted.len() > 1 && card["selectionBehavior"] == "at-most-one" {
                errors
                    .add("acceptedSuggestions", "must have at most one suggestion, because the card has `at-most-one`");
            }
            if given.override_reason.is_some() {
                errors.add("overrideReason", "is only allowed for the outcome `overridden`");
            }
        }
        "overridden" | "ignored" if given.accepted_suggestions.is_some() => {
            errors.add("acceptedSuggestions", "is only allowed for the outcome `accepted`");
        }
        "ignored" if given.override_reason.is_some() => {
            errors.add("overrideReason", "is only allowed for the outcome `overridden`");
        }
        "overridden" | "ignored" => {}
        _ => errors.add("outcome", "must be `accepted`, `overridden` or `ignored`"),
    }
    if let Some(reason) = &given.override_reason {
        errors.inside("overrideReason", |errors| {
            if let Some(coding) = &reason.reason {
                errors.inside("reason", |errors| check_coding(errors, coding, UnknownMembers::Rejected));
            }
            if let Some(comment) = &reason.user_comment {
                errors.length("userComment", comment, 1..=10_000);
            }
            if reason.reason.is_none() && reason.user_comment.is_none() {
                errors.add("", "must have a `reason` or a `userComment`");
            }
        });
    }
}

/// The newest card with the uuid, and its invocation. Some services reuse uuids.
fn find_card(sandbox: &Sandbox, uuid: &str) -> Option<(Value, Value)> {
    let of = |row: Value| {
        let card = row["cards"].as_array()?.iter().find(|card| card["uuid"] == uuid)?.clone();
        Some((row, card))
    };
    invocations::all(sandbox).filter_map(of).last()
}

/// The service to notify, if it is external and knows all uuids.
pub(super) fn feedback_recipient<'a>(
    sandbox: &Sandbox,
    invocation: &Value,
    mut uuids: impl Iterator<Item = &'a str>,
) -> Option<Service> {
    let generated = invocation["given_uuids"].as_array().map(Vec::as_slice).unwrap_or_default();
    let knows_uuids = uuids.all(|uuid| !generated.iter().any(|one| one == uuid));
    let service = services::all(sandbox).into_iter().find(|service| invocation["service"] == service.id.as_str());
    service.filter(|service| knows_uuids && service.base_url.is_some())
}

/// Stores the feedback with its delivery status.
pub fn record(
    sandbox: &Sandbox,
    actor: &str,
    context: &Context<'_>,
    entries: &[(FeedbackEntry, Delivery)],
    token: Option<&IdempotencyKey>,
) -> Outcome<Result<Value, CdsError>> {
    match token.map_or(Ok(None), |token| earlier_result(sandbox, token)) {
        Ok(None) => {}
        Ok(Some(earlier)) => return Outcome { answer: Ok(earlier), changes: Vec::new(), events: Vec::new() },
        Err(error) => return Outcome { answer: Err(error), changes: Vec::new(), events: Vec::new() },
    }
    let request = context.new_event_id().to_string();
    let (mut rows, mut changes, mut events) = (Vec::new(), Vec::new(), Vec::new());
    for (entry, delivery) in entries {
        let (row, change, event) = new_row(sandbox, actor, context, entry, delivery, &request, &Value::Null);
        rows.push(row);
        changes.push(change);
        events.push(event);
    }
    if let Some(token) = token {
        changes.push(sandbox.put(BOOKKEEPING, &token.record_key(), &token.row(&request), context.now));
    }
    Outcome { answer: Ok(json!({"feedback": rows})), changes, events }
}

/// The result of an earlier request under the same idempotency key.
pub fn earlier_result(sandbox: &Sandbox, token: &IdempotencyKey) -> Result<Option<Value>, CdsError> {
    let Some(request) = token.earlier_row(sandbox).map_err(CdsError::IdempotencyConflict)? else { return Ok(None) };
    let rows = sandbox.records.own(FEEDBACK).map(|record| Value::clone(&record.json()));
    let rows: Vec<Value> = rows.filter(|row| row["request_id"] == request.as_str()).collect();
    Ok(Some(json!({"feedback": rows})))
}

/// The row of one entry, with its change and event.
pub(super) fn new_row(
    sandbox: &Sandbox,
    actor: &str,
    context: &Context<'_>,
    entry: &FeedbackEntry,
    delivery: &Delivery,
    request: &str,
    applied: &Value,
) -> (Value, Change, NewEvent) {
    let id = format!("fb_{}", (context.new_id)());
    let mut row = entry.body.clone();
    let invocation = &entry.invocation;
    for (name, value) in [
        ("id", Value::from(id.as_str())),
        ("invocation_id", invocation["id"].clone()),
        ("hook", invocation["hook"].clone()),
        ("service_id", invocation["service_id"].clone()),
        ("applied", applied.clone()),
        ("delivery", delivery.json()),
        ("request_id", request.into()),
    ] {
        row[name] = value;
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let summary = format!("{} card of {} {}", text(&row["hook"]), text(&row["service_id"]), text(&row["outcome"]));
    let event = event(sandbox, EventType::CdsFeedback, actor, &summary, row.clone());
    let change = sandbox.put(FEEDBACK, &id, &row, context.now);
    (row, change, event)
}
