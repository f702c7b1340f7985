//! Prior authorization requests: submit, add information, withdraw and read.

use clinical::Npi;
use model::FieldErrors;
use model::event::EventType;
use serde_json::{Map, Value, json};
use world::{Change, Outcome};

use super::context::{PortalContext, PortalError, PortalOutcome, failure};
use super::determination::{ROUNDS, apply_determination};
use super::documents::{Upload, attach};
use super::drafts::DRAFT_PREFIX;
use super::event::PortalAction;
use super::idempotency::{self, IdempotencyKey};
use super::rows::{DRAFTS, REQUESTS, display_row, object, text, text_or_null};
use super::submission::{Addition, Submission, check, check_addition};
use super::{deferred_determinations, directory};

const MAX_REQUESTS: usize = 5000;
/// The members by which a request can be found.
const NUMBER_MEMBERS: [&str; 3] = ["auth_number", "tracking_number", "authorization_number"];

/// A request, and whether this message changed it. Otherwise an earlier message with the same idempotency key did.
#[derive(Clone, Debug)]
pub struct ChangedRequest {
    pub row: Value,
    pub is_new: bool,
}

type ChangeResult = Result<(ChangedRequest, Vec<Change>), PortalError>;

/// Turns the result of a change into an outcome with its event.
fn outcome(
    portal: &PortalContext<'_>,
    action: PortalAction<'_>,
    result: ChangeResult,
) -> PortalOutcome<ChangedRequest> {
    match result {
        Ok((changed, changes)) => {
            let members = object([("row", changed.row.clone()), ("replayed", (!changed.is_new).into())]);
            let summary = format!("{} {}", action.name, text(&changed.row, "auth_number").unwrap_or_default());
            let event = action.event(portal, &summary, members);
            Outcome { answer: Ok(changed), changes, events: vec![event] }
        }
        Err(error) => {
            let event = action.error_event(portal, &error);
            failure(error, vec![event])
        }
    }
}

