//! Requests for prior authorization: submitted, added to, withdrawn and read.

use model::event::EventType;
use serde_json::{Map, Value, json};
use world::{Change, Outcome};

use super::call::{Call, Done, Refusal, refused};
use super::decide::{ROUNDS, decide};
use super::documents::{Upload, attach};
use super::drafts::DRAFT_PREFIX;
use super::event::Told;
use super::once::{self, IdempotencyKey};
use super::rows::{DRAFTS, REQUESTS, object, optional, shown, text};
use super::submission::{Addition, Submission, check, check_addition};
use super::{directory, due};

const MOST_REQUESTS: usize = 5000;
/// What a request may be found by.
const NUMBERS: [&str; 3] = ["auth_number", "tracking_number", "authorization_number"];

/// A request, and whether this message changed it or an earlier one of the same name did.
#[derive(Clone, Debug)]
pub struct Changed {
    pub row: Value,
    pub is_new: bool,
}

/// What a message did to a request, if it did anything.
type Work = Result<(Changed, Vec<Change>), Refusal>;

fn told(call: &Call<'_>, told: Told<'_>, work: Work) -> Done<Changed> {
    match work {
        Ok((changed, changes)) => {
            let more = object([("row", changed.row.clone()), ("replayed", (!changed.is_new).into())]);
            let words = format!("{} {}", told.action, text(&changed.row, "auth_number").unwrap_or_default());
            let event = told.event(call, &words, more);
            Outcome { answer: Ok(changed), changes, events: vec![event] }
        }
        Err(refusal) => {
            let event = told.refused(call, &refusal);
            refused(refusal, vec![event])
        }
    }
}

