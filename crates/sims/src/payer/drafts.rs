//! Drafts: requests that somebody is still filling in, page by page.

use model::FieldErrors;
use model::event::EventType;
use model::portal::NewPriorAuth;
use serde_json::{Map, Value, json};
use world::{Change, Outcome};

use super::call::{Call, Done, Refusal, refused};
use super::documents::{Upload, attach};
use super::event::Told;
use super::requests::{self, Changed};
use super::rows::{DRAFTS, object, optional, shown, shown_record, text};
use super::submission::{LONGEST_NOTES, Submission, check};
use super::{directory, questions};

/// What the id of a request begins with, while it is a draft and afterwards.
pub const DRAFT_PREFIX: &str = "par_";
const MOST_DRAFTS: usize = 500;
const LONGEST_FIELD: usize = 200;
const LONGEST_ANSWER: usize = 4000;

/// What a page of the wizard sets. What is not given stays.
#[derive(Clone, Debug, Default)]
pub struct Edit {
    /// By the names of the request's members; an empty text clears one.
    pub fields: Vec<(&'static str, String)>,
    pub answers: Vec<(String, String)>,
    pub uploads: Vec<Upload>,
    /// A document that is taken out again.
    pub remove_document: Option<String>,
}

/// A new draft; with this key it is the one that was begun with it before.
pub fn begin(call: &Call<'_>, key: &str) -> Done<Value> {
    let told = Told { r#type: EventType::PortalSubmit, action: "begin draft", asked: json!({}) };
    if let Some(row) = call.row(DRAFTS, key) {
        let row = shown(key, &row);
        let event = told.with_row(call, &row);
        return Outcome { answer: Ok(row), changes: Vec::new(), events: vec![event] };
    }
    if let Some(refusal) = unbegun(call, key) {
        let event = told.refused(call, &refusal);
        return refused(refusal, vec![event]);
    }
    let row = Value::Object(object([
        ("request_id", key.into()),
        ("auth_number", Value::Null),
        ("status", "draft".into()),
        ("answers", json!({})),
        ("documents", json!([])),
        ("created_at", call.now()),
        ("updated_at", call.now()),
    ]));
    let event = told.with_row(call, &row);
    let changes = vec![call.put(DRAFTS, key, &row)];
    Outcome { answer: Ok(row), changes, events: vec![event] }
}

/// Why no draft can begin. The key comes from a form, and a form can be forged.
fn unbegun(call: &Call<'_>, key: &str) -> Option<Refusal> {
    let id = key.strip_prefix(DRAFT_PREFIX).unwrap_or_default();
    if id.len() != 26 || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Some(Refusal::NotFound("draft"));
    }
    let is_full = call.count(DRAFTS) >= MOST_DRAFTS;
    is_full.then(|| Refusal::Conflict(format!("the portal keeps at most {MOST_DRAFTS} drafts; delete one")))
}

/// Saves what a page was filled in with.
pub fn save(call: &Call<'_>, key: &str, edit: &Edit) -> Done<Value> {
    let fields: Map<String, Value> =
        edit.fields.iter().map(|(name, value)| ((*name).to_owned(), value.as_str().into())).collect();
    let told = Told { r#type: EventType::PortalSubmit, action: "save draft", asked: Value::Object(fields) };
    match edited(call, key, edit) {
        Ok((row, changes)) => {
            let row = shown(key, &row);
            let event = told.with_row(call, &row);
            Outcome { answer: Ok(row), changes, events: vec![event] }
        }
        Err(refusal) => {
            let event = told.refused(call, &refusal);
            refused(refusal, vec![event])
        }
    }
}

fn edited(call: &Call<'_>, key: &str, edit: &Edit) -> Result<(Value, Vec<Change>), Refusal> {
    let mut row = call.row(DRAFTS, key).ok_or(Refusal::NotFound("draft"))?;
    let mut errors = FieldErrors::new();
    for (name, value) in &edit.fields {
        let most = if *name == "clinical_notes" { LONGEST_NOTES } else { LONGEST_FIELD };
        errors.length(name, value, 0..=most);
        row[*name] = optional(Some(value.trim()).filter(|value| !value.is_empty()));
    }
    name_people(call, &mut row, edit, &mut errors);
    let mut answers = row.get("answers").and_then(Value::as_object).cloned().unwrap_or_default();
    for (name, answer) in &edit.answers {
        errors.length(&format!("answers.{name}"), answer, 0..=LONGEST_ANSWER);
        match answer.trim() {
            "" => answers.shift_remove(name),
            answer => answers.insert(name.clone(), answer.into()),
        };
    }
    if !errors.is_empty() {
        return Err(Refusal::Invalid(errors));
    }
    row["answers"] = Value::Object(answers);
    row["updated_at"] = call.now();
    if let Some(removed) = &edit.remove_document {
        let known = row.get("documents").and_then(Value::as_array).cloned().unwrap_or_default();
        row["documents"] =
            known.into_iter().filter(|document| text(document, "document_id") != Some(removed)).collect();
    }
    let mut changes = attach(call, &mut row, &edit.uploads)?;
    changes.insert(0, call.put(DRAFTS, key, &row));
    Ok((row, changes))
}

/// The names that belong to numbers which were chosen.
fn name_people(call: &Call<'_>, row: &mut Value, edit: &Edit, errors: &mut FieldErrors) {
    let chosen = |field: &str| edit.fields.iter().find(|(name, _)| *name == field).map(|(_, value)| value.trim());
    if let Some(number) = chosen("patient_member_id").filter(|number| !number.is_empty()) {
        match directory::member(call, number) {
            Some(member) => {
                for (name, of) in
                    [("patient_id", "patient_id"), ("patient_name", "name"), ("patient_birth_date", "birth_date")]
                {
                    row[name] = member.get(of).cloned().unwrap_or_default();
                }
            }
            None => errors.add("patient_member_id", "no member of the plan has this number"),
        }
    }
    if let Some(npi) = chosen("provider_npi").filter(|npi| !npi.is_empty()) {
        let provider = directory::provider(call, npi);
        row["provider_name"] = provider.and_then(|row| row.get("name").cloned()).unwrap_or_default();
    }
}

/// Submits a draft; again, it is the same request.
pub fn submit(call: &Call<'_>, key: &str) -> Done<Changed> {
    let row = call.row(DRAFTS, key);
    let missing = row.as_ref().map(|row| unanswered(call, row)).unwrap_or_default();
    if !missing.is_empty() {
        let refusal = Refusal::Invalid(missing);
        let told = Told { r#type: EventType::PortalSubmit, action: "submit", asked: json!({"draft": key}) };
        let event = told.refused(call, &refusal);
        return refused(refusal, vec![event]);
    }
    let new = row.as_ref().map(as_new).unwrap_or_default();
    requests::submit(call, &Submission { new, ..Submission::default() }, Some(key))
}

/// What a draft says, as a request.
fn as_new(row: &Value) -> NewPriorAuth {
    let of = |name: &str| text(row, name).map(ToOwned::to_owned);
    NewPriorAuth {
        patient_member_id: of("patient_member_id").unwrap_or_default(),
        procedure_code: of("procedure_code"),
        drug: of("drug"),
        diagnosis_code: Some(of("diagnosis_code").unwrap_or_default()),
        provider_npi: Some(of("provider_npi").unwrap_or_default()),
        urgency: of("urgency"),
        service_date: of("service_date"),
        clinical_notes: of("clinical_notes"),
        answers: row.get("answers").and_then(Value::as_object).cloned().unwrap_or_default(),
        documents: Vec::new(),
    }
}

/// What a draft still lacks to be a request, as far as it can tell by itself.
pub fn faults(row: &Value) -> FieldErrors {
    check(&as_new(row))
}

/// Questions that must be answered and are not.
fn unanswered(call: &Call<'_>, row: &Value) -> FieldErrors {
    let mut errors = FieldErrors::new();
    for question in questions::asked(&call.config).iter().filter(|question| question.required) {
        if row.get("answers").and_then(|answers| text(answers, &question.id)).is_none() {
            errors.add(format!("answers.{}", question.id), "must be answered");
        }
    }
    errors
}

pub fn get(call: &Call<'_>, key: &str) -> Done<Value> {
    let told = Told { r#type: EventType::PortalView, action: "view draft", asked: json!({"draft": key}) };
    match call.row(DRAFTS, key) {
        Some(row) => {
            let row = shown(key, &row);
            let event = told.with_row(call, &row);
            Outcome { answer: Ok(row), changes: Vec::new(), events: vec![event] }
        }
        None => {
            let event = told.refused(call, &Refusal::NotFound("draft"));
            refused(Refusal::NotFound("draft"), vec![event])
        }
    }
}

/// Newest first.
pub fn list(call: &Call<'_>) -> Done<Vec<Value>> {
    let mut rows: Vec<Value> = call.sandbox.records.own(DRAFTS).map(|record| shown_record(&record)).collect();
    rows.reverse();
    let told = Told { r#type: EventType::PortalView, action: "list drafts", asked: json!({}) };
    let event = told.with_count(call, rows.len());
    Outcome { answer: Ok(rows), changes: Vec::new(), events: vec![event] }
}

pub fn discard(call: &Call<'_>, key: &str) -> Done<()> {
    let told = Told { r#type: EventType::PortalSubmit, action: "discard draft", asked: json!({"draft": key}) };
    match call.row(DRAFTS, key) {
        Some(row) => {
            let event = told.with_row(call, &shown(key, &row));
            Outcome { answer: Ok(()), changes: vec![call.delete(DRAFTS, key)], events: vec![event] }
        }
        None => {
            let event = told.refused(call, &Refusal::NotFound("draft"));
            refused(Refusal::NotFound("draft"), vec![event])
        }
    }
}