/// Submits a request. A `draft` is replaced by the request. Submitting again returns the same request.
pub fn submit(
    portal: &PortalContext<'_>,
    submission: &Submission,
    draft: Option<&str>,
) -> PortalOutcome<ChangedRequest> {
    let parameters = logged_parameters(submission);
    outcome(
        portal,
        PortalAction { r#type: EventType::PortalSubmit, name: "submit", request: parameters },
        try_submit(portal, submission, draft),
    )
}

fn try_submit(portal: &PortalContext<'_>, submission: &Submission, draft: Option<&str>) -> ChangeResult {
    let already_submitted = draft.and_then(|key| portal.row(REQUESTS, key).map(|row| display_row(key, &row)));
    if let Some(row) = idempotency::earlier_request(portal, submission.idempotency_key.as_ref())?.or(already_submitted)
    {
        return Ok((ChangedRequest { row, is_new: false }, Vec::new()));
    }
    let draft = match draft {
        Some(key) => Some((key, portal.row(DRAFTS, key).ok_or(PortalError::NotFound("draft"))?)),
        None => None,
    };
    let member = validate(portal, submission)?;
    let key = draft
        .as_ref()
        .map_or_else(|| format!("{DRAFT_PREFIX}{}", (portal.context.new_id)()), |(key, _)| (*key).to_owned());
    let mut row = new_row(portal, &key, submission, &member);
    if let Some((_, draft)) = &draft {
        row["documents"] = draft.get("documents").cloned().unwrap_or_else(|| json!([]));
        row["created_at"] = draft.get("created_at").cloned().unwrap_or_else(|| portal.now());
    }
    let mut changes = attach(portal, &mut row, &submission.uploads)?;
    changes.extend(apply_determination(portal, &key, &mut row));
    changes.insert(0, portal.put(REQUESTS, &key, &row));
    changes.extend(draft.map(|(draft, _)| portal.delete(DRAFTS, draft)));
    changes.extend(idempotency::remember(portal, submission.idempotency_key.as_ref(), &key));
    Ok((ChangedRequest { row: display_row(&key, &row), is_new: true }, changes))
}

/// Validates a submission and returns its member.
fn validate(portal: &PortalContext<'_>, submission: &Submission) -> Result<Value, PortalError> {
    let mut errors = check(&submission.new);
    let member = directory::member(portal, &submission.new.patient_member_id);
    if member.is_none() && errors.iter().all(|(field, _)| field != "patient_member_id") {
        errors.add("patient_member_id", "no plan member has this number");
    }
    check_provider(portal, submission.new.provider_npi.as_deref(), &mut errors);
    match member {
        Some(_) if portal.count(REQUESTS) >= MAX_REQUESTS => {
            Err(PortalError::Conflict(format!("the portal stores at most {MAX_REQUESTS} requests")))
        }
        Some(member) if errors.is_empty() => Ok(member),
        _ => Err(PortalError::Invalid(errors)),
    }
}

/// The check digit of an NPI must be right, unless a provider of the directory has the number.
fn check_provider(portal: &PortalContext<'_>, npi: Option<&str>, errors: &mut FieldErrors) {
    let Some(npi) = npi.filter(|_| errors.iter().all(|(field, _)| field != "provider_npi")) else { return };
    if let Err(error) = npi.parse::<Npi>()
        && directory::provider(portal, npi).is_none()
    {
        errors.add("provider_npi", error.to_string());
    }
}

fn new_row(portal: &PortalContext<'_>, key: &str, submission: &Submission, member: &Value) -> Value {
    let new = &submission.new;
    let provider = new.provider_npi.as_deref().and_then(|npi| directory::provider(portal, npi));
    let member_value = |name: &str| member.get(name).cloned().unwrap_or_default();
    let provider_value = |name: &str| provider.as_ref().and_then(|row| row.get(name).cloned()).unwrap_or_default();
    Value::Object(object([
        ("request_id", key.into()),
        ("auth_number", next_number(portal).into()),
        ("status", "submitted".into()),
        ("determination", Value::Null),
        ("patient_member_id", new.patient_member_id.as_str().into()),
        ("patient_id", member_value("patient_id")),
        ("patient_name", member_value("name")),
        ("patient_birth_date", member_value("birth_date")),
        ("provider_npi", text_or_null(new.provider_npi.as_deref())),
        ("provider_name", provider_value("name")),
        ("procedure_code", text_or_null(new.procedure_code.as_deref())),
        ("drug", text_or_null(new.drug.as_deref())),
        ("diagnosis_code", text_or_null(new.diagnosis_code.as_deref())),
        ("urgency", new.urgency.as_deref().unwrap_or("standard").into()),
        ("service_date", text_or_null(new.service_date.as_deref())),
        ("clinical_notes", text_or_null(new.clinical_notes.as_deref())),
        ("answers", Value::Object(new.answers.clone())),
        ("documents", json!([])),
        ("created_at", portal.now()),
        ("submitted_at", portal.now()),
        ("updated_at", portal.now()),
    ]))
}

/// The next free number. Counts the portal's requests, so that the same run gets the same numbers.
fn next_number(portal: &PortalContext<'_>) -> String {
    let used: std::collections::HashSet<String> = portal
        .sandbox
        .records
        .own(REQUESTS)
        .filter_map(|record| text(&record.json(), "auth_number").map(ToOwned::to_owned))
        .collect();
    let numbers = (portal.count(REQUESTS) + 1..).map(|number| format!("PA-{}", 100_000 + number));
    numbers.into_iter().find(|number| !used.contains(number)).unwrap_or_default()
}

/// The parameters for the log, without the content of documents.
fn logged_parameters(submission: &Submission) -> Value {
    let new = &submission.new;
    let mut parameters = object([
        ("patient_member_id", new.patient_member_id.as_str().into()),
        ("procedure_code", text_or_null(new.procedure_code.as_deref())),
        ("drug", text_or_null(new.drug.as_deref())),
        ("diagnosis_code", text_or_null(new.diagnosis_code.as_deref())),
        ("provider_npi", text_or_null(new.provider_npi.as_deref())),
    ]);
    parameters.insert("documents".to_owned(), names(&submission.uploads));
    Value::Object(parameters)
}

fn names(uploads: &[Upload]) -> Value {
    uploads.iter().map(|upload| upload.name.as_str()).collect()
}

/// Adds documents, notes and answers to a request. If its determination is `need_more_info`, the payer decides again.
pub fn add(portal: &PortalContext<'_>, number: &str, addition: &Addition) -> PortalOutcome<ChangedRequest> {
    let information = &addition.information;
    let parameters = json!({"auth_number": number, "documents": names(&addition.uploads),
        "clinical_notes": information.clinical_notes, "answers": information.answers});
    let result = change_request(portal, number, addition.idempotency_key.as_ref(), |key, row| {
        let errors = check_addition(addition);
        if !errors.is_empty() {
            return Err(PortalError::Invalid(errors));
        }
        append_information(row, information.clinical_notes.as_deref(), &information.answers)?;
        let mut changes = attach(portal, row, &addition.uploads)?;
        let needs_information =
            row.get("determination").and_then(|determination| text(determination, "status")) == Some("need_more_info");
        if needs_information {
            let rounds = row.get(ROUNDS).and_then(Value::as_u64).unwrap_or(0);
            row[ROUNDS] = (rounds + 1).into();
            changes.extend(apply_determination(portal, key, row));
        }
        Ok(changes)
    });
    outcome(portal, PortalAction { r#type: EventType::PortalSubmit, name: "add to", request: parameters }, result)
}

fn append_information(row: &mut Value, notes: Option<&str>, answers: &Map<String, Value>) -> Result<(), PortalError> {
    if let Some(notes) = notes.filter(|notes| !notes.trim().is_empty()) {
        let existing = text(row, "clinical_notes").filter(|existing| !existing.is_empty());
        let all_notes = existing.map_or_else(|| notes.to_owned(), |existing| format!("{existing}\n\n{notes}"));
        if all_notes.chars().count() > MAX_NOTES_CHARS {
            return Err(PortalError::Conflict(format!(
                "the notes of a request have at most {MAX_NOTES_CHARS} characters"
            )));
        }
        row["clinical_notes"] = all_notes.into();
    }
    if !answers.is_empty() {
        let mut all_answers = row.get("answers").and_then(Value::as_object).cloned().unwrap_or_default();
        all_answers.extend(answers.clone());
        if all_answers.len() > MAX_ANSWERS {
            return Err(PortalError::Conflict(format!("a request has at most {MAX_ANSWERS} answers")));
        }
        row["answers"] = Value::Object(all_answers);
    }
    Ok(())
}

/// Limits of a request that was added to repeatedly.
const MAX_NOTES_CHARS: usize = 100_000;
const MAX_ANSWERS: usize = 500;

/// Withdraws a request.
pub fn withdraw(
    portal: &PortalContext<'_>,
    number: &str,
    idempotency_key: Option<&IdempotencyKey>,
) -> PortalOutcome<ChangedRequest> {
    let result = change_request(portal, number, idempotency_key, |key, row| {
        row["status"] = "withdrawn".into();
        row["withdrawn_at"] = portal.now();
        Ok(deferred_determinations::cancel(portal, key).into_iter().collect())
    });
    let parameters = json!({"auth_number": number});
    outcome(portal, PortalAction { r#type: EventType::PortalSubmit, name: "withdraw", request: parameters }, result)
}

/// Changes a submitted request with `change`, which returns additional record changes.
fn change_request(
    portal: &PortalContext<'_>,
    number: &str,
    idempotency_key: Option<&IdempotencyKey>,
    change: impl FnOnce(&str, &mut Value) -> Result<Vec<Change>, PortalError>,
) -> ChangeResult {
    if let Some(row) = idempotency::earlier_request(portal, idempotency_key)? {
        return Ok((ChangedRequest { row, is_new: false }, Vec::new()));
    }
    let (key, mut row) = find(portal, number).ok_or(PortalError::NotFound("request"))?;
    if let Some(status) = text(&row, "status").filter(|status| *status != "submitted") {
        return Err(PortalError::Conflict(format!("the request is {status}; only submitted requests can be changed")));
    }
    let additional = change(&key, &mut row)?;
    row["updated_at"] = portal.now();
    let request_change = std::iter::once(portal.put(REQUESTS, &key, &row));
    let changes =
        request_change.chain(additional).chain(idempotency::remember(portal, idempotency_key, &key)).collect();
    Ok((ChangedRequest { row: display_row(&key, &row), is_new: true }, changes))
}

/// Finds a request by its id or any of its numbers.
pub(super) fn find(portal: &PortalContext<'_>, number: &str) -> Option<(String, Value)> {
    if let Some(row) = portal.row(REQUESTS, number) {
        return Some((number.to_owned(), row));
    }
    let mut rows = portal.sandbox.records.own(REQUESTS);
    let found = rows.find(|record| {
        let row = record.json();
        NUMBER_MEMBERS.into_iter().any(|name| text(&row, name) == Some(number))
    })?;
    Some((found.key.to_owned(), Value::clone(&found.json())))
}

pub fn get(portal: &PortalContext<'_>, number: &str) -> PortalOutcome<Value> {
    let action = PortalAction { r#type: EventType::PortalView, name: "view", request: json!({"auth_number": number}) };
    match find(portal, number) {
        Some((key, row)) => {
            let row = display_row(&key, &row);
            let event = action.row_event(portal, &row);
            Outcome { answer: Ok(row), changes: Vec::new(), events: vec![event] }
        }
        None => {
            let event = action.error_event(portal, &PortalError::NotFound("request"));
            failure(PortalError::NotFound("request"), vec![event])
        }
    }
}