/// Submits a request; `draft` is the one that it grew from, and ends with it. The same submission again is the same
/// request.
pub fn submit(call: &Call<'_>, submission: &Submission, draft: Option<&str>) -> Done<Changed> {
    let asked = asked(submission);
    told(call, Told { r#type: EventType::PortalSubmit, action: "submit", asked }, submitted(call, submission, draft))
}

fn submitted(call: &Call<'_>, submission: &Submission, draft: Option<&str>) -> Work {
    let of_draft = draft.and_then(|key| call.row(REQUESTS, key).map(|row| shown(key, &row)));
    if let Some(row) = once::earlier(call, submission.once.as_ref())?.or(of_draft) {
        return Ok((Changed { row, is_new: false }, Vec::new()));
    }
    let draft = match draft {
        Some(key) => Some((key, call.row(DRAFTS, key).ok_or(Refusal::NotFound("draft"))?)),
        None => None,
    };
    let member = checked(call, submission)?;
    let key = draft
        .as_ref()
        .map_or_else(|| format!("{DRAFT_PREFIX}{}", (call.context.new_id)()), |(key, _)| (*key).to_owned());
    let mut row = new_row(call, &key, submission, &member);
    if let Some((_, draft)) = &draft {
        row["documents"] = draft.get("documents").cloned().unwrap_or_else(|| json!([]));
        row["created_at"] = draft.get("created_at").cloned().unwrap_or_else(|| call.now());
    }
    let mut changes = attach(call, &mut row, &submission.uploads)?;
    changes.extend(decide(call, &key, &mut row));
    changes.insert(0, call.put(REQUESTS, &key, &row));
    changes.extend(draft.map(|(draft, _)| call.delete(DRAFTS, draft)));
    changes.extend(once::remember(call, submission.once.as_ref(), &key));
    Ok((Changed { row: shown(&key, &row), is_new: true }, changes))
}

/// The member that the request is for, if it can be one.
fn checked(call: &Call<'_>, submission: &Submission) -> Result<Value, Refusal> {
    let mut errors = check(&submission.new);
    let member = directory::member(call, &submission.new.patient_member_id);
    if member.is_none() && errors.iter().all(|(place, _)| place != "patient_member_id") {
        errors.add("patient_member_id", "no member of the plan has this number");
    }
    match member {
        Some(_) if call.count(REQUESTS) >= MOST_REQUESTS => {
            Err(Refusal::Conflict(format!("the portal keeps at most {MOST_REQUESTS} requests")))
        }
        Some(member) if errors.is_empty() => Ok(member),
        _ => Err(Refusal::Invalid(errors)),
    }
}

fn new_row(call: &Call<'_>, key: &str, submission: &Submission, member: &Value) -> Value {
    let new = &submission.new;
    let provider = new.provider_npi.as_deref().and_then(|npi| directory::provider(call, npi));
    let of_member = |name: &str| member.get(name).cloned().unwrap_or_default();
    let of_provider = |name: &str| provider.as_ref().and_then(|row| row.get(name).cloned()).unwrap_or_default();
    Value::Object(object([
        ("request_id", key.into()),
        ("auth_number", next_number(call).into()),
        ("status", "submitted".into()),
        ("determination", Value::Null),
        ("patient_member_id", new.patient_member_id.as_str().into()),
        ("patient_id", of_member("patient_id")),
        ("patient_name", of_member("name")),
        ("patient_birth_date", of_member("birth_date")),
        ("provider_npi", optional(new.provider_npi.as_deref())),
        ("provider_name", of_provider("name")),
        ("procedure_code", optional(new.procedure_code.as_deref())),
        ("drug", optional(new.drug.as_deref())),
        ("diagnosis_code", optional(new.diagnosis_code.as_deref())),
        ("urgency", new.urgency.as_deref().unwrap_or("standard").into()),
        ("service_date", optional(new.service_date.as_deref())),
        ("clinical_notes", optional(new.clinical_notes.as_deref())),
        ("answers", Value::Object(new.answers.clone())),
        ("documents", json!([])),
        ("created_at", call.now()),
        ("submitted_at", call.now()),
        ("updated_at", call.now()),
    ]))
}

/// Counts the requests of the portal, whoever made them: the same run gives the same numbers.
fn next_number(call: &Call<'_>) -> String {
    let used: std::collections::HashSet<String> = call
        .sandbox
        .records
        .own(REQUESTS)
        .filter_map(|record| text(&record.json(), "auth_number").map(ToOwned::to_owned))
        .collect();
    let numbers = (call.count(REQUESTS) + 1..).map(|number| format!("PA-{}", 100_000 + number));
    numbers.into_iter().find(|number| !used.contains(number)).unwrap_or_default()
}

/// For the log: without the content of documents.
fn asked(submission: &Submission) -> Value {
    let new = &submission.new;
    let mut asked = object([
        ("patient_member_id", new.patient_member_id.as_str().into()),
        ("procedure_code", optional(new.procedure_code.as_deref())),
        ("drug", optional(new.drug.as_deref())),
        ("diagnosis_code", optional(new.diagnosis_code.as_deref())),
        ("provider_npi", optional(new.provider_npi.as_deref())),
    ]);
    asked.insert("documents".to_owned(), names(&submission.uploads));
    Value::Object(asked)
}

fn names(uploads: &[Upload]) -> Value {
    uploads.iter().map(|upload| upload.name.as_str()).collect()
}

/// Adds documents, notes and answers to a request. If the payer had asked for more, it now decides again.
pub fn add(call: &Call<'_>, number: &str, addition: &Addition) -> Done<Changed> {
    let information = &addition.information;
    let asked = json!({"auth_number": number, "documents": names(&addition.uploads),
        "clinical_notes": information.clinical_notes, "answers": information.answers});
    let work = changed(call, number, addition.once.as_ref(), |key, row| {
        let errors = check_addition(addition);
        if !errors.is_empty() {
            return Err(Refusal::Invalid(errors));
        }
        add_words(row, information.clinical_notes.as_deref(), &information.answers)?;
        let mut changes = attach(call, row, &addition.uploads)?;
        let awaits = row.get("determination").and_then(|known| text(known, "status")) == Some("need_more_info");
        if awaits {
            let rounds = row.get(ROUNDS).and_then(Value::as_u64).unwrap_or(0);
            row[ROUNDS] = (rounds + 1).into();
            changes.extend(decide(call, key, row));
        }
        Ok(changes)
    });
    told(call, Told { r#type: EventType::PortalSubmit, action: "add to", asked }, work)
}

fn add_words(row: &mut Value, notes: Option<&str>, answers: &Map<String, Value>) -> Result<(), Refusal> {
    if let Some(notes) = notes.filter(|notes| !notes.trim().is_empty()) {
        let known = text(row, "clinical_notes").filter(|known| !known.is_empty());
        let whole = known.map_or_else(|| notes.to_owned(), |known| format!("{known}\n\n{notes}"));
        if whole.chars().count() > MOST_NOTES {
            return Err(Refusal::Conflict(format!("the notes of a request have at most {MOST_NOTES} characters")));
        }
        row["clinical_notes"] = whole.into();
    }
    if !answers.is_empty() {
        let mut known = row.get("answers").and_then(Value::as_object).cloned().unwrap_or_default();
        known.extend(answers.clone());
        if known.len() > MOST_ANSWERS {
            return Err(Refusal::Conflict(format!("a request has at most {MOST_ANSWERS} answers")));
        }
        row["answers"] = Value::Object(known);
    }
    Ok(())
}

/// Of a request that was added to again and again.
const MOST_NOTES: usize = 100_000;
const MOST_ANSWERS: usize = 500;

/// Takes a request back.
pub fn withdraw(call: &Call<'_>, number: &str, once: Option<&IdempotencyKey>) -> Done<Changed> {
    let work = changed(call, number, once, |key, row| {
        row["status"] = "withdrawn".into();
        row["withdrawn_at"] = call.now();
        Ok(due::take_off(call, key).into_iter().collect())
    });
    let asked = json!({"auth_number": number});
    told(call, Told { r#type: EventType::PortalSubmit, action: "withdraw", asked }, work)
}

/// Changes a submitted request by `change`, which also gives the changes beside it.
fn changed(
    call: &Call<'_>,
    number: &str,
    once: Option<&IdempotencyKey>,
    change: impl FnOnce(&str, &mut Value) -> Result<Vec<Change>, Refusal>,
) -> Work {
    if let Some(row) = once::earlier(call, once)? {
        return Ok((Changed { row, is_new: false }, Vec::new()));
    }
    let (key, mut row) = find(call, number).ok_or(Refusal::NotFound("request"))?;
    if let Some(status) = text(&row, "status").filter(|status| *status != "submitted") {
        return Err(Refusal::Conflict(format!("the request is {status}; only a submitted one can be changed")));
    }
    let beside = change(&key, &mut row)?;
    row["updated_at"] = call.now();
    let own = std::iter::once(call.put(REQUESTS, &key, &row));
    let changes = own.chain(beside).chain(once::remember(call, once, &key)).collect();
    Ok((Changed { row: shown(&key, &row), is_new: true }, changes))
}

/// By any of its numbers, or by its id.
pub(super) fn find(call: &Call<'_>, number: &str) -> Option<(String, Value)> {
    if let Some(row) = call.row(REQUESTS, number) {
        return Some((number.to_owned(), row));
    }
    let mut rows = call.sandbox.records.own(REQUESTS);
    let found = rows.find(|record| {
        let row = record.json();
        NUMBERS.into_iter().any(|name| text(&row, name) == Some(number))
    })?;
    Some((found.key.to_owned(), Value::clone(&found.json())))
}

pub fn get(call: &Call<'_>, number: &str) -> Done<Value> {
    let told = Told { r#type: EventType::PortalView, action: "view", asked: json!({"auth_number": number}) };
    match find(call, number) {
        Some((key, row)) => {
            let row = shown(&key, &row);
            let event = told.with_row(call, &row);
            Outcome { answer: Ok(row), changes: Vec::new(), events: vec![event] }
        }
        None => {
            let event = told.refused(call, &Refusal::NotFound("request"));
            refused(Refusal::NotFound("request"), vec![event])
        }
    }
}
