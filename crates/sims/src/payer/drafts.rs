//! Drafts: requests that are being filled in on the pages of a wizard.

use model::FieldErrors;
use model::event::EventType;
use model::portal::NewPriorAuth;
use serde_json::{Map, Value, json};
use world::{Change, Outcome};

use super::context::{PortalContext, PortalError, PortalOutcome, failure};
use super::documents::{Upload, attach};
use super::event::PortalAction;
use super::requests::{self, ChangedRequest};
use super::rows::{DRAFTS, display_record, display_row, object, text, text_or_null};
use super::submission::{MAX_NOTES_CHARS, Submission, check};
use super::{directory, questions};

/// The id prefix of drafts and requests. A draft keeps its id when it is submitted.
pub const DRAFT_PREFIX: &str = "par_";
const MAX_DRAFTS: usize = 500;
const MAX_FIELD_CHARS: usize = 200;
const MAX_ANSWER_CHARS: usize = 4000;

/// The changes that a page of the wizard makes to a draft.
#[derive(Clone, Debug, Default)]
pub struct DraftEdit {
    /// Values by request member. An empty string clears the member.
    pub fields: Vec<(&'static str, String)>,
    pub answers: Vec<(String, String)>,
    pub uploads: Vec<Upload>,
    /// The id of a document to remove.
    pub remove_document: Option<String>,
}

/// Begins a draft with this key, or returns the existing one.
pub fn begin(portal: &PortalContext<'_>, key: &str) -> PortalOutcome<Value> {
    let action = PortalAction { r#type: EventType::PortalSubmit, name: "begin draft", request: json!({}) };
    if let Some(row) = portal.row(DRAFTS, key) {
        let row = display_row(key, &row);
        let event = action.row_event(portal, &row);
        return Outcome { answer: Ok(row), changes: Vec::new(), events: vec![event] };
    }
    if let Err(error) = check_begin(portal, key) {
        let event = action.error_event(portal, &error);
        return failure(error, vec![event]);
    }
    let row = Value::Object(object([
        ("request_id", key.into()),
        ("auth_number", Value::Null),
        ("status", "draft".into()),
        ("answers", json!({})),
        ("documents", json!([])),
        ("created_at", portal.now()),
        ("updated_at", portal.now()),
    ]));
    let event = action.row_event(portal, &row);
    let changes = vec![portal.put(DRAFTS, key, &row)];
    Outcome { answer: Ok(row), changes, events: vec![event] }
}

/// Checks the key, because forms can be forged, and the number of drafts.
fn check_begin(portal: &PortalContext<'_>, key: &str) -> Result<(), PortalError> {
    let id = key.strip_prefix(DRAFT_PREFIX).unwrap_or_default();
    if id.len() != 26 || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(PortalError::NotFound("draft"));
    }
    if portal.count(DRAFTS) >= MAX_DRAFTS {
        return Err(PortalError::Conflict(format!("the portal stores at most {MAX_DRAFTS} drafts; delete one")));
    }
    Ok(())
}

/// Saves the changes that a page makes to a draft.
pub fn save(portal: &PortalContext<'_>, key: &str, edit: &DraftEdit) -> PortalOutcome<Value> {
    let fields: Map<String, Value> =
        edit.fields.iter().map(|(name, value)| ((*name).to_owned(), value.as_str().into())).collect();
    let action = PortalAction { r#type: EventType::PortalSubmit, name: "save draft", request: Value::Object(fields) };
    match apply_edit(portal, key, edit) {
        Ok((row, changes)) => {
            let row = display_row(key, &row);
            let event = action.row_event(portal, &row);
            Outcome { answer: Ok(row), changes, events: vec![event] }
        }
        Err(error) => {
            let event = action.error_event(portal, &error);
            failure(error, vec![event])
        }
    }
}

fn apply_edit(portal: &PortalContext<'_>, key: &str, edit: &DraftEdit) -> Result<(Value, Vec<Change>), PortalError> {
    let mut row = portal.row(DRAFTS, key).ok_or(PortalError::NotFound("draft"))?;
    let mut errors = FieldErrors::new();
    for (name, value) in &edit.fields {
        let max_chars = if *name == "clinical_notes" { MAX_NOTES_CHARS } else { MAX_FIELD_CHARS };
        errors.length(name, value, 0..=max_chars);
        row[*name] = text_or_null(Some(value.trim()).filter(|value| !value.is_empty()));
    }
    set_names(portal, &mut row, edit, &mut errors);
    let mut answers = row.get("answers").and_then(Value::as_object).cloned().unwrap_or_default();
    for (name, answer) in &edit.answers {
        errors.length(&format!("answers.{name}"), answer, 0..=MAX_ANSWER_CHARS);
        match answer.trim() {
            "" => answers.shift_remove(name),
            answer => answers.insert(name.clone(), answer.into()),
        };
    }
    if !errors.is_empty() {
        return Err(PortalError::Invalid(errors));
    }
    row["answers"] = Value::Object(answers);
    row["updated_at"] = portal.now();
    if let Some(removed) = &edit.remove_document {
        let documents = row.get("documents").and_then(Value::as_array).cloned().unwrap_or_default();
        row["documents"] =
            documents.into_iter().filter(|document| text(document, "document_id") != Some(removed)).collect();
    }
    let mut changes = attach(portal, &mut row, &edit.uploads)?;
    changes.insert(0, portal.put(DRAFTS, key, &row));
    Ok((row, changes))
}

/// Sets the names of the chosen member and provider.
fn set_names(portal: &PortalContext<'_>, row: &mut Value, edit: &DraftEdit, errors: &mut FieldErrors) {
    let chosen = |field: &str| edit.fields.iter().find(|(name, _)| *name == field).map(|(_, value)| value.trim());
    if let Some(number) = chosen("patient_member_id").filter(|number| !number.is_empty()) {
        match directory::member(portal, number) {
            Some(member) => {
                for (name, source) in
                    [("patient_id", "patient_id"), ("patient_name", "name"), ("patient_birth_date", "birth_date")]
                {
                    row[name] = member.get(source).cloned().unwrap_or_default();
                }
            }
            None => errors.add("patient_member_id", "no plan member has this number"),
        }
    }
    if let Some(npi) = chosen("provider_npi").filter(|npi| !npi.is_empty()) {
        let provider = directory::provider(portal, npi);
        row["provider_name"] = provider.and_then(|row| row.get("name").cloned()).unwrap_or_default();
    }
}

/// Submits a draft. Submitting it again returns the same request.
pub fn submit(portal: &PortalContext<'_>, key: &str) -> PortalOutcome<ChangedRequest> {
    let row = portal.row(DRAFTS, key);
    let missing = row.as_ref().map(|row| missing_answers(portal, row)).unwrap_or_default();
    if !missing.is_empty() {
        let error = PortalError::Invalid(missing);
        let action = PortalAction { r#type: EventType::PortalSubmit, name: "submit", request: json!({"draft": key}) };
        let event = action.error_event(portal, &error);
        return failure(error, vec![event]);
    }
    let new = row.as_ref().map(to_new_request).unwrap_or_default();
    requests::submit(portal, &Submission { new, ..Submission::default() }, Some(key))
}

/// Converts a draft to a submission body.
fn to_new_request(row: &Value) -> NewPriorAuth {
    let member = |name: &str| text(row, name).map(ToOwned::to_owned);
    NewPriorAuth {
        patient_member_id: member("patient_member_id").unwrap_or_default(),
        procedure_code: member("procedure_code"),
        drug: member("drug"),
        diagnosis_code: Some(member("diagnosis_code").unwrap_or_default()),
        provider_npi: Some(member("provider_npi").unwrap_or_default()),
        urgency: member("urgency"),
        service_date: member("service_date"),
        clinical_notes: member("clinical_notes"),
        answers: row.get("answers").and_then(Value::as_object).cloned().unwrap_or_default(),
        documents: Vec::new(),
    }
}

/// Validates a draft without looking up member or provider.
pub fn draft_errors(row: &Value) -> FieldErrors {
    check(&to_new_request(row))
}

/// Errors for required questions without an answer.
fn missing_answers(portal: &PortalContext<'_>, row: &Value) -> FieldErrors {
    let mut errors = FieldErrors::new();
    for question in questions::portal_questions(&portal.config).iter().filter(|question| question.required) {
        if row.get("answers").and_then(|answers| text(answers, &question.id)).is_none() {
            errors.add(format!("answers.{}", question.id), "must be answered");
        }
    }
    errors
}

pub fn get(portal: &PortalContext<'_>, key: &str) -> PortalOutcome<Value> {
    let action = PortalAction { r#type: EventType::PortalView, name: "view draft", request: json!({"draft": key}) };
    match portal.row(DRAFTS, key) {
        Some(row) => {
            let row = display_row(key, &row);
            let event = action.row_event(portal, &row);
            Outcome { answer: Ok(row), changes: Vec::new(), events: vec![event] }
        }
        None => {
            let event = action.error_event(portal, &PortalError::NotFound("draft"));
            failure(PortalError::NotFound("draft"), vec![event])
        }
    }
}

/// Lists drafts, newest first.
pub fn list(portal: &PortalContext<'_>) -> PortalOutcome<Vec<Value>> {
    let mut rows: Vec<Value> = portal.sandbox.records.own(DRAFTS).map(|record| display_record(&record)).collect();
    rows.reverse();
    let action = PortalAction { r#type: EventType::PortalView, name: "list drafts", request: json!({}) };
    let event = action.count_event(portal, rows.len());
    Outcome { answer: Ok(rows), changes: Vec::new(), events: vec![event] }
}

pub fn discard(portal: &PortalContext<'_>, key: &str) -> PortalOutcome<()> {
    let action =
        PortalAction { r#type: EventType::PortalSubmit, name: "discard draft", request: json!({"draft": key}) };
    match portal.row(DRAFTS, key) {
        Some(row) => {
            let event = action.row_event(portal, &display_row(key, &row));
            Outcome { answer: Ok(()), changes: vec![portal.delete(DRAFTS, key)], events: vec![event] }
        }
        None => {
            let event = action.error_event(portal, &PortalError::NotFound("draft"));
            failure(PortalError::NotFound("draft"), vec![event])
        }
    }
}
